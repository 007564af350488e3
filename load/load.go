// Package load runs a plan: for each strategy it puts a fleet against a target, records who
// arrived when, and returns what it measured.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// An Env is what a run takes from its surroundings. The zero value runs over loopback TCP
// with the finest clock there is, and tells nobody how far it is.
type Env struct {
	// Version is the tool's, for the result.
	Version string
	// Network opens the place of each run's target; nil is loopback TCP.
	Network func() (Place, error)
	// Material holds the files that the plan names.
	Material Material
	// Lookup and Connect reach a target that is not ours; nil is the system's resolver and network.
	Lookup  Lookup
	Connect Connect
	// Wake is what sends and completions are timed with.
	Wake wake.Source
	// Trace, where set, takes one CSV row for every attempt that ended, as it ends.
	Trace io.Writer
	// HLog, where set, takes the histogram log: the arrivals of every bucket, as it closes.
	HLog io.Writer
	// Probing, where set, is called before the healthy baseline of a target elsewhere is taken,
	// which may last some 8 s.
	Probing func()
	// Progress, where set, is called when a run begins, from a goroutine of Run or of Serve, never
	// twice at a time. The counters of the Stage may be read from any goroutine until the next call.
	Progress func(Stage)
	// Finished, where set, is called as each strategy's run ends, with all its seeds: with the Run as the result has
	// it, which must not be changed. It is called by Run, Simulate or Serve, never twice at a time; in virtual time
	// strategies may end in another order than the result has them in.
	Finished func(record.Run)
}

// A Stage is one run under way: of one strategy, and with a repeat of one seed.
type Stage struct {
	Index, Count int // of the strategies; Index is from 0
	Strategy     string
	Seed, Seeds  int       // of the repeated seeds; Seed is from 0
	Start        time.Time // t0, a little in the future
	Duration     time.Duration
	Operations   int64
	Totals       func() record.Totals
	Bucket       time.Duration
	// CapacityPerSecond is what the target can serve; nil where nobody knows it.
	CapacityPerSecond *float64
	// Arrivals returns the buckets of the run from index from on, up to the last in which something happened. It
	// costs the run next to nothing.
	Arrivals func(from int) []record.Tick
	// Interim returns what the run would be if it ended now, with open books: see [record.Recorder.Interim]. Notes, and
	// what of Generator is known at the end alone, are empty, and of Detail the theories. Once the run has ended it is
	// what came out. It takes some ms and is made for once a second.
	Interim func() record.Run
	Outside bool // the clients are not ours: of Totals, what arrived and was served counts
	// Simulated, where set, says how far an invocation in virtual time is, whose runs go on side by side.
	// Such a Stage is the only one, and of the others Count, Seeds, Start, Duration, Operations, Bucket and
	// CapacityPerSecond are set.
	Simulated func() Simulated
}

// finished tells who wants to know that a strategy's run has ended.
func (e *Env) finished(run record.Run) {
	if e.Finished != nil {
		e.Finished(run)
	}
}

// ErrLimit marks a fleet that this machine's limits do not allow.
var ErrLimit = errors.New("the fleet is larger than this machine allows")

// Run runs the plan, which must be valid and have a seed. When ctx is cancelled, or the
// reader of Trace or HLog closes its pipe, the run under way ends early and what it measured is in the
// result, which is then marked interrupted; so a result comes with every error but those from before the first run.
func Run(ctx context.Context, p plan.Plan, env Env) (*record.Result, error) {
	if !p.Seed.Set {
		panic("load: BUG: a plan without a seed")
	}
	if err := p.For(plan.Real); err != nil {
		return nil, err
	}
	first, err := prepare(ctx, p, env)
	if err != nil {
		return nil, err
	}
	result, err := newResult(p, env)
	if err != nil {
		return nil, err
	}
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	trace, stopTrace := startTracer(ctx, env.Trace, abandon)
	defer stopTrace()
	log := newHLogger(env.HLog, result, abandon)
	first.trace, first.log = trace, log
	if site := first.site; site != nil {
		result.Addresses = site.site.Addresses()
		site.measure(ctx, p, env)
		first.capacity = site.capacity
		result.Probe = site.probe
	}
	failed := first.runAll(ctx, result)
	result.Valid = len(result.InvalidReasons) == 0
	return result, errors.Join(failed, log.done(failed == nil && !result.Interrupted), trace.flush())
}

// prepare returns what the storms of a plan have in common, once this machine is known to have room
// for them.
func prepare(ctx context.Context, p plan.Plan, env Env) (storm, error) {
	s := storm{connections: connectionsMost, trial: trial{plan: p, engine: record.EngineReal, measuredAt: measuredAtTarget, capacity: &p.CapacityPerSecond}, env: env}
	switch {
	case p.URL != "":
		s.measuredAt = measuredAtClient
		var err error
		if s.site, err = newElsewhere(ctx, p, env); err != nil {
			return s, fmt.Errorf("load: %w", err)
		}
		if err := checkLimits(need{p.Clients, 1 + copies(&p), 1, s.site.destinations(p)}); err != nil {
			return s, err
		}
	case p.Transport == plan.TransportMemory: // takes no descriptors and no ports
	case env.Network == nil:
		s.listen.read = readListenDrops
		if err := checkLimits(need{p.Clients, 1 + copies(&p), descriptorsPerClient, 1}); err != nil {
			return s, err
		}
		var err error
		if s.connections, err = connectionsOfLayers(p.Clients*(1+copies(&p)), len(p.Layers), descriptorLimit()); err != nil {
			return s, err
		}
		s.env.Network = Loopback
	}
	return s, nil
}

// copies is how many copies of an attempt a client may have under way.
func copies(p *plan.Plan) int {
	most := 0
	for _, v := range p.Variants() {
		for _, part := range v.Parts {
			most = max(most, part.Plan.Hedge.Most)
		}
	}
	return most
}

// newResult returns the result of a plan of which nothing has run.
func newResult(p plan.Plan, env Env) (*record.Result, error) {
	text, err := json.Marshal(p.Redacted())
	if err != nil {
		return nil, fmt.Errorf("load: write the plan: %w", err)
	}
	return &record.Result{
		Schema:         record.Schema,
		Tool:           record.Tool{Version: env.Version},
		Plan:           text,
		PlanHash:       p.Hash(),
		Seed:           p.Seed.Value,
		StartedAt:      time.Now().UTC().Truncate(time.Millisecond),
		Valid:          true,
		InvalidReasons: []string{},
		Runs:           []record.Run{},
		Gates:          []record.Gate{},
	}, nil
}

// runAll runs the variants one after another, each with one seed after another, and puts what was
// measured into the result. The error is that of the first that could not run.
func (s storm) runAll(ctx context.Context, result *record.Result) error {
	variants := s.plan.Variants()
	for i, v := range variants {
		one := s
		one.variant, one.index, one.count = v, i, len(variants)
		seeds, err := one.runSeeds(ctx)
		if seeds.first != nil {
			run := *seeds.first
			if s.plan.Repeat > 1 {
				repeated(&run, s.plan, seeds.ended, seeds.parts)
			}
			result.Runs = append(result.Runs, run)
			s.env.finished(run)
			for _, reason := range seeds.reasons() {
				result.InvalidReasons = append(result.InvalidReasons, one.prefixed(reason))
			}
		}
		if ctx.Err() != nil {
			result.Interrupted = true
			break
		}
		if err != nil {
			return failure(v.Name, err)
		}
	}
	return nil
}

// prefixed names the run where there are several.
func (s *storm) prefixed(reason string) string {
	if s.count == 1 {
		return reason
	}
	return s.variant.Name + ": " + reason
}
