package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"
	"time"

	"stormtest/load/retry"
	"stormtest/target"
)

// traceHeader names the columns of a trace. Moments are in ns since the run's t0.
// sent_ns is empty where the attempt was not let out (outcome short_circuited), arrived_ns where it did not reach the
// target, the last two columns where no retry follows.
const traceHeader = "strategy,client,operation,attempt,due_ns,sent_ns,arrived_ns,end_ns,outcome,decision,next_delay_ns,next_draw_ns\n"

// traceEvery is how often the rows so far are written, so that a program that is killed has written
// all but those of the last second; traceBytes is how many are kept until then.
const (
	traceEvery = time.Second
	traceBytes = 1 << 20
)

// A tracer writes one CSV row for each attempt, in the order in which they end; a write is of whole
// rows. Safe for concurrent use; nil writes nothing.
type tracer struct {
	gone func() // called where the reader of a pipe has gone: nobody waits for the rest

	mu  sync.Mutex
	out *bufio.Writer
	row []byte
	err error
}

// startTracer returns a tracer that writes its rows every traceEvery until stop is called. The rows
// since then are for flush.
func startTracer(ctx context.Context, w io.Writer, gone func()) (t *tracer, stop func()) {
	if w == nil {
		return nil, func() {}
	}
	t = &tracer{gone: gone, out: bufio.NewWriterSize(w, traceBytes)}
	_, t.err = t.out.WriteString(traceHeader)
	var wg sync.WaitGroup
	flushing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	wg.Go(func() {
		every(flushing, time.Now().Add(traceEvery), traceEvery, func() { _ = t.flush() }) // the last flush tells
	})
	return t, func() { cancel(); wg.Wait() }
}

func (t *tracer) write(strategy string, r retry.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	b := append(t.row[:0], strategy...)
	for _, n := range [...]int64{int64(r.Client), r.Operation, int64(r.Attempt), int64(r.Due)} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	b = appendKnown(append(b, ','), r.Sent >= 0, r.Sent)
	b = appendKnown(append(b, ','), r.Arrived >= 0, r.Arrived)
	b = strconv.AppendInt(append(b, ','), int64(r.End), 10)
	b = append(append(b, ','), r.Outcome.String()...)
	b = append(b, ',')
	if d := r.Decision; d.Retry || d.Reason != retry.Retrying { // else another attempt of the operation decides
		b = append(b, d.Reason.String()...)
	}
	b = appendKnown(append(b, ','), r.Decision.Retry, r.Decision.Delay)
	b = appendKnown(append(b, ','), r.Decision.Retry, r.Decision.Draw)
	t.add(append(b, '\n'))
}

// add writes a row behind those before it, which are written first where there is no room for all of it. The
// caller holds mu.
func (t *tracer) add(row []byte) {
	t.row = row
	if len(row) > t.out.Available() {
		if t.push(); t.err != nil {
			return
		}
	}
	_, t.err = t.out.Write(row)
}

// push writes the rows so far. The caller holds mu.
func (t *tracer) push() {
	if t.err = t.out.Flush(); errors.Is(t.err, syscall.EPIPE) {
		t.gone()
	}
}

// writeOutside writes what the target saw of an attempt that is not ours: its other columns are empty.
// An attempt that nobody can number has no number, and one without an answer at the end no outcome.
func (t *tracer) writeOutside(h target.Handled, end time.Duration, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	b := append(t.row[:0], Outside...)
	b = appendKnown(append(b, ','), h.Client != target.Unknown, time.Duration(h.Client))
	b = appendKnown(append(b, ",,"...), h.Attempt != target.UnknownAttempt, time.Duration(h.Attempt))
	b = strconv.AppendInt(append(b, ",,,"...), int64(h.At), 10)
	b = strconv.AppendInt(append(b, ','), int64(end), 10)
	if b = append(b, ','); h.Status != 0 {
		b = strconv.AppendInt(b, int64(h.Status), 10)
	}
	t.add(append(append(b, outcome...), ",,,\n"...))
}

func appendKnown(b []byte, known bool, d time.Duration) []byte {
	if !known {
		return b
	}
	return strconv.AppendInt(b, int64(d), 10)
}

// flush writes the rows so far and returns the first error of any write.
func (t *tracer) flush() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.push()
	}
	if t.err != nil {
		return fmt.Errorf("load: write the trace: %w", t.err)
	}
	return nil
}
