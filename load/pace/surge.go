package pace

import (
	"fmt"
	"math"
	"time"
)

// A Surge multiplies the rate within [From, To).
type Surge struct {
	From, To time.Duration
	Factor   float64 // 0 or more, and finite; 0 is a lull without operations
}

// A course is the time that an open loop with surges takes from its plain rate: while a surge of factor 3 lasts, three
// seconds of that rate pass in each second. Its moments are then those of the plain rate, even or Poisson, moved by one
// function of time: exact for both, for a Poisson process of a changing rate is one of a constant rate in such a time.
//
// The zero course is a loop without surges.
type course struct{ legs []leg }

// A leg is a stretch of one factor, which lasts until the next one begins; the last has no end.
type leg struct {
	from   float64 // ns
	passed float64 // ns of the plain rate before it
	factor float64
}

// newCourse returns the course of surges in the order of their windows, which do not overlap.
func newCourse(surges []Surge) course {
	if len(surges) == 0 {
		return course{}
	}
	legs := make([]leg, 1, 1+2*len(surges))
	legs[0].factor = 1
	end := time.Duration(0)
	for _, s := range surges {
		if s.From < end || s.To <= s.From || !(s.Factor >= 0) || math.IsInf(s.Factor, 0) {
			panic(fmt.Sprintf("pace: BUG: surge %v..%v of factor %v", s.From, s.To, s.Factor))
		}
		legs = append(legs, leg{from: float64(s.From), factor: s.Factor}, leg{from: float64(s.To), factor: 1})
		end = s.To
	}
	for i := range legs[1:] {
		before := legs[i]
		legs[i+1].passed = before.passed + float64((legs[i+1].from-before.from)*before.factor)
	}
	return course{legs}
}

// passed returns how much time of the plain rate has passed by a moment, both in ns.
func (c course) passed(at float64) float64 {
	if c.legs == nil {
		return at
	}
	now := c.legs[0]
	for _, l := range c.legs[1:] {
		if l.from > at {
			break
		}
		now = l
	}
	return now.passed + float64((at-now.from)*now.factor)
}

// reached returns the moment at which so much time of the plain rate has passed, the last one where a lull makes it
// several, so that nothing is due within a lull. Both are in ns.
func (c course) reached(passed float64) float64 {
	if c.legs == nil {
		return passed
	}
	i := len(c.legs) - 1
	for i > 0 && c.legs[i].passed > passed {
		i--
	}
	l := c.legs[i] // no lull: the leg after it begins with as much passed
	at := l.from + (passed-l.passed)/l.factor
	if i+1 < len(c.legs) {
		at = min(at, c.legs[i+1].from)
	}
	return at
}

// PlainSeconds returns how long a loop without surges takes for what this one does until a moment, in seconds.
func (c Config) PlainSeconds(until time.Duration) float64 {
	if len(c.Surges) == 0 {
		return until.Seconds()
	}
	return newCourse(c.Surges).passed(float64(until)) / float64(time.Second)
}
