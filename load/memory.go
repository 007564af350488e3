package load

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/wake"
)

// runInMemory lets a fleet meet its target without sockets.
func (s *storm) runInMemory(ctx context.Context) (record.Run, []string, error) {
	tgt, err := s.target()
	if err != nil {
		return record.Run{}, nil, err
	}
	stats, err := s.handOver(ctx, tgt)
	if err != nil {
		return record.Run{}, nil, err
	}
	run := s.summarise(stats, s.notes(stats.Unstarted))
	s.log.end(s.recorder, &run, ctx.Err() != nil)
	return run, record.Validity(run), nil
}

// handOver runs the fleet.
func (s *storm) handOver(ctx context.Context, tgt *target.Target) (fleet.Stats, error) {
	cfg := s.fleet()
	if cfg.Wake == wake.Precise {
		// A hundred thousand clients are due every few microseconds, and the target may serve
		// one in 20: a dispatcher that oversleeps by 70 would make clumps of its own.
		cfg.Wake = wake.Spinning
	}
	var cuts []time.Duration
	for _, o := range s.plan.Outages {
		if o.Mode == station.ModeRefuse {
			cuts = append(cuts, o.From)
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	logging, stop := context.WithCancel(ctx)
	defer stop()
	return fleet.NewMemory(cfg, tgt, cuts).Run(ctx, func(t0 time.Time) error {
		s.begin(logging, &wg, t0)
		return nil
	})
}

// clockNotes says what a reader must know of the clock that the run was timed with.
//
// A target without a queue serves whoever finds a free slot. Where sends are late by more than
// the time in which the slots and the queue drain, it is the lateness that clumps them, and the
// target refuses what it would have served. The first wave is left out: it is due together. Of the
// figures of lateness the mean tells best: over sockets it was 0.4, 1.2 and 5 times the drain at 1,000,
// 2,000 and 4,000 a second, where 99.9, 97.7 and 93 % of the exact count were served, and the p99 was 4
// to 40 times (scripts/bench-clock.sh).
func clockNotes(p *plan.Plan, run *record.Run) []string {
	var notes []string
	if p.Transport == plan.TransportMemory {
		notes = append(notes, "transport memory: attempts were handed to the target in this process, in real time and without sockets; a network would spread them further")
	}
	late := run.Generator.LatenessRest.Mean
	if p.URL != "" || p.CapacityPerSecond == 0 || late == nil {
		return notes
	}
	places, spare, what := p.Workers+p.Queue, p.Queue, "queue"
	if p.Model == plan.ModelTokenBucket {
		places, spare, what = p.Burst, p.Burst, "burst"
	}
	lateness := time.Duration(*late)
	due := p.CapacityPerSecond * lateness.Seconds() // what the target could serve meanwhile
	if due <= float64(places) {
		return notes
	}
	drain := time.Duration(float64(places) / p.CapacityPerSecond * float64(time.Second))
	return append(notes, fmt.Sprintf("the clock itself decides in part who is served: after the first bucket sends left %s late on average, "+
		"and the target drains in %s; it can be believed up to a capacity of %.0f/s here, or at %.0f/s with a %s of %d",
		record.Short(lateness), record.Short(drain), float64(places)/lateness.Seconds(), p.CapacityPerSecond, what, spare+int(math.Ceil(due))-places))
}
