package retry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
)

// A hedged is one operation with copies, under test: what it does is written down, a line for each step.
type hedged struct {
	judge retry.Judge
	state retry.State
	copy  retry.Hedger
	log   []string
}

func newHedged(p *retry.Policy, a *budget.Account) *hedged {
	h := new(hedged)
	h.judge.Init(p, nil, nil)
	h.judge.Under(a)
	h.judge.BeginHedged(&h.state, &h.copy, 0)
	h.judge.LeaveHedged(&h.state, &h.copy, 0)
	return h
}

func (h *hedged) write(what string, t retry.Turn) {
	line := what + ": "
	switch {
	case t.Waits:
		line += "waits"
	case t.Retry:
		line += fmt.Sprint("retry in ", t.Delay)
	default:
		line += t.Reason.String()
	}
	if t.Copy != 0 {
		line += fmt.Sprint(", copy ", t.Copy)
	}
	if t.Withheld != 0 {
		line += fmt.Sprint(", withheld ", t.Withheld)
	}
	if t.GivenUp != 0 {
		line += fmt.Sprintf(", given up %b", t.GivenUp)
	}
	if at, ok := h.judge.HedgeDue(&h.state, &h.copy); ok {
		line += fmt.Sprint(", next at ", at)
	}
	h.log = append(h.log, line)
}

func (h *hedged) hear(at time.Duration, attempt, status int) {
	h.hearOutcome(at, attempt, retry.Outcome{Status: status})
}

func (h *hedged) hearOutcome(at time.Duration, attempt int, o retry.Outcome) {
	t := h.judge.Hear(&h.state, &h.copy, at, retry.Heard{Attempt: attempt, Outcome: o})
	h.write(fmt.Sprintf("%v %d hears %v", at, attempt, o), t)
	if t.Retry {
		h.judge.LeaveHedged(&h.state, &h.copy, at+t.Delay)
	}
}

func (h *hedged) turn(at time.Duration) {
	h.write(at.String(), h.judge.HedgeTurn(&h.state, &h.copy, at))
}

const second = time.Second

// TestHedger checks each rule of Hedger by hand.
func TestHedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   int
		budget budget.Config
		method string
		run    func(h *hedged)
		want   string
	}{
		{name: "the first answer counts", most: 2, run: func(h *hedged) { h.turn(2 * second); h.turn(4 * second); h.hear(5*second, 1, 200) }, want: `
2s: waits, copy 1, next at 4s
4s: waits, copy 2
5s 1 hears 200: succeeded, given up 101`},
		{name: "a failure sends the next at once", most: 2, run: func(h *hedged) { h.hear(second, 0, 503); h.hear(second, 1, 503); h.hear(3*second, 2, 200) }, want: `
1s 0 hears 503: waits, copy 1, next at 3s
1s 1 hears 503: waits, copy 2
3s 2 hears 200: succeeded`},
		{name: "retries follow when all have failed", most: 1, run: func(h *hedged) {
			h.turn(2 * second)
			h.hear(3*second, 0, 503)
			h.hear(4*second, 1, 503)
			h.hear(6*second, 0, 503)
			h.hear(9*second, 0, 503)
		}, want: `
2s: waits, copy 1
3s 0 hears 503: waits
4s 1 hears 503: retry in 1s
6s 0 hears 503: retry in 1s
9s 0 hears 503: max_retries`},
		{name: "a final failure ends it", most: 2, run: func(h *hedged) { h.turn(2 * second); h.hear(3*second, 1, 404) }, want: `
2s: waits, copy 1, next at 4s
3s 1 hears 404: not_retryable, given up 1`},
		{name: "a hint delays the next", most: 1, run: func(h *hedged) {
			h.hearOutcome(second, 0, retry.Outcome{Status: 503, Hint: retry.Hint{After: 5 * second, Valid: true, Seen: true}})
			h.turn(6 * second)
		}, want: `
1s 0 hears 503: waits, next at 6s
6s: waits, copy 1`},
		{name: "no time is left for a hint", most: 1, run: func(h *hedged) {
			h.hearOutcome(second, 0, retry.Outcome{Status: 503, Hint: retry.Hint{After: 59 * second, Valid: true, Seen: true}})
		}, want: `
1s 0 hears 503: max_elapsed`},
		{name: "no time is left", most: 1, run: func(h *hedged) { h.turn(60 * second) }, want: `
1m0s: waits, withheld 1`},
		// 4 tokens: 2 failures leave 2, which is not above half.
		{name: "a budget withholds", most: 4, budget: budget.Config{Kind: budget.GRPC, Size: 4, Ratio: 0.1}, run: func(h *hedged) {
			h.turn(2 * second)
			h.hear(3*second, 0, 503)
			h.hear(3*second, 1, 503)
			h.hear(3*second, 2, 503)
		}, want: `
2s: waits, copy 1, next at 4s
3s 0 hears 503: waits, copy 2, next at 5s
3s 1 hears 503: waits, withheld 1, next at 5s
3s 2 hears 503: refused_by_budget, withheld 1`},
		// In the first second one token has come together, which the first copy takes.
		{name: "a throttle withholds", most: 2, budget: budget.Table[budget.AWSAdaptive].Defaults, run: func(h *hedged) {
			h.hear(second, 0, 429)
			h.hear(second, 1, 429)
			h.hear(3*second, 0, 200)
		}, want: `
1s 0 hears 429: waits, copy 1, next at 3s
1s 1 hears 429: retry in 1s, withheld 1
3s 0 hears 200: succeeded`},
		{name: "a repeat might do harm", most: 1, method: "POST", run: func(h *hedged) { h.turn(2 * second); h.hear(3*second, 0, 503) }, want: `
2s: waits, withheld 1
3s 0 hears 503: not_idempotent`},
	} {
		p := retry.Policy{Strategy: &backoff.Constant{Params: backoff.Params{Base: second, Cap: second, Multiplier: 1}}, MaxRetries: 2, MaxElapsed: 60 * second, HonourRetryAfter: true,
			RetryAfterJitter: 0, RetryOn: retry.DefaultSet(), Method: c.method, Hedge: retry.Hedge{After: 2 * second, Most: c.most}}
		if faults := p.Validate(); faults != nil {
			t.Fatal(faults)
		}
		bank := budget.NewBank(c.budget, 1, nil, budget.Series{})
		h := newHedged(&p, bank.Account(0))
		c.run(h)
		if got := "\n" + strings.Join(h.log, "\n"); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.name, got, c.want)
		}
	}
}

// TestHedgesArePaid checks what each kind of budget counts of an operation of which the second copy succeeded.
func TestHedgesArePaid(t *testing.T) {
	for k := budget.None + 1; k < budget.KindCount; k++ {
		config := budget.Table[k].Defaults
		if k == budget.SRE {
			continue // which leaves it to chance
		}
		p := retry.Policy{Strategy: &backoff.Constant{}, RetryOn: retry.DefaultSet(), Hedge: retry.Hedge{After: second, Most: 2}}
		bank := budget.NewBank(config, 1, nil, budget.Series{})
		before := bank.Ledger(0).Last
		h := newHedged(&p, bank.Account(0))
		h.turn(second)
		h.turn(2 * second)
		h.hear(3*second, 2, 200)
		l := bank.Ledger(3 * second)
		if l.Deposits != 1 || l.Taken != 2 || l.Spent != 2 || l.Refused != 0 || l.Returned != 0 {
			t.Errorf("%v: %+v, want 1 deposit and 2 retries spent", k, l)
		}
		if k == budget.Envoy && l.Last != before {
			t.Errorf("%v: %d retries allowed at the end, want %d: nothing is under way", k, l.Last, before)
		}
		// The cost of the copy that did not succeed is not given back.
		if want := (int64(500) - 14) / 14; k == budget.AWS && l.Last != want {
			t.Errorf("%v: %d retries allowed at the end, want %d", k, l.Last, want)
		}
	}
}
