package validate

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
	"stormtest/target/station"
)

// budgets hold how many retries a client of a dead target has in a row under each kind of budget, and the
// throttling that rejects by chance.
func budgets(c Config) []trial {
	trials := []trial{once(func(context.Context) []Check { return rejectShares() })}
	for _, requests := range []int{10, 100, 1000, 10_000} {
		trials = append(trials, throttled(c, requests))
	}
	for _, row := range budgetRows() {
		trials = append(trials, once(func(ctx context.Context) []Check { return []Check{row.check(ctx, c)} }))
	}
	return trials
}

// A budgetRow is one client with one budget that meets failures only.
type budgetRow struct {
	name   string
	kind   budget.Kind
	status int          // of the failures; 0 is 503
	mode   station.Mode // of the outage
	source string       // empty: the group's
	want   int
}

func budgetRows() []budgetRow {
	return []budgetRow{
		{name: "grpc 10/0.1", kind: budget.GRPC, want: 4},
		{name: "aws 500/14", kind: budget.AWS, want: 35},
		{name: "aws 500/5, throttled", kind: budget.AWS, status: 429, source: sourceAWS, want: 100},
		{name: "aws-legacy 500/5", kind: budget.AWSLegacy, source: sourceAWS, want: 100},
		{name: "aws-legacy 500/10, timeouts", kind: budget.AWSLegacy, mode: station.ModeHang, source: sourceAWS, want: 50},
		{name: "finagle 10/s, 10 s", kind: budget.Finagle, source: sourceFinagle, want: 100},
	}
}

// check counts the retries of one operation, which are as fast as the strategy allows.
func (row budgetRow) check(ctx context.Context, c Config) Check {
	p := lookup("immediate").guide(1, 5*time.Second)
	p.Strategies = []string{"constant"}
	p.Base, p.Timeout = time.Millisecond, time.Millisecond
	p.Outages = []station.Outage{{To: p.Duration, Mode: row.mode}}
	if row.status != 0 {
		p.Status = row.status
	}
	p.Budget = budget.Table[row.kind].Defaults
	bank := budget.NewBank(p.Budget, 1, func(i uint32) *rand.Rand { return seed.Stream(c.Seed, seed.Budget, i) }, budget.Series{})
	s := simulate(ctx, p, sim.Config{Seed: c.Seed, Budget: bank})
	return Check{Name: row.name + ": retries in a row", Source: row.source}.exact(float64(row.want)).judged(float64(s.Attempts - 1))
}

// rejectShares are the throttling's chance to reject, max(0, (R - K*A)/(R + 1)).
func rejectShares() []Check {
	t := budget.NewThrottle(2*time.Minute, 2)
	for range 10 {
		t.Request(0)
	}
	none := t.RejectShare(0)
	for range 5 {
		t.Accept(0)
	}
	return []Check{
		Check{Name: "sre R=10, A=0: chance to reject"}.around(10.0/11, 1e-12).judged(none),
		Check{Name: "sre R=10, A=5: chance to reject"}.exact(0).judged(t.RejectShare(0)),
	}
}

// throttled holds how many of R requests are sent to a target that accepts nothing: 1 + 1/2 + ... + 1/R.
func throttled(c Config, requests int) trial {
	const runs = 400
	return trial{
		runs: runs,
		cost: float64(requests) / 10,
		run: func(_ context.Context, i int) []float64 {
			t := budget.NewThrottle(2*time.Minute, 2)
			r := seed.Stream(c.Seed+uint64(i), seed.Budget, uint32(requests))
			sent := 0
			for range requests {
				if !t.Rejects(0, r.Uint64()) {
					sent++
				}
				t.Request(0)
			}
			return []float64{float64(sent)}
		},
		judge: func(figures [][]float64) []Check {
			var harmonic float64
			for k := 1; k <= requests; k++ {
				harmonic += 1 / float64(k)
			}
			check := Check{Name: "sre R=" + strconv.Itoa(requests) + ", A=0: sent", Source: sourceSRE}
			// What the reference prints, rounded, is a closed form, so that only our runs err.
			exact := reference{mean: harmonic, runs: math.MaxInt32}
			return []Check{exact.check(check, figures[0])}
		},
	}
}
