package load_test

import (
	"fmt"
	"strings"
	"testing"

	"stormtest/load"
	"stormtest/load/record"
)

// checkBreaker checks what holds for the breakers of every run.
func checkBreaker(t *testing.T, run *record.Run) *record.Breaker {
	t.Helper()
	b := run.Breaker
	switch {
	case b == nil:
		t.Fatal("the result has no breaker")
	case !run.Books.Balanced:
		t.Errorf("books: %v", run.Books.Faults)
	case b.ShortCircuited > run.Attempts.ShortCircuited:
		t.Errorf("breakers refused %d attempts, the fleet was refused %d", b.ShortCircuited, run.Attempts.ShortCircuited)
	case b.Opened-b.Closed != b.OpenAtEnd:
		t.Errorf("opened %d - closed %d = %d, want the %d that are open at the end", b.Opened, b.Closed, b.Opened-b.Closed, b.OpenAtEnd)
	case b.OpenShare == nil || *b.OpenShare < 0 || *b.OpenShare > 1:
		t.Errorf("open share = %v, want 0..1", b.OpenShare)
	}
	return b
}

// A breaker of the whole fleet opens at the fifth failure in a row, refuses what comes for a while, and lets one
// probe through then: in every engine the same, attempt for attempt.
func TestBreakerInEveryEngine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
	}{
		{"of the fleet", []string{"clients: 40", "ramp: 1.9873s", "breaker: 'consecutive:failures=5,open=1300ms,scope=fleet'"}},
		{"of each client", []string{"clients: 40", "ramp: 1.9873s", "breaker: 'consecutive:failures=2,open=700ms'"}},
		{"with jitter", []string{"clients: 40", "ramp: 1.9873s", "breaker: 'consecutive:failures=1,open=700ms,jitter=100%'"}},
		{"by share", []string{"clients: 40", "operations: 900", "ramp: 1.9873s", "breaker: 'rate:share=30%,calls=7,window=2s,open=510ms,probes=3,successes=2,scope=fleet'"}},
		{"judged", []string{"clients: 40", "operations: 900", "ramp: 1.9873s", "breaker: 'resilience4j:calls=10,window=20,open=510ms,scope=fleet'"}},
		{"with few retries", []string{"clients: 40", "operations: 400", "ramp: 1.9873s", "max-retries: 2", "breaker: 'polly:calls=10,window=2s,open=510ms,scope=fleet'"}},
		{"with a budget", []string{"clients: 40", "operations: 400", "ramp: 1.9873s", "budget: 'finagle:ratio=30%,min=1/s,scope=fleet'", "breaker: 'consecutive:failures=2,open=710ms'"}},
		{"with a quota", []string{"clients: 40", "operations: 400", "ramp: 1.9873s", "budget: 'aws:size=200,scope=fleet'", "breaker: 'consecutive:failures=2,open=710ms,scope=fleet'"}},
		{"with a throttle", []string{"clients: 60", "rate: 83/s", "arrivals: poisson", "max-retries: 3", "budget: 'sre:window=2s,scope=fleet'", "breaker: 'consecutive:failures=3,open=210ms,scope=fleet'"}},
		{"with a limit", []string{"clients: 60", "rate: 83/s", "arrivals: poisson", "status: 429", "max-retries: 5", "budget: 'aws-adaptive:scope=fleet'", "breaker: 'consecutive:failures=3,open=210ms,scope=fleet'"}},
		{"in an open loop", []string{"clients: 60", "rate: 83/s", "arrivals: poisson", "breaker: 'consecutive:failures=3,open=510ms,scope=fleet'"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := append([]string{"strategy: full", "base: 97.3ms", "cap: 3s", "capacity: 200/s", "queue: 3", "outage: ['1.0003s..3.0007s']", "duration: 8.0037s", "timeout: 700.1ms"}, tt.lines...)
			p := scenario(t, lines...)
			virtual := virtually(t, p)
			b := checkBreaker(t, &virtual.run)
			if b.Opened == 0 || b.Closed == 0 || b.ShortCircuited == 0 || b.ShortCircuited != virtual.run.Attempts.ShortCircuited && tt.name != "with a throttle" && tt.name != "with a limit" {
				t.Errorf("breaker = %+v of %d short-circuited attempts: want some that open, close and refuse", b, virtual.run.Attempts.ShortCircuited)
			}
			for _, real := range []outcome{overHTTP(t, p), inMemory(t, p)} {
				if fault := real.differs(t, virtual); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// A limit of the client's own makes attempts wait once the target has said that it is asked too often, and a throttle does
// not let some first attempts out at all. In every engine the same ones, for the same time.
func TestThrottlesInEveryEngine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		waits bool
	}{
		{"limit of each client", []string{"clients: 20", "operations: 700", "ramp: 1.9873s", "budget: aws-adaptive"}, true},
		{"limit of the fleet", []string{"clients: 40", "rate: 83/s", "arrivals: poisson", "budget: 'aws-adaptive:scope=fleet'"}, true},
		{"limit, and no time for it", []string{"clients: 40", "rate: 83/s", "arrivals: poisson", "max-elapsed: 1.0003s", "budget: 'aws-adaptive:scope=fleet'"}, true},
		{"throttle of the fleet", []string{"clients: 40", "rate: 83/s", "arrivals: poisson", "budget: 'sre:window=2s,scope=fleet'"}, false},
		{"throttle of each client", []string{"clients: 10", "rate: 83/s", "arrivals: poisson", "budget: 'sre:window=3s,retries=10%'"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := append([]string{"strategy: full", "base: 97.3ms", "cap: 3s", "capacity: 200/s", "queue: 3", "status: 429", "max-retries: 4", "outage: ['1.0003s..3.0007s']", "duration: 8.0037s", "timeout: 700.1ms"}, tt.lines...)
			p := scenario(t, lines...)
			virtual := virtually(t, p)
			run := &virtual.run
			b := checkBudget(t, run)
			if (b.Delayed > 0 && b.DelayTotal > 0) != tt.waits || (b.RefusedFirst > 0) != !tt.waits || run.Attempts.ShortCircuited < b.RefusedFirst {
				t.Errorf("budget = %+v with %d short-circuited, want some delayed or refused", b, run.Attempts.ShortCircuited)
			}
			if run.Lateness.Max != nil && *run.Lateness.Max != 0 {
				t.Errorf("lateness up to %v ns in virtual time: what waits for its turn is not late", *run.Lateness.Max)
			}
			for _, real := range []outcome{overHTTP(t, p), inMemory(t, p)} {
				if fault := real.differs(t, virtual); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// The guides' scenario of a half-open breaker. The target is away for 400 ms, every client fails at 0, and its breaker opens
// for 100 ms; the first retry is drawn from up to a second. Full jitter draws delays near zero, too: three in ten clients come
// between 100 and 400 ms, when their breaker lets a probe through and the target still fails, and it opens once more. Equal jitter
// waits for 500 ms at least, and so does full jitter with that floor: nobody probes too early.
//
// Of 500 clients 150 are expected to reopen by their first retry, deviation 10, and some 12 more later: the bounds are
// five deviations off, 6e-7, and the seed is fixed.
func TestFullJitterReopensAHalfOpenBreaker(t *testing.T) {
	p := scenario(t, "clients: 500", "strategy: full,equal,full-floor", "base: 1s", "floor: 500ms", "breaker: 'consecutive:failures=1,open=100ms'", "outage: ['0s..400ms']",
		"capacity: 2000/s", "workers: 10", "queue: 500", "duration: 10s")
	result := simulate(t, p, load.Env{})
	for i := range result.Runs {
		run := &result.Runs[i]
		b := checkBreaker(t, run)
		least, most := int64(0), int64(0)
		if run.Strategy == "full" {
			least, most = 150-50, 162+55
		}
		if b.Reopened < least || b.Reopened > most || b.Opened != 500 || b.Closed != 500 || b.Probes != 500+b.Reopened {
			t.Errorf("%s: breakers %+v, want 500 that open, %d..%d that open again and 500 that close", run.Strategy, b, least, most)
		}
		if run.Operations.Succeeded != 500 {
			t.Errorf("%s: %d operations succeeded, want all", run.Strategy, run.Operations.Succeeded)
		}
	}
}

// A try that a breaker refuses is one of those that max-retries allows, and costs nothing else: the target does not see it, the
// budget gets back what was taken for it, and the operation ends for the reason that ends it.
func TestWhatABreakerRefusesIsATry(t *testing.T) {
	p := scenario(t, "clients: 1", "strategy: constant", "base: 100ms", "max-retries: 4", "budget: 'finagle:ratio=0%,min=1/s,ttl=10s'",
		"breaker: 'consecutive:failures=2,open=10s'", "capacity: 0", "duration: 2s")
	o := virtually(t, p)
	run := &o.run
	checkBreaker(t, run)
	b := checkBudget(t, run)
	if a := run.Attempts; a.Sent != 2 || a.First != 1 || a.Retries != 1 || a.ShortCircuited != 3 || run.Books.Arrivals != 2 || run.Operations.GaveUp["max_retries"] != 1 {
		t.Errorf("%+v and %d arrivals, given up for %v; want 2 sent, 3 not, and an end for max_retries", a, run.Books.Arrivals, run.Operations.GaveUp)
	}
	if b.Taken != 4 || b.Returned != 3 || b.Spent != 1 || b.BalanceLast != 9 {
		t.Errorf("budget %+v, want 4 retries taken, 3 returned, 1 spent and 9 of 10 left", b)
	}
	var got []string
	for _, r := range o.rows {
		got = append(got, fmt.Sprint(r.number, " at ", r.due, " ", r.outcome, " sent ", r.sent, ": ", r.decision))
	}
	want := "0 at 0s 503 sent 0s: retrying; 1 at 100ms 503 sent 100ms: retrying; 2 at 200ms short_circuited sent -1ns: retrying; " +
		"3 at 300ms short_circuited sent -1ns: retrying; 4 at 400ms short_circuited sent -1ns: max_retries"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("the trace is\n%s, want\n%s", got, want)
	}
}
