package record

import "math/bits"

// A geometry says which values share a count of a histogram, in the order of the library's counts: halves
// of 2^digitBits counts, each of twice the step of the one before, of which the first half is that of
// the second once more.
type geometry struct {
	unit      uint8 // the first step is 2^unit
	digitBits uint8
}

// The digitBits of a number of digits: 2^(digitBits+1) steps are the least power of two that tells
// 2*10^digits values apart.
const (
	offsetDigitBits = 7
	tallyDigitBits  = 10
)

// offsetGeometry is that of the offsets in a bucket of the given width.
func offsetGeometry(width int64) geometry {
	return geometry{uint8(bits.Len64(uint64(offsetLowest(width))) - 1), offsetDigitBits}
}

var tallyGeometry = geometry{0, tallyDigitBits}

// index is the place of a value's count.
func (g geometry) index(value int64) int {
	if g.digitBits == tallyDigitBits {
		return tallyIndex(value)
	}
	return offsetIndex(value, g.unit)
}

// tallyIndex is tallyGeometry's index. That, as the number of digits is a constant in it, inlines.
func tallyIndex(value int64) int {
	half := bits.Len64(uint64(value)|(2<<tallyDigitBits-1)) - (tallyDigitBits + 1)
	return half<<tallyDigitBits + int(uint64(value)>>(half&63))
}

// offsetIndex is the index of a geometry of offsets.
func offsetIndex(value int64, unit uint8) int {
	steps := uint64(value) >> (unit & 63)
	half := bits.Len64(steps|(2<<offsetDigitBits-1)) - (offsetDigitBits + 1)
	return half<<offsetDigitBits + int(steps>>(half&63))
}

// lowest is the least value of a count; the others of that count follow up to the next one's.
func (g geometry) lowest(index int) int64 {
	half := index>>g.digitBits - 1
	if half < 0 {
		return int64(index) << g.unit
	}
	return int64(index-half<<g.digitBits) << (half + int(g.unit))
}

// highest is the largest value of a count.
func (g geometry) highest(index int) int64 { return g.lowest(index+1) - 1 }
