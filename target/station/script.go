package station

import (
	"math/bits"
	"time"
)

// script maps moments to work and back. The work clock shows V(t), the integral of the
// speed over [0, t); it starts at 0, never runs faster than time and stands still while
// work is frozen.
//
// It has a place, which seek moves forward only; workAt and momentOf look from there on.
type script struct {
	spans []span
	place int
}

// span is a window [from, to) of one speed num/den <= 1. The work clock shows begin at
// from and end at to.
type span struct {
	from, to   time.Duration
	begin, end work
	num, den   uint64
}

// newScript builds the script of outages that are sorted and do not overlap.
func newScript(outages []Outage) script {
	var s script
	var at time.Duration
	var done work
	add := func(to time.Duration, num, den uint64) {
		if to <= at {
			return
		}
		g := span{from: at, to: to, begin: done, num: num, den: den}
		g.end = g.workAt(to)
		s.spans = append(s.spans, g)
		at, done = to, g.end
	}
	for _, o := range outages {
		if num, den, ok := o.speed(); ok {
			add(o.From, 1, 1)
			add(o.To, num, den)
		}
	}
	add(never, 1, 1)
	return s
}

// seek moves the place to now; it never moves back.
func (s *script) seek(now time.Duration) {
	for s.place < len(s.spans)-1 && s.spans[s.place].to <= now {
		s.place++
	}
}

// workAt returns V(now) for a now inside the current span.
func (s *script) workAt(now time.Duration) work {
	return s.spans[s.place].workAt(now)
}

// momentOf returns the first whole nanosecond from which the clock shows v or more, give
// or take grain, and never where there is none. It is non-decreasing in v.
func (s *script) momentOf(v work) time.Duration {
	for i := s.place; i < len(s.spans); i++ {
		g := &s.spans[i]
		if !g.end.add(work{frac: grain}).less(v) {
			return g.momentOf(v)
		}
	}
	return never
}

func (g *span) workAt(now time.Duration) work {
	if g.num == g.den { // as in momentOf, the divisions would say the same
		return g.begin.add(work{ns: uint64(now - g.from)})
	}
	hi, lo := bits.Mul64(uint64(now-g.from), g.num)
	ns, rest := bits.Div64(hi, lo, g.den)
	frac, _ := bits.Div64(rest, 0, g.den)
	return g.begin.add(work{ns, frac})
}

func (g *span) momentOf(v work) time.Duration {
	if g.num == 0 {
		return g.from // v is within grain of where the clock stands
	}
	// (ns + frac/2^64) * den / num by long division. The quotient fits: it is a length
	// of time inside this span, or beyond its end by what grain takes at this speed. A v
	// before the span, from a job that ended in the nanosecond in which it begins, is at
	// its beginning.
	v = v.sub(g.begin)
	ns, frac := v.ns, v.frac
	if g.num != g.den {
		hi, mid := bits.Mul64(v.ns, g.den)
		carry, lo := bits.Mul64(v.frac, g.den)
		mid, over := bits.Add64(mid, carry, 0)
		var rest uint64
		ns, rest = bits.Div64(hi+over, mid, g.num)
		frac, _ = bits.Div64(rest, lo, g.num)
	}
	if frac > grain {
		ns++
	}
	if ns >= uint64(g.to-g.from) {
		return g.to
	}
	return g.from + time.Duration(ns)
}
