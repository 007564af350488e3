package record

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Ranges and digits of the histograms.
const (
	tallyDigits          = 3
	tallyHighest         = int64(4e12) // ns: 1 h 6 min
	tallyHighestAttempts = int64(1e7)  // attempts of one operation
	offsetDigits         = 2
	offsetSteps          = 100_000 // resolution of a bucket's offsets: this part of its width
)

// A tally is a histogram with what a histogram rounds kept exactly beside it. It never loses a value: one
// beyond the range is recorded at its end and counted as clamped, and one below 0, which no length of
// time can be, is counted as a fault and kept out of everything else.
//
// Its histogram takes 270 kB for ns and 130 kB for attempts. Not safe for concurrent use.
type tally struct {
	// histogram may be nil while every value is the same one, min.
	histogram       *hdrhistogram.Histogram
	highest         int64
	count           int64
	clamped, faults int64
	min, max        int64
	sumHigh, sumLow uint64
}

// newTally returns a tally that has its histogram, so that recording allocates nothing.
func newTally(highest int64) tally {
	t := thriftyTally(highest)
	t.open()
	return t
}

// thriftyTally returns a tally that makes its histogram when it needs one.
func thriftyTally(highest int64) tally { return tally{highest: highest, min: math.MaxInt64} }

// open makes the histogram.
func (t *tally) open() {
	t.histogram = hdrhistogram.New(1, t.highest, tallyDigits)
	if t.count > 0 {
		t.bin(t.min, t.count)
	}
}

// reset forgets every value.
func (t *tally) reset() {
	if t.histogram != nil && t.count > 0 {
		t.histogram.Reset()
	}
	*t = tally{histogram: t.histogram, highest: t.highest, min: math.MaxInt64}
}

// add records one value.
func (t *tally) add(v int64) { t.addMany(v, 1) }

// addMany records a value n times.
func (t *tally) addMany(v, n int64) {
	switch {
	case n == 0:
		return
	case v < 0:
		t.faults += n
		return
	case t.histogram == nil && t.count > 0 && v != t.min:
		t.open()
	}
	t.count += n
	t.min, t.max = min(t.min, v), max(t.max, v)
	high, low := bits.Mul64(uint64(v), uint64(n))
	t.addSum(high, low)
	if v > t.highest {
		t.clamped += n
	}
	if t.histogram != nil {
		t.bin(v, n)
	}
}

func (t *tally) addSum(high, low uint64) {
	var carry uint64
	t.sumLow, carry = bits.Add64(t.sumLow, low, 0)
	t.sumHigh, _ = bits.Add64(t.sumHigh, high, carry)
}

// bin adds n to the count of v in the histogram. The library takes values somewhat beyond its own limit
// and refuses others, so ours is checked here.
func (t *tally) bin(v, n int64) {
	if err := t.histogram.RecordValues(min(v, t.highest), n); err != nil {
		panic(fmt.Sprintf("record: BUG: histogram of 0..%d: %v", t.highest, err))
	}
}

// merge adds what u holds, which must have the same range. The result does not depend on the order of
// merges.
func (t *tally) merge(u *tally) {
	copied, counts := u.copy()
	t.mergeCounts(&copied, counts)
}

// copy returns what u is but for its histogram, and the counts of that; nil where it has none, or nothing in it.
func (u *tally) copy() (tally, []int64) {
	if u.histogram == nil || u.count == 0 {
		return *u, nil
	}
	return *u, u.histogram.Export().Counts
}

// mergeCounts adds what copy returned.
func (t *tally) mergeCounts(u *tally, counts []int64) {
	t.faults += u.faults
	switch {
	case u.count == 0:
		return
	case u.histogram == nil:
		t.addMany(u.min, u.count)
		return
	case t.histogram == nil:
		t.open()
	}
	// The library's own merge walks every count there is with an iterator, which takes ten times as long.
	for i := tallyIndex(min(u.min, u.highest)); i <= tallyIndex(min(u.max, u.highest)); i++ {
		if n := counts[i]; n > 0 {
			t.bin(tallyGeometry.lowest(i), n)
		}
	}
	t.count += u.count
	t.clamped += u.clamped
	t.min, t.max = min(t.min, u.min), max(t.max, u.max)
	t.addSum(u.sumHigh, u.sumLow)
}

// quantiles returns the values at each q in 0..1, to 3 digits and within the exact extremes; nil of nothing.
func (t *tally) quantiles(qs ...float64) []*int64 {
	values := make([]*int64, len(qs))
	if t.count == 0 {
		return values
	}
	at := make([]int64, len(qs)) // of a histogram that is not there: between min and max is one value
	if t.histogram != nil {
		percentiles := make([]float64, len(qs))
		for i, q := range qs {
			percentiles[i] = percentile(q, t.histogram.TotalCount())
		}
		at = t.histogram.ValueAtPercentilesSlice(percentiles)
	}
	for i, v := range at {
		values[i] = ptr(min(max(v, t.min), t.max))
	}
	return values
}

// mean returns the exact sum over the exact count; nil of nothing.
func (t *tally) mean() *float64 {
	if t.count == 0 {
		return nil
	}
	sum := new(big.Int).SetUint64(t.sumHigh)
	sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(t.sumLow))
	mean, _ := new(big.Rat).SetFrac(sum, big.NewInt(t.count)).Float64()
	return &mean
}

// distribution returns t's summary.
func (t *tally) distribution() Distribution {
	q := t.quantiles(0.5, 0.9, 0.99, 0.999)
	d := Distribution{
		Count:   t.count,
		Mean:    t.mean(),
		P50:     q[0],
		P90:     q[1],
		P99:     q[2],
		P999:    q[3],
		Clamped: t.clamped,
		Faults:  t.faults,
	}
	if t.count > 0 {
		d.Min, d.Max = ptr(t.min), ptr(t.max)
	}
	return d
}

// modeShare returns the part of the values that lie in the fullest bin; nil under least values.
func (t *tally) modeShare(least int64) *float64 {
	if t.count < least || t.count == 0 {
		return nil
	}
	if t.histogram == nil {
		return ptr(1.0)
	}
	fullest := slices.Max(t.histogram.Export().Counts)
	return ptr(float64(fullest) / float64(t.count))
}
