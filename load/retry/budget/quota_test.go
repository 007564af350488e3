package budget_test

import (
	"testing"

	"stormtest/load/retry/budget"
)

// The golden numbers of the quotas (domain 3.1): what a full one is worth when everything fails.
func TestQuotaAllows(t *testing.T) {
	tests := []struct {
		name   string
		config budget.Config
		fails  budget.Outcome
		want   int
	}{
		{"35 retries of 14", changed(budget.AWS, nil), budget.Failed, 35},
		{"a timeout is no other failure", changed(budget.AWS, nil), budget.TimedOut, 35},
		{"100 of throttled attempts", changed(budget.AWS, nil), budget.Throttled, 100},
		{"legacy: 100", changed(budget.AWSLegacy, nil), budget.Failed, 100},
		{"legacy: throttled is no other failure", changed(budget.AWSLegacy, nil), budget.Throttled, 100},
		{"legacy: 50 of timeouts", changed(budget.AWSLegacy, nil), budget.TimedOut, 50},
		{"exactly one", changed(budget.AWS, func(c *budget.Config) { c.Size = 14 }), budget.Failed, 1},
		{"one token short of it", changed(budget.AWS, func(c *budget.Config) { c.Size = 13 }), budget.Failed, 0},
		{"the largest", changed(budget.AWS, func(c *budget.Config) { c.Size, c.Cost = budget.QuotaMax, budget.QuotaMax }), budget.Failed, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := account(t, tt.config)
			tickets := open(a, 0, 300)
			got := 0
			for i := range tickets {
				if a.Ask(0, tt.fails, &tickets[i]) {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("%d retries allowed, want %d", got, tt.want)
			}
			if again := ask(a, 1000*second, open(a, 1000*second, 5)); again != 0 {
				t.Errorf("%d more retries allowed long after, want none: nothing comes back with time", again)
			}
		})
	}
}

// What comes back: the cost of the retry that succeeded and no other, 1 for a first attempt,
// nothing for a failure, never more than there was. At a cost of 1 the balance is the tokens.
func TestQuotaRefunds(t *testing.T) {
	a := account(t, changed(budget.AWS, func(c *budget.Config) { c.Size, c.Cost, c.CostThrottled = 100, 1, 10 }))
	full := make([]budget.Outcome, 0, 100)
	for range cap(full) {
		full = append(full, budget.Failed)
	}
	steps := []struct {
		name  string
		fails []budget.Outcome // of attempts before the last
		end   budget.Outcome
		want  int64 // tokens after it
	}{
		{"a first attempt succeeds at full tokens", nil, budget.Succeeded, 100},
		{"two retries fail", []budget.Outcome{budget.Throttled, budget.Throttled}, budget.Failed, 80},
		{"a retry succeeds", []budget.Outcome{budget.Throttled}, budget.Succeeded, 80},
		{"the second retry succeeds: the first is lost", []budget.Outcome{budget.Throttled, budget.Failed}, budget.Succeeded, 70},
		{"the other way round", []budget.Outcome{budget.Failed, budget.Throttled}, budget.Succeeded, 69},
		{"a retry ends in the request's own fault", []budget.Outcome{budget.Throttled}, budget.Final, 59},
		{"a first attempt succeeds", nil, budget.Succeeded, 60},
		{"a first attempt fails for good", nil, budget.Broken, 60},
		{"everything is spent", full[:60], budget.Broken, 0},
		{"and a success brings it back, one by one", nil, budget.Succeeded, 1},
	}
	for _, s := range steps {
		if run(t, a, s.fails, s.end); balance(a, 0) != s.want {
			t.Fatalf("%s: %d tokens, want %d", s.name, balance(a, 0), s.want)
		}
	}
	var op budget.Ticket
	a.Leave(0, &op)
	a.Ask(0, budget.Failed, &op)
	a.Cancel(0, &op)
	if got := balance(a, 0); got != 1 {
		t.Errorf("%d tokens after a retry was cancelled in its sleep, want 1: it gave back what it took", got)
	}
	a.Leave(0, &op)
	a.Ask(0, budget.Failed, &op)
	a.Leave(0, &op)
	a.Cancel(0, &op)
	if got := balance(a, 0); got != 0 {
		t.Errorf("%d tokens after a retry was cancelled under way, want 0: it was sent", got)
	}
}

// Where retries succeed, a larger quota may allow fewer of them: what it spent on a retry that the
// smaller one refused is missing when a retry comes that would have cost nothing, because it
// succeeds. This is the source's algorithm; while every retry fails, and in the first operation
// after a full quota, more is never less (TestPropertyLargerBudgetAllowsNoFewer).
func TestLargerQuotaMayAllowFewer(t *testing.T) {
	allowed := func(size int) (n int) {
		a := account(t, changed(budget.AWS, func(c *budget.Config) { c.Size, c.Cost = size, 6 }))
		for _, op := range []struct {
			fails int
			end   budget.Outcome
		}{{2, budget.Failed}, {0, budget.Succeeded}, {1, budget.Succeeded}, {1, budget.Failed}} {
			var ticket budget.Ticket
			a.Leave(0, &ticket)
			asked := 0
			for asked < op.fails && a.Ask(0, budget.Failed, &ticket) {
				a.Leave(0, &ticket)
				asked++
				n++
			}
			if asked == op.fails {
				a.End(0, op.end, &ticket)
			}
		}
		return n
	}
	if small, large := allowed(11), allowed(12); small != 3 || large != 2 {
		t.Errorf("%d retries with 11 tokens, %d with 12; want 3 and 2", small, large)
	}
}
