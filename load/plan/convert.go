package plan

import (
	"fmt"
	"math"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry"
	"stormtest/target/station"
)

// Params returns the numbers of the plan's strategies.
func (p Plan) Params() backoff.Params {
	return backoff.Params{
		Base:           p.Base,
		Cap:            p.Cap,
		Multiplier:     p.Multiplier,
		FirstExponent:  p.FirstExponent,
		CapMode:        p.CapMode,
		CapJitterShare: p.CapJitterShare,
		Noise:          p.Noise,
		SpreadShare:    p.SpreadShare,
		Floor:          p.Floor,
	}
}

// Backoff returns the strategy of a name in p.Strategies, with the plan's numbers. An
// unknown name is a bug of the caller and panics. The plan must be valid.
func (p Plan) Backoff(strategy string) backoff.Ranged { return entry(strategy).New(p.Params()) }

// Policy returns the retry policy of the run of one strategy, a name in p.Strategies. An
// unknown name is a bug of the caller and panics. The plan must be valid.
func (p Plan) Policy(strategy string) retry.Policy {
	return retry.Policy{
		Strategy:           p.Backoff(strategy),
		Throttled:          p.throttled(strategy),
		MaxRetries:         p.MaxRetries,
		MaxElapsed:         p.MaxElapsed,
		Timeout:            p.Timeout,
		Hedge:              retry.Hedge(p.Hedge),
		HonourRetryAfter:   p.RetryAfter == RetryAfterHonour,
		RetryAfterJitter:   p.RetryAfterJitter,
		RetryOn:            p.RetryOn,
		Method:             p.Method,
		IdempotencyKey:     p.IdempotencyKey,
		RetryNonIdempotent: p.RetryNonIdempotent,
	}
}

// throttled returns the strategy for what follows an answer 429; nil where it is that of every failure.
func (p *Plan) throttled(strategy string) backoff.Ranged {
	if p.ThrottledBase == 0 {
		return nil
	}
	params := p.Params()
	params.Base = p.ThrottledBase
	return entry(strategy).New(params)
}

// entry returns the row of a strategy that must be known.
func entry(strategy string) backoff.Entry {
	e, ok := backoff.Lookup(strategy)
	if !ok {
		panic(fmt.Sprintf("plan: BUG: strategy %q is not in backoff.Table", strategy))
	}
	return e
}

// Station returns the built-in target. The plan must be valid. Model reject-if-busy is slots with one
// worker and no queue, of which only the moment differs when a client knows of its success; model
// occ is no station, and asking for it is a bug of the caller and panics.
func (p Plan) Station() station.Config {
	if p.Model == ModelOCC {
		panic("plan: BUG: model " + ModelOCC + " is not a station")
	}
	c := station.Config{
		PerSecond:       p.CapacityPerSecond,
		Model:           station.Slots,
		Workers:         p.Workers,
		Queue:           p.Queue,
		Burst:           p.Burst,
		ServiceExp:      p.Service == ServiceExp,
		Status:          p.Status,
		CancelAbandoned: p.Abandoned == AbandonedCancel,
		Outages:         p.Outages,
		Discipline:      disciplines[p.Discipline],
		DropExpired:     p.Expired == ExpiredDrop,
		Contention:      p.ContentionShare,
		Coherency:       p.CoherencyShare,
		ShedCost:        p.ShedCostShare,
	}
	if p.Model == ModelTokenBucket {
		c.Model = station.TokenBucket
	}
	switch window, reset := p.retryAfterWindow(); {
	case p.SendRetryAfter == 0:
	case reset:
		c.RetryAfter = station.RetryAfterRule{Mode: station.RetryAfterReset, After: window}
	case p.SendRetryAfter == AutoRetryAfter:
		c.RetryAfter.Mode = station.RetryAfterAuto
	default:
		c.RetryAfter = station.RetryAfterRule{Mode: station.RetryAfterFixed, After: p.SendRetryAfter}
	}
	return c
}

// disciplines are the words of Plan.Discipline.
var disciplines = map[string]station.Discipline{
	DisciplineFIFO:              station.FIFO,
	DisciplineLIFO:              station.LIFO,
	DisciplineAdaptiveLIFO:      station.AdaptiveLIFO,
	DisciplineCoDel:             station.CoDel,
	DisciplineAdaptiveLIFOCoDel: station.AdaptiveLIFOCoDel,
}

// Drops reports whether the built-in target may throw attempts out of its queue. The plan must be valid.
func (p Plan) Drops() bool {
	return p.Expired == ExpiredDrop || p.Discipline == DisciplineCoDel || p.Discipline == DisciplineAdaptiveLIFOCoDel
}

// OperationsTotal returns how many operations a run starts at most: Operations where it is
// given, else with a rate those due before the end of the run (operation j is due at
// j/rate, but for surges), else one a client. With Poisson arrivals their number is a draw, and this is
// the mean and the limit.
func (p Plan) OperationsTotal() int64 {
	switch {
	case p.Operations > 0:
		return p.Operations
	case p.RatePerSecond > 0:
		return dueBefore(p.RatePerSecond, p.Schedule().PlainSeconds(p.Duration))
	}
	return int64(p.Clients)
}

// dueBefore returns how many of the moments 0, 1/rate, 2/rate, ... lie before end, in
// seconds. The rate is taken as the decimal number that was written, which 0.1 in binary is not: 0.1/s
// has 3 in 30 s.
func dueBefore(perSecond, end float64) int64 {
	const rounding = 1e-12 // relative, far above that of two binary numbers
	exact := float64(perSecond * end)
	if math.Abs(exact-math.Round(exact)) <= rounding*exact {
		return int64(math.Round(exact))
	}
	return int64(math.Ceil(exact))
}

// ConvoyWindow returns the standard window [from, to) of the convoy index: 10 to 100 times
// base after the moment when the clients fail together, which is the start of the first
// outage, without one that of the first surge to a higher rate, or t0 where there is neither. It
// ends with the run at the latest, and is empty (from = to) where the run ends before it.
// Source: the domain reference, 5.2.
func (p Plan) ConvoyWindow() (from, to time.Duration) {
	failure := p.failure()
	const first, last = 10, 100 // times base
	return min(failure+first*p.Base, p.Duration), min(failure+last*p.Base, p.Duration)
}

// strategyNames returns the names of all strategies, in the order of the help.
func strategyNames() []string { return backoff.Names() }
