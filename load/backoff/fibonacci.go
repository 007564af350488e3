package backoff

import (
	"math/rand/v2"
	"time"
)

// Fibonacci waits exactly min(Cap, F*Base) with F = 1, 1, 2, 3, 5, ... at n = 0, 1, 2, ...
//
// Mean c, variance 0, range one point. Cap modes as None. Multiplier is not read: the
// growth tends to 1.618.
//
// Wrong: as None; and the first two delays are equal.
//
// No draw (one under CapRandom). Immutable, so safe for concurrent use.
// Source: sethvargo/go-retry, NewFibonacci (which starts 1, 2, 3); unjittered everywhere.
type Fibonacci struct{ Params }

// Delay implements Strategy.
func (s *Fibonacci) Delay(r *rand.Rand, a Attempt) time.Duration {
	return s.draw(r, s.fibonacci(s.step(a.Retry)), exactly)
}

// Range implements Ranged.
func (s *Fibonacci) Range(a Attempt) (lo, hi time.Duration) {
	return s.reach(s.fibonacci(s.step(a.Retry)), exactly)
}

// Ceiling implements Ranged.
func (s *Fibonacci) Ceiling(k int) time.Duration { return min(s.Cap, s.fibonacci(s.step(k))) }
