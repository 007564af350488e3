package metrics

import (
	"math"

	"stormtest/load/record"
)

// A scale says over which edges a histogram is told, and what it is told in.
type scale struct {
	edges []int64
	unit  float64 // how many of the recorded units are one of the family's
}

// decades returns 1, 2 and 5 times every power of ten from and up to, and up to itself.
func decades(from, to int64) []int64 {
	var list []int64
	for at := from; at < to; at *= 10 {
		list = append(list, at, 2*at, 5*at)
	}
	return append(list, to)
}

// In ns, every edge is where one of record.Bins' bins begins.
var (
	scaleMilliseconds = scale{decades(1e6, 1e12), 1e6} // 1 ms to 1,000 s
	scaleSeconds      = scale{decades(1e6, 1e12), 1e9} // 1 ms to 1,000 s
	scaleLatency      = scale{decades(1e5, 1e11), 1e9} // 100 µs to 100 s
	scaleLateness     = scale{decades(1e4, 1e10), 1e9} // 10 µs to 10 s
	scaleAttempts     = scale{[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50}, 1}
)

// histogram returns the histogram that d summarises; none where it was not kept, or is not d's.
func (c scale) histogram(d *record.Distribution, bins *record.Bins) []point {
	sum, ok := sumOf(d)
	if !ok || d.Count > 0 && bins == nil {
		return nil
	}
	h := Sample{Count: uint64(d.Count), Sum: sum / c.unit, Buckets: make([]Bucket, len(c.edges))}
	if bins != nil && bins.Total() != d.Count {
		return nil
	}
	var below int64
	for i, edge := range c.edges {
		h.Buckets[i].UpTo = float64(edge) / c.unit
		if bins == nil {
			continue
		}
		n := bins.UpTo(edge)
		if n < below || n > d.Count { // bins that nobody counted
			return nil
		}
		h.Buckets[i].Count, below = uint64(n), n
	}
	return []point{{sample: h}}
}

// quantiles returns the summary of d in units of which so many recorded ones are one. A quantile of which only a lower
// bound is known is left out.
func quantiles(d *record.Distribution, unit float64) []point {
	sum, ok := sumOf(d)
	if !ok {
		return nil
	}
	s := Sample{Count: uint64(d.Count), Sum: sum / unit}
	for _, q := range []struct {
		at float64
		v  *int64
	}{{0, d.Min}, {0.5, d.P50}, {0.9, d.P90}, {0.99, d.P99}, {0.999, d.P999}, {1, d.Max}} {
		if q.v != nil && !d.Beyond(q.at) {
			s.Quantiles = append(s.Quantiles, Quantile{q.at, float64(*q.v) / unit})
		}
	}
	return []point{{sample: s}}
}

// sumOf returns the sum of d's values, which is 0 of none; false where d does not tell.
func sumOf(d *record.Distribution) (float64, bool) {
	switch {
	case d.Count == 0:
		return 0, true
	case d.Count < 0 || d.Mean == nil || math.IsNaN(*d.Mean) || math.IsInf(*d.Mean, 0):
		return 0, false
	}
	sum := math.Round(*d.Mean * float64(d.Count)) // of whole numbers
	return sum, !math.IsInf(sum, 0)
}
