package advise

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// A level says how thoroughly a policy is tried. Seeds of one level are those of no other, so that what
// one has chosen by luck the next one does not repeat, and every proof has its own.
type level int

const (
	coarse level = iota // whether to look there at all
	fine                // which of its neighbours are better
	full                // whether it may be the best
	last                // what is said of it
	proof               // whether the best of all is what it seems
	levels
)

// At the lower levels a large fleet is replaced by a small one, and the target by one as much smaller; at the last ones it is the
// fleet itself. Large fleets, whose figures differ less between seeds, are tried with fewer of them.
var (
	clientsMost = [levels]int{coarse: 1000, fine: 5000, full: 50_000, last: math.MaxInt, proof: math.MaxInt}
	seedsOf     = [levels]int{coarse: 3, fine: 8, full: 20, last: 60, proof: 120}
	seedsLeast  = [levels]int{coarse: 3, fine: 8, full: 8, last: 6, proof: 12}
)

// peakFleet is how much larger a fleet is tried for its peak: in a bucket of a small fleet chance is larger.
const peakFleet = 4

const clientsOfAllSeeds = 20_000 // fleets up to this size are tried with all seeds

// A trial is a policy and what it came to.
type trial struct {
	policy
	outcomes [levels][]outcome
}

// at returns the outcomes of the level, one for each of its seeds.
func (t *trial) at(l level) []outcome { return t.outcomes[l] }

// known returns the outcomes of the last level at which it was tried.
func (t *trial) known() []outcome {
	for l := proof; l > coarse; l-- {
		if t.outcomes[l] != nil {
			return t.outcomes[l]
		}
	}
	return t.outcomes[coarse]
}

// seeds returns the seeds of a level.
func (s *search) seeds(l level) []uint64 {
	clients := min(s.plan.Clients, s.clientsMost(l))
	n := max(seedsLeast[l], min(seedsOf[l], seedsOf[l]*clientsOfAllSeeds/clients))
	number := uint32(l)
	if l == proof {
		number += s.proofs
	}
	stream := seed.Stream(s.plan.Seed.Value, seed.Advice, number)
	list := make([]uint64, n)
	for i := range list {
		list[i] = stream.Uint64()
	}
	return list
}

// small returns the plan with a fleet and a target of the level's size, and the deadline of the search.
func (s *search) small(l level) plan.Plan {
	p := s.plan
	if l < last && p.MaxElapsed > 0 {
		p.MaxElapsed = scaled(p.MaxElapsed, 1-s.hurry)
	}
	most := s.clientsMost(l)
	if p.Clients <= most || p.Budget.Shared || p.Budget.Processes > 0 {
		return p
	}
	part := float64(most) / float64(p.Clients)
	less := func(n int) int { return int(math.Round(float64(n) * part)) }
	p.CapacityPerSecond *= part
	p.Clients, p.Workers, p.Queue, p.Burst = most, max(1, less(p.Workers)), less(p.Queue), max(1, less(p.Burst))
	return p
}

// clientsMost is how many clients a fleet has at most at a level.
func (s *search) clientsMost(l level) int {
	if _, peak := s.wish(record.WishPeak); peak && l == fine {
		return clientsMost[l] * peakFleet
	}
	return clientsMost[l]
}

// cost is how many clients' operations n trials take.
func (s *search) cost(n int, l level) int64 {
	p := s.small(l)
	return int64(n) * int64(p.Clients) * int64(len(s.seeds(l)))
}

// clientsInMemory is how many clients all runs that go on at a time have, some 100 bytes each.
const clientsInMemory = 4_000_000

// workers is how many runs of a fleet go on at a time: one a core, fewer where they are large.
func workers(clients int) int {
	return max(1, min(runtime.GOMAXPROCS(0), clientsInMemory/clients))
}

// try runs the trials at the level, those that were not before.
func (s *search) try(ctx context.Context, trials []*trial, l level) error {
	type task struct {
		trial *trial
		index int
	}
	seeds, base := s.seeds(l), s.small(l)
	var tasks []task
	for _, t := range trials {
		if t.outcomes[l] != nil {
			continue
		}
		t.outcomes[l] = make([]outcome, len(seeds))
		for i := range seeds {
			tasks = append(tasks, task{t, i})
		}
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range min(workers(base.Clients), len(tasks)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tasks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				t := tasks[i]
				o, err := s.once(ctx, s.planOf(t.trial, base), seeds[t.index], l)
				if err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				t.trial.outcomes[l][t.index] = o
				s.done(int64(base.Clients))
			}
		})
	}
	wg.Wait()
	s.runs += int64(len(tasks))
	if err := failed.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// planOf returns the plan of a trial: all of the user's where it is the user's own policy.
func (s *search) planOf(t *trial, p plan.Plan) plan.Plan {
	if t == s.current {
		p.Strategies = []string{t.strategy}
		return p
	}
	return t.apply(p)
}

// once runs a plan with a seed.
func (s *search) once(ctx context.Context, p plan.Plan, run uint64, l level) (outcome, error) {
	p.Seed = plan.Seed{Value: run, Set: true}
	if l < last && p.Budget.Kind == budget.None && p.Breaker.Kind == 0 && !p.Chained() {
		_, peak := s.wish(record.WishPeak)
		return counted(ctx, &p, peak), nil
	}
	r, err := load.Simulate(ctx, p, load.Env{})
	if err != nil || len(r.Runs) == 0 {
		return outcome{}, err
	}
	m := record.MeasuredOf(&r.Runs[0])
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	operations := &r.Runs[0].Operations
	return outcome{
		unfinished: float64(operations.Unfinished) / float64(max(1, operations.Started)),
		completion: value(m.Completion), peak: value(m.Peak), attempts: value(m.Attempts),
		convoy: value(m.ConvoyIndex), success: value(m.SuccessShare),
	}, nil
}

// counted is what is known of a run of which nothing is recorded, which takes a part of the time, and of
// its peak where that is asked for.
func counted(ctx context.Context, p *plan.Plan, peak bool) outcome {
	c := sim.Config{Plan: p, Strategy: p.Strategies[0], Seed: p.Seed.Value}
	var retries []int32 // by bucket
	most := int32(0)
	if peak {
		retries = make([]int32, p.Duration/p.Bucket+1)
		c.Trace = func(r retry.Row) {
			if r.Attempt > 0 && r.Arrived >= 0 {
				n := &retries[r.Arrived/p.Bucket]
				*n++
				most = max(most, *n)
			}
		}
	}
	stats := sim.Run(ctx, c)
	o := outcome{completion: math.NaN(), peak: math.NaN(), convoy: math.NaN()}
	if peak {
		o.peak = float64(most) / (p.CapacityPerSecond * p.Bucket.Seconds())
	}
	started := stats.Succeeded + stats.GaveUp + stats.Unfinished
	if started > 0 {
		o.attempts = float64(stats.Attempts) / float64(started)
		o.success = float64(stats.Succeeded) / float64(started)
		o.unfinished = float64(stats.Unfinished) / float64(started)
	}
	if stats.Succeeded == started && started > 0 {
		o.completion = float64(stats.Completion)
	}
	return o
}

// done tells how far the search is.
func (s *search) done(clients int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += clients
	s.expected = max(s.expected, s.spent+s.spent/20) // where more is tried than was expected
	if s.config.Progress != nil {
		s.config.Progress(float64(s.spent) / float64(s.expected))
	}
}
