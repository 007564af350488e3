package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// Simulate is [Run] in virtual time: the same plan, strategies, policy, target and records, without a
// clock, sockets or this machine's limits. Of env, Version, Trace, HLog, Progress and Finished count.
//
// The strategies and, with a repeat, the seeds run side by side, one a core and as many as memory is
// meant for. Each is a function of plan and seed alone, so the result is the same whatever the number
// of cores; StartedAt is all that differs from one time to the next. Trace and log are of the first
// seed's runs, one strategy after another.
//
// When ctx is cancelled, what was measured until then is in the result, which is then marked
// interrupted: a note of each run that was cut says how far it came, and the repeats count the seeds
// from the first one to the last before one that had not ended.
func Simulate(ctx context.Context, p plan.Plan, env Env) (*record.Result, error) {
	if !p.Seed.Set {
		panic("load: BUG: a plan without a seed")
	}
	if err := p.For(plan.Virtual); err != nil {
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
	s := newSimulation(p, env)
	s.trace, s.log = trace, newHLogger(env.HLog, result, abandon)
	if env.Progress != nil {
		env.Progress(Stage{
			Count: len(s.variants), Seeds: p.Repeat, Start: time.Now(), Duration: p.Duration, Operations: p.OperationsTotal(),
			Bucket: p.Bucket, CapacityPerSecond: s.capacity(),
			Simulated: s.meter.read,
		})
	}
	s.runAll(ctx)
	result.Runs, result.Interrupted = s.runs()
	return result, errors.Join(s.log.done(!result.Interrupted), trace.flush())
}

// A simulation is one invocation in virtual time.
type simulation struct {
	plan     plan.Plan
	variants []plan.Variant
	trace    *tracer
	log      *hlogger
	meter    *meter
	// ends holds what became of each variant's seeds. Each element is written by one worker.
	ends [][]ending
	env  Env

	mu       sync.Mutex
	missing  []int         // of each variant's seeds, how many have not ended
	outcomes []*record.Run // of each variant with all its seeds; nil so far
	// logged is the virtual time that the runs in the log have taken so far.
	logged time.Duration
}

// An ending is what became of one seed of a variant.
type ending struct {
	run   *record.Run   // of the first seed, also where it was cut; else nil
	seed  record.Seed   // with a repeat
	parts []record.Seed // of a mixed fleet, so too
	whole bool          // it came to its end
}

// A task is what one worker does without a break: the trials of these places.
type task []place

// A place is a variant and how many seeds after the plan's.
type place struct{ variant, seed int }

func newSimulation(p plan.Plan, env Env) *simulation {
	variants := p.Variants()
	n := len(variants)
	s := &simulation{plan: p, variants: variants, env: env, ends: make([][]ending, n), missing: make([]int, n), outcomes: make([]*record.Run, n)}
	for i := range s.ends {
		s.ends[i], s.missing[i] = make([]ending, p.Repeat), p.Repeat
	}
	s.meter = newMeter(n * p.Repeat)
	return s
}

// tasks lists what is to run, every variant's first seed before any second: so that work is of one mix
// from begin to end, and the share that is done tells of the time that is left.
func (s *simulation) tasks() []task {
	var list []task
	for seed := range s.plan.Repeat {
		for variant := range s.variants {
			list = append(list, task{{variant, seed}})
		}
	}
	if s.trace == nil && s.log == nil {
		return list
	}
	// What is written as it goes on goes one variant after another.
	n := len(s.variants)
	first := make(task, n)
	for i := range first {
		first[i] = list[i][0]
	}
	return append([]task{first}, list[n:]...)
}

// What may be in memory at a time: so many clients in all, some 100 bytes each. A bucket in which something
// arrives takes about 2.5 kB with all that hangs on it, and a client behind a network, or
// of a chain, some 300 bytes.
const (
	clientsInMemory = 4_000_000
	bucketInClients = 25
	largeFold       = 3
)

// workers is how many runs go on at a time.
func (s *simulation) workers() int {
	each := s.plan.Clients
	chained := slices.ContainsFunc(s.variants, func(v plan.Variant) bool { return v.Parts[0].Plan.Chained() })
	if s.plan.Latency != (plan.Law{}) || s.plan.LossShare > 0 || s.plan.Model == plan.ModelOCC || chained {
		each *= largeFold
	}
	each += bucketInClients * int(s.plan.Duration/s.plan.Bucket) * (1 + len(s.plan.Layers) + len(s.plan.Mix))
	return max(1, min(runtime.GOMAXPROCS(0), clientsInMemory/each))
}

// runAll runs every task, or those that begin before ctx is cancelled.
func (s *simulation) runAll(ctx context.Context) {
	tasks := s.tasks()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(s.workers(), len(tasks)) {
		wg.Go(func() {
			r := recorders{layers: make([]*record.Recorder, len(s.plan.Layers))} // of the worker's runs, one after another
			for i := int(next.Add(1)) - 1; i < len(tasks); i = int(next.Add(1)) - 1 {
				for _, at := range tasks[i] {
					if ctx.Err() != nil {
						return
					}
					s.ends[at.variant][at.seed] = s.run(ctx, at, &r)
					s.ended(at.variant)
				}
			}
		})
	}
	wg.Wait()
}

// recorders are those of one run after another; nil until the first.
type recorders struct {
	run    *record.Recorder
	parts  []*record.Recorder
	layers []*record.Recorder
}

// run runs one trial with the recorders of an earlier one, or with new ones that it leaves there.
func (s *simulation) run(ctx context.Context, at place, r *recorders) ending {
	t := trial{plan: s.plan, variant: s.variants[at.variant], engine: record.EngineVirtual, measuredAt: measuredAtTarget, detail: at.seed == 0}
	t.plan.Seed.Value += uint64(at.seed)
	t.capacity = s.capacity()
	t.newBank()
	t.countEffects()
	recording := t.recording(sim.LostNames)
	recording.Shards = 1
	if r.run == nil {
		r.run = record.New(recording)
	} else {
		r.run.Reset(recording)
	}
	t.recorder = r.run
	r.parts = t.split(recording, r.parts)
	gauge := s.meter.begin(&t, at.seed)
	policy := t.policy()
	c := sim.Config{
		Plan: policy, Strategy: policy.Strategies[0], Seed: t.plan.Seed.Value, Budget: t.budget, Breakers: t.breakers, Recorder: t.recorder, Effects: t.effects,
		Mixture: t.mixture(),
		Beat:    gauge.set,
	}
	if t.parts != nil {
		c.Plan, c.Strategy = &t.plan, t.plan.Strategies[0]
	}
	first := at.seed == 0
	if first {
		s.write(&c, &t, gauge)
	}
	var stats sim.Stats
	var chain chained
	if policy.Chained() {
		stats, chain = t.simulateChain(ctx, c, r.layers)
	} else {
		stats = sim.Run(ctx, c)
	}
	cut := ctx.Err() != nil
	end := record.End{
		At: stats.End, InFlight: stats.InFlight, Unfinished: stats.Unfinished, Unstarted: stats.Unstarted,
		TimerSource: timerVirtual, Hedging: chain.hedging,
	}
	if first {
		end.Notes = t.virtualNotes(stats, cut)
	}
	t.cuts = cutsOf(stats)
	run := t.summarise(end)
	if first {
		chain.summarise(&run, end.At)
	} else {
		chain.count(&run)
	}
	if first && s.log != nil {
		s.log.end(t.recorder, &run, cut)
		s.logged += time.Duration(len(run.Buckets)) * run.Bucket
	}
	gauge.end()
	return s.ending(at, run, cut)
}

// capacity is what the target can serve in a second; nil for a model whose writers have none.
func (s *simulation) capacity() *float64 {
	if s.plan.Model == plan.ModelOCC {
		return nil
	}
	return &s.plan.CapacityPerSecond
}

// timerVirtual stands where a run in real time says what it was timed with.
const timerVirtual = "virtual"

// write has the run write its trace and its log as virtual time passes.
func (s *simulation) write(c *sim.Config, t *trial, g *gauge) {
	if s.trace != nil {
		c.Trace = func(row retry.Row) { s.trace.write(t.policyOf(row.Client), row) }
	}
	if s.log == nil {
		return
	}
	run := t.logged()
	run.T0 = s.logged
	s.log.begin(run)
	c.Beat = func(now time.Duration) {
		g.set(now)
		s.log.buckets(t.recorder, now)
	}
}

// ending keeps of a run what the result needs.
func (s *simulation) ending(at place, run record.Run, cut bool) ending {
	markWhole(&run, !cut)
	e := ending{whole: !cut}
	if at.seed == 0 {
		e.run = &run
	}
	if s.plan.Repeat > 1 {
		e.seed = record.SeedOf(&run)
		e.parts = seedsOfParts(&run)
	}
	return e
}

// ended says that one of a variant's seeds has come to its end, or was cut. With the last of them the variant is
// finished.
func (s *simulation) ended(variant int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing[variant]--; s.missing[variant] == 0 {
		s.finish(variant)
	}
}

// finish puts a variant's seeds together: the run of the first, with the range of all seeds' figures, and of those
// that ended before the first that did not. The caller holds mu.
func (s *simulation) finish(variant int) {
	seeds := s.ends[variant]
	if seeds[0].run == nil {
		return
	}
	run := *seeds[0].run
	if s.plan.Repeat > 1 {
		ended, parts := make([]record.Seed, 0, len(seeds)), make([][]record.Seed, 0, len(seeds))
		for i := 0; i < len(seeds) && seeds[i].whole; i++ {
			ended, parts = append(ended, seeds[i].seed), append(parts, seeds[i].parts)
		}
		repeated(&run, s.plan, ended, parts)
	}
	s.outcomes[variant] = &run
	s.env.finished(run)
}

// runs returns what became of each variant of which anything ran, and whether something is missing.
func (s *simulation) runs() (list []record.Run, interrupted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list = []record.Run{}
	for i, seeds := range s.ends {
		if s.missing[i] > 0 {
			s.finish(i)
		}
		for _, e := range seeds {
			interrupted = interrupted || !e.whole
		}
		if run := s.outcomes[i]; run != nil {
			list = append(list, *run)
		}
	}
	return list, interrupted
}

// virtualNotes is what a reader must know of a run in virtual time. What that is, and which network the plan
// has, the report says once for all runs.
func (t *trial) virtualNotes(stats sim.Stats, cut bool) []string {
	notes := t.notes(stats.Unstarted)
	if cut {
		notes = append([]string{fmt.Sprintf("this run was cut %s after its start, before its end", record.Short(stats.End))}, notes...)
	}
	return notes
}
