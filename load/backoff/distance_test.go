package backoff_test

import (
	"math"
	"slices"
	"time"
)

// distance returns the Kolmogorov distance of delays from a distribution over ms.
func distance(delays []time.Duration, cdf func(ms float64) float64) float64 {
	sorted := slices.Sorted(slices.Values(delays))
	n, gap := float64(len(sorted)), 0.0
	for i, d := range sorted {
		c := cdf(inMs(d))
		gap = max(gap, math.Abs(c-float64(i)/n), math.Abs(float64(i+1)/n-c))
	}
	return gap
}

// distanceBetween returns the Kolmogorov distance of two samples.
func distanceBetween(x, y []time.Duration) float64 {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	i, j, gap := 0, 0, 0.0
	for i < len(x) && j < len(y) {
		d := min(x[i], y[j])
		for i < len(x) && x[i] == d {
			i++
		}
		for j < len(y) && y[j] == d {
			j++
		}
		gap = max(gap, math.Abs(float64(i)/float64(len(x))-float64(j)/float64(len(y))))
	}
	return gap
}
