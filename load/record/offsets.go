package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// offsets is a histogram of where in a bucket its arrivals lie: two digits, and a resolution of a
// 100,000th of the bucket (1 µs in 100 ms). Not safe for concurrent use.
//
// It has one of two forms. An open one takes arrivals, and takes 5 bytes for each of its counts that is not 0 and
// as much again as room to grow: at most 10 kB. A closed one is the same in about 1.3 bytes a count, and opens again where
// an arrival comes late.
type offsets struct {
	histogram *hdrhistogram.PackedHistogram // open
	closed    []byte                        // or closed: how many arrivals as a varint, and then what appendCounts gives; never written to
}

func newOffsets(width int64) offsets {
	return offsets{histogram: hdrhistogram.NewPacked(offsetLowest(width), offsetHighest(width), offsetDigits)}
}

// offsetLowest and offsetHighest are the range of a histogram of offsets.
func offsetLowest(width int64) int64  { return max(1, width/offsetSteps) }
func offsetHighest(width int64) int64 { return max(2, width) }

// record adds an offset in [0, width) and makes the histogram with the first.
func (o *offsets) record(offset, width time.Duration) {
	if o.histogram == nil {
		o.open(int64(width))
	}
	o.add(int64(offset), 1)
}

// open makes o an open one.
func (o *offsets) open(width int64) {
	closed := o.closed
	*o = newOffsets(width)
	g := offsetGeometry(width)
	for index, count := range (offsets{closed: closed}).each {
		o.add(g.lowest(index), count)
	}
}

// add records n times an offset in [0, width).
func (o offsets) add(offset, n int64) {
	if err := o.histogram.RecordValues(offset, n); err != nil {
		panic(fmt.Sprintf("record: BUG: offset in a bucket: %v", err))
	}
}

// count is how many there are.
func (o offsets) count() int64 {
	if o.histogram != nil {
		return o.histogram.TotalCount()
	}
	n, _ := binary.Uvarint(o.closed)
	return int64(n)
}

// clone returns a copy that o does not share.
func (o offsets) clone() offsets {
	if o.histogram == nil {
		return offsets{closed: append([]byte(nil), o.closed...)}
	}
	return offsets{histogram: o.histogram.Clone()}
}

// each yields the counts of a closed one that are not 0, in order, by their place in offsetGeometry.
func (o offsets) each(yield func(index int, count int64) bool) {
	_, read := binary.Uvarint(o.closed)
	index := 0
	for b := o.closed[read:]; len(b) > 0; {
		n, read := binary.Varint(b)
		b = b[read:]
		switch {
		case n > 0:
			if !yield(index, n) {
				return
			}
			index++
		case n == 0:
			index++
		default:
			index -= int(n)
		}
	}
}

// appendCount appends a count to those before it in the V2 encoding, where empty counts lie between: zigzag LEB128 numbers, and a run
// of several empty ones is one negative number.
func appendCount(b []byte, empty int, count int64) []byte {
	switch {
	case empty > 1:
		b = binary.AppendVarint(b, int64(-empty))
	case empty == 1:
		b = append(b, 0)
	}
	return binary.AppendVarint(b, count)
}

// appendCounts appends the counts in the order of their index, as the V2 encoding has them.
func (o offsets) appendCounts(b []byte, width int64) []byte {
	switch {
	case o.count() == 0:
		return append(b, 0)
	case o.histogram == nil:
		_, read := binary.Uvarint(o.closed)
		return append(b, o.closed[read:]...)
	}
	g, next := offsetGeometry(width), 0
	for value, count := range o.histogram.ForEachBucket {
		index := g.index(value)
		b = appendCount(b, index-next, count)
		next = index + 1
	}
	return b
}

// highest is the largest offset there may be among them; 0 of none.
func (o offsets) highest(width int64) int64 {
	if o.count() == 0 {
		return 0
	}
	if o.histogram != nil {
		return o.histogram.Max()
	}
	return o.atRank(math.MaxInt64, width)
}

// quantile returns the offset at q in 0..1, below width; nil of nothing.
func (o offsets) quantile(q float64, width int64) *int64 {
	n := o.count()
	if n == 0 {
		return nil
	}
	if o.histogram != nil {
		return ptr(min(o.histogram.ValueAtPercentile(percentile(q, n)), width-1))
	}
	return ptr(min(o.atRank(rank(q, n), width), width-1))
}

// atRank returns the largest offset that shares a count with that of the given rank, from 1, in a closed one
// that is not empty; beyond them all, with the last.
func (o offsets) atRank(rank, width int64) int64 {
	last := 0
	for index, count := range o.each {
		last = index
		if rank -= count; rank <= 0 {
			break
		}
	}
	return offsetGeometry(width).highest(last)
}
