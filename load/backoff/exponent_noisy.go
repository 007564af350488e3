package backoff

import (
	"math/rand/v2"
	"time"
)

// ExponentNoisy jitters the exponent by one either way: min(Cap, Base*m^(n + U[-1, 1))).
//
// With m = 2, c = Base*2^n and before the cap: mean (2 - 1/2)c/(2*ln 2) = 1.082c, deviation
// 0.426c, range [c/2, 2c). The published formula clamps, and its jitter knows no ceiling,
// so CapCeiling is CapClamp: with the guides' parameters 18 % of the delays are exactly the
// cap at k = 7, 68 % at k = 8, all from k = 9 on. CapFixed is exactly Cap once c >= Cap;
// CapRandom clamps at the drawn cap.
//
// Wrong: the fleet ends on the cap and then repeats every cap. Until then it is harmless.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' anti-pattern "jitter the exponent", second reading.
type ExponentNoisy struct{ curve }

func newExponentNoisy(p Params) Ranged { return &ExponentNoisy{newCurve(p)} }

// Delay implements Strategy.
func (s *ExponentNoisy) Delay(r *rand.Rand, a Attempt) time.Duration {
	n := s.step(a.Retry)
	limit, exact := s.lid(r, s.exponential(n))
	if exact {
		return limit
	}
	return min(limit, s.power(float64(n)+float64(2*r.Float64())-1))
}

// Range implements Ranged.
func (s *ExponentNoisy) Range(a Attempt) (lo, hi time.Duration) {
	n := s.step(a.Retry)
	lidMin, lidMax, exact := s.lidEnds(s.exponential(n))
	if exact {
		return lidMin, lidMax
	}
	lo, hi = s.power(float64(n)-1), s.power(float64(n)+1)
	if lo < hi {
		lo, hi = padded(lo, hi)
	}
	return min(lidMin, lo), min(lidMax, hi)
}
