package backoff

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"
)

// forever stands for every time that a time.Duration cannot hold, 292 years and more.
const forever = time.Duration(math.MaxInt64)

// A window is a set of neighbouring delays of equal probability: lo, lo+1, ...,
// lo+width-1 ns. What lies under floor counts as floor, and what a time.Duration cannot
// hold as forever. A width of 0 or 1 is the point lo.
type window struct {
	lo    int64 // may be negative
	width uint64
	floor time.Duration
}

// draw returns a delay of w from one draw, or from none where w is a point.
//
// Multiplying the 64 random bits by the width and dropping the lower half leaves an error
// of at most 2^-64 in the distribution, and unlike rand.Int64N takes always one draw.
func (w window) draw(r *rand.Rand) time.Duration {
	if w.width <= 1 {
		return w.at(0)
	}
	offset, _ := bits.Mul64(r.Uint64(), w.width)
	return w.at(offset)
}

// ends returns the least and the greatest delay of w.
func (w window) ends() (lo, hi time.Duration) {
	return w.at(0), w.at(max(w.width, 1) - 1)
}

// at returns the delay at offset ns above lo.
func (w window) at(offset uint64) time.Duration {
	if w.lo < 0 {
		below := uint64(-w.lo)
		if offset <= below {
			return w.floor
		}
		return max(w.floor, fit(offset-below))
	}
	if offset > math.MaxInt64 {
		return forever
	}
	return max(w.floor, add(time.Duration(w.lo), time.Duration(offset)))
}

// fit returns ns as a time.Duration, or forever.
func fit(ns uint64) time.Duration {
	if ns > math.MaxInt64 {
		return forever
	}
	return time.Duration(ns)
}

// add returns x+y, or forever. Neither is negative.
func add(x, y time.Duration) time.Duration {
	if x > forever-y {
		return forever
	}
	return x + y
}

// times returns n*x, or forever. x is not negative.
func times(n uint64, x time.Duration) time.Duration {
	hi, lo := bits.Mul64(n, uint64(x))
	if hi > 0 {
		return forever
	}
	return fit(lo)
}

// round returns the nearest whole number of ns: 0 for what is negative, forever for what
// is too long.
func round(ns float64) time.Duration {
	switch {
	case ns >= math.MaxInt64: // as float64 this is 2^63
		return forever
	case ns > 0:
		return time.Duration(math.Round(ns))
	default:
		return 0
	}
}

// share returns s*x in ns, at most x. s lies in 0..1.
func share(x time.Duration, s float64) uint64 {
	return uint64(min(x, round(float64(float64(x)*s))))
}

// padded widens a range whose ends were computed in floating point by 1e-15 and 1 ns, the
// most by which Delay's own rounding can differ from that of the ends.
func padded(lo, hi time.Duration) (time.Duration, time.Duration) {
	return max(0, lo-lo>>50-1), add(hi, hi>>50+1)
}
