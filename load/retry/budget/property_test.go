package budget_test

import (
	"math/big"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/retry/budget"
)

// anyConfig draws small numbers, so that budgets are exhausted often.
func anyConfig(t *rapid.T) budget.Config {
	c := budget.Table[rapid.SampledFrom([]budget.Kind{budget.Finagle, budget.Envoy}).Draw(t, "kind")].Defaults
	c.Ratio = rapid.SampledFrom([]float64{0, 0.00128, 0.1, 0.2, 0.3, 0.5, 1}).Draw(t, "ratio")
	c.Min = rapid.IntRange(0, 3).Draw(t, "min")
	if c.Kind == budget.Finagle {
		c.TTL = time.Duration(rapid.IntRange(1, 3).Draw(t, "ttl")) * time.Second
	}
	return c
}

// A model keeps every event of its life and adds them up anew for each question.
type model struct {
	config              budget.Config
	now                 time.Duration
	deposits, taken     []time.Duration // moments; those that were returned are taken out
	operations, retries int             // under way; retries asleep too
}

// worth returns the units of Finagle's window at now: slots of a tenth of the TTL, the ten
// newest of them.
func (m *model) worth() int64 {
	width := m.config.TTL / 10
	var units int64
	for _, at := range m.deposits {
		if at/width > m.now/width-10 && m.config.Ratio > 0 {
			units += 1000
		}
	}
	for _, at := range m.taken {
		if at/width > m.now/width-10 {
			units -= m.cost()
		}
	}
	return units + int64(m.config.Min)*int64(m.config.TTL/time.Second)*m.cost()
}

func (m *model) cost() int64 {
	if m.config.Ratio == 0 {
		return 1
	}
	// In decimal, as the ratio was written.
	ratio, ok := new(big.Rat).SetString(strconv.FormatFloat(m.config.Ratio, 'f', -1, 64))
	if !ok {
		panic("a ratio that is no number")
	}
	cost := new(big.Rat).Quo(big.NewRat(1000, 1), ratio)
	return new(big.Int).Quo(cost.Num(), cost.Denom()).Int64()
}

func (m *model) allows() bool {
	if m.config.Kind == budget.Finagle {
		return m.worth() >= m.cost()
	}
	return float64(m.retries) < max(float64(m.config.Min), m.config.Ratio*float64(m.operations)-1e-9)
}

// balanceMax is the most that the budget can ever hold: nothing but first attempts fills it.
func (m *model) balanceMax() int64 {
	if m.config.Kind == budget.Finagle {
		full := model{config: m.config, now: m.now, deposits: m.deposits}
		return full.worth() / m.cost()
	}
	return max(int64(m.config.Min), int64(m.operations))
}

// An operation of the test, whose state is what an engine would know.
type operation struct {
	ticket  budget.Ticket
	asleep  bool
	retry   bool // the attempt under way is one
	under   bool
	takenAt time.Duration
}

// The account decides as the model does, whatever happens in which order; its balance stays
// between 0 and its maximum; and nothing is lost: taken = returned + spent + asleep.
func TestPropertyAccountFollowsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{config: anyConfig(t)}
		a := single(m.config, 0, 0)
		ops := make([]operation, 6)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			m.now += time.Duration(rapid.SampledFrom([]int64{0, 0, 0, 1, 90, 500, 3000}).Draw(t, "pause")) * time.Millisecond
			o := &ops[rapid.IntRange(0, len(ops)-1).Draw(t, "operation")]
			step(t, m, a, o, rapid.IntRange(0, 3).Draw(t, "what"))
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
			if l.Last < 0 || l.Lowest < 0 || l.Last > m.balanceMax() || l.Last > l.Highest || l.Last < l.Lowest {
				t.Fatalf("ledger %+v, want a balance of 0..%d", l, m.balanceMax())
			}
			if (l.Last > 0) != m.allows() {
				t.Fatalf("balance %d, but the model allows a retry: %v", l.Last, m.allows())
			}
		}
	})
}

// step lets something happen to an operation that can happen to it.
func step(t *rapid.T, m *model, a *budget.Account, o *operation, what int) {
	switch {
	case !o.under: // begin
		a.Leave(m.now, &o.ticket)
		m.deposits = append(m.deposits, m.now)
		m.operations++
		*o = operation{ticket: o.ticket, under: true}
	case what == 0: // the run ends
		a.Cancel(m.now, &o.ticket)
		if o.asleep {
			for i, at := range m.taken {
				if at == o.takenAt {
					m.taken = append(m.taken[:i:i], m.taken[i+1:]...)
					break
				}
			}
		}
		m.close(o)
	case o.asleep: // the retry leaves
		a.Leave(m.now, &o.ticket)
		o.asleep, o.retry = false, true
	case what == 1: // it succeeds
		a.End(m.now, &o.ticket)
		m.close(o)
	default: // it fails
		if o.retry {
			m.retries--
			o.retry = false
		}
		want := m.allows()
		if got := a.Ask(m.now, &o.ticket); got != want {
			t.Fatalf("Ask at %v = %v, want %v: %d operations, %d retries", m.now, got, want, m.operations, m.retries)
		}
		if !want {
			m.close(o)
			return
		}
		m.taken = append(m.taken, m.now)
		m.retries++
		o.asleep, o.takenAt = true, m.now
	}
}

func (m *model) close(o *operation) {
	if o.asleep || o.retry {
		m.retries--
	}
	m.operations--
	*o = operation{}
}

// For the same questions at the same moments a larger budget has, at every moment, allowed at
// least as many retries. A longer TTL is not larger: what was withdrawn comes back later, too.
func TestPropertyLargerBudgetAllowsNoFewer(t *testing.T) {
	type question struct {
		at     time.Duration
		opened int // first attempts before it
	}
	rapid.Check(t, func(t *rapid.T) {
		less := anyConfig(t)
		more := less
		more.Min += rapid.IntRange(0, 2).Draw(t, "moreMin")
		for _, r := range []float64{0.1, 0.2, 0.3, 0.5, 1} {
			if r > less.Ratio && rapid.Bool().Draw(t, "moreRatio") {
				more.Ratio = r
			}
		}
		questions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) question {
			return question{
				at:     time.Duration(rapid.SampledFrom([]int64{0, 0, 100, 400, 1500}).Draw(t, "pause")) * time.Millisecond,
				opened: rapid.IntRange(0, 4).Draw(t, "opened"),
			}
		}), 1, 60).Draw(t, "questions")
		// The one client's operation is asked for again and again, and its retry ends at once.
		count := func(c budget.Config) (allowed []int) {
			a := single(c, 0, 0)
			var now time.Duration
			n := 0
			for _, q := range questions {
				now += q.at
				for range q.opened {
					var other budget.Ticket
					a.Leave(now, &other)
					a.End(now, &other)
				}
				var ticket budget.Ticket
				a.Leave(now, &ticket)
				if a.Ask(now, &ticket) {
					n++
					a.Leave(now, &ticket)
					a.End(now, &ticket)
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
