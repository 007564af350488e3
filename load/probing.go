package load

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"stormtest/load/plan"
	"stormtest/load/probe"
	"stormtest/load/record"
	"stormtest/load/remote"
)

// Probe takes the healthy baseline of the plan's URL, which must not be empty, and nothing else: it sends
// some thousand requests at most for some 8 s. The end of ctx ends it, with what was measured until then.
//
// Its requests are HTTP/1.1, so that a plan of HTTP/2 alone is refused. IsUsage tells the plan's faults from
// those of the target.
func Probe(ctx context.Context, p plan.Plan, env Env) (*record.Probe, error) {
	if p.HTTP == plan.HTTP2 {
		return nil, &remote.FieldError{Field: "http", Got: p.HTTP, Want: "auto or 1.1: a probe speaks HTTP/1.1"}
	}
	e, err := newElsewhere(ctx, p, env)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return e.baseline(ctx, p, env)
}

// measure takes the baseline before the first storm. A target that cannot be probed can still
// be stormed; why there is no capacity then is noted.
func (e *elsewhere) measure(ctx context.Context, p plan.Plan, env Env) {
	switch {
	case p.Probe == plan.ProbeOff:
		return
	case !p.Probes():
		e.unprobed = "it would send " + p.Method + " some thousand times, which may change what the target holds; --probe on does so"
		return
	case p.HTTP == plan.HTTP2 && e.tls == nil:
		e.unprobed = "a probe speaks HTTP/1.1, and --http 2 was asked for"
		return
	}
	if env.Probing != nil {
		env.Probing()
	}
	found, err := e.baseline(ctx, p, env)
	if err != nil {
		e.unprobed = strings.TrimPrefix(err.Error(), "probe: ") // "no probe" stands before it
		return
	}
	e.probe, e.capacity = found, found.CapacityPerSecond
}

// Between storms on a target that nobody has a baseline of there is a pause.
const pauseBetween = 2 * time.Second

// slack is what an answer of a target at rest may take beside twice the healthy p90.
const slack = 5 * time.Millisecond

// calm waits until a target that was loaded before, by the probe or by another strategy, has worked that
// off, and says what was done.
func (e *elsewhere) calm(ctx context.Context, p plan.Plan, env Env) string {
	if e.probe == nil || e.probe.Latency.P90 == nil {
		timer := time.NewTimer(pauseBetween)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return fmt.Sprintf("before this storm there was a pause of %v and no more: without a healthy baseline nobody knows whether the target had worked off the one before", pauseBetween)
	}
	within := max(2*time.Duration(*e.probe.Latency.P90), slack)
	done, err := probe.Settle(ctx, e.asking(p, env), within)
	within, took := within.Round(10*time.Microsecond), done.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		return "nobody waited for the target to come to rest before this storm: " + err.Error()
	case !done.Rested:
		return fmt.Sprintf("the target had not come to rest when this storm began: within %v and %d requests there were no three good answers in a row within %v", took, done.Requests, within)
	}
	return fmt.Sprintf("the target had come to rest before this storm: three good answers in a row within %v, after %v and %d requests", within, took, done.Requests)
}

// baseline probes the target.
func (e *elsewhere) baseline(ctx context.Context, p plan.Plan, env Env) (*record.Probe, error) {
	return probe.Run(ctx, e.asking(p, env))
}

// asking is how a probe asks the target: over connections that are verified as the storm's are, in turn at
// all of its addresses.
func (e *elsewhere) asking(p plan.Plan, env Env) probe.Config {
	spoken := *e
	if spoken.tls = e.tls.Clone(); spoken.tls != nil {
		spoken.tls.NextProtos = []string{remoteHTTP1}
	}
	var client atomic.Int32
	first := strings.NewReplacer("{client}", "0", "{operation}", "0", "{attempt}", "0")
	c := probe.Config{
		Method:        p.Method,
		RequestTarget: first.Replace(e.site.RequestTarget()),
		Host:          e.site.Authority(),
		Header:        http.Header{"User-Agent": {"stormtest/" + env.Version}},
		Body:          []byte(first.Replace(string(e.body))),
		Timeout:       p.Timeout,
		Dial: func(ctx context.Context) (net.Conn, error) {
			return spoken.dial(ctx, int(client.Add(1)-1), false)
		},
	}
	if !p.KeepAlive {
		c.Header.Set("Connection", "close")
	}
	given := http.Header{}
	for _, h := range p.Headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.EqualFold(name, "Host") {
			c.Host = first.Replace(value)
			continue
		}
		given.Add(name, first.Replace(value))
	}
	for name, values := range given {
		c.Header[name] = values
	}
	return c
}

// remoteHTTP1 is HTTP/1.1 in ALPN's words.
const remoteHTTP1 = "http/1.1"
