package backoff

import (
	"math/rand/v2"
	"time"
)

// MersenneScaled multiplies M = Base*(1 + m + ... + m^n), which for m = 2 is
// Base*(2^(n+1) - 1), by a factor of its own for each delay: min(Cap, M*U[0.8, 1.3)).
//
// Before the cap: mean 1.05*M, variance M^2/48, range [0.8*M, 1.3*M). The source clamps, so
// CapCeiling is CapClamp: an atom at the cap from M = Cap/1.3 on, all delays from
// M = Cap/0.8 on. CapFixed is exactly Cap once M >= Cap, clamped before; CapRandom clamps at
// the drawn cap.
//
// Wrong: waves of half their delay's width, above it by more than below; with the source's
// four attempts it never comes near its cap, with more the fleet ends on it.
//
// One draw (two under CapRandom). Immutable, so safe for concurrent use.
// Source: azcore 1.24.0 (azure-sdk-for-go), retry policy, with a base of 800 ms and a cap of
// 60 s. Its comment says 0.8 to 1.2; its code is [0.8, 1.3). It knows no other multiplier
// than 2.
type MersenneScaled struct{ Params }

// Delay implements Strategy.
func (s *MersenneScaled) Delay(r *rand.Rand, a Attempt) time.Duration {
	raw := s.mersenne(s.step(a.Retry))
	limit, exact := s.lid(r, raw)
	if exact {
		return limit
	}
	return min(limit, aroundAbove(raw).draw(r))
}

// Range implements Ranged.
func (s *MersenneScaled) Range(a Attempt) (lo, hi time.Duration) {
	raw := s.mersenne(s.step(a.Retry))
	lidMin, lidMax, exact := s.lidEnds(raw)
	if exact {
		return lidMin, lidMax
	}
	lo, hi = aroundAbove(raw).ends()
	return min(lidMin, lo), min(lidMax, hi)
}

// Ceiling implements Ranged.
func (s *MersenneScaled) Ceiling(k int) time.Duration {
	return min(s.Cap, s.mersenne(s.step(k)))
}

// aroundAbove is [0.8*raw, 1.3*raw), in whole ns.
func aroundAbove(raw time.Duration) window {
	return window{lo: int64(raw - raw/5), width: uint64(raw / 2)}
}
