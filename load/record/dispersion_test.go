package record

import (
	"math"
	"slices"
	"testing"
)

// The two worked examples of domain 5.4: 100 arrivals in 20 buckets.
var (
	even20  = []int64{5, 4, 6, 5, 7, 3, 5, 6, 4, 5, 5, 6, 4, 5, 3, 7, 5, 5, 6, 4}
	burst20 = append([]int64{40, 60}, make([]int64, 18)...)
)

func TestDispersionWorkedExamples(t *testing.T) {
	for _, c := range []struct {
		name       string
		counts     []int64
		fano, peak float64
		slack      float64
	}{
		{"even", even20, 0.25, 1.4, 0.025},
		{"two buckets", burst20, 49.5, 12, 0.05},
		{"all in one of a hundred", append([]int64{1000}, make([]int64, 99)...), 1000, 100, 1e-9},
		{"all alike", []int64{7, 7, 7}, 0, 1, 1e-12},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, ok := Fano(c.counts)
			near(t, "Fano", value(t, "Fano", f, ok), c.fano, c.slack)
			p, ok := PeakOverMean(c.counts)
			near(t, "PeakOverMean", value(t, "PeakOverMean", p, ok), c.peak, 1e-12)
		})
	}
}

func TestDispersionWithoutValue(t *testing.T) {
	for _, counts := range [][]int64{nil, {}, {0}, {0, 0, 0}} {
		if f, ok := Fano(counts); ok || f != 0 {
			t.Errorf("Fano(%v) = %v, %t, want none", counts, f, ok)
		}
		if p, ok := PeakOverMean(counts); ok || p != 0 {
			t.Errorf("PeakOverMean(%v) = %v, %t, want none", counts, p, ok)
		}
	}
	if f, ok := Fano([]int64{9}); ok {
		t.Errorf("Fano of one count = %v, want none", f)
	}
	if p, ok := PeakOverMean([]int64{9}); !ok || p != 1 {
		t.Errorf("PeakOverMean of one count = %v, %t, want 1", p, ok)
	}
}

// poissonCounts returns k counts of mean n: the buckets of a constant rate.
func poissonCounts(seed uint64, n float64, k int) []int64 {
	r := seeded(seed)
	counts := make([]int64, k)
	for i := range counts {
		for at := r.ExpFloat64(); at < n; at += r.ExpFloat64() {
			counts[i]++
		}
	}
	return counts
}

// (K-1)F is chi2 with K-1 degrees for any n: mean 1, and the 99 % quantiles of domain 5.4 by K. Method: 1000
// runs; the number above a quantile is binomial and may be 4.9 deviations off (1e-6 each), and the published
// quantile off by half a unit of its last digit.
func TestFanoUnderPoisson(t *testing.T) {
	const runs = 1000
	for i, c := range []struct {
		k             int
		q99, rounding float64
		n             float64
		shareAboveTwo float64
	}{
		{10, 2.4, 0.05, 5, 0.034}, {20, 1.9, 0.05, 10, 0.006}, {50, 1.54, 0.005, 20, 0.00003},
		{100, 1.36, 0.005, 5, 0}, {600, 1.14, 0.005, 5, 0},
	} {
		fanos := make([]float64, runs)
		mean := 0.0
		for k := range fanos {
			f, ok := Fano(poissonCounts(uint64(500+i*runs+k), c.n, c.k))
			fanos[k] = value(t, "Fano", f, ok)
			mean += f / runs
		}
		near(t, "mean Fano", mean, 1, sigmas*math.Sqrt(2/float64(c.k-1)/runs))
		near(t, "share above the 99 % quantile", above(fanos, c.q99+c.rounding)/runs, 0.01,
			0.008+sigmas*math.Sqrt(0.01/runs))
		near(t, "share above two", above(fanos, 2)/runs, c.shareAboveTwo,
			0.001+sigmas*math.Sqrt(max(c.shareAboveTwo, 1e-4)/runs))
	}
}

// Peak over mean of K = 100 buckets: mean 2.29, 1.88, 1.37, 1.11 and 99 % 3.05, 2.35, 1.57, 1.17 for n = 5, 10,
// 50, 500 (domain 5.4). Method: 300 runs, 60 of the last; 4.9 standard errors, with the sd of the peak from the runs.
func TestPeakOverMeanUnderPoisson(t *testing.T) {
	for i, c := range []struct{ n, mean, q99 float64 }{{5, 2.29, 3.05}, {10, 1.88, 2.35}, {50, 1.37, 1.57}, {500, 1.11, 1.17}} {
		runs := 300.0
		if c.n > 100 {
			runs = 60
		}
		ratios := make([]float64, int(runs))
		var sum, squares float64
		for k := range ratios {
			p, ok := PeakOverMean(poissonCounts(uint64(50_000+1000*i+k), c.n, 100))
			ratios[k] = value(t, "PeakOverMean", p, ok)
			sum += p
			squares += p * p
		}
		mean := sum / runs
		near(t, "mean peak over mean", mean, c.mean, 0.006+sigmas*math.Sqrt((squares/runs-mean*mean)/runs))
		slices.Sort(ratios)
		near(t, "share above the 99 % quantile", above(ratios, c.q99)/runs, 0.01, 0.005+sigmas*math.Sqrt(0.01/runs))
	}
}
