package record

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// tallyOf returns a tally of values.
func tallyOf(values ...int64) *tally {
	t := thriftyTally(tallyHighest)
	for _, v := range values {
		t.add(v)
	}
	return &t
}

func TestBinsOfExactValues(t *testing.T) {
	const s = int64(time.Second)
	for _, c := range []struct {
		name   string
		values []int64
		want   Bins
	}{
		{"small numbers have a bin each", []int64{0, 1, 1, 99}, Bins{[]int64{0, 1, 99}, []int64{1, 2, 1}, []int64{1, 2, 1}}},
		{"from 100 on in tens", []int64{100, 109, 110, 119, 990, 999}, Bins{[]int64{100, 110, 990}, []int64{2, 2, 2}, []int64{1, 1, 1}}},
		{"a timeout of 5 s is in the bin that begins there", []int64{s, 5 * s, 5 * s}, Bins{[]int64{s, 5 * s}, []int64{1, 2}, []int64{1, 2}}},
		{"so is a cap of 20 s", []int64{100e6, 20 * s, 20 * s}, Bins{[]int64{100e6, 20 * s}, []int64{1, 2}, []int64{1, 2}}},
		{"and what is just below and no more stays below", []int64{s, 5*s - 1}, Bins{[]int64{s, 4.9e9}, []int64{1, 1}, []int64{1, 0}}},
		{"as does what is just above and no less", []int64{5*s + 1, 6 * s}, Bins{[]int64{5 * s, 6 * s}, []int64{1, 1}, []int64{0, 1}}},
		{"between others what is a thousandth below is not told apart", []int64{s, 4.9999e9, 6 * s}, Bins{[]int64{s, 5 * s, 6 * s}, []int64{1, 1, 1}, []int64{1, 1, 1}}},
		{"one value alone", []int64{5*s - 1, 5*s - 1}, Bins{[]int64{4.9e9}, []int64{2}, []int64{0}}},
		{"beyond the histogram", []int64{4e12, 4e12 + 1, math.MaxInt64}, Bins{[]int64{4e12}, []int64{3}, []int64{1}}},
		{"beyond it alone", []int64{5e12, 5e12}, Bins{[]int64{4e12}, []int64{2}, []int64{0}}},
		{"faults are no values", []int64{-1, 7}, Bins{[]int64{7}, []int64{1}, []int64{1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := tallyOf(c.values...).bins()
			if !slices.Equal(got.From, c.want.From) || !slices.Equal(got.Count, c.want.Count) || !slices.Equal(got.AtFrom, c.want.AtFrom) {
				t.Errorf("bins of %v = %+v, want %+v", c.values, *got, c.want)
			}
		})
	}
	if got := tallyOf().bins(); got != nil {
		t.Errorf("bins of nothing = %+v, want nil", got)
	}
	if got := tallyOf(-5).bins(); got != nil {
		t.Errorf("bins of a fault = %+v, want nil", got)
	}
}

// Every 1, 2 and 5 of every power of ten is where a bin begins, bins follow each other without a gap, and a value is in
// the bin that it is said to be in.
func TestBinEdges(t *testing.T) {
	bins := 0
	for from := int64(0); from < 4e12; from = BinEnd(from) {
		bins++
		if end := BinEnd(from); binOf(from) != from || binOf(end-1) != from || end <= from || float64(end-from) > max(1, 0.1*float64(from)) {
			t.Fatalf("bin [%d, %d): binOf gives %d and %d", from, end, binOf(from), binOf(end-1))
		}
	}
	if got := BinEnd(9_200_000_000_000_000_000); got != math.MaxInt64 {
		t.Errorf("the last bin ends at %d", got)
	}
	if bins != 100+90*10+30 { // up to 100, 100 to 1e12, 1e12 to 4e12
		t.Errorf("%d bins up to 4e12, want 1030", bins)
	}
	for unit := int64(1); unit < 1e18; unit *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if binOf(n*unit) != n*unit {
				t.Errorf("no bin begins at %d", n*unit)
			}
		}
	}
}

// scattered returns n values of all sizes, some of which are beginnings of bins and their neighbours.
func scattered(r *rand.Rand, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		v := r.Int64N(4e12) >> r.IntN(42)
		if r.IntN(3) == 0 {
			v = max(0, binOf(v)+int64(r.IntN(3)-1))
		}
		values[i] = v
	}
	return values
}

// Whatever the values, the bins hold them all, are in order, and are wrong about none by more than a thousandth: UpTo
// counts what is at most v, and perhaps what is a thousandth above it, and the bins below v hold what is below v, but
// perhaps what is a thousandth below it.
func TestBinsHoldEveryValue(t *testing.T) {
	for seed := range uint64(40) {
		r := seeded(seed)
		values := scattered(r, 1+r.IntN(2000))
		tally := tallyOf(values...)
		b := tally.bins()
		slices.Sort(values)
		if b.Total() != int64(len(values)) || b.Total() != tally.distribution().Count {
			t.Fatalf("seed %d: %d in bins, of %d", seed, b.Total(), len(values))
		}
		below := int64(0)
		for i, from := range b.From {
			if i > 0 && from <= b.From[i-1] || b.Count[i] <= 0 || b.AtFrom[i] < 0 || b.AtFrom[i] > b.Count[i] || binOf(from) != from {
				t.Fatalf("seed %d: bin %d = %d holds %d, %d at its beginning", seed, i, from, b.Count[i], b.AtFrom[i])
			}
			thousandth := from / 1000
			if from < 2048 {
				thousandth = 0
			}
			if least, most := atMost(values, from-thousandth-1), atMost(values, from-1); below < least || below > most {
				t.Fatalf("seed %d: %d below %d, want %d to %d", seed, below, from, least, most)
			}
			if got, least, most := b.UpTo(from), atMost(values, from), atMost(values, from+thousandth); got < least || got > most {
				t.Fatalf("seed %d: UpTo(%d) = %d, want %d to %d", seed, from, got, least, most)
			}
			below += b.Count[i]
		}
		if got := b.UpTo(math.MaxInt64); got != b.Total() {
			t.Fatalf("seed %d: UpTo(everything) = %d, want %d", seed, got, b.Total())
		}
		if v := b.From[len(b.From)/2]; v > 2048 {
			if got, want := b.UpTo(v+1), b.UpTo(v)-b.AtFrom[len(b.From)/2]; got != want {
				t.Errorf("seed %d: UpTo(inside a bin) = %d, want %d", seed, got, want)
			}
		}
	}
}

// atMost counts the values, in ascending order, that are at most v.
func atMost(values []int64, v int64) int64 {
	n, _ := slices.BinarySearch(values, v+1)
	return int64(n)
}
