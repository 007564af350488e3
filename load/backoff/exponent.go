package backoff

import (
	"math/rand/v2"
	"time"
)

// Exponent jitters the exponent: min(Cap, Base*Multiplier^U[0, n)).
//
// With m = 2 and before the cap: mean b(2^n - 1)/(n*ln 2), second moment
// b^2(4^n - 1)/(2n*ln 2), range [Base, Base*2^n). The published formula clamps, and its
// jitter knows no ceiling, so CapCeiling is CapClamp: a share 1 - log2(cap/b)/n of the
// delays is exactly the cap, 15 % at n = 9, 41 % at n = 13. CapFixed is exactly Cap once
// Base*m^n >= Cap; CapRandom clamps at the drawn cap.
//
// Wrong: at n = 0 every client waits exactly Base, so the first wave has no jitter at all;
// the mass piles up at the short end; and the fleet ends on the cap. Neither attempts nor
// completion time show it.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' anti-pattern "jitter the exponent", first reading.
type Exponent struct{ curve }

func newExponent(p Params) Ranged { return &Exponent{newCurve(p)} }

// Delay implements Strategy.
func (s *Exponent) Delay(r *rand.Rand, a Attempt) time.Duration {
	n := s.step(a.Retry)
	raw := s.exponential(n)
	limit, exact := s.lid(r, raw)
	if exact {
		return limit
	}
	d := s.power(float64(float64(n) * r.Float64()))
	return min(limit, max(s.Base, min(d, raw))) // power rounds, the range does not
}

// Range implements Ranged.
func (s *Exponent) Range(a Attempt) (lo, hi time.Duration) {
	raw := s.exponential(s.step(a.Retry))
	lo, hi, exact := s.lidEnds(raw)
	if exact {
		return lo, hi
	}
	return min(lo, s.Base), min(hi, raw)
}
