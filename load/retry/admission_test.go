package retry_test

import (
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
)

// breakerOf returns a breaker that opens at the n-th failure in a row, for a minute.
func breakerOf(n int) *breaker.Breaker {
	c := breaker.Table[breaker.Consecutive].Defaults
	c.Failures = n
	return breaker.NewBank(c, 1, nil).Breaker(0)
}

// What a breaker counts as a failure is what a retry would be worth it for; a timeout is one, and what is final is none.
func TestWhatFailsABreaker(t *testing.T) {
	for _, tt := range []struct {
		outcome retry.Outcome
		method  string
		want    int64 // opened
	}{
		{retry.Outcome{Status: 503}, "GET", 1},
		{retry.Outcome{Status: 503}, "POST", 1}, // though it is not repeated
		{retry.Outcome{Status: 429}, "GET", 1},
		{retry.Outcome{Kind: retry.Timeout}, "GET", 1},
		{retry.Outcome{Kind: retry.Refused}, "GET", 1},
		{retry.Outcome{Kind: retry.Reset}, "GET", 0}, // not in the default set
		{retry.Outcome{Status: 500}, "GET", 0},
		{retry.Outcome{Status: 404}, "GET", 0},
		{retry.Outcome{Status: 200}, "GET", 0},
	} {
		p := policyFor(t, "none", params())
		p.Method = tt.method
		c, b := clientOf(&p, 1, 1), breakerOf(1)
		c.Behind(b)
		c.Begin(0)
		if adm := c.Admit(0); adm != (retry.Admission{}) {
			t.Fatalf("a closed breaker admits %+v", adm)
		}
		c.Leave(0)
		c.Decide(0, tt.outcome)
		if got := b.Ledger(0).Opened; got != tt.want {
			t.Errorf("%v of a %s: opened %d, want %d", tt.outcome, tt.method, got, tt.want)
		}
	}
}

// What is refused is worth a retry whatever RetryOn and the method say, and uses up the retries.
func TestShortCircuitedIsATry(t *testing.T) {
	p := policyFor(t, "none", params())
	p.RetryOn, p.Method, p.MaxRetries = retry.Set{}, "POST", 2
	c, b := clientOf(&p, 1, 1), breakerOf(1)
	var failed breaker.Ticket
	b.Allow(0, &failed)
	b.Report(0, true, &failed)
	c.Behind(b)
	c.Begin(0)
	now := time.Duration(0)
	for i, want := range []time.Duration{100 * ms, 200 * ms, -1} { // the delay grows
		if adm := c.Admit(now); !adm.Refused || adm.Wait != 0 {
			t.Fatalf("an open breaker admits %+v", adm)
		}
		d := c.Decide(now, retry.Outcome{Kind: retry.ShortCircuited})
		if d.Retry != (want >= 0) || d.Retry && d.Delay != want || !d.Retry && d.Reason != retry.MaxRetries {
			t.Errorf("try %d: %+v, want a retry in %v, or the end for max_retries", i, d, want)
		}
		now += d.Delay
	}
	if l := b.Ledger(now); l.ShortCircuited != 3 {
		t.Errorf("ledger %+v, want 3 refused", l)
	}
}

// An operation that is cancelled, or replaced by the next, gives its probe back.
func TestCancelGivesTheProbeBack(t *testing.T) {
	p := policyFor(t, "none", params())
	c, b := clientOf(&p, 1, 1), breakerOf(1)
	c.Behind(b)
	var failed breaker.Ticket
	b.Allow(0, &failed)
	b.Report(0, true, &failed)
	for i := range 3 {
		c.Begin(time.Minute)
		if c.Admit(time.Minute).Refused {
			t.Fatalf("probe %d was refused, want the one before it given back", i)
		}
		if i == 1 {
			c.Cancel(time.Minute)
		}
	}
}

// A first attempt that a throttle does not let out ends its operation at once, without a draw; where a breaker had let it
// through, that has its probe again.
func TestThrottledFirstAttempt(t *testing.T) {
	p := policyFor(t, "full", params())
	b := breakerOf(1)
	a := accountOf(budget.SRE, func(c *budget.Config) { c.K = 1 })
	for range 1000 { // of which none is accepted: p = 0.999
		var op budget.Ticket
		a.Leave(0, &op)
		a.End(0, budget.Broken, &op)
	}
	var failed breaker.Ticket
	b.Allow(0, &failed)
	b.Report(0, true, &failed)
	c := clientOf(&p, 1, 1)
	c.Under(a)
	c.Behind(b)
	for range 3 {
		c.Begin(time.Minute)
		if adm := c.Admit(time.Minute); !adm.Refused {
			t.Fatalf("admission %+v, want it refused", adm)
		}
		d := c.Decide(time.Minute, retry.Outcome{Kind: retry.ShortCircuited})
		if d.Retry || d.Reason != retry.Throttled || d.Reason.String() != "refused_by_budget" || d.Reason.Drew() {
			t.Fatalf("decision %+v, want the end, refused by budget without a draw", d)
		}
	}
	if l := b.Ledger(time.Minute); l.ShortCircuited != 0 {
		t.Errorf("breaker %+v, want nothing refused by it", l)
	}
	if l := a.Ledger(time.Minute); l.RefusedFirst != 3 {
		t.Errorf("account %+v, want 3 refused", l)
	}
}

// A wait that would last to the end of MaxElapsed ends the operation at once, and takes no token; a retry returns what it
// took.
func TestAWaitThatIsTooLong(t *testing.T) {
	p := policyFor(t, "constant", backoff.Params{Base: 100 * ms, Cap: 100 * ms, Multiplier: 2})
	p.MaxElapsed = 3 * time.Second
	a := accountOf(budget.AWSAdaptive, nil)
	c := clientOf(&p, 1, 1)
	c.Under(a)
	c.Begin(0)
	if adm := c.Admit(0); adm != (retry.Admission{}) {
		t.Fatalf("admission %+v, want none before the first throttling", adm)
	}
	c.Leave(0)
	d := c.Decide(0, retry.Outcome{Status: 429}) // fill 0.5/s, and no token yet
	now := d.Delay
	adm := c.Admit(now)
	if adm.Refused || adm.Wait != 1900*ms { // 0.05 are there, and 0.95 take so long
		t.Fatalf("admission %+v, want a wait of 1.9s", adm)
	}
	c.Cancel(now)
	c.Begin(now)
	if adm := c.Admit(now); !adm.Refused {
		t.Fatalf("admission %+v, want it refused: the next token comes after max-elapsed", adm)
	}
	d = c.Decide(now, retry.Outcome{Kind: retry.ShortCircuited})
	if d.Retry || d.Reason != retry.MaxElapsed {
		t.Errorf("decision %+v, want the end for max_elapsed", d)
	}
	if l := a.Ledger(now); l.Delayed != 1 || l.DelayTotal != adm.Wait || l.Taken != l.Returned+l.Spent || l.RefusedFirst != 0 {
		t.Errorf("account %+v, want one delayed by %v and nothing lost", l, adm.Wait)
	}
}

// Copies pass the breaker, too: their failures count, and an open one withholds them.
func TestCopiesPassTheBreaker(t *testing.T) {
	p := policyFor(t, "constant", backoff.Params{Base: time.Second, Cap: time.Second, Multiplier: 2})
	p.Hedge = retry.Hedge{After: 2 * time.Second, Most: 3}
	b := breakerOf(2)
	h := newHedged(&p, nil)
	h.judge.Behind(b)
	if h.judge.Admit(&h.state, 0).Refused {
		t.Fatal("the first attempt was refused")
	}
	h.turn(2 * time.Second)
	h.hear(3*time.Second, 1, 503) // sends the next at once
	h.hear(4*time.Second, 2, 503) // the second failure in a row opens: the third copy is withheld
	if l := b.Ledger(4 * time.Second); l.Opened != 1 || l.ShortCircuited != 1 {
		t.Errorf("ledger %+v after %q, want it opened by copies, and one withheld", l, h.log)
	}
	h.hear(5*time.Second, 0, 200)
	if l := b.Ledger(5 * time.Second); l.OpenAtEnd != 1 || l.Closed != 0 {
		t.Errorf("ledger %+v, want it open: the first attempt is of before", l)
	}
}
