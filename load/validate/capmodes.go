package validate

import (
	"context"
	"math"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// A capRow is one strategy under one cap mode: dispersion of 100 ms buckets, and their autocorrelation at a
// lag of the cap.
type capRow struct {
	strategy      string
	mode          backoff.CapMode
	fano, lagged  float64
	units, decide float64 // of the last digit of fano; of lagged
}

// capRows are the table of the domain reference, 1.3.
func capRows() []capRow {
	return []capRow{
		{"full", backoff.CapCeiling, 1.00, 0.01, 0.01, 0.01},
		{"full", backoff.CapClamp, 1.10, 0.94, 0.01, 0.01},
		{"full", backoff.CapFixed, 2.44, 1.00, 0.01, 0.01},
		{"equal", backoff.CapCeiling, 1.06, -0.01, 0.01, 0.01},
		{"equal", backoff.CapFixed, 8.75, 1.00, 0.01, 0.01},
		{"decorrelated", backoff.CapClamp, 0.97, 0.25, 0.01, 0.01},
		{"decorrelated", backoff.CapCeiling, 1.02, -0.04, 0.01, 0.01},
		{"proportional", backoff.CapCeiling, 2.45, 0.59, 0.01, 0.01},
		{"none", backoff.CapCeiling, 997, 1.00, 1, 0.01},
	}
}

// The window in which the caps show: the second minute of an outage of two.
const (
	capWindowFrom = 60 * time.Second
	capWindowTo   = 120 * time.Second
)

// capModes hold what a cap does to the arrivals of 1,000 clients that go on failing. The reference does not
// say of how many runs its figures are, so they are taken as those of one.
func capModes(c Config) []trial {
	const runs, published = 40, 1
	var trials []trial
	for _, row := range capRows() {
		p := failing("full", capWindowTo)
		p.Strategies, p.CapMode = []string{row.strategy}, row.mode
		trials = append(trials, trial{
			runs: runs,
			cost: 15_000,
			run: func(ctx context.Context, i int) []float64 {
				counts := make([]int64, (capWindowTo-capWindowFrom)/p.Bucket)
				simulate(ctx, p, sim.Config{Seed: c.Seed + uint64(i), Trace: func(r retry.Row) {
					if r.Due >= capWindowFrom {
						counts[(r.Due-capWindowFrom)/p.Bucket]++
					}
				}})
				fano, ok := record.Fano(counts)
				if !ok {
					fano = math.NaN()
				}
				lagged, ok := record.Autocorrelation(counts, int(p.Cap/p.Bucket))
				if !ok {
					lagged = math.NaN()
				}
				return []float64{fano, lagged}
			},
			judge: func(figures [][]float64) []Check {
				name := row.strategy + ", cap " + row.mode.String() + ": "
				fano := reference{mean: row.fano, unit: row.units, runs: published}
				lagged := reference{mean: row.lagged, unit: row.decide, runs: published}
				return []Check{
					fano.check(Check{Name: name + "dispersion"}, figures[0]),
					lagged.check(Check{Name: name + "autocorrelation at the cap"}, figures[1]),
				}
			},
		})
	}
	return trials
}
