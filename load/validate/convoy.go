package validate

import (
	"context"
	"math"
	"strconv"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/sim"
)

// A convoyRow is one strategy: its convoy index in the windows of convoyWindows, mean [5-95 %].
type convoyRow struct {
	variant string
	index   [3]string
	runs    int // 0: as the reference
	note    string
}

// convoyWindows are the columns of the table; the second is the standard window of the index.
func convoyWindows() [3][2]time.Duration {
	const s = time.Second
	return [3][2]time.Duration{{0, s}, {s, 10 * s}, {10 * s, 60 * s}}
}

// convoyRows are the table of the domain reference, 5.6.
func convoyRows() []convoyRow {
	const sharedNote = "the table of expected numbers has 1.00 for 0-1 s too, and it is not: waves that one seed draws within 100 ms of each other are no clumps of 10 ms; it is a convoy all the same"
	return []convoyRow{
		{variant: "none", index: [3]string{"1.00", "1.00", "1.00"}, runs: 1},
		{variant: "linear", index: [3]string{"1.00", "1.00", "1.00"}, runs: 1},
		{variant: "fibonacci", index: [3]string{"1.00", "1.00", "1.00"}, runs: 1},
		{variant: "constant", index: [3]string{"1.00", "1.00", "1.00"}, runs: 1},
		{variant: "full, shared seed", index: [3]string{"", "1.00", "1.00"}, note: sharedNote},
		{variant: "fixed-up 50ms", index: [3]string{"0.20", "0.970 [0.964-0.975]", "0.91"}},
		{variant: "fixed 50ms", index: [3]string{"0.15", "0.696 [0.678-0.717]", "0.57"}},
		{variant: "proportional 20%", index: [3]string{"0.18", "0.210 [0.202-0.216]", "0.006"}},
		{variant: "equal", index: [3]string{"0.12", "0.106 [0.101-0.114]", "0.008"}},
		{variant: "proportional 50%", index: [3]string{"0.08", "0.033", "0.002"}},
		{variant: "full-floor 50ms", index: [3]string{"0.09", "0.023", "0.001"}},
		{variant: "full", index: [3]string{"0.10", "0.018 [0.017-0.020]", "0.001"}},
		{variant: "polly", index: [3]string{"0.09", "0.019", "0.004"}},
		{variant: "exponent", index: [3]string{"0.31", "0.019", "0.001"}},
		{variant: "exponent-noisy", index: [3]string{"0.07", "0.015", "0.002"}},
		{variant: "decorrelated, ceiling", index: [3]string{"0.05", "0.008", "0.001"}},
		{variant: "constant-full", index: [3]string{"0.006", "0.000", "0.000"}, runs: 5},
	}
}

// convoyPublished is how many runs the table's means are of.
const convoyPublished = 20

// convoy holds the convoy index of the retries of 1,000 clients that fail together and go on failing for
// 60 s, as a recorder measures it.
func convoy(c Config) []trial {
	var trials []trial
	for _, row := range convoyRows() {
		runs := row.runs
		if runs == 0 {
			runs = convoyPublished
		}
		trials = append(trials, trial{
			runs: runs,
			cost: 40_000,
			run: func(ctx context.Context, i int) []float64 {
				return convoyIndices(ctx, row.plan(1000), c.Seed+uint64(i))
			},
			judge: row.checks,
		})
	}
	sizes := []int{100}
	if c.Full {
		sizes = append(sizes, 10_000)
	}
	for _, n := range sizes {
		trials = append(trials, otherSizes(c, n)...)
	}
	return trials
}

// plan is that of so many clients that fail together and go on failing.
func (row convoyRow) plan(clients int) *plan.Plan {
	windows := convoyWindows()
	p := failing(row.variant, windows[len(windows)-1][1])
	p.Clients = clients
	return p
}

// otherSizes hold what the reference says of the table: in the standard window the index of a fleet of another
// size is within 0.01.
func otherSizes(c Config, clients int) []trial {
	const within = 0.01
	var trials []trial
	for _, row := range convoyRows() {
		if row.runs == 1 {
			continue // nothing about them is left to chance
		}
		p := row.plan(clients)
		p.Duration = convoyWindows()[1][1]
		runs := 40
		if clients > 1000 {
			runs = 3 // as the reference
		}
		trials = append(trials, trial{
			runs: runs,
			cost: 10 * float64(clients),
			run: func(ctx context.Context, i int) []float64 {
				return convoyIndices(ctx, p, c.Seed+uint64(i))[1:2]
			},
			judge: func(figures [][]float64) []Check {
				r := parseReference(row.index[1], convoyPublished)
				chance := zChance * deviationOf(figures[0]) * math.Sqrt(1/float64(runs)+1.0/convoyPublished)
				name := row.variant + " N=" + strconv.Itoa(clients) + ": index 1s-10s"
				return []Check{Check{Name: name}.within(r.mean, max(0, r.mean-within-chance-r.unit/2), r.mean+within+chance+r.unit/2).judged(meanOf(figures[0]))}
			},
		})
	}
	return trials
}

// convoyIndices returns the index in each window, NaN where it has none.
func convoyIndices(ctx context.Context, p *plan.Plan, seed uint64) []float64 {
	windows, end := convoyWindows(), p.Duration
	r := record.New(record.Config{Bucket: p.Bucket, Duration: end, Shards: 1, LostNames: sim.LostNames})
	simulate(ctx, p, sim.Config{Seed: seed, Recorder: r})
	figures := make([]float64, len(windows))
	for k, w := range windows {
		run := r.Summarise(record.End{At: end, WindowFrom: w[0], WindowTo: w[1]})
		figures[k] = math.NaN()
		if run.Convoy.ConvoyIndex != nil {
			figures[k] = *run.Convoy.ConvoyIndex
		}
	}
	return figures
}

func (row convoyRow) checks(figures [][]float64) []Check {
	var list []Check
	for k, w := range convoyWindows() {
		name := row.variant + ": index " + record.Short(w[0]) + "-" + record.Short(w[1])
		if text := row.index[k]; text != "" {
			list = append(list, parseReference(text, convoyPublished).check(Check{Name: name}, figures[k]))
			continue
		}
		// What is not printed must still be a convoy.
		list = append(list, Check{Name: name}.within(1, record.ThresholdConvoy, 1).judged(meanOf(figures[k])).noted(row.note))
	}
	return list
}
