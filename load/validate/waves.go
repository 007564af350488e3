package validate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// waveRetries is how many retries each client makes: k = 0..11.
const waveRetries = 12

// waveWatch is longer than twelve retries can take.
const waveWatch = 400 * time.Second

// A waveRow is one strategy: peaks over capacity of the waves of retry k = 0, 1, ..., and the first k whose
// wave stays below capacity, waveRetries for none of the twelve.
type waveRow struct {
	variant string
	peaks   string
	below   int
}

// waveRows are the table of the domain reference, 5.5.
func waveRows() []waveRow {
	return []waveRow{
		{"none", "10 10 10 10 10 10 10 10", waveRetries},
		{"fixed 50ms", "5.1 5.1 4.9 4.7 4.5 4.3 4.2 4.0 - - - 3.5", waveRetries},
		{"fixed-up 50ms", "10 10 8.4 5.1 7.7 8.4 7.1 5.0", waveRetries},
		{"proportional 20%", "5.1 5.1 4.9 3.1 1.7 0.89 0.49 0.29", 5},
		{"equal", "10 7.5 4.8 2.5 1.35 0.74 0.41 0.24", 5},
		{"full", "10 5.0 2.5 1.35 0.74 0.41 0.25 0.15", 4},
		{"proportional 50%", "5.1 4.5 2.6 1.35 0.74 0.42 0.24 0.15", 4},
		{"decorrelated, ceiling", "5.1 2.1 1.03 0.62 0.41 0.29 0.23 0.17", 3},
		{"exponent", "10 10 3.7 1.9 1.01 0.58 0.35 0.23", 5},
		{"exponent-noisy", "5.1 3.7 1.9 1.02 0.56 0.33 0.19 0.13", 4},
	}
}

// waves hold the peak of each retry's own wave, in buckets of 100 ms that begin at t0, while 1,000 clients
// fail together and go on failing.
func waves(c Config) []trial {
	const runs, published = 50, 50
	var trials []trial
	for _, row := range waveRows() {
		p := failing(row.variant, waveWatch)
		p.MaxRetries = waveRetries
		trials = append(trials, trial{
			runs: runs,
			cost: 13_000,
			run:  func(ctx context.Context, i int) []float64 { return wavePeaks(ctx, p, c.Seed+uint64(i)) },
			judge: func(figures [][]float64) []Check {
				return row.checks(figures, published)
			},
		})
	}
	return trials
}

// failing returns the plan of 1,000 clients that fail together at t0 and go on failing.
func failing(name string, duration time.Duration) *plan.Plan {
	p := lookup(name).guide(1000, duration)
	p.CapacityPerSecond = 0
	return p
}

// wavePeaks returns for each k the fullest bucket of that retry, over what one serves in a bucket.
func wavePeaks(ctx context.Context, p *plan.Plan, seed uint64) []float64 {
	const served = 100 // in 100 ms at the guides' capacity
	width := p.Bucket
	var counts [waveRetries][]int
	for k := range counts {
		counts[k] = make([]int, p.Duration/width)
	}
	peaks := make([]float64, waveRetries)
	simulate(ctx, p, sim.Config{Seed: seed, Trace: func(r retry.Row) {
		if r.Attempt == 0 {
			return
		}
		k, bucket := r.Attempt-1, r.Due/width
		counts[k][bucket]++
		peaks[k] = max(peaks[k], float64(counts[k][bucket])/served)
	}})
	return peaks
}

func (row waveRow) checks(figures [][]float64, published int) []Check {
	var list []Check
	for k, text := range strings.Fields(row.peaks) {
		if text != "-" {
			name := fmt.Sprintf("%s: peak/capacity of k=%d", row.variant, k)
			list = append(list, parseReference(text, published).check(Check{Name: name}, figures[k]))
		}
	}
	// Where a wave is about as high as the capacity, chance says on which side of it the mean is.
	first := func(errors float64) float64 {
		k := slices.IndexFunc(figures, func(x []float64) bool {
			return meanOf(x)+errors*deviationOf(x)/math.Sqrt(float64(len(x))) < 1
		})
		if k < 0 {
			return waveRetries
		}
		return float64(k)
	}
	c := Check{Name: row.variant + ": waves until one is below"}.exact(float64(row.below))
	if row.below == waveRetries {
		c = c.noted("all that there are: no wave is below the capacity")
	} else if low, high := first(-zChance), first(zChance); low < c.Low && high == c.High {
		c.Low = low
	}
	return append(list, c.judged(first(0)))
}
