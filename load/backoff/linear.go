package backoff

import (
	"math/rand/v2"
	"time"
)

// Linear waits exactly min(Cap, (n+1)*Base).
//
// Mean c, variance 0, range one point. Cap modes as None. Multiplier is not read.
//
// Wrong: as None; only the growth differs. LinearJitter is the jittered form in use.
//
// No draw (one under CapRandom). Immutable, so safe for concurrent use.
// Source: the "linear" backoff of hashicorp/go-retryablehttp and others, without jitter.
type Linear struct{ Params }

// Delay implements Strategy.
func (s *Linear) Delay(r *rand.Rand, a Attempt) time.Duration {
	return s.draw(r, s.linear(s.step(a.Retry)), exactly)
}

// Range implements Ranged.
func (s *Linear) Range(a Attempt) (lo, hi time.Duration) {
	return s.reach(s.linear(s.step(a.Retry)), exactly)
}

// Ceiling implements Ranged.
func (s *Linear) Ceiling(k int) time.Duration { return min(s.Cap, s.linear(s.step(k))) }
