package backoff

import (
	"math/rand/v2"
	"time"
)

// Decorrelated waits a uniform time between the base and three times the delay before:
// with p = Attempt.Prev, at first Base, it is U[Base, max(Base, min(Cap, 3p))).
//
// That is CapCeiling, the form of the guides' Go code. CapClamp is the form of the AWS
// simulator and the guides' Python code, min(Cap, U[Base, 3p)); CapFixed is exactly Cap
// once 3p >= Cap, for ever; CapRandom is CapCeiling with the drawn cap (and exactly Base
// where that is below Base). Multiplier and FirstExponent are not read: the factor is 3.
//
// While the cap is not reached, with b = Base, the k-th delay has the mean
// 2b*1.5^(k+1) - b and the variance
// b^2*(2*3^(k+1) - 4*2.25^(k+1) + (8/3)*1.5^(k+1) - 2/3). Range [Base, min(Cap, b*3^(k+1))).
// In the long run with the guides' parameters: CapCeiling mean 5,602 ms and no atom,
// CapClamp mean 9,774 ms and 29 % of all delays exactly at the cap.
//
// Wrong: a heavy tail, the deviation grows like 3^(k/2); without a cap nothing bounds it.
// The first delay must be U[Base, 3*Base): code that starts with p = 0 or returns the start
// value has no randomness in the first retry.
//
// One draw. Immutable (the state is the caller's Attempt.Prev), so safe for concurrent use.
// Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015, "Decorrelated
// Jitter", and its simulator.
type Decorrelated struct{ Params }

// Delay implements Strategy.
func (s *Decorrelated) Delay(r *rand.Rand, a Attempt) time.Duration {
	return s.draw(r, s.tripled(a), fromBase)
}

// Range implements Ranged.
func (s *Decorrelated) Range(a Attempt) (lo, hi time.Duration) {
	if a.Retry == 0 || a.Prev > 0 {
		return s.reach(s.tripled(a), fromBase)
	}
	_, hi = s.reach(s.tripledOften(a.Retry), fromBase)
	return s.Base, hi
}

// Ceiling implements Ranged: the upper end of the range, min(Cap, Base*3^(k+1)).
func (s *Decorrelated) Ceiling(k int) time.Duration {
	return min(s.Cap, s.tripledOften(k))
}

// tripled returns 3p, or forever.
func (s *Decorrelated) tripled(a Attempt) time.Duration {
	return times(3, max(s.Base, a.Prev))
}

// tripledOften returns Base*3^(k+1), the largest 3p there can be at k, or forever.
func (s *Decorrelated) tripledOften(k int) time.Duration {
	x := times(3, s.Base)
	for range k {
		if x == forever {
			break
		}
		x = times(3, x)
	}
	return x
}

func fromBase(p *Params, raw time.Duration) window {
	return window{lo: int64(p.Base), width: uint64(max(0, raw-p.Base))}
}
