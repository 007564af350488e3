package record

import (
	"math"
	"sync"
	"time"
)

const (
	// momentsAfterEnd is how long after the planned end something may still happen.
	momentsAfterEnd = 10 * time.Minute
	// durationUnknown bounds a run of which nobody said how long it will be.
	durationUnknown = 24 * time.Hour
)

// A site is the target's side of a Recorder: who arrived when, and what was finished when. Safe for
// concurrent use.
type site struct {
	limit time.Duration // moments at or after it are clamped to just below, and counted in late

	mu       sync.Mutex
	touched  time.Duration // the earliest moment of which something was recorded since a view looked
	arrivals int64
	served   int64
	dropped  int64
	early    int64 // moments before t0, counted at t0
	late     int64
	buckets  buckets
	cells    cells
	goodput  goodput
	openings tally // when the first wave arrived
	together bool
	_        [64]byte // keeps the shards' locks off this cache line
}

func (s *site) init(c Config) {
	s.openings = thriftyTally(tallyHighest)
	if c.StartTogether {
		s.openings = c.tally(tallyHighest)
	}
	s.expect(c)
}

// expect sets what is of the Config.
func (s *site) expect(c Config) {
	s.limit = durationUnknown
	if c.Duration > 0 {
		s.limit = min(c.Duration, math.MaxInt64-momentsAfterEnd) + momentsAfterEnd
	}
	s.buckets.width = c.Bucket
	s.together = c.StartTogether
}

// reset forgets everything and keeps the storage.
func (s *site) reset(c Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touched, s.arrivals, s.served, s.dropped, s.early, s.late = 0, 0, 0, 0, 0, 0
	s.buckets.reset()
	s.cells.reset()
	s.goodput.reset()
	s.openings.reset()
	s.expect(c)
}

// moment returns at brought into [0, limit) and counts what it had to move.
func (s *site) moment(at time.Duration) time.Duration {
	switch {
	case at < 0:
		s.early++
		return 0
	case at >= s.limit:
		s.late++
		return s.limit - 1
	}
	return at
}

func (s *site) arrival(a Arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrivals++
	a.At = s.moment(a.At)
	s.touched = min(s.touched, a.At)
	s.buckets.arrival(a)
	s.cells.add(a.At, a.Attempt > 0)
	if a.Opening && s.together {
		s.openings.add(int64(a.At))
	}
}

func (s *site) rejectedAt(at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = min(max(at, 0), s.limit-1) // its arrival was counted if it was moved
	s.touched = min(s.touched, at)
	s.buckets.of(at).rejected++
}

func (s *site) servedAt(at time.Duration, wasted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	at = s.moment(at)
	s.touched = min(s.touched, at)
	s.buckets.served(at, wasted)
	if !wasted {
		s.goodput.add(at)
	}
}

func (s *site) droppedAt(at time.Duration, expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped++
	at = s.moment(at)
	s.touched = min(s.touched, at)
	s.buckets.droppedAt(at, expired)
}

func (s *site) totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Totals{Arrivals: s.arrivals, Served: s.served}
}

// startSpread returns p99 - p1 of the first wave's arrivals, nil where none was to be measured.
func (s *site) startSpread() *int64 {
	if !s.together || s.openings.count == 0 {
		return nil
	}
	q := s.openings.quantiles(0.01, 0.99)
	return ptr(*q[1] - *q[0])
}
