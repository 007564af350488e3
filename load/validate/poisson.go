package validate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"stormtest/load/record"
)

// A poissonRow is the convoy index of arrivals at a constant rate, which are no convoy: quantiles, and the
// chances of being called one.
type poissonRow struct {
	arrivals          int // in the window, on average
	window            time.Duration
	runs              int
	q95, q99, q999    float64
	partial, isConvoy float64 // chance of 0.10 or more, of 0.25 or more; NaN: none in the reference's runs
	mean              string  // empty: not printed
}

// poissonRows are the table of the domain reference, 5.2.
func poissonRows() []poissonRow {
	const s, usual = time.Second, 20_000
	none := math.NaN()
	return []poissonRow{
		{50, 5 * s, usual, 0.087, 0.138, 0.206, 0.035, 0.0003, ""},
		{100, 10 * s, usual, 0.060, 0.092, 0.137, 0.0059, 0.00005, ""},
		{100, 5 * s, usual, 0.042, 0.063, 0.094, 0.0007, none, ""},
		{50, 1 * s, usual, 0.046, 0.068, 0.100, 0.0010, none, "0.012"},
		{100, 2 * s, usual, 0.028, 0.042, 0.059, none, none, ""},
		{100, 1 * s, usual, 0.023, 0.033, 0.049, none, none, "0.006"},
		{1000, 10 * s, usual / 4, 0.006, 0.008, 0.011, none, none, ""},
		{500, 1 * s, usual / 4, 0.006, 0.008, 0.011, none, none, "0.002"},
		{5000, 1 * s, 1000, 0.001, 0.002, 0.003, none, none, ""},
	}
}

// poissonPublished is how many runs the reference's rows are of.
const poissonPublished = 20_000

// checks draws runs and holds their quantiles against the row's.
func (row poissonRow) checks(r *rand.Rand) []Check {
	indices := make([]float64, row.runs)
	var times []time.Duration
	gap := float64(row.window) / float64(row.arrivals)
	for i := range indices {
		times = times[:0]
		for at := r.ExpFloat64() * gap; at < float64(row.window); at += r.ExpFloat64() * gap {
			times = append(times, time.Duration(at))
		}
		indices[i] = indexOf(times, row.window)
	}
	slices.Sort(indices)
	prefix := fmt.Sprintf("Poisson, %d in %s: ", row.arrivals, record.Short(row.window))
	list := []Check{
		quantileCheck(Check{Name: prefix + "95 %"}, indices, 0.95, printed{row.q95, 0.0005}),
		quantileCheck(Check{Name: prefix + "99 %"}, indices, 0.99, printed{row.q99, 0.0005}),
		quantileCheck(Check{Name: prefix + "99.9 %"}, indices, 0.999, printed{row.q999, 0.0005}),
		chanceCheck(Check{Name: prefix + "0.10 or more"}, indices, record.ThresholdPartial, row.partial),
		chanceCheck(Check{Name: prefix + "0.25 or more"}, indices, record.ThresholdConvoy, row.isConvoy),
	}
	if row.mean != "" {
		list = append(list, parseReference(row.mean, poissonPublished).check(Check{Name: prefix + "mean"}, indices))
	}
	return list
}

// A printed figure stands for all that are within half a unit of its last digit.
type printed struct{ figure, half float64 }

// quantileCheck holds a quantile of sorted values against a printed one: that must lie between the order statistics
// that are as far below and above as chance puts those of both samples.
func quantileCheck(c Check, sorted []float64, q float64, want printed) Check {
	n := float64(len(sorted))
	at := func(p float64) float64 { return sorted[int(p*n)] }
	reach := zChance * math.Sqrt(q*(1-q)*(1/n+1.0/poissonPublished))
	got, low := at(q), 0.0
	if q+reach < 1 { // otherwise the samples do not bound it from above
		low = max(0, want.figure-(at(q+reach)-got)-want.half)
	}
	return c.within(want.figure, low, want.figure+(got-at(q-reach))+want.half).judged(got)
}

// chanceCheck holds the share of sorted values that reach a threshold against a printed chance. Where the
// reference saw none, a chance of what its runs could have missed is allowed for.
func chanceCheck(c Check, sorted []float64, threshold, want float64) Check {
	n := float64(len(sorted))
	from, _ := slices.BinarySearch(sorted, threshold)
	got := (n - float64(from)) / n
	chance := want
	if math.IsNaN(want) {
		want, chance = 0, 0.00015 // the reference's own upper bound
	}
	// Small counts: the Poisson's upper tail is wider than the normal's, some z²/n.
	slack := zChance*math.Sqrt(chance*(1/n+1.0/poissonPublished)) + zChance*zChance/n/2
	return c.within(want, max(0, want-slack), chance+slack).judged(got)
}
