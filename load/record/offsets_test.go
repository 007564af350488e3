package record

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestOffsets(t *testing.T) {
	var none offsets
	same(t, "quantile without a histogram", none.quantile(0.5, 100), nil)
	for _, width := range []int64{1000, 999_999, 1e8, 3.6e12} {
		o := newOffsets(width)
		same(t, "quantile of nothing", o.quantile(0.5, width), nil)
		for i := range int64(100) {
			o.add(i*(width-1)/99, 1)
		}
		near(t, "p50", float64(*o.quantile(0.5, width))/float64(width), 0.495, 0.008)
		if p := *o.quantile(1, width); p != width-1 {
			t.Errorf("largest offset = %d, want %d", p, width-1)
		}
	}
}

// closedOf returns o closed.
func closedOf(o offsets) offsets {
	return offsets{closed: o.appendCounts(binary.AppendUvarint(nil, uint64(o.count())), offsetTestWidth)}
}

const offsetTestWidth = 123_456_789

// A closed histogram of offsets tells what the open one does, and opens again as it was.
func TestClosedOffsets(t *testing.T) {
	r := seeded(1)
	for n := range int64(300) {
		open := newOffsets(offsetTestWidth)
		for range n {
			open.add(r.Int64N(offsetTestWidth>>r.IntN(20)), 1+r.Int64N(1<<r.IntN(30)))
		}
		closed := closedOf(open)
		again := closedOf(open)
		again.open(offsetTestWidth)
		for what, o := range map[string]offsets{"closed": closed, "opened again": again, "copied": closed.clone()} {
			if o.count() != open.count() || n > 0 && o.highest(offsetTestWidth) != open.highest(offsetTestWidth) {
				t.Errorf("%d values %s: count %d and highest %d, want %d and %d", n, what, o.count(), o.highest(offsetTestWidth), open.count(), open.highest(offsetTestWidth))
			}
			for _, q := range []float64{0.001, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
				same(t, fmt.Sprintf("%d values %s: quantile %v", n, what, q), o.quantile(q, offsetTestWidth), open.quantile(q, offsetTestWidth))
			}
			if got, want := o.appendCounts(nil, offsetTestWidth), open.appendCounts(nil, offsetTestWidth); string(got) != string(want) {
				t.Errorf("%d values %s: encoded as %v, want %v", n, what, got, want)
			}
		}
	}
}

// The geometries are the library's: a value's count is the one it would use, from the first to the last.
func TestGeometry(t *testing.T) {
	for _, c := range []struct {
		name     string
		geometry geometry
		lowest   int64
		highest  int64
		digits   int
	}{
		{"tally", tallyGeometry, 1, tallyHighest, tallyDigits},
		{"attempts", tallyGeometry, 1, tallyHighestAttempts, tallyDigits},
		{"1 us", offsetGeometry(1000), offsetLowest(1000), offsetHighest(1000), offsetDigits},
		{"100 ms", offsetGeometry(1e8), offsetLowest(1e8), offsetHighest(1e8), offsetDigits},
		{"an hour", offsetGeometry(3.6e12), offsetLowest(3.6e12), offsetHighest(3.6e12), offsetDigits},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, last := c.geometry, c.geometry.index(c.highest)
			for i := range last + 1 {
				low, high := g.lowest(i), g.highest(i)
				if g.index(low) != i || g.index(high) != i || i > 0 && g.highest(i-1) != low-1 {
					t.Fatalf("count %d holds %d..%d, whose index is %d and %d", i, low, high, g.index(low), g.index(high))
				}
				h := hdrhistogram.NewPacked(c.lowest, c.highest, c.digits)
				if err := h.RecordValue(min(high, c.highest)); err != nil {
					t.Fatal(err)
				}
				if h.Min() != low && i > 0 || h.Max() != high {
					t.Fatalf("count %d holds %d..%d, and the library's %d..%d", i, low, high, h.Min(), h.Max())
				}
			}
		})
	}
}
