package budget_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/retry/budget"
)

// anyConfig draws small numbers, so that budgets are exhausted often.
func anyConfig(t *rapid.T) budget.Config {
	c := budget.Table[rapid.SampledFrom(kinds()).Draw(t, "kind")].Defaults
	few := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	switch c.Kind {
	case budget.Finagle, budget.Envoy:
		c.Ratio = rapid.SampledFrom([]float64{0, 0.00128, 0.1, 0.2, 0.3, 0.5, 1}).Draw(t, "ratio")
		c.Min = few("min", 0, 3)
	case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive:
		c.Size, c.Cost, c.Credit = few("size", 1, 40), few("cost", 1, 14), few("credit", 0, 3)
		if c.Kind != budget.AWSLegacy {
			c.CostThrottled = few("throttled", 1, 5)
		} else {
			c.CostTimeout = few("timeout", 1, 20)
		}
	case budget.GRPC:
		c.Size = few("tokens", 1, 12)
		c.Ratio = rapid.SampledFrom([]float64{0.001, 0.1, 0.5, 0.7, 1, 3}).Draw(t, "ratio")
	case budget.SRE:
		c.K = rapid.SampledFrom([]float64{1, 1.1, 1.5, 2, 3.333}).Draw(t, "k")
	}
	if c.TTL > 0 {
		c.TTL = time.Duration(few("ttl", 1, 3)) * time.Second
	}
	return c
}

// larger draws a config that allows no less than c: more of the number of its kind that is one of size.
// It is not a longer TTL (what was withdrawn comes back later, too), not a lower cost of one outcome
// alone (what it lets through may take the tokens of others), and not more tokens of gRPC's (their
// half is higher, and further up from 0).
func larger(t *rapid.T, c budget.Config) budget.Config {
	more := c
	switch c.Kind {
	case budget.Finagle, budget.Envoy:
		more.Min += rapid.IntRange(0, 2).Draw(t, "moreMin")
		more.Ratio = max(c.Ratio, rapid.SampledFrom([]float64{0.1, 0.2, 0.3, 0.5, 1}).Draw(t, "moreRatio"))
	case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive:
		more.Size += rapid.IntRange(0, 20).Draw(t, "moreSize")
		more.Credit += rapid.IntRange(0, 3).Draw(t, "moreCredit")
	case budget.GRPC:
		more.Ratio = max(c.Ratio, rapid.SampledFrom([]float64{0.1, 0.5, 0.7, 1, 3}).Draw(t, "moreRatio"))
	case budget.SRE:
		more.K = max(c.K, rapid.SampledFrom([]float64{1.1, 1.5, 2, 5}).Draw(t, "moreK"))
	}
	return more
}

// An operation of the test, whose state is what an engine would know.
type operation struct {
	ticket  budget.Ticket
	asleep  bool
	retry   bool // the attempt under way is one
	under   bool
	takenAt int // index of its last retry in the history
}

// The account decides as the model does, whatever happens in which order; its balance stays
// between 0 and its maximum; and nothing is lost: taken = returned + spent + asleep.
func TestPropertyAccountFollowsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{config: anyConfig(t), chance: stream(0)}
		a := single(m.config, 0, 0)
		ops := make([]operation, 6)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			m.now += time.Duration(rapid.SampledFrom([]int64{0, 0, 0, 1, 90, 500, 3000}).Draw(t, "pause")) * time.Millisecond
			o := &ops[rapid.IntRange(0, len(ops)-1).Draw(t, "operation")]
			step(t, m, a, o)
			asleep := int64(0)
			for i := range ops {
				if ops[i].asleep {
					asleep++
				}
			}
			l := a.Ledger(m.now)
			if l.Taken != l.Returned+l.Spent+asleep {
				t.Fatalf("ledger %+v with %d asleep, want taken = returned + spent + asleep", l, asleep)
			}
			if l.Last < 0 || l.Lowest < 0 || l.Last > m.most() || l.Last > l.Highest || l.Last < l.Lowest {
				t.Fatalf("ledger %+v, want a balance of 0..%d", l, m.most())
			}
			if (l.Last > 0) != m.certain() {
				t.Fatalf("balance %d, but the model allows a retry for certain: %v", l.Last, m.certain())
			}
		}
	})
}

// step lets something happen to an operation that can happen to it.
func step(t *rapid.T, m *model, a *budget.Account, o *operation) {
	what := rapid.IntRange(0, 4).Draw(t, "what")
	switch {
	case !o.under: // begin
		a.Leave(m.now, &o.ticket)
		m.note(happening{what: "first"})
		m.operations++
		*o = operation{ticket: o.ticket, under: true}
	case what == 0: // the run ends
		a.Cancel(m.now, &o.ticket)
		if o.asleep {
			taken := &m.history[o.takenAt]
			taken.gone = true
			m.note(happening{what: "returned", paid: taken.paid})
		}
		m.close(o)
	case o.asleep: // the retry leaves
		a.Leave(m.now, &o.ticket)
		o.asleep, o.retry = false, true
	case what <= 2: // it ends
		end := rapid.SampledFrom([]budget.Outcome{budget.Succeeded, budget.Succeeded, budget.Final, budget.Broken, budget.Failed, budget.Throttled}).Draw(t, "end")
		a.End(m.now, end, &o.ticket)
		m.answered(o, end)
		m.close(o)
	default: // it fails, and asks
		outcome := rapid.SampledFrom([]budget.Outcome{budget.Failed, budget.Failed, budget.Throttled, budget.TimedOut}).Draw(t, "failure")
		m.answered(o, outcome)
		if o.retry {
			m.retries--
			o.retry = false
		}
		want := m.asked(outcome)
		if got := a.Ask(m.now, outcome, &o.ticket); got != want {
			t.Fatalf("Ask at %v = %v, want %v: %d operations, %d retries", m.now, got, want, m.operations, m.retries)
		}
		if !want {
			m.close(o)
			return
		}
		o.asleep, o.takenAt = true, len(m.history)-1
	}
}

// answered notes the outcome of the attempt under way.
func (m *model) answered(o *operation, outcome budget.Outcome) {
	h := happening{what: "failure", outcome: outcome, retry: o.retry}
	if o.retry {
		h.paid = m.history[o.takenAt].paid
	}
	switch outcome {
	case budget.Succeeded:
		h.what = "success"
	case budget.Final:
		h.what = "final"
	case budget.Broken:
		h.what = "broken"
	}
	m.note(h)
}

func (m *model) close(o *operation) {
	if o.asleep || o.retry {
		m.retries--
	}
	m.operations--
	*o = operation{}
}

// For one client and fixed outcomes a larger budget has, at every moment, allowed at least as many
// retries. Outcomes are those of the attempts of each operation in order, all failures of one kind.
func TestPropertyLargerBudgetAllowsNoFewer(t *testing.T) {
	type question struct {
		pause     time.Duration
		opened    int // other operations that succeed before it
		fails     int // attempts of its own operation that fail
		succeeded bool
	}
	rapid.Check(t, func(t *rapid.T) {
		less := anyConfig(t)
		more := larger(t, less)
		failure := rapid.SampledFrom([]budget.Outcome{budget.Failed, budget.Throttled, budget.TimedOut}).Draw(t, "failure")
		depth, refunds := 3, false
		switch less.Kind {
		case budget.SRE:
			depth = 1 // further questions draw what the next operation would, and count
		case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive:
			refunds = true // see TestLargerQuotaMayAllowFewer: here no retry succeeds
		}
		questions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) question {
			return question{
				pause:     time.Duration(rapid.SampledFrom([]int64{0, 0, 100, 400, 1500}).Draw(t, "pause")) * time.Millisecond,
				opened:    rapid.IntRange(0, 4).Draw(t, "opened"),
				fails:     rapid.IntRange(1, depth).Draw(t, "fails"),
				succeeded: !refunds && rapid.Bool().Draw(t, "succeeded"),
			}
		}), 1, 60).Draw(t, "questions")
		count := func(c budget.Config) (allowed []int) {
			a := single(c, 0, 0)
			var now time.Duration
			n := 0
			for _, q := range questions {
				now += q.pause
				for range q.opened {
					var other budget.Ticket
					a.Leave(now, &other)
					a.End(now, budget.Succeeded, &other)
				}
				var ticket budget.Ticket
				a.Leave(now, &ticket)
				for i := 0; ; i++ {
					if i == q.fails {
						end := failure
						if q.succeeded {
							end = budget.Succeeded
						}
						a.End(now, end, &ticket)
						break
					}
					if !a.Ask(now, failure, &ticket) {
						break
					}
					n++
					a.Leave(now, &ticket)
				}
				allowed = append(allowed, n)
			}
			return allowed
		}
		few, many := count(less), count(more)
		for i := range few {
			if few[i] > many[i] {
				t.Fatalf("%+v allowed %d retries by question %d, %+v only %d", less, few[i], i, more, many[i])
			}
		}
	})
}
