package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"stormtest/load"
	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/station"
)

// RealGroup is the group of the checks of RunReal.
const RealGroup = "real"

const realSummary = "plans over real sockets, against 40 seeds in virtual time"

// keptUp ends the name of the check that this machine was not the bottleneck.
const keptUp = ": kept up"

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
	// zSeeds is Student's quantile at 1e-6 with their degrees of freedom, 5.8, rounded up.
	zSeeds = 6
	// virtualCost and realCost are those of a run, as a trial's cost: some 10 ms, and 6 s.
	virtualCost = 10_000
	realCost    = 6_000_000
	// realAttempts is how often a run is tried in which this machine did not keep up.
	realAttempts = 2
)

// RunReal runs a set of plans over real sockets on this machine's loopback, and in virtual time, and holds
// the difference against what chance and this machine's measured smear explain. It takes about a minute,
// one fleet at a time. The error is that of a run that could not be made.
func RunReal(ctx context.Context, c Config) (Result, error) {
	return runReal(ctx, c, realPlans(c.Seed))
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
		for _, check := range f.checks(&run, transposed(virtual[i])) {
			check.Group, check.Source = RealGroup, sourceVirtual
			result.add(check)
		}
	}
	return result, nil
}

// Bottleneck reports whether this machine did not keep up in one of the runs of RunReal, so that their figures
// are its own.
func (r Result) Bottleneck() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK && c.Group == RealGroup && strings.HasSuffix(c.Name, keptUp) })
}

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

// real runs the plan over sockets, once more where this machine did not keep up.
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
	return []float64{
		figureAttempts:   float64(r.Attempts.Sent),
		figureServed:     float64(r.Operations.Succeeded),
		figureCompletion: completion,
		figurePeak:       value(r.Convoy.WindowPeakOverCapacity),
		figureConvoy:     value(r.Convoy.ConvoyIndex),
		figureLatency:    value(r.Latency.Mean) / float64(time.Second),
	}
}

// A slack is by how much a figure may lie below and above its mean in virtual time.
type slack struct{ low, high float64 }

// slacks returns what chance and smear explain of the difference of each figure.
//
// A run may differ by what another seed does, zSeeds deviations of one, and by its smear: a retry leaves a
// delay after its answer, and here answers take longer and sends are late. With that lag an attempt, of
// which the recorder has the mean, a attempts a client in the time T, a capacity C and a bucket W that is
//
//	attempts       3*attempts*a*lag/T    fewer fit, or more are refused because the late come in clumps
//	served         served*C*lag/(1 + C*lag), nothing where all are served in the end
//	completion     2*a*lag
//	peak           peak*a*lag/W          what moves into the next bucket
//	convoy index   lag/80 ms             its shortest scale is 10 ms
//
// Without jitter a wave is one moment in virtual time, of which a target without a queue serves one, and
// here it lasts: with p99 of the latency as its length it serves as many more as fit, and its index falls
// to that of so long a wave where it is longer than 10 ms.
//
// The factors are from 132 runs on a machine with five to nine times as much to do as it had cores. Those in
// which it kept up used at most 0.53 of a slack, the others at most 0.88 but for the peaks of two whose
// attempts left 70 and 125 ms late.
func (f realPlan) slacks(run *record.Run, virtual [][]float64) [figureCount]slack {
	lag := f.lag(run, virtual)
	got := figuresOf(run)
	each := got[figureAttempts] / float64(f.plan.Clients)
	busy := f.plan.CapacityPerSecond * lag
	mean := func(k int) float64 { return meanOf(virtual[k]) }
	smear := [figureCount]float64{
		figureAttempts:   3 * got[figureAttempts] * each * lag / run.Duration.Seconds(),
		figureServed:     mean(figureServed) * busy / (1 + busy),
		figureCompletion: 2 * each * lag,
		figurePeak:       mean(figurePeak) * min(1, each*lag/f.plan.Bucket.Seconds()),
		figureConvoy:     lag / 0.080,
	}
	if !math.IsNaN(mean(figureCompletion)) {
		smear[figureServed] = 0
	}
	var list [figureCount]slack
	for k := range list {
		both := smear[k] + zSeeds*deviationOf(virtual[k])*math.Sqrt(1+1.0/realSeeds)
		list[k] = slack{both, both}
	}
	if wave := waveLength(run); !f.jittered() {
		list[figureServed].high += mean(figureServed) * f.plan.CapacityPerSecond * wave.Seconds()
		list[figureConvoy].low = max(list[figureConvoy].low, 1-smearedIndex(wave))
	}
	return list
}

// lag is how much later an attempt leaves than in virtual time, for each attempt before it, in s.
func (f realPlan) lag(run *record.Run, virtual [][]float64) float64 {
	return max(0, figuresOf(run)[figureLatency]-meanOf(virtual[figureLatency]))
}

func (f realPlan) jittered() bool {
	e, ok := backoff.Lookup(f.plan.Strategies[0])
	return ok && e.Jittered
}

// waveLength is how long a wave lasts whose clients are due together.
func waveLength(run *record.Run) time.Duration {
	if run.Latency.P99 == nil {
		return 0
	}
	return time.Duration(*run.Latency.P99)
}

// smearedIndex is the index by the shorter two scales of a wave that is spread evenly over s.
func smearedIndex(s time.Duration) float64 {
	closer := func(w time.Duration) float64 {
		rest := max(0, 1-float64(w)/float64(s))
		return 1 - rest*rest
	}
	return max(0, expectedIndex(closer(shortScale), closer(middleScale), [2]time.Duration{shortScale, middleScale}, longScale))
}

// checks holds a real run against the seeds in virtual time.
func (f realPlan) checks(run *record.Run, virtual [][]float64) []Check {
	prefix := f.plan.Strategies[0] + ", " + f.name + ": "
	got, slacks := figuresOf(run), f.slacks(run, virtual)
	var list []Check
	for k, what := range []Check{
		figureAttempts: {Name: "attempts"}, figureServed: {Name: "served"}, figureCompletion: {Name: "completion", Unit: "s"},
		figurePeak: {Name: "peak/capacity"}, figureConvoy: {Name: "convoy index"},
	} {
		mean := meanOf(virtual[k])
		if math.IsNaN(mean) {
			continue // not every seed completes
		}
		what.Name = prefix + what.Name
		list = append(list, what.within(mean, max(0, mean-slacks[k].low), mean+slacks[k].high).judged(got[k]))
	}
	kept := Check{Name: strings.TrimSuffix(prefix, ": ") + keptUp}.exact(1).judged(1)
	if reasons := record.Validity(*run); len(reasons) > 0 {
		kept = kept.judged(0).noted("this machine was the bottleneck, and the figures are its own: " + strings.Join(reasons, "; "))
	}
	list[0] = list[0].noted(f.reason(run, f.lag(run, virtual)))
	return append(list, kept)
}

// reason says why the two clocks differ here.
func (f realPlan) reason(run *record.Run, lag float64) string {
	text := fmt.Sprintf("each retry leaves %s later than in virtual time (answers take time, and sends are late: mean %s, p99 %s after the first bucket); the first wave took %s",
		record.Short(time.Duration(lag*float64(time.Second))), mean(run.Generator.LatenessRest), p99(run.Generator.LatenessRest), spread(run))
	if f.jittered() {
		return text + "; who finds a free slot differs from there on as with another seed"
	}
	return text + fmt.Sprintf("; without jitter a wave is a tie in virtual time, of which one is served, and here it lasts %s and serves more; beyond 10 ms its index falls",
		record.Short(waveLength(run)))
}

// mean, p99 and spread are the texts of what a run has, or of nothing.
func mean(d record.Distribution) string {
	if d.Mean == nil {
		return "none"
	}
	return record.Short(time.Duration(*d.Mean))
}

func p99(d record.Distribution) string { return shortOf(d.P99) }

func spread(run *record.Run) string { return shortOf(run.Generator.StartSpread) }

func shortOf(ns *int64) string {
	if ns == nil {
		return "none"
	}
	return record.Short(time.Duration(*ns))
}
