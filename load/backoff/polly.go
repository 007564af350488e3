package backoff

import (
	"math"
	"math/rand/v2"
	"time"

	"stormtest/target/exact"
)

const (
	// pollyScale is Polly's RpScalingFactor, 1/1.4.
	pollyScale = 1 / 1.4
	// pollyStepMax is the last step computed; levels beyond would overflow a float64.
	pollyStepMax = 900
)

// Polly waits the distance between two points of a smooth curve: with f = Base and
// p(t) = 2^t*tanh(sqrt(4t)) it is min(Cap, (f/1.4)*(p(n+u) - p(n-1+u'))), where u is drawn
// in [0, 1), u' is the u of the delay before, and the second term is 0 at k = 0.
//
// The sum telescopes: the elapsed time after retry k is (f/1.4)*p(n+u), log-uniform between
// neighbouring powers of two, so that waves tile time without gaps. Neighbouring delays are
// correlated by -0.40. In units of f, mean / deviation / range: k = 0 0.871 / 0.313 /
// [0, 1.377); k = 1 1.157 / 0.524 / [0, 2.837); from k = 3 on 0.5153*2^k / 0.2296*2^k /
// [0, (2^(k+1) - 2^(k-1))/1.4). The median is f*2^(k-1) from k = 2 on, not f*2^k as the
// source's comment has it. Multiplier is not read: the curve doubles.
//
// The source clamps, and its jitter knows no ceiling, so CapCeiling is CapClamp, with an
// atom at the cap that grows to 1. CapFixed is exactly Cap once f*2^n >= Cap; CapRandom
// clamps at the drawn cap.
//
// Wrong: the first wave starts at 0, and the atom at the cap.
//
// One draw (two under CapRandom). The state is the caller's Attempt.Carry, so it is safe
// for concurrent use, one Carry for each operation.
// Source: App-vNext/Polly 8.7.0, RetryHelper.DecorrelatedJitterBackoffV2, which in spite of
// its name is not Decorrelated.
type Polly struct{ Params }

// Delay implements Strategy. It panics where a.Carry is nil.
func (s *Polly) Delay(r *rand.Rand, a Attempt) time.Duration {
	if a.Carry == nil {
		panic("backoff: BUG: Polly needs Attempt.Carry")
	}
	n := s.step(a.Retry)
	if n > pollyStepMax {
		return s.Cap
	}
	level, before := pollyLevel(float64(n)+r.Float64()), 0.0
	if a.Retry > 0 {
		before = *a.Carry
	}
	*a.Carry = level
	limit, exact := s.lid(r, s.doubled(n))
	if exact {
		return limit
	}
	return min(limit, s.scaled(level-before))
}

// Range implements Ranged.
func (s *Polly) Range(a Attempt) (lo, hi time.Duration) {
	n := s.step(a.Retry)
	if n > pollyStepMax {
		return s.Cap, s.Cap
	}
	lidMin, lidMax, exact := s.lidEnds(s.doubled(n))
	switch top := pollyLevel(float64(n) + 1); {
	case exact:
		return lidMin, lidMax
	case a.Retry == 0:
		lo, hi = padded(s.scaled(pollyLevel(float64(n))), s.scaled(top))
	default:
		lo, hi = padded(0, s.scaled(top-pollyLevel(float64(n)-1)))
	}
	return min(lidMin, lo), min(lidMax, hi)
}

// Ceiling implements Ranged: min(Cap, Base*2^n).
func (s *Polly) Ceiling(k int) time.Duration { return min(s.Cap, s.doubled(s.step(k))) }

// doubled returns f*2^n, or forever.
func (s *Polly) doubled(n int) time.Duration {
	p := Params{Base: s.Base, Multiplier: 2}
	return p.exponential(n)
}

// scaled returns the length of a distance on Polly's curve.
func (s *Polly) scaled(distance float64) time.Duration {
	return round(float64(float64(s.Base) * pollyScale * distance))
}

// pollyLevel returns p(t), a number without unit.
func pollyLevel(t float64) float64 {
	// tanh(y) = 1 - 2/(e^(2y) + 1): near 0 that loses digits, but none that a ns shows.
	tanh := 1 - 2/(exact.Exp(float64(4*math.Sqrt(t)))+1)
	return float64(exact.Exp2(t) * tanh)
}
