package load_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// A tape keeps what was written and when, so that a test can see what a kill at any moment would
// have left.
type tape struct {
	writes []written
}

type written struct {
	at   time.Time
	text string
}

func (t *tape) Write(b []byte) (int, error) {
	t.writes = append(t.writes, written{time.Now(), string(b)})
	return len(b), nil
}

// until is what had been written by a moment.
func (t *tape) until(at time.Time) string {
	var b strings.Builder
	for _, w := range t.writes {
		if !w.at.After(at) {
			b.WriteString(w.text)
		}
	}
	return b.String()
}

// logged runs a plan in a bubble with a log and a trace, until its end or a moment.
func logged(t *testing.T, until time.Duration, lines ...string) (result *record.Result, log, trace *tape) {
	t.Helper()
	p := scenario(t, lines...)
	log, trace = new(tape), new(tape)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if until > 0 {
			defer time.AfterFunc(until, cancel).Stop()
		}
		var err error
		result, err = load.Run(ctx, p, load.Env{Version: "1", Network: memory, Wake: wake.Timers, HLog: log, Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
	})
	return result, log, trace
}

func readLog(t *testing.T, text string) *record.Result {
	t.Helper()
	log, err := record.ReadHLog([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return log.Result()
}

// The log of every strategy holds the arrivals of every bucket, as the result does.
func TestLogHoldsTheArrivals(t *testing.T) {
	for _, until := range []time.Duration{0, 2345 * time.Millisecond} {
		result, log, _ := logged(t, until, "strategy: full,none", "clients: 200", "duration: 4s", "capacity: 100/s")
		got := readLog(t, log.until(time.Now()))
		if got.Interrupted != (until > 0) || result.Interrupted != got.Interrupted || got.PlanHash != result.PlanHash || got.Seed != result.Seed || !got.StartedAt.Equal(result.StartedAt) {
			t.Errorf("the log is of %+v, the result of %+v", got, result)
		}
		if len(got.Runs) != len(result.Runs) {
			t.Fatalf("%d runs in the log, %d in the result", len(got.Runs), len(result.Runs))
		}
		for i, run := range result.Runs {
			in := got.Runs[i]
			if in.Strategy != run.Strategy || in.Duration != run.Duration || len(in.Buckets) != len(run.Buckets) || !in.FromLog.Complete {
				t.Fatalf("run %d in the log: %s, %v, %d buckets; want %s, %v, %d", i, in.Strategy, in.Duration, len(in.Buckets), run.Strategy, run.Duration, len(run.Buckets))
			}
			for k, b := range run.Buckets {
				if in.Buckets[k].Arrivals != b.Arrivals || in.Buckets[k].At != b.At {
					t.Errorf("%s, bucket %d: %d arrivals in the log, %d in the result", run.Strategy, k, in.Buckets[k].Arrivals, b.Arrivals)
				}
			}
		}
	}
}

// A program that is killed at any moment has written every bucket that ended a second before, and every
// row of the trace of an attempt that ended a second before; and only whole lines.
func TestAKillLeavesAllButTheLastSecond(t *testing.T) {
	result, log, trace := logged(t, 0, "strategy: full", "clients: 300", "duration: 5s", "capacity: 50/s", "timeout: 500ms")
	run := result.Runs[0]
	rows := readTrace(t, trace.until(time.Now()))
	start := log.writes[0].at
	for at := time.Duration(0); at < 6*time.Second; at += 7 * time.Millisecond {
		kill := start.Add(at)
		left := log.until(kill)
		if !strings.HasSuffix(left, "\n") {
			t.Fatalf("a kill after %v leaves a line that is cut", at)
		}
		var got []record.Bucket
		if r := readLog(t, left); len(r.Runs) > 0 {
			got = r.Runs[0].Buckets
		}
		// t0 is up to 50 ms after the log began, so a bucket's end is at least as late.
		for i, b := range run.Buckets {
			if b.At+run.Bucket+50*time.Millisecond > at-time.Second {
				break
			}
			if i >= len(got) || got[i].Arrivals != b.Arrivals {
				t.Fatalf("a kill after %v leaves %d buckets; bucket %d has %d arrivals", at, len(got), i, b.Arrivals)
			}
		}
		text := trace.until(kill)
		if text != "" && !strings.HasSuffix(text, "\n") {
			t.Fatalf("a kill after %v leaves a row that is cut", at)
		}
		n := max(0, strings.Count(text, "\n")-1)
		for _, row := range rows[n:] {
			if row.end+50*time.Millisecond <= at-time.Second {
				t.Fatalf("a kill after %v loses the attempt that ended at %v", at, row.end)
			}
		}
	}
}

// A log that cannot be written is told, and the run goes on.
func TestALogThatCannotBeWrittenIsToldOnce(t *testing.T) {
	full := errors.New("the disk is full")
	synctest.Test(t, func(t *testing.T) {
		r, err := load.Run(t.Context(), scenario(t, "strategy: full", "clients: 10", "duration: 2s"), load.Env{Network: memory, Wake: wake.Timers, HLog: failing{full}})
		if !errors.Is(err, full) || strings.Count(err.Error(), full.Error()) != 1 || len(r.Runs) != 1 {
			t.Errorf("error = %v, %d runs", err, len(r.Runs))
		}
	})
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A full buffer of the trace is written at the end of a row.
func TestATraceIsWrittenInWholeRows(t *testing.T) {
	_, _, trace := logged(t, 0, "strategy: immediate", "clients: 100", "duration: 900ms", "capacity: 20000/s", "operations: 100000", "workers: 1", "queue: 1000")
	large := 0
	for _, w := range trace.writes {
		if !bytes.HasSuffix([]byte(w.text), []byte("\n")) {
			t.Fatalf("a write of %d bytes ends inside a row", len(w.text))
		}
		if len(w.text) > 1<<19 {
			large++
		}
	}
	if large == 0 {
		t.Errorf("no write of a full buffer: %d writes", len(trace.writes))
	}
}
