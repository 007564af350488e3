package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/load/sim"
)

// atLink is what is to be counted at one link.
type atLink struct {
	calls, succeeded, attempts int64
	gaveUp                     string // the reasons and how many
	served, wasted, rejected   int64
}

func linkOf(s sim.LinkStats, r *record.Run) atLink {
	l := atLink{calls: r.Operations.Started, succeeded: s.Succeeded, attempts: s.Attempts}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(r.Operations.GaveUp)) {
		reasons = append(reasons, fmt.Sprint(reason, " ", r.Operations.GaveUp[reason]))
	}
	l.gaveUp = strings.Join(reasons, ", ")
	for _, b := range r.Buckets {
		l.served += b.Served
		l.wasted += b.Wasted
		l.rejected += b.Rejected
	}
	return l
}

// TestChainRules checks each rule of plan.Link by hand, at every link of a chain.
func TestChainRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		end   time.Duration
		want  []atLink
	}{
		// 100 ms of the first service's own work, and then 50 ms of the second's.
		{"one after the other", []string{"clients: 1", "capacity: 10/s", "layer: b;capacity=20/s"}, 150 * time.Millisecond,
			[]atLink{{calls: 1, succeeded: 1, attempts: 1, served: 1}, {calls: 1, succeeded: 1, attempts: 1, served: 1}}},
		// Both are with b after 100 ms, though the first service has one worker.
		{"no worker is held", []string{"clients: 2", "ramp: 20ms", "capacity: 100/s", "queue: 1", "layer: b;capacity=20/s;workers=2"}, 120 * time.Millisecond,
			[]atLink{{calls: 2, succeeded: 2, attempts: 2, served: 2}, {calls: 2, succeeded: 2, attempts: 2, served: 2}}},
		{"four attempts at each of three", []string{"clients: 1", "queue: 9", "base: 1ms", "max-retries: 3", "layer: [b, c;capacity=0]"}, 0,
			[]atLink{{calls: 1, attempts: 4, gaveUp: "max_retries 1", rejected: 4}, {calls: 4, attempts: 16, gaveUp: "max_retries 4", rejected: 16},
				{calls: 16, attempts: 64, gaveUp: "max_retries 16", rejected: 64}}},
		{"retries at the last one only", []string{"clients: 1", "queue: 9", "base: 1ms", "max-retries: 0", "layer: [b, c;capacity=0;max-retries=3]"}, 0,
			[]atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1", rejected: 1}, {calls: 1, attempts: 1, gaveUp: "max_retries 1", rejected: 1},
				{calls: 1, attempts: 4, gaveUp: "max_retries 1", rejected: 4}}},
		// What b has retried it does not let its caller retry.
		{"a status that is not retried", []string{"clients: 1", "queue: 9", "base: 1ms", "max-retries: 3", "layer: [b;status=500, c;capacity=0]"}, 0,
			[]atLink{{calls: 1, attempts: 4, gaveUp: "max_retries 1", rejected: 4}, {calls: 4, attempts: 4, gaveUp: "not_retryable 4", rejected: 4},
				{calls: 4, attempts: 16, gaveUp: "max_retries 4", rejected: 16}}},
		// An account of 10 tokens allows 4 retries, is never paid, and pays for the failure at which the first operation
		// gives up too.
		{"a budget at each", []string{"clients: 1", "operations: 100", "capacity: 100000/s", "queue: 9", "base: 1ms", "max-retries: 3", "budget: grpc", "layer: [b, c;capacity=0]"}, 0,
			[]atLink{{calls: 100, attempts: 103, gaveUp: "max_retries 1, refused_by_budget 99", rejected: 103},
				{calls: 103, attempts: 106, gaveUp: "max_retries 1, refused_by_budget 102", rejected: 106},
				{calls: 106, attempts: 109, gaveUp: "max_retries 1, refused_by_budget 105", rejected: 109}}},
		{"abandoned work is processed, with its retries", []string{"clients: 1", "capacity: 1000/s", "timeout: 200ms", "max-retries: 0", "layer: b;timeout=1s;max-retries=1;strategy=constant;outage=0s..9s=hang"},
			2101 * time.Millisecond, []atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1", rejected: 1}, {calls: 1, attempts: 2, gaveUp: "max_retries 1"}}},
		{"abandoned work is cancelled", []string{"clients: 1", "capacity: 1000/s", "timeout: 200ms", "max-retries: 0", "abandoned: cancel", "layer: b;timeout=1s;max-retries=1;outage=0s..9s=hang"},
			200 * time.Millisecond, []atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1"}, {calls: 1, attempts: 1, gaveUp: "caller_gone 1"}}},
		// The client has gone when b has done what it asked for.
		{"wasted in both", []string{"clients: 1", "capacity: 1000/s", "timeout: 200ms", "max-retries: 0", "layer: b;capacity=2/s;timeout=5s"},
			501 * time.Millisecond, []atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1", served: 1, wasted: 1}, {calls: 1, succeeded: 1, attempts: 1, served: 1}}},
		// From 1 ms on: 1, 301, 601 and 901 ms; another one would be at 1.2 s.
		{"a deadline is told", []string{"clients: 1", "capacity: 1000/s", "timeout: 1s", "max-retries: 0", "propagate-deadline: true", "layer: b;capacity=0;max-retries=unlimited;strategy=constant;base=300ms"},
			901 * time.Millisecond, []atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1", rejected: 1}, {calls: 1, attempts: 4, gaveUp: "max_elapsed 1", rejected: 4}}},
		{"a deadline limits an attempt", []string{"clients: 1", "capacity: 1000/s", "timeout: 1s", "max-retries: 0", "propagate-deadline: true", "layer: b;outage=0s..9s=hang;max-elapsed=unlimited;max-retries=9"},
			time.Second, []atLink{{calls: 1, attempts: 1, gaveUp: "max_retries 1", rejected: 1}, {calls: 1, attempts: 1, gaveUp: "max_elapsed 1"}}},
		// What is with b when it begins to refuse is reset, which is not retried; the next operation's retries last until it is over.
		{"a service that breaks", []string{"clients: 1", "capacity: 1000/s", "layer: b;capacity=1/s;max-retries=1;base=600ms;strategy=constant;outage=500ms..1s=refuse"}, 0,
			[]atLink{{calls: 1, succeeded: 1, attempts: 2, served: 1, rejected: 1}, {calls: 2, succeeded: 1, attempts: 3, gaveUp: "not_retryable 1", served: 2, wasted: 1}}},
	} {
		p := scenario(t, append([]string{"strategy: full"}, c.lines...)...)
		if c.name == "a service that breaks" {
			p.Strategies = []string{"none"}
		}
		s, runs := chained(&p, 1, nil)
		for i, want := range c.want {
			if got := linkOf(s.Links[i], &runs[i]); got != want || !runs[i].Books.Balanced {
				t.Errorf("%s: at link %d %+v, books %+v, want %+v", c.name, i, got, runs[i].Books, want)
			}
		}
		if c.end != 0 && s.End != c.end {
			t.Errorf("%s: it ended at %v, want %v", c.name, s.End, c.end)
		}
	}
}

// TestHedges checks what hedges do, by hand.
func TestHedges(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		latency time.Duration // of the operation
		hedges  int64
		hedging record.Hedging
		number  int64 // of the attempt that succeeded
	}{
		{"an answer in time", []string{"capacity: 10/s", "hedge: 200ms"}, 100 * time.Millisecond, 0, record.Hedging{}, 1},
		{"in vain", []string{"capacity: 10/s", "hedge: 30ms,2", "workers: 4"}, 400 * time.Millisecond, 2, record.Hedging{Sent: 2, Cancelled: 2}, 1},
		{"past a hole", []string{"capacity: 100/s", "hedge: 60ms", "outage: 0s..50ms=hang"}, 70 * time.Millisecond, 1, record.Hedging{Sent: 1, Won: 1, Cancelled: 1}, 2},
		// The copy at 0 s fails as the attempt did, and so does the retry; the second retry is let in.
		{"at once after a failure", []string{"capacity: 100/s", "hedge: 60ms", "outage: 0s..150ms", "strategy: constant"}, 210 * time.Millisecond, 1, record.Hedging{Sent: 1}, 4},
		{"withheld", []string{"capacity: 10/s", "hedge: 30ms", "budget: 'envoy:min=0,ratio=0%'"}, 100 * time.Millisecond, 0, record.Hedging{Withheld: 1}, 1},
		{"of a service", []string{"capacity: 1000/s", "layer: b;capacity=100/s;hedge=60ms;outage=0s..50ms=hang"}, 71 * time.Millisecond, 1, record.Hedging{Sent: 1, Won: 1, Cancelled: 1}, 2},
	} {
		p := scenario(t, append([]string{"clients: 1"}, c.lines...)...)
		s, runs := chained(&p, 1, nil)
		last := &runs[len(runs)-1]
		if got := *runs[0].OperationLatency.Max; time.Duration(got) != c.latency || last.Attempts.Hedges != c.hedges || s.Links[len(runs)-1].Hedging != c.hedging {
			t.Errorf("%s: %v, %d hedges, %+v, want %v, %d, %+v", c.name, time.Duration(got), last.Attempts.Hedges, s.Links[len(runs)-1].Hedging, c.latency, c.hedges, c.hedging)
		}
		if got := *last.AttemptAtSuccess.Max; got != c.number {
			t.Errorf("%s: attempt %d succeeded, want %d", c.name, got, c.number)
		}
		if !last.Books.Balanced {
			t.Errorf("%s: %v", c.name, last.Books.Faults)
		}
	}
}
