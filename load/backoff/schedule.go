package backoff

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"
)

// rungsMost bounds a schedule's table. Doubling from 1 ns passes every cap within it.
const rungsMost = 64

// A shape says what a schedule is made of.
type shape struct {
	raw    func(p *Params, n int) time.Duration // at step n; must not fall as n grows
	jitter jitter
}

// A schedule is a strategy whose delay depends on nothing but the step: a delay before
// jitter and cap, and the window that its jitter makes of it under Params.CapMode. What
// that gives is worked out once, so that a delay costs a look into a table and a draw.
// Immutable, so safe for concurrent use.
type schedule struct {
	Params
	shape *shape

	rungs []rung        // by retry index; what lies beyond is worked out anew each time
	last  int           // rungs[last] counts for all retries from there on
	limit time.Duration // of every delay, also above the window
}

// A rung is a window whose delays a time.Duration holds, below zero too.
type rung struct {
	lo    time.Duration
	width uint64
	floor time.Duration
}

// newSchedule fills the table as far as it goes: up to the retry from which on nothing
// changes, to the 64th, or to a window of centuries that no rung holds. Under CapRandom it
// stays empty.
func newSchedule(p Params, of *shape) schedule {
	s := schedule{Params: p, shape: of, limit: forever, last: math.MaxInt}
	top := of.raw(&s.Params, math.MaxInt)
	switch p.CapMode {
	case CapRandom:
		return s
	case CapClamp:
		s.limit = p.Cap
	default:
		top = min(top, p.Cap)
	}
	s.rungs = make([]rung, 0, rungsMost)
	for k := range rungsMost {
		raw := s.raw(k)
		w := s.window(raw, of.jitter)
		if w.width > math.MaxInt64 || w.lo > math.MaxInt64-int64(w.width) {
			break
		}
		s.rungs = append(s.rungs, rung{time.Duration(w.lo), w.width, w.floor})
		if raw >= top {
			s.last = k
			break
		}
	}
	return s
}

// Delay implements Strategy.
func (s *schedule) Delay(r *rand.Rand, a Attempt) time.Duration {
	k := min(a.Retry, s.last)
	if uint(k) >= uint(len(s.rungs)) { // a negative retry too
		return s.draw(r, s.raw(a.Retry), s.shape.jitter)
	}
	g := &s.rungs[k]
	d := g.lo
	if g.width > 1 {
		offset, _ := bits.Mul64(r.Uint64(), g.width) // as window.draw
		d += time.Duration(offset)
	}
	return min(s.limit, max(g.floor, d))
}

// Range implements Ranged.
func (s *schedule) Range(a Attempt) (lo, hi time.Duration) {
	return s.reach(s.raw(a.Retry), s.shape.jitter)
}

// Ceiling implements Ranged.
func (s *schedule) Ceiling(k int) time.Duration { return min(s.Cap, s.raw(k)) }

// raw returns the delay before jitter and cap at retry index k.
func (s *schedule) raw(k int) time.Duration { return s.shape.raw(&s.Params, s.step(k)) }
