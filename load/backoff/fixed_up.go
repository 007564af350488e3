package backoff

import (
	"math/rand/v2"
	"time"
)

// FixedUp adds noise of one width on top of every delay: c + U[0, Noise).
//
// Mean c + Noise/2, variance Noise^2/12, whatever the retry. Range [c, c+Noise), under
// CapCeiling also at the cap, which a delay may pass by Noise. No atom at the cap but under
// CapFixed and CapClamp (all, from raw = cap on).
//
// Wrong: as Fixed with half the spread; where Noise is below the bucket width the first
// wave is as sharp as without jitter.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' "plus up to fifty milliseconds"; tenacity wait_exponential_jitter.
type FixedUp struct{ Params }

// Delay implements Strategy.
func (s *FixedUp) Delay(r *rand.Rand, a Attempt) time.Duration {
	return s.draw(r, s.exponential(s.step(a.Retry)), upByNoise)
}

// Range implements Ranged.
func (s *FixedUp) Range(a Attempt) (lo, hi time.Duration) {
	return s.reach(s.exponential(s.step(a.Retry)), upByNoise)
}

func upByNoise(p *Params, raw time.Duration) window {
	return window{lo: int64(raw), width: uint64(p.noise())}
}
