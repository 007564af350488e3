package backoff

import (
	"math/rand/v2"
	"time"
)

// Constant waits exactly Base.
//
// Mean Base, variance 0, range one point. Cap, CapMode, Multiplier and FirstExponent are
// not read: Cap is at least Base, so there is nothing to cap.
//
// Wrong: it keeps the convoy and never lowers the load: 599 attempts a client in an outage
// of 60 s with 100 ms.
//
// No draw. Immutable, so safe for concurrent use.
// Source: Spring FixedBackOff (1 s), resilience4j (500 ms), curl --retry-delay.
type Constant struct{ Params }

// Delay implements Strategy.
func (s *Constant) Delay(*rand.Rand, Attempt) time.Duration { return s.Base }

// Range implements Ranged.
func (s *Constant) Range(Attempt) (lo, hi time.Duration) { return s.Base, s.Base }

// Ceiling implements Ranged.
func (s *Constant) Ceiling(int) time.Duration { return s.Base }
