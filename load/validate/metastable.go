package validate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
	"stormtest/target/station"
)

// A stableRow is one policy in the table of metastable failures: seconds until the service has recovered, at
// an offered load of 0.3, 0.5, 0.7 and 0.9 of the capacity, "M" for never, "2 of 10" for so many of the seeds. sd is that of 40 runs of ours, since
// the reference has none.
type stableRow struct {
	name   string
	change func(*plan.Plan)
	cells  [4]stableCell
}

type stableCell struct {
	recovered string
	sd        float64
}

// stableLoads are the columns.
func stableLoads() [4]float64 { return [4]float64{0.3, 0.5, 0.7, 0.9} }

// stableRows are the table of the domain reference, 4.4. It does not say whose the quotas of AWS and gRPC are. With one for
// the fleet recovery is as without retries, with one for each of the thousands of clients that wait at a time it
// takes several times as long as printed; with those of 100 processes, which share the operations, it is as
// printed, in all eight cells. The deadline that expired work has passed is the client's timeout after its arrival.
func stableRows() []stableRow {
	retries := func(strategy string, base time.Duration) func(*plan.Plan) {
		return func(p *plan.Plan) { p.Strategies, p.Base, p.MaxRetries = []string{strategy}, base, 2 }
	}
	full := retries("full", 100*time.Millisecond)
	queue := func(places int) func(*plan.Plan) {
		return func(p *plan.Plan) { full(p); p.Queue = places }
	}
	quota := func(kind budget.Kind) func(*plan.Plan) {
		return func(p *plan.Plan) {
			full(p)
			p.Budget = budget.Table[kind].Defaults
			p.Budget.Shared, p.Budget.Processes = false, 100
		}
	}
	never := stableCell{recovered: "M"}
	return []stableRow{
		{"no retry", func(p *plan.Plan) { p.MaxRetries = 0 }, [4]stableCell{{"1.5", 2.2}, {"4.4", 0.5}, {"9.7", 0.5}, {"36.7", 2.4}}},
		{"3 attempts, immediate", retries("immediate", 100*time.Millisecond), [4]stableCell{{"26.9", 3.5}, never, never, never}},
		{"3 attempts, none", retries("none", 100*time.Millisecond), [4]stableCell{{"25.4", 2.5}, never, never, never}},
		{"3 attempts, full", full, [4]stableCell{{"27.2", 2.5}, never, never, never}},
		{"3 attempts, full, base 10s", retries("full", 10*time.Second), [4]stableCell{{"2.0", 0.5}, never, never, never}},
		{"3 attempts, full, budget 10%", func(p *plan.Plan) {
			full(p)
			p.Budget = budget.Config{Kind: budget.Finagle, Ratio: 0.1, TTL: 10 * time.Second, Shared: true}
		}, [4]stableCell{{"2.4", 2.2}, {"5.9", 1.6}, {"15.9", 0.8}, never}},
		{"3 attempts, full, budget aws, 100 processes", quota(budget.AWS),
			[4]stableCell{{"6.8", 1.6}, {"11.0", 1.2}, {"21.2", 0.6}, {"71.2", 2.8}}},
		{"3 attempts, full, budget grpc, 100 processes", quota(budget.GRPC),
			[4]stableCell{{"2.0", 2.2}, {"5.0", 1.6}, {"10.8", 1.0}, {"40.5", 2.4}}},
		{"3 attempts, full, queue 500", queue(500), [4]stableCell{{"0.3", 2.3}, {"0.0", 1.2}, {"1.0", 0}, {"1.0", 0}}},
		{"3 attempts, full, queue 100", queue(100), [4]stableCell{{"0.5", 2.3}, {"0.0", 1.2}, {"0.0", 0}, {"0.0", 0}}},
		{"3 attempts, full, LIFO", func(p *plan.Plan) {
			full(p)
			p.Discipline = plan.DisciplineLIFO
		}, [4]stableCell{{"0.4", 2.3}, {"0.0", 1.2}, {"0.0", 0}, {"0.0", 0}}},
		{"3 attempts, full, expired dropped", func(p *plan.Plan) {
			full(p)
			p.PropagateDeadline, p.Expired = true, plan.ExpiredDrop
		}, [4]stableCell{{"0.3", 2.3}, {recovered: "2 of 10"}, never, never}},
	}
}

// The scenario: a Poisson load in an open loop at 10 workers of 10 ms each behind a queue of 10,000, which
// stand still for 5 s, watched for 200 s from there on.
const (
	stableFrom  = 10 * time.Second
	stableTo    = 15 * time.Second
	stableWatch = 200 * time.Second
)

// metastable holds when, and whether, the service recovers.
func metastable(c Config) []trial {
	runs := 3
	if c.Full {
		runs = 10
	}
	var trials []trial
	for _, row := range stableRows() {
		for i, load := range stableLoads() {
			p := row.plan(load)
			cell := row.cells[i]
			name := fmt.Sprintf("%s, load %g: ", row.name, load)
			trials = append(trials, trial{
				runs: runs,
				cost: 1_000_000 * load,
				run: func(ctx context.Context, i int) []float64 {
					return []float64{recoveredAfter(ctx, p, c.Seed+uint64(i))}
				},
				judge: func(figures [][]float64) []Check { return []Check{cell.check(name, figures[0])} },
			})
		}
	}
	return trials
}

func (row stableRow) plan(load float64) *plan.Plan {
	p := lookup("full").guide(40_000, stableTo+stableWatch) // more clients than wait at a time
	p.RatePerSecond, p.Arrivals = 1000*load, plan.ArrivalsPoisson
	p.Workers, p.Queue, p.Timeout = 10, 10_000, time.Second
	p.Outages = []station.Outage{{From: stableFrom, To: stableTo, Mode: station.ModeCapacity}}
	row.change(p)
	return p
}

// recoveredAfter returns how long after the outage the goodput was back, in s; infinite where it never was.
func recoveredAfter(ctx context.Context, p *plan.Plan, first uint64) float64 {
	r := record.New(record.Config{
		Bucket: p.Bucket, Duration: p.Duration, Shards: 1, OpenLoop: true, Triggers: []record.Trigger{{From: stableFrom, To: stableTo}},
		LostNames: sim.LostNames,
	})
	bank := budget.NewBank(p.Budget, p.Clients, func(i uint32) *rand.Rand { return seed.Stream(first, seed.Budget, i) }, budget.Series{})
	simulate(ctx, p, sim.Config{Seed: first, Recorder: r, Budget: bank})
	recovery := r.Summarise(record.End{At: p.Duration}).Recovery
	if recovery.RecoveredAt == nil {
		return math.Inf(1)
	}
	return recovery.RecoveredAt.Seconds()
}

// check holds the mean of the recoveries, or that there was none.
func (cell stableCell) check(name string, figures []float64) Check {
	never := 0
	for _, x := range figures {
		if math.IsInf(x, 1) {
			never++
		}
	}
	c := Check{Name: name + "runs that never do"}
	if got, of, some := strings.Cut(cell.recovered, " of "); some {
		back, _ := parseFigure(got)
		all, _ := parseFigure(of)
		low, high := asMany(int(all-back), int(all), len(figures))
		return c.within((all-back)/all*float64(len(figures)), float64(low), float64(high)).noted(brink).judged(float64(never))
	}
	if cell.recovered != "M" {
		r := parseReference(cell.recovered, 10)
		r.band = cell.sd
		return r.check(Check{Name: name + "recovered after", Unit: "s"}, figures)
	}
	return c.exact(float64(len(figures))).judged(float64(never))
}

// brink is about the one cell in which some seeds recover.
const brink = "the reference prints that 2 of its 10 seeds recover: at a load of 1.5 the queue stays a second deep, and whether it ever " +
	"falls below is a matter of how the ends of 10 ms of work happen to lie; here none of 40 seeds did, with exponential " +
	"service times all of 6 did, and so many runs tell only the grossest difference"

// asMany returns how many of n runs may be what k of m were, if one chance is behind both: those that are not among the
// rarest, a part of 1e-6 on each side, given the sum (Fisher's exact test).
func asMany(k, m, n int) (low, high int) {
	const rare = 1e-6
	tail := func(x int, above bool) float64 { // P(X >= x), or <= x, of n runs where k+x of m+n are so
		var sum float64
		for y := max(0, k+x-m); y <= min(n, k+x); y++ {
			if above && y >= x || !above && y <= x {
				sum += math.Exp(logChoose(n, y) + logChoose(m, k+x-y) - logChoose(m+n, k+x))
			}
		}
		return sum
	}
	for low = 0; low < n && tail(low, false) < rare; low++ {
	}
	for high = n; high > 0 && tail(high, true) < rare; high-- {
	}
	return low, high
}

// logChoose is the logarithm of how many ways there are to choose k of n.
func logChoose(n, k int) float64 {
	of := func(n int) float64 { g, _ := math.Lgamma(float64(n + 1)); return g }
	return of(n) - of(k) - of(n-k)
}
