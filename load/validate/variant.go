package validate

import (
	"context"
	"fmt"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/sim"
)

// A variant is a strategy with what a table of the reference changes of its parameters.
type variant struct {
	name     string
	strategy string
	change   func(*plan.Plan) // nil: nothing
}

// variants are those that the tables speak of. The name begins with the strategy's.
func variants() []variant {
	capMode := func(m backoff.CapMode) func(*plan.Plan) { return func(p *plan.Plan) { p.CapMode = m } }
	half := func(p *plan.Plan) { p.SpreadShare = 0.5 }
	return []variant{
		{"none", "none", nil},
		{"linear", "linear", nil},
		{"fibonacci", "fibonacci", nil},
		{"constant", "constant", nil},
		{"immediate", "immediate", nil},
		{"fixed-up 50ms", "fixed-up", nil},
		{"fixed 50ms", "fixed", nil},
		{"constant-full", "constant-full", nil},
		{"exponent", "exponent", nil},
		{"exponent-noisy", "exponent-noisy", nil},
		{"proportional 20%", "proportional", nil},
		{"proportional 50%", "proportional", half},
		{"equal", "equal", nil},
		{"equal, cap fixed", "equal", capMode(backoff.CapFixed)},
		{"full", "full", nil},
		{"full, cap clamp", "full", capMode(backoff.CapClamp)},
		{"full, cap fixed", "full", capMode(backoff.CapFixed)},
		{"full, shared seed", "full", func(p *plan.Plan) { p.SharedSeed = true }},
		{"full-clamp 50ms", "full-clamp", nil},
		{"full-floor 50ms", "full-floor", nil},
		{"polly", "polly", nil},
		{"decorrelated, clamp", "decorrelated", capMode(backoff.CapClamp)},
		{"decorrelated, ceiling", "decorrelated", nil},
	}
}

// lookup returns the variant of a name, which must be there.
func lookup(name string) variant {
	for _, v := range variants() {
		if v.name == name {
			return v
		}
	}
	panic(fmt.Sprintf("validate: BUG: no variant %q", name))
}

// long is for a run that ends when its work does: the slowest, 10,000 clients without jitter, takes
// 55 hours.
const long = 100 * time.Hour

// guide returns the guides' model: so many clients fail together, a target that serves one a
// millisecond and rejects at once whoever finds it busy, and a policy without limits.
func (v variant) guide(clients int, duration time.Duration) *plan.Plan {
	p := plan.Default()
	p.Clients, p.Duration = clients, duration
	p.Strategies = []string{v.strategy}
	p.MaxElapsed = 0
	if v.change != nil {
		v.change(&p)
	}
	return &p
}

// simulate runs a plan of one strategy in virtual time; of run it reads Seed, Trace, Recorder and Budget.
func simulate(ctx context.Context, p *plan.Plan, run sim.Config) sim.Stats {
	check := *p
	check.Duration = min(check.Duration, 24*time.Hour) // a limit of the command, not of the engine
	if err := check.Validate(); err != nil {
		panic("validate: BUG: a plan with faults: " + err.Error())
	}
	run.Plan, run.Strategy = p, p.Strategies[0]
	return sim.Run(ctx, run)
}
