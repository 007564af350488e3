package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rakyll/hey/requester"
)

// This file is the only one that knows hey (v0.1.5). What its requester does that a caller would not
// expect, and what is done about it here; each has a test of its name in hey_test.go:
//
//   - Printing: it prints instead of returning, to stdout unless told. It writes into our buffer.
//   - Resolution: its CSV has four decimals of a second. Its output is a template, and ours prints
//     every figure in full.
//   - Summary: its summary swaps least and most, and its percentiles are of rounded indices. We take single
//     answers and reduce them ourselves.
//   - Failures: requests without an answer are in no list. They are counted from its table of error texts,
//     which has a row for each port and so is folded into a few kinds.
//   - Results: it forgets what is beyond 1,000,000 answers. More are never asked of it, and answers and
//     errors must add up to what it says it did.
//   - Remainder: N requests by C workers are N/C each, and the rest is dropped. Every worker is a
//     Work of its own with C = 1, and we share out the rest.
//   - Race: its workers write to the http.Client that they share. C = 1 again.
//   - Pace: QPS is of each worker and not of all, and its tickers begin together, so that C workers send in
//     clumps of C. Each of ours has its part of the rate, and begins in its turn.
//   - Overrun: a worker that waits for its turn cannot be stopped and sends once more. Such a request is
//     given a context that has ended, so that it is neither sent nor counted.
//   - Stop: it blocks before Init, and a second time for ever. It is called once, after Init.
//   - Hang: it stops only between requests. Our context ends those in flight, but for a moment of grace.
//   - Timeout: it is in whole seconds and none by default. Our context has the deadline; so reading a
//     body, whose error it throws away, is bounded too.
//   - Cut: it throws away the error of reading a body, so that half an answer counts as whole. The relay
//     reads along and counts those.
//   - Offset: its offsets are since its package was loaded. They are counted from when a batch begins.
//   - Redirects: it follows them, past whatever our relay was told to connect. It is told not to.
//   - Compression: it asks for gzip and unpacks it. It is told not to.
//   - TLS: it accepts every certificate. It is only ever given an http URL of our relay on loopback, behind
//     which lies the caller's verified connection; so unix sockets and client certificates work too.
//   - Leak: it never closes its connections, nor the two goroutines of each. The relay does.
//   - Proxy: none unless it is given one, whatever the environment says. It is given none.
//   - Again: net/http sends a request again where the service closed the connection under it. What is counted
//     as sent is what was written.
//   - Connecting: the time of a connection's first request holds the connecting. Such answers are marked.

// The kinds of errors.
const (
	errorConnect   = "connect" // no connection to the target
	errorTimeout   = "timeout"
	errorReset     = "reset"     // the target broke the connection
	errorClosed    = "closed"    // it closed the connection without an answer
	errorCut       = "cut"       // it ended the connection inside an answer
	errorMalformed = "malformed" // not HTTP
	errorOther     = "other"
)

// kindOf folds the text of an error of net/http, `Get "URL": what`. ok is false for what we ended ourselves.
func kindOf(text string) (kind string, ok bool) {
	if _, what, found := strings.Cut(text, `": `); found {
		text = what // the URL is the user's, and may hold any of these words
	}
	for _, k := range []struct{ part, kind string }{
		{"context canceled", ""},
		{"context deadline exceeded", errorTimeout},
		{"i/o timeout", errorTimeout},
		{"malformed", errorMalformed},
		{"connection reset", errorReset},
		{"broken pipe", errorReset},
		{"EOF", errorClosed},
		{"server closed", errorClosed},
		{"connection broken", errorClosed},
	} {
		if strings.Contains(text, k.part) {
			return k.kind, k.kind != ""
		}
	}
	return errorOther, true
}

// resultsMost is what hey remembers of one run.
const resultsMost = 1_000_000

// A driver makes requests of one kind through a relay. Not safe for concurrent use.
type driver struct {
	request *http.Request // to the relay; never changed
	body    []byte
	timeout time.Duration
	opened  func(local string) // is told the address of each connection
}

// heyOutput prints what of a run is wanted, in full.
const heyOutput = "{{jsonify .Lats}}\n{{jsonify .Offsets}}\n{{jsonify .ConnLats}}\n{{jsonify .StatusCodes}}\n{{jsonify .ErrorDist}}\n{{.NumRes}}\n"

// A worker is one connection's share of a batch.
type worker struct {
	work   *requester.Work
	out    bytes.Buffer
	wait   time.Duration      // before it begins
	cancel context.CancelFunc // of its last request
	sends  []time.Duration    // moments of its requests, since the batch began
}

// drive puts s on the relay and returns what came of it. It returns when every worker has ended: sending
// ends after s.length, what is in flight then may finish, and the end of ctx ends all within grace. A worker
// that waits for its turn ends with it, so this takes up to s.workers/s.perSecond longer.
func (d *driver) drive(ctx context.Context, s shape) (batch, error) {
	// Not below ctx: a deadline of it would look like the timeouts of the requests in flight.
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	b := batch{shape: s, errors: map[string]int64{}}
	var stopping atomic.Bool
	var written atomic.Int64
	began := time.Now()
	sending := httptrace.WithClientTrace(requests, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				d.opened(info.Conn.LocalAddr().String())
			}
		},
		WroteHeaders: func() { written.Add(1) },
	})
	workers := make([]*worker, 0, s.workers)
	for i := range min(s.workers, s.requests) {
		workers = append(workers, d.worker(sending, s, i, began, &stopping))
	}
	stop := sync.OnceFunc(func() {
		stopping.Store(true)
		for _, w := range workers {
			w.work.Stop()
		}
	})
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.run(ctx) })
	}
	halt := time.AfterFunc(s.length, stop)
	defer halt.Stop()
	defer context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(grace, cancel)
	})()
	wg.Wait()
	b.elapsed, b.requests = time.Since(began), written.Load()
	return b, d.collect(&b, workers)
}

// grace is what requests in flight get at the end of a context. An answer that comes while its request is
// cancelled has two goroutines of hey write its times; so what is about to be answered is let be.
const grace = 100 * time.Millisecond

// worker prepares the i-th worker of s.
func (d *driver) worker(ctx context.Context, s shape, i int, began time.Time, stopping *atomic.Bool) *worker {
	w := &worker{cancel: func() {}}
	quota := s.requests / s.workers
	if i < s.requests%s.workers {
		quota++
	}
	ended, end := context.WithCancel(ctx)
	end()
	w.work = &requester.Work{
		Request: d.request,
		RequestFunc: func() *http.Request {
			w.cancel() // the one before is over
			if stopping.Load() {
				return d.request.WithContext(ended)
			}
			w.sends = append(w.sends, time.Since(began))
			var sending context.Context
			sending, w.cancel = context.WithTimeout(ctx, d.timeout)
			r := d.request.WithContext(sending)
			if len(d.body) > 0 {
				r.Body = io.NopCloser(bytes.NewReader(d.body))
			}
			return r
		},
		N: min(quota, resultsMost), C: 1,
		DisableCompression: true, DisableRedirects: true,
		Output: heyOutput, Writer: &w.out,
	}
	if s.perSecond > 0 {
		turn := float64(s.workers) / s.perSecond // seconds
		w.work.QPS = 1 / turn
		w.wait = time.Duration(float64(i) / float64(s.workers) * turn * float64(time.Second))
	}
	w.work.Init() // Stop would wait for it
	return w
}

// run waits for the worker's turn to begin and lets it work.
func (w *worker) run(ctx context.Context) {
	defer func() { w.cancel() }()
	turn := time.NewTimer(w.wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		w.work.Run()
	case <-ctx.Done():
	}
}

// collect reads what the workers printed.
func (d *driver) collect(b *batch, workers []*worker) error {
	runs := make([]heyRun, len(workers))
	for i, w := range workers {
		var err error
		if runs[i], err = readRun(&w.out); err != nil {
			return fmt.Errorf("probe: what hey printed: %w", err)
		}
		b.sends = append(b.sends, w.sends...)
	}
	zero := heyZero(workers, runs)
	for i, run := range runs {
		var last time.Duration
		for j, took := range run.took {
			a := sample{sent: seconds(run.offset[j]) - zero, took: seconds(took), status: run.status[j], fresh: run.connect[j] > 0}
			last = max(last, a.done())
			if a.took >= d.timeout { // while its body was read
				b.errors[errorTimeout]++
				continue
			}
			b.samples = append(b.samples, a)
		}
		for text, n := range run.errors {
			if kind, ok := kindOf(text); ok {
				b.errors[kind] += n
			}
		}
		if w := workers[i]; len(w.sends) == w.work.N && last > 0 && (b.spent == 0 || last < b.spent) {
			b.spent = last
		}
	}
	return nil
}

// A heyRun is what one Work printed. The lists run in parallel, one element an answer, in seconds.
type heyRun struct {
	took, offset, connect []float64
	status                []int
	errors                map[string]int64 // by text
}

// readRun reads heyOutput; nothing was printed by a worker that was never begun.
func readRun(r *bytes.Buffer) (heyRun, error) {
	var h heyRun
	var results int64
	if r.Len() == 0 {
		return h, nil
	}
	decoder := json.NewDecoder(r)
	for _, into := range []any{&h.took, &h.offset, &h.connect, &h.status, &h.errors, &results} {
		if err := decoder.Decode(into); err != nil {
			return h, err
		}
	}
	n := len(h.took)
	if len(h.offset) != n || len(h.connect) != n || len(h.status) != n {
		return h, errors.New("lists of unequal length")
	}
	sum := int64(n)
	for _, count := range h.errors {
		sum += count
	}
	if sum != results {
		return h, fmt.Errorf("%d results, and %d of them told", results, sum)
	}
	return h, nil
}

// heyZero is the moment that the batch began, by hey's clock. hey takes the time of a request just before
// it asks us for it. A worker without failures tells exactly; one with failures has more requests
// than answers, and its i-th answer belongs to its i-th request or a later one.
func heyZero(workers []*worker, runs []heyRun) time.Duration {
	var exact, atMost []time.Duration
	for i, w := range workers {
		for j := range min(len(runs[i].offset), len(w.sends)) {
			zero := seconds(runs[i].offset[j]) - w.sends[j]
			if len(w.sends) == len(runs[i].offset) {
				exact = append(exact, zero)
			} else {
				atMost = append(atMost, zero)
			}
		}
	}
	switch {
	case len(exact) > 0:
		return slices.Max(exact)
	case len(atMost) > 0:
		return slices.Min(atMost)
	}
	return 0
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
