package backoff

import (
	"math/rand/v2"
	"time"
)

// A late schedule has an exact delay before its first retry, at n = 0, and follows another schedule from there on. With a
// FirstExponent of 1 there is no n = 0, and it is that other schedule.
// Immutable, so safe for concurrent use.
type late struct {
	schedule
	first time.Duration
}

func newLate(p Params, of *shape, first time.Duration) late { return late{newSchedule(p, of), first} }

// opens says that the retry is the exact one.
func (s *late) opens(k int) bool { return k == 0 && s.FirstExponent == 0 }

// Delay implements Strategy.
func (s *late) Delay(r *rand.Rand, a Attempt) time.Duration {
	if s.opens(a.Retry) {
		return s.first
	}
	return s.schedule.Delay(r, a)
}

// Range implements Ranged.
func (s *late) Range(a Attempt) (lo, hi time.Duration) {
	if s.opens(a.Retry) {
		return s.first, s.first
	}
	return s.schedule.Range(a)
}

// Ceiling implements Ranged.
func (s *late) Ceiling(k int) time.Duration {
	if s.opens(k) {
		return s.first
	}
	return s.schedule.Ceiling(k)
}

// Below implements Lawful.
func (s *late) Below(k int, edges []time.Duration) []float64 {
	if s.opens(k) {
		return law(edges, func(x time.Duration) float64 { return step(s.first, x) })
	}
	return s.schedule.Below(k, edges)
}
