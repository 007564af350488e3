package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/target/station"
)

// Where arrivals are measured.
const (
	measuredAtTarget = "target"
	measuredAtClient = "client"
)

// A trial is one variant of a plan with one seed: what is recorded of it and by which rules, whichever
// engine runs it.
type trial struct {
	plan    plan.Plan // its seed is the trial's own
	variant plan.Variant
	// engine is record.EngineReal or record.EngineVirtual.
	engine string
	// measuredAt is measuredAtTarget or measuredAtClient.
	measuredAt string
	// capacity is what the target can serve in a second; nil where nobody knows it.
	capacity *float64
	// detail says that the run is one that is shown, and not only counted with others.
	detail bool

	recorder *record.Recorder
	// effects counts what the target did twice; nil where it does not know which operation a request is of.
	effects *record.EffectTally
	// parts are those of a mixed fleet, dealt to them as deal says; nil where all clients follow one policy.
	parts []part
	deal  plan.Deal
	cuts  []cut // of each part; known when the run is over
	// What follows is of a fleet of one policy.
	budget   *budget.Bank  // nil: every retry is allowed
	breakers *breaker.Bank // nil: every attempt may leave
}

// A part's plan says what its clients follow. What the whole fleet, the target and the record are is the trial's plan's.
func (t *trial) policy() *plan.Plan { return t.variant.Parts[0].Plan }

// newBank opens the trial's retry budgets and circuit breakers.
func (t *trial) newBank() {
	t.divide()
	if t.parts != nil {
		return
	}
	p := &t.plan
	chance := func(account uint32) *rand.Rand { return seed.Stream(p.Seed.Value, seed.Budget, account) }
	t.budget = budget.NewBank(t.policy().Budget, p.Clients, chance, t.series())
	t.breakers = breaker.NewBank(t.policy().Breaker, p.Clients, func(b uint32) *rand.Rand { return seed.Stream(p.Seed.Value, seed.Breaker, b) })
}

// recordingOf says over which windows clients of one policy are measured; lost are the ways in which the engine loses an
// attempt.
func (t *trial) recordingOf(policy *plan.Plan, lost []string) record.Config {
	p := &t.plan
	entry, params := entryOf(policy), policy.Params()
	c := record.Config{
		Bucket:            p.Bucket,
		Duration:          p.Duration,
		CapacityPerSecond: t.capacity,
		OpenLoop:          p.RatePerSecond > 0,
		Cap:               policy.Cap,
		Floor:             entry.Floor(params),
		StartTogether:     p.RatePerSecond == 0 && p.Ramp == 0,
		KindNames:         names(retry.KindCount),
		ReasonNames:       names(retry.ReasonCount),
		LostNames:         lost,
		Detail:            t.detail,
		Drops:             p.URL == "" && p.Drops(),
	}
	for _, o := range p.Outages {
		if o.Mode == station.ModeRefuse && o.From == 0 {
			c.StartTogether = false // what arrives first is not the first wave
		}
	}
	c.WindowFrom, c.WindowTo = policy.ConvoyWindow()
	lo, hi := entry.Range(params, backoff.Attempt{})
	c.FirstDelayJittered = lo < hi
	c.RecoveryWatch = recoveryWatch(p)
	last := time.Duration(0)
	for _, trigger := range p.Triggers() {
		c.Triggers = append(c.Triggers, record.Trigger{From: trigger.From, To: trigger.To, Surge: trigger.Surge})
		last = trigger.To
	}
	if c.Period = entry.Period(params); c.Period > 0 {
		c.PeriodFrom = min(entry.PeriodFrom(params), p.Duration)
		c.PeriodTo = p.Duration
		if last > c.PeriodFrom { // while the fleet fails, not while it recovers
			c.PeriodTo = min(last, p.Duration)
		}
	}
	return c
}

// entryOf returns the row of the strategy of a part's plan.
func entryOf(policy *plan.Plan) backoff.Entry {
	e, ok := backoff.Lookup(policy.Strategies[0])
	if !ok {
		panic("load: BUG: unknown strategy " + policy.Strategies[0])
	}
	return e
}

// names lists the texts of a small enumeration.
func names[T interface {
	~uint8
	fmt.Stringer
}](count T) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = T(i).String()
	}
	return list
}

// summarise returns what was measured; of e, what the trial itself knows is filled in.
func (t *trial) summarise(e record.End) record.Run {
	e.Strategy, e.Engine, e.ArrivalsMeasuredAt = t.variant.Name, t.engine, t.measuredAt
	e.Budget, e.Breaker = budgeted(t.budget, t.policy(), t.capacity, e.At), broken(t.breakers, t.policy(), e.At)
	if t.effects != nil && t.effects.Forgotten > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d pieces of work were for operations that their clients had left 32 or more operations ago, and are not among the effects", t.effects.Forgotten))
	}
	run := t.recorder.Summarise(e)
	if t.effects != nil {
		sums := t.effects.Sums()
		run.Effects = &sums
	}
	if t.parts != nil {
		run.Parts = t.summariseParts(e)
		run.Notes = append(run.Notes, partNotes(&run, t.plan.RatePerSecond > 0)...)
		return run
	}
	addTheory(&run, t.policy())
	run.Preset = presetOf(&t.variant.Parts[0])
	return run
}

// presetOf says whose policy a part follows, nil where it is the plan's own.
func presetOf(part *plan.Part) *record.Preset {
	if !part.Preset {
		return nil
	}
	s, _ := plan.PresetNamed(part.Name)
	return &record.Preset{Name: s.Name, Source: s.Source, Version: s.Version, Hazards: append([]string{}, s.Hazards...)}
}

// budgeted is what the retry budgets of a policy have counted, nil without one.
func budgeted(bank *budget.Bank, p *plan.Plan, capacity *float64, end time.Duration) *record.Budget {
	if bank == nil {
		return nil
	}
	l := bank.Ledger(end)
	b := &record.Budget{
		Kind:       p.Budget.Kind.String(),
		Parameters: p.BudgetNumbers(),
		Accounts:   bank.Accounts(),
		Deposits:   l.Deposits,
		Taken:      l.Taken,
		Returned:   l.Returned,
		Spent:      l.Spent,
		Refused:    l.Refused,

		RefusedFirst: l.RefusedFirst,
		Delayed:      l.Delayed,
		DelayTotal:   l.DelayTotal,

		BalanceLowest:  l.Lowest,
		BalanceHighest: l.Highest,
		BalanceLast:    l.Last,
		Balance:        l.Balance,
	}
	if floor := p.BudgetFloor(); floor > 0 {
		b.FloorPerSecond = &floor
		if capacity != nil && *capacity > 0 {
			over := floor / *capacity
			b.FloorOverCapacity = &over
		}
	}
	return b
}

// broken is what the circuit breakers of a policy have done, nil without one.
func broken(bank *breaker.Bank, p *plan.Plan, end time.Duration) *record.Breaker {
	if bank == nil {
		return nil
	}
	l := bank.Ledger(end)
	b := &record.Breaker{
		Kind:           p.Breaker.Kind.String(),
		Parameters:     p.BreakerNumbers(),
		Breakers:       bank.Breakers(),
		Opened:         l.Opened,
		Reopened:       l.Reopened,
		Closed:         l.Closed,
		Probes:         l.Probes,
		ShortCircuited: l.ShortCircuited,
		OpenAtEnd:      l.OpenAtEnd,
	}
	if end > 0 {
		share := float64(l.OpenFor) / (float64(end) * float64(b.Breakers))
		b.OpenShare = &share
	}
	return b
}

// notes is what a reader of this run must know beside its figures, where so many operations were not
// started.
func (t *trial) notes(unstarted int64) []string {
	p := &t.plan
	if len(p.Presets) > 0 {
		p = t.policy() // what is said of another preset is none of this run's
	}
	notes := slices.Concat(p.Notes(), p.Warnings())
	if unstarted > 0 {
		notes = append(notes, fmt.Sprintf("the fleet was too small: %d operations were due while none of the %d clients was idle, and were not started",
			unstarted, t.plan.Clients))
	}
	return notes
}

// logged says what run the histogram log is of.
func (t *trial) logged() record.HLogRun {
	return record.HLogRun{
		Strategy: t.variant.Name, Engine: t.engine, ArrivalsMeasuredAt: t.measuredAt,
		Planned: t.plan.Duration, Bucket: t.plan.Bucket, CapacityPerSecond: t.capacity,
	}
}
