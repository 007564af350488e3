package record

import (
	"math"
	"math/bits"
	"time"
)

// RSIArrivalsMin is how many arrivals a bucket needs to enter the retry_synchronisation_index.
const RSIArrivalsMin = 5

// A half holds the exact moments of the retry offsets in one half of a bucket: n, sum of offsets and
// the 128-bit sum of their squares, in ns from the half's beginning. Halves are what lets one bucket
// grid and the grid shifted by half a bucket be computed from one set of sums.
type half struct {
	n, sum       uint64
	sqHigh, sqLo uint64
}

// add counts one offset.
func (h *half) add(offset uint64) {
	h.n++
	h.sum += offset
	high, low := bits.Mul64(offset, offset)
	var carry uint64
	h.sqLo, carry = bits.Add64(h.sqLo, low, 0)
	h.sqHigh, _ = bits.Add64(h.sqHigh, high, carry)
}

// spread returns h as count, mean and squared deviations. The difference n·Σx² - (Σx)², where
// everything cancels, is taken in whole numbers.
func (h *half) spread() spread {
	if h.n == 0 {
		return spread{}
	}
	// n·Σx² in three words, and less (Σx)², which is never more.
	w1, w0 := bits.Mul64(h.n, h.sqLo)
	w2, high := bits.Mul64(h.n, h.sqHigh)
	w1, carry := bits.Add64(w1, high, 0)
	w2 += carry
	high, low := bits.Mul64(h.sum, h.sum)
	w0, carry = bits.Sub64(w0, low, 0)
	w1, carry = bits.Sub64(w1, high, carry)
	w2 -= carry
	n := float64(h.n)
	return spread{n: n, mean: float64(h.sum) / n, squares: nearest(w2, w1, w0) / n}
}

// nearest returns the number of three words, the highest first, as the nearest float64.
func nearest(w2, w1, w0 uint64) float64 {
	exponent := 0
	for range 2 {
		if w2 == 0 {
			w2, w1, w0 = w1, w0, 0
			exponent -= 64
		}
	}
	if w2 == 0 {
		return 0
	}
	// The highest word, moved to the top, has more bits than a float64; of those below it only counts whether there
	// are any.
	shift := bits.LeadingZeros64(w2)
	top := w2<<shift | w1>>(64-shift)
	if w1<<shift|w0 != 0 {
		top |= 1
	}
	return math.Ldexp(float64(top), 128+exponent-shift)
}

// A spread is a set of offsets in ns: how many, their mean, and the sum of the squared deviations
// from it.
type spread struct{ n, mean, squares float64 }

// joinedSquares returns the squared deviations of s and t taken as one set, where t's offsets begin shift ns
// after s's.
func joinedSquares(s, t spread, shift float64) float64 {
	if s.n == 0 || t.n == 0 {
		return s.squares + t.squares
	}
	gap := t.mean + shift - s.mean
	return s.squares + t.squares + gap*gap*s.n*t.n/(s.n+t.n)
}

// A pool collects the buckets of one grid.
type pool struct{ squares, freedom float64 }

// add takes in one bucket, given as its two halves of which the second begins shift ns after the first; too thin a
// bucket is left out.
func (p *pool) add(s, t spread, shift float64) {
	if s.n+t.n < RSIArrivalsMin {
		return
	}
	p.squares += joinedSquares(s, t, shift)
	p.freedom += s.n + t.n - 1
}

// index returns 1 - S²/(W²/12) of what was pooled.
func (p *pool) index(width time.Duration) (float64, bool) {
	if p.freedom == 0 {
		return 0, false
	}
	w := float64(width)
	return 1 - p.squares/p.freedom/(w*w/12), true
}

// syncIndex returns the retry_synchronisation_index over neighbouring buckets, given as two halves
// each: pooled over the buckets on their own grid, and again on the grid shifted by half a bucket
// (without the two halves left over at the ends); the larger of the two.
func syncIndex(buckets [][2]half, width time.Duration) (float64, bool) {
	var own, shifted pool
	first := float64(width / 2)        // length of a bucket's first half
	second := float64(width - width/2) // and of its second: 1 ns longer where width is odd
	var before spread                  // second half of the bucket before
	for i := range buckets {
		a, b := buckets[i][0].spread(), buckets[i][1].spread()
		own.add(a, b, first)
		if i > 0 {
			shifted.add(before, a, second)
		}
		before = b
	}
	x, okOwn := own.index(width)
	y, okShifted := shifted.index(width)
	switch {
	case okOwn && okShifted:
		return max(x, y), true
	case okOwn:
		return x, true
	}
	return y, okShifted
}

// RSIExact returns the retry_synchronisation_index of the arrivals of times in [from, to), in buckets
// of the given width that begin at from. Of a length that is no multiple of width the rest is left
// out. times must be in ascending order.
//
// For each bucket with RSIArrivalsMin arrivals or more take the unbiased variance of the arrival
// times; pool them as S² = Σ(n-1)s² / Σ(n-1); the index is 1 - S²/(width²/12), on this grid or on the
// one shifted by half a bucket, whichever is larger. 1 is perfect synchrony, 0 the mean of a constant
// rate; it is negative where arrivals keep to the edges of buckets, and a report shows that as 0. ok
// is false where no bucket has enough. O(len(times) + buckets).
//
// It cannot see a spread of half a bucket or more, nor two spikes in one bucket, and so it decides no
// verdict. Source: domain 5.3.
func RSIExact(times []time.Duration, from, to, width time.Duration) (float64, bool) {
	buckets := make([][2]half, (to-from)/width)
	for _, at := range between(times, from, from+time.Duration(len(buckets))*width) {
		addRetryOffset(&buckets[(at-from)/width], (at-from)%width, width)
	}
	return syncIndex(buckets, width)
}

// addRetryOffset counts an offset in [0, width) in the half of the bucket where it lies.
func addRetryOffset(halves *[2]half, offset, width time.Duration) {
	if offset < width/2 {
		halves[0].add(uint64(offset))
		return
	}
	halves[1].add(uint64(offset - width/2))
}
