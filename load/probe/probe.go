// Package probe takes a short healthy baseline of a target before a storm: what it serves in a second, and
// how fast it answers while nothing is wrong. It is the only user of hey's requester.
//
// The requests are HTTP/1.1, whatever the storm speaks, because hey speaks it to a relay on loopback. The
// relay costs each answer two more hops inside this machine: some 30 µs of latency where it is idle, and 60
// of the 100 µs of processor that an answer takes. So beyond some thousand answers a second and core the
// limit is this process, and the result says so instead of naming a capacity.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// A Config says what to ask of which target, and how much of it. Zeros are the defaults.
type Config struct {
	Method        string        // GET
	RequestTarget string        // path and query, "/"
	Host          string        // of the Host header; needed
	Header        http.Header   // never changed
	Body          []byte        // likewise
	Timeout       time.Duration // of one request and of one dial; 5 s
	// Dial opens a connection on which plain HTTP/1.1 reaches the target: what is there to be verified,
	// Dial has verified. It is called from several goroutines. Needed.
	Dial func(ctx context.Context) (net.Conn, error)

	MaxTime        time.Duration // of the whole probe; 8 s
	MaxRequests    int           // 20,000; at most 1,000,000
	MaxConcurrency int           // connections at once; 256, at most 1,000

	step, hold time.Duration // 400 ms, 2 s; shorter in tests
}

// Ends of what may be asked for.
const (
	requestsMost    = resultsMost
	concurrencyMost = 1000
)

// withDefaults fills zeros.
func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	if c.RequestTarget == "" {
		c.RequestTarget = "/"
	}
	if c.MaxRequests == 0 {
		c.MaxRequests = 20_000
	}
	if c.MaxConcurrency == 0 {
		c.MaxConcurrency = 256
	}
	def(&c.Timeout, 5*time.Second)
	def(&c.MaxTime, 8*time.Second)
	def(&c.step, 400*time.Millisecond)
	def(&c.hold, 2*time.Second)
	return c
}

// validate returns every fault at once.
func (c Config) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("probe: "+format, args...))
		}
	}
	check(c.Dial != nil, "no Dial")
	check(c.Host != "", "no host")
	check(strings.HasPrefix(c.RequestTarget, "/"), "request target = %q, want a path", c.RequestTarget)
	check(c.Timeout > 0, "timeout = %v, want more than 0", c.Timeout)
	check(c.MaxTime > 0, "time = %v, want more than 0", c.MaxTime)
	check(c.MaxRequests >= 1 && c.MaxRequests <= requestsMost, "requests = %d, want 1..%d", c.MaxRequests, requestsMost)
	check(c.MaxConcurrency >= 1 && c.MaxConcurrency <= concurrencyMost, "concurrency = %d, want 1..%d", c.MaxConcurrency, concurrencyMost)
	return errors.Join(faults...)
}

// Run probes the target. The error is of the configuration, of this machine, or that no connection could be
// opened at all; whatever else the target does is a finding. The end of ctx ends the probe at once, and what
// was measured until then is returned, with the limit "interrupted".
//
// Nothing of it is left when it returns, but for the ends of hey's connections, which notice in their own
// goroutines that the relay has hung up. It blocks for MaxTime and at most a quarter of a second more.
func Run(ctx context.Context, c Config) (*record.Probe, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.MaxTime)
	defer cancel()
	if err := c.knock(bounded); err != nil {
		return nil, err
	}
	r, err := newRelay(bounded, c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	request, err := c.request(r.address())
	if err != nil {
		return nil, err
	}
	s := search{
		relay:  r,
		driver: driver{request: request, body: c.Body, timeout: c.Timeout, opened: r.admit},
		limits: limits{time: c.MaxTime, requests: c.MaxRequests, concurrency: c.MaxConcurrency, step: c.step, hold: c.hold},
		result: record.Probe{ByStatus: map[string]int64{}, Errors: map[string]int64{}},
	}
	if err := s.run(bounded); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		s.result.Limit, s.result.CapacityPerSecond = record.ProbeInterrupted, nil
	}
	return &s.result, nil
}

// knock opens a connection and closes it, so that a target that is not there is said once and at once.
func (c Config) knock(ctx context.Context) error {
	dialling, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	conn, err := c.Dial(dialling)
	if err != nil {
		return fmt.Errorf("probe: connect: %w", err)
	}
	_ = conn.Close()
	return nil
}

// request builds what hey sends to the relay.
func (c Config) request(relay string) (*http.Request, error) {
	target, err := url.ParseRequestURI(c.RequestTarget)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	if target.RequestURI() != c.RequestTarget { // as it was written
		*target = url.URL{Opaque: c.RequestTarget}
	}
	target.Scheme, target.Host = "http", relay
	r, err := http.NewRequest(c.Method, "http://"+relay, nil)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	r.URL, r.Host = target, c.Host
	r.Header = c.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.ContentLength = int64(len(c.Body))
	if len(c.Body) > 0 {
		r.Body = io.NopCloser(strings.NewReader("")) // each request gets its own
	}
	return r, nil
}

// A search is the state of one Run.
type search struct {
	relay  *relay
	driver driver
	limits limits
	steps  []step
	good   [][]int64 // of each step, how long its good answers took; sorted
	used   int
	result record.Probe
}

// run goes from step to step until next has a verdict or the time is up.
func (s *search) run(ctx context.Context) error {
	began := time.Now()
	for {
		shape, end := next(s.steps, time.Since(began), s.used, s.limits)
		if end != nil {
			s.result.Limit, s.result.CapacityPerSecond = end.limit, end.capacity
			break
		}
		if err := s.take(ctx, shape); err != nil {
			return err
		}
		if ctx.Err() != nil {
			s.result.Limit = record.ProbeTime
			break
		}
	}
	s.result.Duration = int64(time.Since(began))
	s.result.Latency = record.Summary(s.healthy())
	return nil
}

// take does one step and books it.
func (s *search) take(ctx context.Context, shape shape) error {
	cpu, began := processorTime(), time.Now()
	b, err := s.driver.drive(ctx, shape)
	if err != nil {
		return err
	}
	b.own = float64(processorTime()-cpu) / float64(time.Since(began)) / float64(runtime.NumCPU())
	s.relay.hangUp()
	b.fold(s.relay.take())
	s.used += int(b.requests)
	s.steps = append(s.steps, b.figures())
	times := b.times(true)
	if len(times) == 0 { // no connection outlived its answer
		times = b.times(false)
	}
	s.good = append(s.good, times)
	s.book(b)
	return nil
}

// healthy returns how long good answers took in the steps below the limit.
func (s *search) healthy() []int64 {
	var list, all []int64
	for i, st := range s.steps {
		all = append(all, s.good[i]...)
		if st.badShare > rejectedShare || st.mode == hold {
			continue
		}
		if first := s.steps[0].p50; st.mode == closed && (st.p50 == nil || first == nil || *st.p50 > 2**first) {
			continue
		}
		list = append(list, s.good[i]...)
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// book adds the last step to the result.
func (s *search) book(b batch) {
	p := &s.result
	p.Steps = append(p.Steps, s.steps[len(s.steps)-1].public())
	p.Requests += b.requests
	p.Connections += b.connections
	for _, a := range b.samples {
		p.ByStatus[strconv.Itoa(a.status)]++
	}
	for kind, n := range b.errors {
		if n > 0 {
			p.Errors[kind] += n
		}
	}
}
