package pace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"stormtest/target/exact"
)

// A Config says when the operations of an open loop are due.
type Config struct {
	// PerSecond is the rate in operations per second. Above 0 and finite; there is no
	// default.
	PerSecond float64
	// Poisson draws exponential gaps of the mean 1/PerSecond. False: even gaps.
	Poisson bool
	// Surges multiply the rate for a while, in the order of their windows, which do not overlap.
	Surges []Surge
	// Total bounds the number of operations. Zero: no bound. With Poisson a bound near
	// PerSecond*Until cuts about half of the runs short, so leave it 0 unless asked for.
	Total int64
	// Until bounds the moments: all are before it. Zero: no bound.
	Until time.Duration
}

// A Schedule gives the moments at which the operations of an open loop are due, one after
// another. Constant memory, whatever the number of operations. Not safe for concurrent use.
type Schedule struct {
	config Config
	course course
	r      *rand.Rand
	count  int64   // operations given so far
	sumNS  float64 // of the gaps so far, with Poisson
	ended  bool
}

// NewSchedule returns the schedule of c. It draws from r with Poisson only; otherwise r may
// be nil. A rate that is not above 0 and finite, negative bounds and surges that overlap are bugs and panic.
func NewSchedule(c Config, r *rand.Rand) *Schedule {
	switch {
	case !(c.PerSecond > 0) || math.IsInf(c.PerSecond, 0):
		panic(fmt.Sprintf("pace: BUG: rate %v per second", c.PerSecond))
	case c.Total < 0 || c.Until < 0:
		panic(fmt.Sprintf("pace: BUG: negative bound: total %d, until %v", c.Total, c.Until))
	case c.Poisson && r == nil:
		panic("pace: BUG: Poisson arrivals need a random source")
	}
	return &Schedule{config: c, course: newCourse(c.Surges), r: r}
}

// Next returns the moment at which the next operation is due, and false when there is none
// or it lies beyond 292 years; after that it stays false. Moments never fall. It allocates
// nothing.
//
// Even: operation j, from 0 on, is due at j/PerSecond, rounded to the nearest ns; it is
// computed from j, so no error adds up, and exact to the ns within the first 26 days.
// Poisson: one exponential draw a gap, the first gap before the first operation; fractions
// of a ns are kept in the sum. Surges move these moments as they speed time up.
func (s *Schedule) Next() (due time.Duration, ok bool) {
	if s.ended || s.config.Total > 0 && s.count == s.config.Total {
		return 0, false
	}
	at := float64(s.count) * float64(time.Second) / s.config.PerSecond
	if s.config.Poisson {
		s.sumNS += exact.ExpFloat64(s.r) * float64(time.Second) / s.config.PerSecond
		at = s.sumNS
	}
	at = math.Round(s.course.reached(at))
	if at >= math.MaxInt64 || s.config.Until > 0 && time.Duration(at) >= s.config.Until {
		s.ended = true
		return 0, false
	}
	s.count++
	return time.Duration(at), true
}
