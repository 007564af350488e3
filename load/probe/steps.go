package probe

import (
	"math"
	"slices"
	"time"

	"stormtest/load/record"
)

// limits bound a search.
type limits struct {
	time        time.Duration
	requests    int
	concurrency int
	step        time.Duration // least length of a step
	hold        time.Duration // length of the last step of a paced search
}

// What the search goes by.
const (
	rejectedShare = 0.05 // more bad answers than this, and the target is rejecting
	growthLeast   = 1.10 // a step that grows less has not grown
	flatLeast     = 0.80 // and one that keeps less has fallen
	offeredShare  = 0.80 // a rate was put on the target if at least this part of it was sent
	holdSlack     = 1.05 // more than this times what was held, and it is held itself
	holdOver      = 1.5  // the last step offers this much of what was good
	ownMost       = 0.25 // part of the machine's processor time: more, and a plateau is the machine's
	stepsOfBudget = 10   // a step may use this part of the requests
	paceLeast     = 4.0  // per second: a worker that waits for its turn cannot be stopped before it
	turnLeast     = 100 * time.Millisecond
	pacedLeast    = 10 // requests of a paced step, or a second
)

// A verdict ends a search.
type verdict struct {
	limit    record.ProbeLimit
	capacity *float64 // per second
}

// next says what to try after the steps that were done, or how the search ended. spent and used are the
// time and the requests of all of them.
//
// A closed loop doubles its workers until the good answers grow no more. Where a step is
// rejected, pushing on means nothing, because rejected workers only come back sooner: the search goes over
// to a rate, doubles it from a low one until the rest is rejected, and holds 1.5 times what was good then
// until the bursts that a limit allows are used up.
func next(done []step, spent time.Duration, used int, l limits) (shape, *verdict) {
	if len(done) == 0 {
		return fit(shape{mode: closed, workers: 1, length: l.step}, spent, used, l)
	}
	switch last := done[len(done)-1]; last.mode {
	case hold:
		return afterHold(done, spent, used, l)
	case paced:
		return afterPaced(done, spent, used, l)
	default:
		return afterClosed(done, spent, used, l)
	}
}

func afterClosed(done []step, spent time.Duration, used int, l limits) (shape, *verdict) {
	last := done[len(done)-1]
	if last.goodCount == 0 && len(done) == 1 {
		return shape{}, &verdict{limit: record.ProbeFailing}
	}
	if last.badShare > rejectedShare {
		return fit(pace(paced, firstRate(done), last, l), spent, used, l)
	}
	if capacity, ok := plateau(done); ok {
		if last.own >= ownMost {
			return shape{}, &verdict{limit: record.ProbeMachine}
		}
		return shape{}, &verdict{record.ProbePlateau, &capacity}
	}
	if last.workers >= l.concurrency {
		return shape{}, &verdict{limit: record.ProbeConcurrency}
	}
	s := shape{mode: closed, workers: min(2*last.workers, l.concurrency), length: l.step}
	if last.p50 != nil { // some rounds of answers, each slower than the last step's
		s.length = min(max(s.length, 6*time.Duration(*last.p50)), 4*l.step)
	}
	return fit(s, spent, used, l)
}

// plateau returns the mean of the steps near the best. It takes two flat steps in a row, or four that did
// not grow where they are not flat: under more connections some services lose, and a busy machine makes
// any step worse than it would be.
func plateau(done []step) (float64, bool) {
	flat := func(last int, least float64) bool {
		n := len(done) - last
		if n < 1 {
			return false
		}
		before := best(done[:n])
		for _, s := range done[n:] {
			if s.good < least*before || s.good >= growthLeast*before {
				return false
			}
		}
		return before > 0
	}
	if !flat(2, flatLeast) && !flat(4, 0) {
		return 0, false
	}
	most := best(done)
	var sum float64
	count := 0
	for _, s := range done {
		if s.good*growthLeast >= most {
			sum += s.good
			count++
		}
	}
	return sum / float64(count), true
}

func best(done []step) float64 {
	var most float64
	for _, s := range done {
		most = max(most, s.good)
	}
	return most
}

// firstRate begins below the limit: at half of what a closed loop got without rejections, or else, because
// the only step may hold a burst, at a quarter of what it got.
func firstRate(done []step) float64 {
	if n := len(done); n > 1 {
		return best(done[:n-1]) / 2
	}
	return done[0].good / 4
}

func afterPaced(done []step, spent time.Duration, used int, l limits) (shape, *verdict) {
	last := done[len(done)-1]
	switch {
	case last.goodCount == 0:
		return shape{}, &verdict{limit: record.ProbeRejections} // a quota that is used up has no rate
	case last.own >= ownMost:
		return shape{}, &verdict{limit: record.ProbeMachine}
	case last.badShare <= rejectedShare && last.offered < offeredShare*last.perSecond && last.workers == l.concurrency:
		return shape{}, &verdict{limit: record.ProbeConcurrency} // too few workers for this rate
	case last.badShare <= rejectedShare:
		return fit(pace(paced, 2*last.perSecond, last, l), spent, used, l)
	}
	rate := last.good
	if before := done[len(done)-2]; before.mode == paced && rate < before.good/2 {
		rate = before.good // what was rejected cost the target what it would have served
	}
	return fit(pace(hold, holdOver*rate, last, l), spent, used, l)
}

// afterHold takes the held goodput for the capacity, unless a closed loop did better. A limit without bursts
// lets through one request at each mark of its clock, and so, at 1.5 times its rate, half of what it could:
// where the rejected closed loop got more, it is held too. A target that has so many places, and rejects who
// finds none, has some of them empty whatever the rate: where a closed loop without rejections got more, it
// is held, which tells it from a burst, and what it keeps up then counts.
func afterHold(done []step, spent time.Duration, used int, l limits) (shape, *verdict) {
	last := done[len(done)-1]
	switch {
	case last.own >= ownMost:
		return shape{}, &verdict{limit: record.ProbeMachine}
	case last.perSecond > 0 && last.badShare <= rejectedShare: // not beyond the limit after all
		return fit(pace(paced, 2*last.offered, last, l), spent, used, l)
	}
	found := last.good
	for _, s := range done {
		if s.mode == hold {
			found = max(found, s.good)
		}
	}
	again := func(s step) (shape, *verdict) {
		return fit(shape{mode: hold, workers: s.workers, length: l.hold}, spent, used, l)
	}
	if clean, ok := bestClean(done); ok && clean.good > holdSlack*found && !held(done, clean.workers) {
		return again(clean) // an end of time or requests is the verdict: what was found is too little
	}
	for _, s := range done {
		if last.perSecond > 0 && s.mode == closed && s.badShare > rejectedShare && last.good < 0.8*s.good {
			if next, end := again(s); end == nil {
				return next, nil
			}
		}
	}
	return shape{}, &verdict{record.ProbeRejections, &found}
}

// bestClean is the closed step with most good answers of those without rejections.
func bestClean(done []step) (clean step, ok bool) {
	for _, s := range done {
		if s.mode == closed && s.badShare <= rejectedShare && s.good > clean.good {
			clean, ok = s, true
		}
	}
	return clean, ok
}

// held reports whether a closed loop of so many workers was held.
func held(done []step, workers int) bool {
	return slices.ContainsFunc(done, func(s step) bool { return s.mode == hold && s.perSecond == 0 && s.workers == workers })
}

// pace shapes a rate: as many workers as answer in time, each with a turn that is short enough to be
// stopped soon.
func pace(m mode, perSecond float64, last step, l limits) shape {
	s := shape{mode: m, perSecond: max(perSecond, paceLeast)}
	turn := turnLeast
	if last.p50 != nil {
		turn = max(turn, 4*time.Duration(*last.p50))
	}
	s.workers = int(math.Ceil(s.perSecond * turn.Seconds()))
	s.workers = min(max(s.workers, 1), l.concurrency)
	s.length = l.hold
	if m == paced {
		s.length = max(l.step, min(seconds(pacedLeast/s.perSecond), time.Second)) + s.turn()
	}
	return s
}

// fit cuts a shape to what is left, or ends the search where too little is.
func fit(s shape, spent time.Duration, used int, l limits) (shape, *verdict) {
	left := l.time - spent
	least := s.length / 2
	if left < least {
		return shape{}, &verdict{limit: record.ProbeTime}
	}
	s.length = min(s.length, left)
	remaining := l.requests - used
	if s.perSecond == 0 {
		most := l.requests / stepsOfBudget
		if s.mode == hold {
			most *= 2
		}
		s.requests = min(max(most, 4*s.workers), remaining)
		if s.requests < 4*s.workers && s.requests < l.requests {
			return shape{}, &verdict{limit: record.ProbeRequests}
		}
		return s, nil
	}
	// What a rate takes, and a little for the workers' uneven turns.
	want := int(math.Ceil(s.perSecond*s.length.Seconds())) + s.workers
	s.requests = min(want, remaining)
	if s.requests < want {
		s.length = time.Duration(float64(s.requests) / s.perSecond * float64(time.Second))
		if s.length < least {
			return shape{}, &verdict{limit: record.ProbeRequests}
		}
	}
	return s, nil
}
