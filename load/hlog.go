package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"stormtest/load/record"
)

// When a bucket is written. A program that is killed has written the buckets that ended hlogGrace + hlogEvery
// before, under a second ago; the bucket under way is lost too, whatever its width.
const (
	// hlogEvery is how often the closed buckets are written, hlogPhase when in a bucket of
	// 100 ms: waves begin with a bucket more often than elsewhere.
	hlogEvery = 500 * time.Millisecond
	hlogPhase = 50 * time.Millisecond
	// hlogGrace is how long after its end a bucket is taken to be complete.
	hlogGrace = 300 * time.Millisecond
)

// An hlogger writes the histogram log of an invocation while its runs go on; see
// [record.HLogEncoder] for what it holds. Each call is one write of whole lines. nil writes
// nothing. Not safe for concurrent use: follow is over before end is called.
type hlogger struct {
	out    io.Writer
	base   time.Time
	encode record.HLogEncoder
	lines  []byte
	err    error // the first of any write, after which nothing is written
	gone   func()
}

// newHLogger returns one that calls gone where the reader of a pipe has gone: nobody waits for the rest.
func newHLogger(w io.Writer, r *record.Result, gone func()) *hlogger {
	if w == nil {
		return nil
	}
	h := &hlogger{out: w, base: r.StartedAt, gone: gone}
	header := record.HLogHeader{Tool: r.Tool, Plan: r.Plan, PlanHash: r.PlanHash, Seed: r.Seed, StartedAt: r.StartedAt}
	h.write(h.encode.Header(nil, header))
	return h
}

func (h *hlogger) write(lines []byte) {
	h.lines = lines[:0]
	if h.err != nil || len(lines) == 0 {
		return
	}
	if _, h.err = h.out.Write(lines); errors.Is(h.err, syscall.EPIPE) {
		h.gone()
	}
}

// begin says that a run begins, whose T0 is set.
func (h *hlogger) begin(run record.HLogRun) {
	if h != nil {
		h.write(h.encode.Run(h.lines, run))
	}
}

// follow says that a run begins at t0, and writes its buckets as they close, until ctx is cancelled.
func (h *hlogger) follow(ctx context.Context, t0 time.Time, run record.HLogRun, r *record.Recorder) {
	if h == nil {
		return
	}
	run.T0 = max(0, t0.Sub(h.base))
	h.begin(run)
	every(ctx, t0.Add(hlogPhase), hlogEvery, func() { h.buckets(r, time.Since(t0)-hlogGrace) })
}

// every calls f at from, then once a period until ctx is cancelled. A period that f itself took is
// left out.
func every(ctx context.Context, from time.Time, period time.Duration, f func()) {
	timer := time.NewTimer(time.Until(from))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		f()
		for from = from.Add(period); time.Until(from) <= 0; {
			from = from.Add(period)
		}
		timer.Reset(time.Until(from))
	}
}

// buckets writes those that ended by until.
func (h *hlogger) buckets(r *record.Recorder, until time.Duration) {
	if h == nil {
		return
	}
	lines := h.lines
	for {
		x, ok := r.Export(until)
		if !ok {
			break
		}
		lines = h.encode.Interval(lines, x)
	}
	h.write(lines)
}

// end writes the rest of a run that is over, and that it is.
func (h *hlogger) end(r *record.Recorder, run *record.Run, interrupted bool) {
	if h == nil {
		return
	}
	h.buckets(r, time.Duration(len(run.Buckets))*run.Bucket)
	lines := h.lines
	for _, x := range r.ExportLate() {
		lines = h.encode.Interval(lines, x)
	}
	h.write(h.encode.End(lines, record.HLogEnd{
		Strategy: run.Strategy, Duration: run.Duration, Arrivals: run.Books.Arrivals, Interrupted: interrupted,
	}))
}

// done writes that every run is over, and returns the first error of any write.
func (h *hlogger) done(complete bool) error {
	if h == nil {
		return nil
	}
	if complete {
		h.write(h.encode.Done(h.lines))
	}
	if h.err != nil {
		return fmt.Errorf("load: write the histogram log: %w", h.err)
	}
	return nil
}
