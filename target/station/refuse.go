package station

import (
	"math/rand/v2"
	"time"
)

// reject turns away an arrival that is over capacity.
func (s *Station) reject() Admission {
	s.charge(s.script.workAt(s.now))
	hint := s.hint
	switch s.config.RetryAfter.Mode {
	case RetryAfterAuto:
		hint = s.hintUntil(s.free())
	case RetryAfterReset:
		hint = s.reset(s.now)
	}
	return Admission{Kind: Rejected, Status: s.config.Status, RetryAfter: hint}
}

// SetChance gives the stream that says which arrivals fail in an outage of mode errors, one draw for each that is not over
// capacity. A station with such an outage needs it before its first arrival.
func (s *Station) SetChance(chance *rand.Rand) { s.chance = chance }

// errs draws whether an arrival that is not over capacity fails.
func (s *Station) errs() bool {
	if !s.erring {
		return false
	}
	if s.chance == nil {
		panic("station: BUG: an outage of mode errors and no chance")
	}
	return s.chance.Uint64N(billion) < s.errors[0].steps()
}

// turnAway fails an arrival as o says.
func (s *Station) turnAway(o *Outage) Admission {
	switch o.Mode {
	case ModeHang:
		return Admission{Kind: Hung}
	case ModeReset:
		return Admission{Kind: Reset}
	case ModeRefuse:
		return Admission{Kind: Refused}
	default:
		s.charge(s.script.workAt(s.now))
		hint := s.hint
		switch s.config.RetryAfter.Mode {
		case RetryAfterAuto:
			if hint = time.Second; o.Mode != ModeErrors { // the next arrival may be served
				hint = s.hintUntil(o.To)
			}
		case RetryAfterReset:
			hint = s.reset(s.now)
		}
		return Admission{Kind: Failed, Status: s.config.Status, RetryAfter: hint}
	}
}

// SetClock says what a clock showed at moment 0, as the time since any whole second, for RetryAfterReset.
func (s *Station) SetClock(showed time.Duration) { s.clock = max(showed, 0) }

// reset returns how long it is from a moment to the next reset.
func (s *Station) reset(at time.Duration) time.Duration {
	window := s.config.RetryAfter.After
	return window - (s.clock%window+at%window)%window
}

// hintUntil returns the Retry-After of a refusal whose cause is gone at the moment until,
// which is later than now.
func (s *Station) hintUntil(until time.Duration) time.Duration {
	if until == never {
		return 0
	}
	return wholeSeconds(until - s.now)
}

// dropHint is the Retry-After of a job that is dropped at a moment at which a slot is free, when the work
// clock shows begin.
func (s *Station) dropHint(begin work, at time.Duration) time.Duration {
	switch s.config.RetryAfter.Mode {
	case RetryAfterAuto:
	case RetryAfterReset:
		return s.reset(at)
	default:
		return s.hint
	}
	// All that is queued is before a newcomer, who would be served at once where nothing is.
	until := s.script.momentOf(begin.add(s.ahead()))
	if until == never {
		return 0
	}
	return max(wholeSeconds(until-at), time.Second)
}

// free returns the moment from which the target would serve one more, as RetryAfterRule
// says, never if none.
func (s *Station) free() time.Duration {
	switch {
	case s.config.PerSecond == 0:
		return never
	case s.config.Model == TokenBucket:
		return s.script.momentOf(s.tokenAt())
	case s.waiting.length == 0:
		return s.serving[0].at // what the script says of its finish
	default:
		finish := s.serving[0].finish
		if s.strain.on {
			finish = s.strain.reading(finish)
		}
		return s.script.momentOf(finish.add(s.ahead()))
	}
}

// ahead is how much the script's clock moves on while all that is queued now is served.
func (s *Station) ahead() work {
	queued := s.interval.times(uint64(s.waiting.length))
	if s.strain.on {
		slowdown, _ := slowdownOf(s.strain.counts, s.config.Workers)
		queued = queued.scale(slowdown, billion)
	}
	return queued
}

// wholeSeconds rounds d up, and down where up would overflow.
func wholeSeconds(d time.Duration) time.Duration {
	if rest := d % time.Second; rest > 0 {
		d -= rest
		if d <= never-time.Second {
			d += time.Second
		}
	}
	return d
}
