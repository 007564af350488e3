package load_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// The transport without sockets does to the target, and to the clients, what connections do.
//
// Method: each plan runs twice in a bubble, where nobody is late, with one seed: over the
// in-memory network, goroutines, HTTP and all, and handed over. Both must count the same of
// everything: in every bucket, by outcome, by reason and in the books. The plans are jittered, and
// the fleet starts over a ramp, so that no two attempts are due at one moment: who is first of those
// due together is settled by the order of goroutines on one side. In an open loop that order also
// settles who of the idle clients is next, so nothing is drawn there but the arrivals.
func TestMemoryDoesWhatConnectionsDo(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
	}{
		{"full", []string{"strategy: full", "clients: 1000"}},
		{"equal", []string{"strategy: equal", "clients: 1000", "queue: 10"}},
		{"decorrelated", []string{"strategy: decorrelated", "clients: 1000", "workers: 7", "queue: 3", "service: exp"}},
		{"many operations", []string{"strategy: full", "clients: 100", "operations: 1003", "capacity: 200/s", "max-retries: 4"}},
		{"fewer operations than clients", []string{"strategy: full", "clients: 100", "operations: 7", "capacity: 5/s"}},
		{"ramp", []string{"strategy: full", "clients: 500", "ramp: 5s", "capacity: 80/s"}},
		{"max elapsed", []string{"strategy: full", "clients: 300", "capacity: 20/s", "max-elapsed: 3s"}},
		{"out of time before the end", []string{"strategy: full", "clients: 300", "capacity: 0", "duration: 4.0037s"}},
		{"token bucket", []string{"strategy: full", "clients: 300", "model: token-bucket", "burst: 40", "capacity: 50/s"}},
		{"retry-after", []string{"strategy: full", "clients: 300", "capacity: 50/s", "send-retry-after: 2s", "queue: 5"}},
		{"retry-after from the backlog", []string{"strategy: full", "clients: 300", "capacity: 50/s", "send-retry-after: auto", "queue: 200", "timeout: 1s"}},
		{"timeouts, processed", []string{"strategy: full", "clients: 300", "capacity: 50/s", "queue: 100", "timeout: 700ms", "abandoned: process"}},
		{"timeouts, cancelled", []string{"strategy: full", "clients: 300", "capacity: 50/s", "queue: 100", "timeout: 700ms", "abandoned: cancel"}},
		{"status", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "outage: ['2.0001s..4.0001s=status']", "duration: 7.0037s"}},
		{"hang", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "timeout: 400ms", "outage: ['2.0001s..4.0001s=hang']", "duration: 7.0037s"}},
		{"hang to the end", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "outage: ['2.0001s..40s=hang']", "duration: 6.0037s"}},
		{"reset", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "retry-on: reset,503", "outage: ['2.0001s..4.0001s=reset']", "duration: 7.0037s"}},
		{"refuse", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "queue: 50", "retry-on: connect,reset,503", "outage: ['2.0001s..4.0001s=refuse']", "duration: 7.0037s"}},
		{"refuse after hang", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "retry-on: connect,reset,503",
			"outage: ['1s..2.0001s=hang','2.0001s..4.0001s=refuse']", "duration: 7s"}},
		{"slow", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "queue: 5", "outage: ['2.0001s..4.0001s=slow:4']", "duration: 7.0037s"}},
		{"frozen", []string{"strategy: full", "clients: 200", "operations: 100000", "capacity: 100/s", "queue: 5", "timeout: 900ms", "outage: ['2.0001s..4.0001s=capacity:0%']", "duration: 7.0037s"}},
		{"rate", []string{"strategy: none", "base: 103.7ms", "clients: 100", "rate: 83/s", "capacity: 100/s", "queue: 20", "timeout: 700ms", "outage: ['3s..5s']", "max-retries: 3", "duration: 12.0037s"}},
		{"rate, hang to the end", []string{"strategy: none", "base: 103.7ms", "clients: 150", "rate: 83/s", "arrivals: poisson", "capacity: 300/s", "timeout: 3s", "outage: ['10s..40s=hang']", "duration: 12.0037s"}},
		{"poisson", []string{"strategy: none", "base: 103.7ms", "clients: 300", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "queue: 20", "outage: ['3s..5s=hang']", "timeout: 700ms", "duration: 12.0037s"}},
		{"poisson, bounded", []string{"strategy: none", "base: 103.7ms", "clients: 300", "rate: 83/s", "arrivals: poisson", "operations: 300", "capacity: 100/s"}},
		{"fleet too small", []string{"strategy: none", "base: 103.7ms", "clients: 5", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "outage: ['3s..5s']", "duration: 12.0037s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := tt.lines
			if joined := strings.Join(lines, "\n"); !strings.Contains(joined, "ramp:") && !strings.Contains(joined, "rate:") {
				lines = append(lines, "ramp: 97.3ms")
			}
			p := scenario(t, lines...)
			over, _ := bubble(t, p, 0)
			p.Transport = plan.TransportMemory
			handed, rows := bubble(t, p, 0)
			got, want := tally(&handed.Runs[0]), tally(&over.Runs[0])
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("handed over:\n%s\nover connections:\n%s", strings.Join(got[i:min(i+5, len(got))], "\n"), strings.Join(want[i:min(i+5, len(want))], "\n"))
				}
			}
			for _, r := range rows {
				if r.sent != r.due || r.arrived >= 0 && r.arrived != r.due {
					t.Fatalf("client %d sent attempt %d at %v, which arrived at %v, due %v", r.client, r.number, r.sent, r.arrived, r.due)
				}
			}
		})
	}
}

// tally lists what a run counted, one thing a line.
func tally(r *record.Run) []string {
	unstarted := int64(-1)
	if r.Operations.Unstarted != nil {
		unstarted = *r.Operations.Unstarted
	}
	ops := r.Operations
	lines := []string{
		fmt.Sprint("operations ", ops.Started, ops.Succeeded, ops.GaveUp, ops.Unfinished, unstarted),
		fmt.Sprint("attempts ", r.Attempts),
		fmt.Sprint("lost ", r.Books.Lost),
		fmt.Sprint("hints ", r.Hints),
		fmt.Sprint("end ", r.Duration),
		fmt.Sprint("delays ", r.Delay.Count, *r.Delay.Mean),
	}
	for _, b := range r.Buckets {
		if b.At >= r.Duration {
			break // what the target finishes after the end
		}
		lines = append(lines, fmt.Sprintf("%v: %d arrivals, %d first, %d retries, %d served, %d wasted, %d rejected", b.At, b.Arrivals, b.First, b.Retries, b.Served, b.Wasted, b.Rejected))
	}
	return lines
}

// An interrupted run keeps what it measured.
func TestMemoryInterrupted(t *testing.T) {
	p := scenario(t, "strategy: none,full", "clients: 100", "capacity: 10/s", "queue: 5", "duration: 1h", "transport: memory")
	result, _ := bubble(t, p, 2*time.Second)
	if !result.Interrupted || len(result.Runs) != 1 {
		t.Fatalf("interrupted = %v with %d runs, want true with the first of two", result.Interrupted, len(result.Runs))
	}
	run := result.Runs[0]
	if run.Operations.Unfinished == 0 || run.Attempts.InFlightAtEnd == 0 {
		t.Errorf("unfinished = %d, in flight = %d, want both above 0", run.Operations.Unfinished, run.Attempts.InFlightAtEnd)
	}
}

// A fleet of more clients than there are ports runs, and its report says how.
func TestMemoryNeedsNoDescriptors(t *testing.T) {
	p := scenario(t, "strategy: none", "clients: 100000", "max-retries: 0", "duration: 1s", "transport: memory")
	var result *record.Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if result, err = load.Run(t.Context(), p, load.Env{Wake: wake.Timers}); err != nil {
			t.Fatal(err)
		}
	})
	run := result.Runs[0]
	if !run.Books.Balanced {
		t.Errorf("the books do not balance: %v", run.Books.Faults)
	}
	if run.Books.Arrivals != 100_000 || run.Operations.Succeeded != 1 || run.Generator.Connections != 0 {
		t.Errorf("arrivals = %d, succeeded = %d, connections = %d; want 100000, 1 and 0", run.Books.Arrivals, run.Operations.Succeeded, run.Generator.Connections)
	}
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, "transport memory: ") {
		t.Errorf("notes = %q do not say how the attempts travelled", notes)
	}
}
