package record

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDistributionOfNothing(t *testing.T) {
	e := newTally(tallyHighest)
	if got := e.distribution(); !reflect.DeepEqual(got, Distribution{}) {
		t.Errorf("distribution of nothing = %+v, want every figure nil", got)
	}
	e.add(-5)
	if got := e.distribution(); !reflect.DeepEqual(got, Distribution{Faults: 1}) {
		t.Errorf("distribution of a fault alone = %+v, want every figure nil", got)
	}
}

// Case D-15: a histogram up to 1 s is given ten values of 5 s, one of 1.05 s (which the library would take), one of 0
// and one of -1 ns. None is lost and none is invented.
func TestTallyBeyondItsRange(t *testing.T) {
	h := newTally(1e9)
	for range 10 {
		h.add(5e9)
	}
	h.add(105e7)
	h.add(0)
	h.add(-1)
	got := h.distribution()
	if got.Count != 12 || got.Clamped != 11 || got.Faults != 1 {
		t.Errorf("count, clamped, faults = %d, %d, %d, want 12, 11, 1", got.Count, got.Clamped, got.Faults)
	}
	if h.histogram.TotalCount() != 12 {
		t.Errorf("histogram holds %d, want 12", h.histogram.TotalCount())
	}
	same(t, "min", got.Min, ptr(int64(0)))
	same(t, "max", got.Max, ptr(int64(5e9)))
	same(t, "mean", got.Mean, ptr(51.05e9/12))
	if *got.P99 < 1e9 || *got.P99 >= 1.002e9 {
		t.Errorf("p99 = %d, want the end of the range", *got.P99)
	}
}

func TestTallyExtremes(t *testing.T) {
	h := newTally(tallyHighest)
	for range 3 {
		h.add(math.MaxInt64)
	}
	h.add(math.MaxInt64 - 1)
	h.add(math.MinInt64)
	got := h.distribution()
	if got.Count != 4 || got.Clamped != 4 || got.Faults != 1 || *got.Max != math.MaxInt64 || *got.Min != math.MaxInt64-1 {
		t.Errorf("distribution of the largest numbers = %+v", got)
	}
	near(t, "mean of the largest numbers", *got.Mean/math.MaxInt64, 1, 1e-15)
	other := newTally(tallyHighest)
	other.merge(&h)
	other.merge(&h)
	near(t, "mean after a merge", *other.mean()/math.MaxInt64, 1, 1e-15)
}

// Count, min, max and mean are exact; percentiles are within 3 digits above the value of rank q·n, rounded to a whole
// rank as the library does, and never beyond the extremes.
func TestTallyAgainstSortedValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, tallyHighest), 1, 200).Draw(rt, "values")
		h := newTally(tallyHighest)
		var sum float64
		for _, v := range values {
			h.add(v)
			sum += float64(v)
		}
		got := h.distribution()
		slices.Sort(values)
		n := len(values)
		if got.Count != int64(n) || *got.Min != values[0] || *got.Max != values[n-1] {
			rt.Fatalf("count, min, max = %d, %d, %d, want %d, %d, %d", got.Count, *got.Min, *got.Max, n, values[0], values[n-1])
		}
		if math.Abs(*got.Mean-sum/float64(n)) > 1e-12*sum {
			rt.Fatalf("mean = %v, want %v", *got.Mean, sum/float64(n))
		}
		for _, p := range []struct {
			q   float64
			got *int64
		}{{0.5, got.P50}, {0.9, got.P90}, {0.99, got.P99}, {0.999, got.P999}} {
			want := float64(values[max(0, int(math.Round(p.q*float64(n)))-1)])
			if g := float64(*p.got); g < want || g > want*1.001+1 || g > float64(values[n-1]) {
				rt.Fatalf("p%v = %v, want %v", 100*p.q, g, want)
			}
		}
	})
}

// Merging is the same as recording into one, in any order and grouping.
func TestTallyMergeAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-3, 2*tallyHighest), 0, 100).Draw(rt, "values")
		parts := rapid.IntRange(1, 5).Draw(rt, "parts")
		whole := newTally(tallyHighest)
		split := make([]tally, parts)
		for i := range split {
			split[i] = newTally(tallyHighest)
		}
		for i, v := range values {
			whole.add(v)
			split[i%parts].add(v)
		}
		order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(rt, "order")
		merged := newTally(tallyHighest)
		for _, i := range order {
			if i < parts {
				merged.merge(&split[i])
			}
		}
		if got, want := merged.distribution(), whole.distribution(); !reflect.DeepEqual(got, want) {
			rt.Fatalf("merged = %+v, want %+v", got, want)
		}
		if !merged.histogram.Equals(whole.histogram) {
			rt.Fatal("the histograms differ")
		}
	})
}

func TestModeShare(t *testing.T) {
	h := newTally(tallyHighest)
	for i := range 9 {
		h.add(int64(1e8))
		if got := h.modeShare(SharedSeedMin); got != nil {
			t.Errorf("mode of %d values = %v, want none", i+1, *got)
		}
	}
	h.add(2e8)
	same(t, "mode of 9 in 10", h.modeShare(SharedSeedMin), ptr(0.9))
	for i := range 10 {
		h.add(int64(i) * 1e6)
	}
	same(t, "mode of 9 in 20", h.modeShare(SharedSeedMin), ptr(0.45))
	empty := newTally(tallyHighest)
	same(t, "mode of nothing", empty.modeShare(0), nil)
}
