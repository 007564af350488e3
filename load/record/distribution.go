package record

import (
	"fmt"
	"math/big"
	"math/bits"
	"time"

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
// It takes 270 kB for ns and 130 kB for attempts. Not safe for concurrent use.
type tally struct {
	histogram       *hdrhistogram.Histogram
	highest         int64
	count           int64
	clamped, faults int64
	min, max        int64
	sumHigh, sumLow uint64
}

func newTally(highest int64) tally {
	return tally{
		histogram: hdrhistogram.New(1, highest, tallyDigits),
		highest:   highest,
		min:       1<<63 - 1,
	}
}

// add records one value. It allocates nothing.
func (t *tally) add(v int64) {
	if v < 0 {
		t.faults++
		return
	}
	t.count++
	t.min, t.max = min(t.min, v), max(t.max, v)
	var carry uint64
	t.sumLow, carry = bits.Add64(t.sumLow, uint64(v), 0)
	t.sumHigh += carry
	// The library takes values somewhat beyond its own limit and refuses others, so ours is checked here.
	if v > t.highest {
		t.clamped++
		v = t.highest
	}
	if err := t.histogram.RecordValue(v); err != nil {
		panic(fmt.Sprintf("record: BUG: histogram of 0..%d: %v", t.highest, err))
	}
}

// merge adds what u holds, which must have the same range. The result does not depend on the order of
// merges.
func (t *tally) merge(u *tally) {
	if u.count > 0 {
		if dropped := t.histogram.Merge(u.histogram); dropped != 0 {
			panic(fmt.Sprintf("record: BUG: %d values lost in a merge", dropped))
		}
	}
	t.count += u.count
	t.clamped += u.clamped
	t.faults += u.faults
	t.min, t.max = min(t.min, u.min), max(t.max, u.max)
	var carry uint64
	t.sumLow, carry = bits.Add64(t.sumLow, u.sumLow, 0)
	t.sumHigh, _ = bits.Add64(t.sumHigh, u.sumHigh, carry)
}

// quantile returns the value at q in 0..1, to 3 digits and within the exact extremes; nil of nothing.
func (t *tally) quantile(q float64) *int64 {
	if t.count == 0 {
		return nil
	}
	return ptr(min(max(t.histogram.ValueAtPercentile(100*q), t.min), t.max))
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
	d := Distribution{
		Count:   t.count,
		Mean:    t.mean(),
		P50:     t.quantile(0.5),
		P90:     t.quantile(0.9),
		P99:     t.quantile(0.99),
		P999:    t.quantile(0.999),
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
	var fullest int64
	for _, bar := range t.histogram.Distribution() {
		fullest = max(fullest, bar.Count)
	}
	return ptr(float64(fullest) / float64(t.count))
}

// offsets is a histogram of where in a bucket its arrivals lie: two digits, and a resolution of a
// 100,000th of the bucket (1 µs in 100 ms). It takes at most 10 kB. Not safe for concurrent use.
type offsets struct{ histogram *hdrhistogram.PackedHistogram }

func newOffsets(width int64) offsets {
	return offsets{hdrhistogram.NewPacked(offsetLowest(width), offsetHighest(width), offsetDigits)}
}

// offsetLowest and offsetHighest are the range of a histogram of offsets.
func offsetLowest(width int64) int64  { return max(1, width/offsetSteps) }
func offsetHighest(width int64) int64 { return max(2, width) }

// record adds an offset in [0, width) and makes the histogram with the first.
func (o *offsets) record(offset, width time.Duration) {
	if o.histogram == nil {
		*o = newOffsets(int64(width))
	}
	o.add(int64(offset))
}

// count is how many there are.
func (o offsets) count() int64 {
	if o.histogram == nil {
		return 0
	}
	return o.histogram.TotalCount()
}

// clone returns a copy that o does not share.
func (o offsets) clone() offsets {
	if o.histogram == nil {
		return o
	}
	return offsets{o.histogram.Clone()}
}

// add records an offset in [0, width).
func (o offsets) add(offset int64) {
	if err := o.histogram.RecordValue(offset); err != nil {
		panic(fmt.Sprintf("record: BUG: offset in a bucket: %v", err))
	}
}

// quantile returns the offset at q in 0..1, below width; nil of nothing.
func (o offsets) quantile(q float64, width int64) *int64 {
	if o.count() == 0 {
		return nil
	}
	return ptr(min(o.histogram.ValueAtPercentile(100*q), width-1))
}
