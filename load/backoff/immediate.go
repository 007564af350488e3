package backoff

import (
	"math/rand/v2"
	"time"
)

// Immediate does not wait: 0.
//
// Mean 0, variance 0, range one point. No field of Params is read.
//
// Wrong: inside one round trip it multiplies the load by the number of attempts.
//
// No draw. Immutable, so safe for concurrent use.
// Source: urllib3's default (backoff_factor 0), nginx proxy_next_upstream, Ribbon.
type Immediate struct{ Params }

// Delay implements Strategy.
func (s *Immediate) Delay(*rand.Rand, Attempt) time.Duration { return 0 }

// Range implements Ranged.
func (s *Immediate) Range(Attempt) (lo, hi time.Duration) { return 0, 0 }

// Ceiling implements Ranged.
func (s *Immediate) Ceiling(int) time.Duration { return 0 }
