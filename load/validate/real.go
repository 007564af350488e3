package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/station"
)

// RealGroup is the group of the checks of RunReal.
const RealGroup = "real"

const realSummary = "plans over real sockets on this machine's loopback; attempts off by a fourth fail, and peaks off by a factor of 2.5"

// A realPlan is a plan that both clocks run, strategy by strategy.
type realPlan struct {
	name string
	plan plan.Plan
}

// realPlans returns the plans: an outage of 2 s from t0 on, which 500 clients meet together, at a target of
// 500/s. Without a queue, as in the guides' model, who is served hangs on fractions of a millisecond;
// behind one it does not. Those without an end in sight run for 6 s, the others until all are served.
func realPlans(seed uint64) []realPlan {
	p := plan.Default()
	p.Seed = plan.Seed{Value: seed, Set: true}
	p.Clients, p.CapacityPerSecond = 500, 500
	p.Base, p.Cap, p.Noise = 50*time.Millisecond, 2*time.Second, 25*time.Millisecond
	p.MaxElapsed = 0
	p.Outages = []station.Outage{{To: 2 * time.Second}}
	p.Duration = 6 * time.Second
	p.Strategies = []string{"none", "fixed"}
	endless := p
	p.Duration = 30 * time.Second
	p.Strategies = []string{"proportional", "equal", "full", "decorrelated", "constant-full"}
	ending := p
	p.Workers, p.Queue = 2, 20
	p.Strategies = []string{"equal", "full", "decorrelated"}
	queued := p
	return []realPlan{{"no queue", endless}, {"no queue", ending}, {"queue of 20", queued}}
}

const (
	// realSeeds is how many seeds a figure's spread in virtual time is taken from.
	realSeeds = 40
	// virtualCost and realCost are those of a run, as a trial's cost: some 10 ms, and 6 s.
	virtualCost = 10_000
	realCost    = 6_000_000
	// realAttempts is how often a run is tried in which this machine did not keep up: most bottlenecks are a moment's.
	realAttempts = 3
)

// RunReal runs a set of plans over real sockets on this machine's loopback and holds them against virtual time
// behind a network like the one that the run had, one fleet at a time, and then three cells of the table of metastable
// failures, in small and beside each other. It takes about two minutes. A run in which
// this machine did not keep up is judged by nobody. The error is that of a run that could not be made.
func RunReal(ctx context.Context, c Config) (Result, error) {
	first, second := c, c
	if c.Progress != nil {
		first.Progress = func(p Progress) { c.Progress(Progress{p.DoneShare / 2}) }
		second.Progress = func(p Progress) { c.Progress(Progress{0.5 + p.DoneShare/2}) }
	}
	r, err := runReal(ctx, first, realPlans(c.Seed))
	if err != nil || r.Interrupted {
		return r, err
	}
	more, err := realRecoveries(ctx, second)
	for _, check := range more.Checks {
		r.add(check)
	}
	r.Parts += more.Parts
	r.PartsNotRun, r.Interrupted = more.PartsNotRun, more.Interrupted
	return r, err
}

func runReal(ctx context.Context, c Config, plans []realPlan) (Result, error) {
	var fleets []realPlan
	for _, r := range plans {
		for _, strategy := range r.plan.Strategies {
			one := r
			one.plan.Strategies = []string{strategy}
			fleets = append(fleets, one)
		}
	}
	trials := make([]trial, len(fleets))
	for i, f := range fleets {
		trials[i] = trial{runs: realSeeds, run: f.virtual, cost: virtualCost}
	}
	tell := counter(c.Progress, costOf(trials)+float64(len(fleets))*(realCost+runCost))
	virtual := pool{workers: runtime.GOMAXPROCS(0), done: tell}.run(ctx, trials)
	result := Result{Parts: len(fleets)}
	for i, f := range fleets {
		run, err := f.real(ctx)
		result.Interrupted = ctx.Err() != nil
		switch {
		case result.Interrupted: // whatever the run says of it
			result.PartsNotRun = len(fleets) - i
			return result, nil
		case err != nil:
			return result, err
		}
		tell(realCost)
		behind, ok := f.behind(ctx, &run, transposed(virtual[i]))
		if !ok {
			result.Interrupted, result.PartsNotRun = true, len(fleets)-i
			return result, nil
		}
		for _, check := range f.checks(&run, behind) {
			check.Group, check.Source = RealGroup, sourceVirtual
			result.add(check)
		}
	}
	return result, nil
}

// Bottleneck reports whether this machine did not keep up in one of the runs of RunReal.
func (r Result) Bottleneck() bool { return r.NotJudged > 0 }

// virtual returns the figures of one seed in virtual time.
func (f realPlan) virtual(ctx context.Context, i int) []float64 {
	p := f.plan
	p.Seed.Value += uint64(i)
	r, err := load.Simulate(ctx, p, load.Env{})
	if err != nil {
		panic("validate: BUG: " + err.Error())
	}
	if len(r.Runs) == 0 { // cancelled
		return make([]float64, figureCount)
	}
	return figuresOf(&r.Runs[0])
}

// real runs the plan over sockets, again where this machine did not keep up.
func (f realPlan) real(ctx context.Context) (record.Run, error) {
	for i := 0; ; i++ {
		r, err := load.Run(ctx, f.plan, load.Env{})
		if err != nil {
			return record.Run{}, fmt.Errorf("validate: %s, %s: %w", f.plan.Strategies[0], f.name, err)
		}
		if len(r.Runs) == 0 {
			return record.Run{}, errors.New("validate: interrupted")
		}
		if r.Valid || i+1 == realAttempts {
			return r.Runs[0], nil
		}
	}
}

// The figures that are compared.
const (
	figureAttempts = iota
	figureServed
	figureCompletion
	figurePeak
	figureConvoy
	figureLatency // of virtual time: what an answer takes without a network and a late sender
	figureTail    // its p99
	figureCount
)

// figuresOf returns the figures of a run, NaN for what it has not.
func figuresOf(r *record.Run) []float64 {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	completion := math.NaN()
	if r.Completion != nil {
		completion = time.Duration(*r.Completion).Seconds()
	}
	tail := math.NaN()
	if r.Latency.P99 != nil {
		tail = time.Duration(*r.Latency.P99).Seconds()
	}
	return []float64{
		figureAttempts:   float64(r.Attempts.Sent),
		figureServed:     float64(r.Operations.Succeeded),
		figureCompletion: completion,
		figurePeak:       value(r.Convoy.WindowPeakOverCapacity),
		figureConvoy:     value(r.Convoy.ConvoyIndex),
		figureLatency:    value(r.Latency.Mean) / float64(time.Second),
		figureTail:       tail,
	}
}
