package backoff

import (
	"math/rand/v2"
	"time"
)

// ConstantFull is Full under one ceiling for all retries: U[0, 2*Base).
//
// Mean Base, variance Base^2/3, range [0, 2*Base): as Constant, without the convoy. The
// cap matters only where it is below 2*Base, and then acts on that ceiling as it does for
// Full. Multiplier and FirstExponent are not read.
//
// Wrong: no convoy, but a storm: it finishes first and makes the most attempts, about 600 a
// client in an outage of 60 s with 100 ms. The two are different properties.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the control case of this project's strategy table.
type ConstantFull struct{ Params }

// Delay implements Strategy.
func (s *ConstantFull) Delay(r *rand.Rand, _ Attempt) time.Duration {
	return s.draw(r, times(2, s.Base), fromZero)
}

// Range implements Ranged.
func (s *ConstantFull) Range(Attempt) (lo, hi time.Duration) {
	return s.reach(times(2, s.Base), fromZero)
}

// Ceiling implements Ranged.
func (s *ConstantFull) Ceiling(int) time.Duration { return min(s.Cap, times(2, s.Base)) }
