package load_test

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// Three services behind each other with four attempts each against a dead end: 64 attempts at the bottom for each
// operation, 16 before that and 4 at the front.
func TestChainMultipliesAttempts(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: constant", "base: 10ms", "clients: 5", "max-retries: 3", "capacity: 100000/s",
		"workers: 100", "layer: ['b;capacity=100000/s', 'c;capacity=0/s']", "duration: 1m"), 0)
	run := result.Runs[0]
	if len(run.Layers) != 2 {
		t.Fatalf("%d layers, want 2", len(run.Layers))
	}
	sent := []int64{run.Attempts.Sent, run.Layers[0].Run.Attempts.Sent, run.Layers[1].Run.Attempts.Sent}
	for i, want := range []int64{5 * 4, 5 * 16, 5 * 64} {
		if sent[i] != want {
			t.Errorf("attempts at service %d = %d, want %d", i, sent[i], want)
		}
	}
	for i, want := range []float64{16, 64} {
		l := run.Layers[i]
		if l.EndToEnd == nil || *l.EndToEnd != want {
			t.Errorf("layer %s: amplification end to end = %v, want %v", l.Name, l.EndToEnd, want)
		}
		checkBooks(t, l.Run, nil)
	}
}

// The figures of a run that both engines must have alike where nothing is left to chance and no two things happen at one
// moment.
func figures(run *record.Run, tied bool) string {
	attempts := run.Attempts
	if tied {
		attempts.ByOutcome = nil
	}
	text, err := json.Marshal(struct {
		Operations record.Operations
		Attempts   record.Attempts
		Hedging    *record.Hedging
		Budget     *record.Budget
		Arrivals   int64
		Served     []int64
		Elapsed    *int64
		Effects    *record.Effects
		Dropped    *record.Dropped
		Breaker    *record.Breaker
	}{run.Operations, attempts, run.Hedging, run.Budget, run.Books.Arrivals, ends(run), run.Elapsed.Max, run.Effects, run.Dropped, run.Breaker})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// ends sums what became of the attempts at the target: served, wasted and rejected.
func ends(run *record.Run) []int64 {
	sum := make([]int64, 3)
	for _, b := range run.Buckets {
		sum[0] += b.Served
		sum[1] += b.Wasted
		sum[2] += b.Rejected
	}
	return sum
}

// Chains and hedges come out in real time as in virtual time, at every service.
func TestChainAgreesWithVirtualTime(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
	}{
		{"all served", []string{"layer: ['b;capacity=500/s;queue=20', 'c;capacity=700/s;queue=20']"}},
		{"a slow end, and timeouts that go on", []string{"timeout: 55ms", "layer: ['b;capacity=400/s;queue=30;timeout=300ms', 'c;capacity=9/s;queue=3;timeout=250ms']"}},
		{"a slow end, and timeouts that end the work", []string{"timeout: 55ms", "abandoned: cancel", "layer: ['b;capacity=400/s;queue=30;timeout=300ms', 'c;capacity=9/s;queue=3;timeout=250ms']"}},
		{"a deadline that is passed on", []string{"timeout: 55ms", "propagate-deadline: true", "layer: ['b;capacity=400/s;queue=30', 'c;capacity=9/s;queue=3']"}},
		{"a budget in the middle", []string{"layer: ['b;capacity=400/s;queue=30;budget=grpc', 'c;capacity=0/s']"}},
		{"a breaker in the middle", []string{"layer: ['b;capacity=400/s;queue=30;breaker=consecutive:failures=3,open=200ms', 'c;capacity=0/s']"}},
		{"retries at one layer only", []string{"status: 500", "layer: ['b;capacity=0/s;max-retries=5']"}},
		{"hedges", []string{"capacity: 40/s", "workers: 2", "queue: 4", "hedge: 31ms,2", "timeout: 400ms"}},
		{"hedges, and work that ends with its client", []string{"capacity: 40/s", "workers: 2", "queue: 4", "hedge: 31ms,2", "timeout: 400ms", "abandoned: cancel"}},
		{"hedges against a dead end", []string{"capacity: 0/s", "hedge: 13ms,3"}},
		{"hedges against one that hangs", []string{"outage: ['0s..400ms=hang']", "hedge: 37ms,2", "timeout: 100ms"}},
		{"hedges with a budget", []string{"capacity: 0/s", "hedge: 13ms,3", "budget: grpc"}},
		{"layers that fail, each in its way", []string{"rate: 97/s", "ramp: 0s", "clients: 40", "duration: 1s", "outage: ['51ms..103ms=reset']",
			"layer: ['b;capacity=400/s;queue=30;outage=152ms..217ms=refuse', 'c;capacity=500/s;queue=20;outage=301ms..333ms;outage=352ms..409ms=hang;timeout=29ms']"}},
		{"hints", []string{"layer: ['b;capacity=20/s;queue=1;send-retry-after=1s']"}},
		{"work is dropped after its deadline", []string{"timeout: 55ms", "propagate-deadline: true", "expired: drop", "layer: ['b;capacity=40/s;queue=30']"}},
		{"an open loop", []string{"rate: 60/s", "ramp: 0s", "duration: 2s", "layer: ['b;capacity=45/s;queue=9']"}},
		{"hedges in an open loop", []string{"rate: 60/s", "ramp: 0s", "duration: 2s", "capacity: 61/s", "workers: 3", "hedge: 53ms,1"}},
		{"hedges of a service", []string{"layer: ['b;capacity=30/s;workers=3;queue=9;hedge=41ms,1']"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := scenario(t, with(tt.lines, "strategy: constant", "base: 17ms", "clients: 7", "max-retries: 2", "ramp: 83ms", "capacity: 300/s", "queue: 50", "duration: 20s")...)
			real, _ := bubble(t, p, 0)
			virtual, err := load.Simulate(t.Context(), p, load.Env{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "front", &real.Runs[0], &virtual.Runs[0])
			for i, l := range real.Runs[0].Layers {
				checkBooks(t, l.Run, nil)
				same(t, l.Name, l.Run, virtual.Runs[0].Layers[i].Run)
			}
		})
	}
}

// with adds the lines of fields that are not set yet.
func with(lines []string, others ...string) []string {
	for _, line := range others {
		name, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") }) {
			lines = append(lines, line)
		}
	}
	return lines
}

func same(t *testing.T, name string, real, virtual *record.Run) {
	t.Helper()
	tied := strings.Contains(t.Name(), "deadline") // a call and its caller's attempt time out at one moment
	if a, b := figures(real, tied), figures(virtual, tied); a != b {
		t.Errorf("%s:\n real    %s\n virtual %s", name, a, b)
	}
	if late := real.Lateness.Max; late != nil && *late != 0 {
		t.Errorf("%s: an attempt was late by %v", name, time.Duration(*late))
	}
}

// A chain that is interrupted keeps what it measured, and leaves nothing running.
func TestChainInterrupted(t *testing.T) {
	before := runtime.NumGoroutine()
	p := scenario(t, "strategy: full", "clients: 30", "capacity: 100/s", "queue: 20", "hedge: 50ms,1",
		"layer: ['b;capacity=50/s;queue=30', 'c;capacity=20/s;queue=30']", "duration: 1h")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		result, err := load.Run(ctx, p, load.Env{Network: memory, Wake: wake.Timers})
		if err != nil {
			t.Fatal(err)
		}
		run := result.Runs[0]
		if !result.Interrupted || run.Operations.Unfinished == 0 || run.Layers[1].Run.Operations.Unfinished == 0 {
			t.Errorf("interrupted = %v, unfinished = %+v and %+v; want true and some", result.Interrupted, run.Operations, run.Layers[1].Run.Operations)
		}
		for _, r := range []*record.Run{&run, run.Layers[0].Run, run.Layers[1].Run} {
			if !r.Books.Balanced {
				t.Errorf("the books do not balance: %v", r.Books.Faults)
			}
		}
	})
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before and %d after", before, after)
	}
}
