package validate

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/station"
)

// The scenario of the table of metastable failures in small, so that one machine can run it over sockets: a fifth of the
// capacity and of the queue, a load of 0.7, and a watch of 45 s, in which the ones recover and the others do not.
const (
	smallCapacity = 200
	smallClients  = 600 // more than wait at a time
	smallFrom     = 5 * time.Second
	smallTo       = 10 * time.Second
	smallWatch    = 45 * time.Second
	sourceSmall   = "20 seeds of the same plan in virtual time"
	// smallSeeds is how many seeds say in virtual time when the service recovers.
	smallSeeds = 20
)

// smallRows are the rows of stableRows that are run over sockets.
func smallRows() []stableRow {
	var list []stableRow
	for _, row := range stableRows() {
		switch row.name {
		case "no retry", "3 attempts, full", "3 attempts, full, budget 10%":
			list = append(list, row)
		}
	}
	return list
}

// small is the plan of a row in small.
func (row stableRow) small(seed uint64) plan.Plan {
	const load = 0.7
	p := *row.plan(load)
	p.Seed = plan.Seed{Value: seed, Set: true}
	p.Clients, p.RatePerSecond = smallClients, smallCapacity*load
	p.CapacityPerSecond, p.Queue = smallCapacity, smallCapacity*10
	p.Duration = smallTo + smallWatch
	p.Bucket = time.Second // in which recovery counts, so that sends late by some ms make no difference
	p.Outages = []station.Outage{{From: smallFrom, To: smallTo, Mode: station.ModeCapacity}}
	return p
}

// realRecoveries runs the small scenario over sockets, its rows beside each other, for a fleet of them hardly keeps a machine
// busy. The error is that of a run that could not be made.
func realRecoveries(ctx context.Context, c Config) (Result, error) {
	rows := smallRows()
	trials := make([]trial, len(rows))
	for i, row := range rows {
		trials[i] = trial{runs: smallSeeds, cost: virtualCost, run: func(ctx context.Context, k int) []float64 {
			r, err := load.Simulate(ctx, row.small(c.Seed+uint64(k)), load.Env{})
			if err != nil {
				panic("validate: BUG: " + err.Error())
			}
			if len(r.Runs) == 0 { // cancelled
				return []float64{math.NaN()}
			}
			return []float64{recoveredIn(&r.Runs[0])}
		}}
	}
	result := Result{Parts: len(rows)}
	tell := counter(c.Progress, costOf(trials)+float64(len(rows))*(realCost+runCost))
	virtual := pool{workers: runtime.GOMAXPROCS(0), done: tell}.run(ctx, trials)
	runs, faults := make([]record.Run, len(rows)), make([]error, len(rows))
	var wg sync.WaitGroup
	for i, row := range rows {
		wg.Go(func() {
			runs[i], faults[i] = runOnce(ctx, row.small(c.Seed))
			tell(realCost)
		})
	}
	wg.Wait()
	if result.Interrupted = ctx.Err() != nil; result.Interrupted { // whatever the runs say of it
		result.PartsNotRun = len(rows)
		return result, nil
	}
	for i, row := range rows {
		if faults[i] != nil {
			return result, fmt.Errorf("validate: %s: %w", row.name, faults[i])
		}
		check := recoveryCheck(&runs[i], transposed(virtual[i])[0])
		check.Name = fmt.Sprintf("%s, load 0.7 at %d/s: %s", row.name, smallCapacity, check.Name)
		check.Group, check.Source = RealGroup, sourceSmall
		result.add(check)
	}
	return result, nil
}

// runOnce runs a plan over sockets.
func runOnce(ctx context.Context, p plan.Plan) (record.Run, error) {
	r, err := load.Run(ctx, p, load.Env{})
	if err != nil || len(r.Runs) == 0 {
		return record.Run{}, err
	}
	return r.Runs[0], nil
}

// recoveredIn is how long after the outage the goodput was back, in s; infinite where it was not within the watch.
func recoveredIn(run *record.Run) float64 {
	if run.Recovery.RecoveredAt == nil {
		return math.Inf(1)
	}
	return run.Recovery.RecoveredAt.Seconds()
}

// recoveryCheck holds a run over sockets against what the seeds do in virtual time: whether the service recovers and, where
// all seeds do, when, give or take a second for what is counted in whole ones.
func recoveryCheck(run *record.Run, seeds []float64) Check {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range seeds {
		low, high = min(low, x), max(high, x)
	}
	got := recoveredIn(run)
	var check Check
	if math.IsInf(high, 1) {
		never, is := 0.0, 0.0
		for _, x := range seeds {
			if math.IsInf(x, 1) {
				never++
			}
		}
		if math.IsInf(got, 1) {
			is = 1
		}
		share := never / float64(len(seeds))
		check = Check{Name: "not back in 45 s"}.within(share, math.Floor(share), math.Ceil(share)).judged(is)
	} else {
		check = Check{Name: "recovered after", Unit: "s"}.within(meanOf(seeds), max(0, low-1), high+1).judged(got)
	}
	if reasons := record.Validity(*run); len(reasons) > 0 {
		check.NotJudged = true
		check.About = "not judged: this machine was the bottleneck, and the figure is its own: " + strings.Join(reasons, "; ")
	}
	return check
}
