package backoff

import (
	"math/rand/v2"
	"time"
)

// LinearJitter waits n+1 times a uniform time between Base and WaitMax:
// U[(n+1)*Base, (n+1)*WaitMax).
//
// Mean (n+1)(Base+WaitMax)/2, variance (n+1)^2*(WaitMax-Base)^2/12. Where WaitMax <= Base it
// is exactly (n+1)*Base. Multiplier is not read.
//
// Wrong: the source has no cap, WaitMax is multiplied too. CapCeiling follows it: there the
// delays grow for ever and Cap counts only as the default of WaitMax. CapClamp is
// min(Cap, d), with an atom at the cap; CapFixed exactly Cap once (n+1)*Base >= Cap, clamped
// before; CapRandom clamps at the drawn cap.
//
// One draw (two under CapRandom). Immutable, so safe for concurrent use.
// Source: hashicorp/go-retryablehttp 0.7.8, LinearJitterBackoff. It seeds its generator from
// the clock at every call and multiplies whole nanoseconds; neither is copied.
type LinearJitter struct{ Params }

// Delay implements Strategy.
func (s *LinearJitter) Delay(r *rand.Rand, a Attempt) time.Duration {
	w := s.between(a.Retry)
	if s.CapMode == CapCeiling {
		return w.draw(r)
	}
	limit, exact := s.lid(r, time.Duration(w.lo))
	if exact {
		return limit
	}
	return min(limit, w.draw(r))
}

// Range implements Ranged.
func (s *LinearJitter) Range(a Attempt) (lo, hi time.Duration) {
	w := s.between(a.Retry)
	lo, hi = w.ends()
	if s.CapMode == CapCeiling {
		return lo, hi
	}
	lidMin, lidMax, exact := s.lidEnds(time.Duration(w.lo))
	if exact {
		return lidMin, lidMax
	}
	return min(lidMin, lo), min(lidMax, hi)
}

// Ceiling implements Ranged: (n+1)*WaitMax, capped except under CapCeiling.
func (s *LinearJitter) Ceiling(k int) time.Duration {
	w := s.between(k)
	top := add(time.Duration(w.lo), time.Duration(w.width))
	if s.CapMode == CapCeiling {
		return top
	}
	return min(s.Cap, top)
}

func (s *LinearJitter) between(k int) window {
	steps := uint64(s.step(k)) + 1
	lo := times(steps, s.Base)
	return window{lo: int64(lo), width: uint64(max(0, times(steps, s.waitMax())-lo))}
}
