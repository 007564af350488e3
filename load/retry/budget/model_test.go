package budget_test

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"time"

	"stormtest/load/retry/budget"
)

// A happening is what a model keeps of one moment of an account's life.
type happening struct {
	at      time.Duration
	what    string // "first", "retry" allowed, "refused", "success", "final", "failure"
	outcome budget.Outcome
	retry   bool // the attempt that has this outcome was one
	paid    int64
	gone    bool // a retry that was cancelled
}

// A model keeps everything that happened and adds it up anew for each question.
type model struct {
	config              budget.Config
	now                 time.Duration
	history             []happening
	operations, retries int        // under way; retries asleep too
	chance              *rand.Rand // the same as the account's
}

func (m *model) note(h happening) {
	h.at = m.now
	m.history = append(m.history, h)
}

// asked decides as the account should, and notes it.
func (m *model) asked(o budget.Outcome) bool {
	allowed := m.allows(o)
	what := "refused"
	if allowed {
		what = "retry"
		m.retries++
	}
	m.note(happening{what: what, paid: m.cost(o)})
	return allowed
}

func (m *model) allows(o budget.Outcome) bool {
	switch m.config.Kind {
	case budget.Finagle:
		return m.worth() >= m.cost(o)
	case budget.Envoy:
		return float64(m.retries) < max(float64(m.config.Min), m.config.Ratio*float64(m.operations)-1e-9)
	case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive:
		return m.tokens() >= m.cost(o)
	case budget.GRPC:
		return 2*m.tokens() > 1000*int64(m.config.Size)
	case budget.SRE:
		u := new(big.Rat).SetFrac(new(big.Int).SetUint64(m.chance.Uint64()), new(big.Int).Lsh(big.NewInt(1), 64))
		return u.Cmp(m.rejectShare()) >= 0
	}
	panic("a kind without a model")
}

// certain says whether a retry after a failure would be allowed, whatever chance says.
func (m *model) certain() bool {
	switch m.config.Kind {
	case budget.SRE:
		return m.rejectShare().Sign() == 0
	case budget.GRPC: // the failure comes first
		return 2*(m.tokens()-1000) > 1000*int64(m.config.Size)
	}
	return m.allows(budget.Failed)
}

// most is the most that the budget can ever hold.
func (m *model) most() int64 {
	switch m.config.Kind {
	case budget.Finagle: // nothing but first attempts fills it
		full := model{config: m.config, now: m.now}
		for _, h := range m.history {
			if h.what == "first" {
				full.history = append(full.history, h)
			}
		}
		return full.worth() / m.cost(budget.Failed)
	case budget.Envoy:
		return max(int64(m.config.Min), int64(m.operations))
	case budget.GRPC:
		return int64(m.config.Size-1) / 2
	case budget.SRE:
		return int64(m.config.K*float64(len(m.history))) + 1
	}
	return int64(m.config.Size) / m.cost(budget.Failed)
}

// cost is what a retry takes after o, in the unit of its kind.
func (m *model) cost(o budget.Outcome) int64 {
	switch c := m.config; {
	case c.Kind == budget.Finagle && c.Ratio == 0:
		return 1
	case c.Kind == budget.Finagle: // in decimal, as the ratio was written
		cost := new(big.Rat).Quo(big.NewRat(1000, 1), decimal(c.Ratio))
		return new(big.Int).Quo(cost.Num(), cost.Denom()).Int64()
	case (c.Kind == budget.AWS || c.Kind == budget.AWSAdaptive) && o == budget.Throttled:
		return int64(c.CostThrottled)
	case c.Kind == budget.AWSLegacy && o == budget.TimedOut:
		return int64(c.CostTimeout)
	default:
		return int64(c.Cost)
	}
}

// worth returns the units of Finagle's window at now: slots of a tenth of the TTL, the ten
// newest of them.
func (m *model) worth() int64 {
	width := m.config.TTL / 10
	units := int64(m.config.Min) * int64(m.config.TTL/time.Second) * m.cost(budget.Failed)
	for _, h := range m.history {
		switch {
		case h.at/width <= m.now/width-10:
		case h.what == "first" && m.config.Ratio > 0:
			units += 1000
		case h.what == "retry" && !h.gone:
			units -= h.paid
		}
	}
	return units
}

// tokens replays what became of AWS's tokens, or of gRPC's in thousandths.
func (m *model) tokens() int64 {
	size, grpc := int64(m.config.Size), m.config.Kind == budget.GRPC
	if grpc {
		size *= 1000
	}
	tokens := size
	for _, h := range m.history {
		switch {
		case grpc && h.what == "success":
			tokens += int64(m.config.Ratio*1000 + 0.5)
		case grpc && h.what == "failure":
			tokens -= 1000
		case grpc:
		case h.what == "success" && h.retry, h.what == "returned":
			tokens += h.paid
		case h.what == "success":
			tokens += int64(m.config.Credit)
		case h.what == "retry":
			tokens -= h.paid
		}
		tokens = min(max(tokens, 0), size)
	}
	return tokens
}

// rejectShare is SRE's p at now, over the twelve newest slots.
func (m *model) rejectShare() *big.Rat {
	width := m.config.TTL / 12
	requests, accepts := int64(0), int64(0)
	for _, h := range m.history {
		switch {
		case h.at/width <= m.now/width-12:
		case h.what == "first", h.what == "refused", h.what == "retry" && !h.gone:
			requests++
		case h.what == "success", h.what == "final":
			accepts++
		}
	}
	over := new(big.Rat).Mul(decimal(m.config.K), big.NewRat(accepts, 1))
	over.Sub(big.NewRat(requests, 1), over)
	if over.Sign() < 0 {
		return new(big.Rat)
	}
	return over.Quo(over, big.NewRat(requests+1, 1))
}

// decimal is a number as it was written.
func decimal(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	if !ok {
		panic("no number")
	}
	return r
}
