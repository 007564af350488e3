package backoff

import (
	"math/rand/v2"
	"time"
)

// ProportionalClamp caps before its jitter and after it: min(Cap, c*(1 + U[-p, p))), p = SpreadShare.
//
// Below the cap as Proportional. With CapCeiling half of the delays at the cap are exactly that, and the others lie in
// [(1-p)*Cap, Cap); CapClamp, CapFixed and CapRandom are those of Proportional, never above Cap.
//
// Wrong: as Proportional, and half of the fleet ends on the cap.
//
// One draw. Immutable, so safe for concurrent use.
// Source: Apache Kafka's ExponentialBackoff (Java, 4.0), with p = 0.2.
type ProportionalClamp struct{ schedule }

func newProportionalClamp(p Params) Ranged {
	return &ProportionalClamp{newSchedule(p, &proportionalShape)}
}

// Delay implements Strategy.
func (s *ProportionalClamp) Delay(r *rand.Rand, a Attempt) time.Duration {
	return min(s.Cap, s.schedule.Delay(r, a))
}

// Range implements Ranged.
func (s *ProportionalClamp) Range(a Attempt) (lo, hi time.Duration) {
	lo, hi = s.schedule.Range(a)
	return min(s.Cap, lo), min(s.Cap, hi)
}

// Below implements Lawful.
func (s *ProportionalClamp) Below(k int, edges []time.Duration) []float64 {
	shares := s.schedule.Below(k, edges)
	for i, x := range edges {
		if x > s.Cap {
			shares[i] = 1
		}
	}
	return shares
}
