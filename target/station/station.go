package station

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"stormtest/target/exact"
)

// A Kind says what became of an arrival.
type Kind uint8

// The kinds of admission. Accepted has a job that Finish hands out when it is done, unless
// Cancel takes it out before; all others are final.
const (
	// Accepted is in service, in the queue or, with a TokenBucket, served already.
	Accepted Kind = iota
	// Rejected was over capacity and is answered with Admission.Status.
	Rejected
	// Failed came during an outage of ModeStatus and is answered with Admission.Status.
	Failed
	// Hung came during an outage of ModeHang and is never answered.
	Hung
	// Reset came during an outage of ModeReset: its connection is reset.
	Reset
	// Refused came during an outage of ModeRefuse: it gets no connection.
	Refused
)

var kindNames = [...]string{"accepted", "rejected", "failed", "hung", "reset", "refused"}

// String returns the constant's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// An Admission is the station's answer to an arrival.
type Admission struct {
	Kind Kind
	// Status is the HTTP status of Rejected and Failed, otherwise 0.
	Status int
	// Job names the job of Accepted, otherwise it is zero.
	Job JobID
	// RetryAfter is the hint of Rejected and Failed in whole seconds, or until a reset; 0 for none.
	RetryAfter time.Duration
}

// A Done is a job that was served to its end, or dropped from the queue.
type Done struct {
	Job JobID
	// Tag is what Arrive was given.
	Tag uint64
	// Arrived <= Started <= At are the moments of its arrival, of the start of its
	// service and of its end, each the first whole nanosecond at or after the exact one. Of a job
	// that was dropped, both are when that happened.
	Arrived, Started, At time.Duration
	// Abandoned says that its client had gone: the work, if it was done, was wasted.
	Abandoned bool
	// Dropped says that the job was thrown out of the queue unserved, and why. It is to be answered with
	// Config.Status and, where that is above 0, RetryAfter.
	Dropped    Drop
	RetryAfter time.Duration
}

// A Station is the state of one target. Not safe for concurrent use.
//
// Every method that takes now first brings the station there: whatever finishes at or
// before now is finished, in order, at its own exact moment, and what waited starts at
// that same moment. A now before the latest one so far, as drivers in several goroutines
// produce, and one before 0, counts as the latest (as 0).
//
// Arrive, Cancel, Finish and Next allocate nothing once the station has grown to its
// load, and cost O(log Workers) for each completion they meet. Memory is that of the jobs
// inside, at most Workers+Queue, and of the completions that Finish has not handed out
// yet: a driver that calls Finish until it says false, whenever it calls anything, holds
// these at Workers+Queue (Burst) as well.
type Station struct {
	config   Config
	service  *rand.Rand
	demand   work    // mean service of one job
	mean     float64 // the same in ns
	interval work    // 1/PerSecond

	now   time.Duration
	quiet time.Duration // nothing happens by itself before

	script  script
	strain  strain        // its clock is that of the jobs where it is on, else the script's is
	away    []Outage      // what turns arrivals away and is not over, in order
	failing bool          // the first of away has begun
	errors  []Outage      // what fails some of them, as away
	erring  bool          // the first of errors has begun
	chance  *rand.Rand    // who of them
	clock   time.Duration // what the clock of resets showed at moment 0
	hint    time.Duration // of every refusal, unless the rule says auto

	table   table
	serving heap
	waiting queue
	since   time.Duration // the queue has not been empty, while it is not
	strict  bool          // jobs may be dropped, or served in another order than they came in
	done    ring
	left    work // reading of the work clock when the job that ended last did
	full    work // reading of the work clock when the bucket is full
}

// tableMax is how many jobs a station makes room for before it has seen any.
const tableMax = 1 << 14

// New returns an empty station at moment 0. The stream service gives the service times
// with ServiceExp, one draw for each accepted job in the order of arrival; otherwise it is
// not used and may be nil.
//
// It panics on a Config that Validate finds faults in and on a stream that is missing.
func New(c Config, service *rand.Rand) *Station {
	if faults := c.Validate(); faults != nil {
		panic(fmt.Sprintf("station: BUG: New with a config that is not valid: %v", errors.Join(faults...)))
	}
	c = c.withDefaults()
	c.Outages = sorted(c.Outages)
	drawn := c.ServiceExp && c.Model == Slots
	if drawn && service == nil {
		panic("station: BUG: New with exponential service and no stream")
	}
	s := &Station{config: c, script: newScript(c.Outages), table: newTable(min(c.Workers+c.Queue, tableMax))}
	s.serving = make(heap, 0, min(c.Workers, tableMax))
	for _, o := range c.Outages {
		switch o.part() {
		case ofArrivals:
			s.away = append(s.away, o)
		case ofSome:
			s.errors = append(s.errors, o)
		}
	}
	if c.PerSecond > 0 {
		s.demand = serviceWork(int64(c.Workers), c.PerSecond)
		s.interval = serviceWork(1, c.PerSecond)
	}
	s.strict = c.DropExpired || c.Discipline != FIFO
	s.strain = newStrain(&c, s.demand)
	if drawn {
		s.service, s.mean = service, s.demand.nanoseconds()
	}
	if c.RetryAfter.Mode == RetryAfterFixed {
		s.hint = wholeSeconds(c.RetryAfter.After)
	}
	return s
}

// Arrive admits an arrival at now or turns it away. The tag comes back in the job's Done;
// the station does not read it.
func (s *Station) Arrive(now time.Duration, tag uint64) Admission { return s.ArriveBy(now, tag, never) }

// ArriveBy is Arrive for an arrival that says when its client will have gone. Only Config.DropExpired reads
// the deadline.
func (s *Station) ArriveBy(now time.Duration, tag uint64, deadline time.Duration) Admission {
	s.Advance(now)
	switch {
	case s.failing:
		return s.turnAway(&s.away[0])
	case s.config.PerSecond == 0:
		return s.reject()
	case s.config.Model == TokenBucket:
		return s.takeToken(tag)
	case len(s.serving) == s.config.Workers && s.waiting.length == s.config.Queue:
		return s.reject()
	case s.errs():
		return s.turnAway(&s.errors[0])
	}
	slot := s.table.take()
	j := &s.table.jobs[slot]
	j.tag, j.arrived, j.demand, j.started = tag, s.now, s.draw(), deadline
	id := s.table.id(slot)
	switch {
	case len(s.serving) == s.config.Workers:
		if s.waiting.length == 0 {
			s.since = s.now
		}
		s.waiting.push(&s.table, slot)
	case s.config.DropExpired && deadline <= s.now:
		s.drop(slot, Expired, s.script.workAt(s.now), s.now)
	default:
		s.start(slot, s.script.workAt(s.now), s.now)
	}
	return Admission{Kind: Accepted, Job: id}
}

// Finish hands out the next job that was served or dropped at or before now, in the order of their
// ends, ties in the order of their starts; those that were dropped when a job left its slot follow it, in the
// order in which their turns came. Each is handed out once; ok is false when there is none.
func (s *Station) Finish(now time.Duration) (d Done, ok bool) {
	if s.done.length == 0 && len(s.serving) > 0 && s.serving[0].at <= max(now, s.now) {
		d = s.complete() // which need not pass through the ring
		s.startNext(s.left, d.At)
		s.Advance(now)
		return d, true
	}
	s.Advance(now)
	if s.done.length == 0 {
		return Done{}, false
	}
	return s.done.pop(), true
}

// Next returns the moment from which Finish has a job to hand out if nothing else happens
// before: the moment to set a timer to. It may lie in the past, where a job was served and
// not handed out yet. While work is frozen it lies after the thaw. It is false where no job
// is inside.
func (s *Station) Next() (at time.Duration, ok bool) {
	switch {
	case s.done.length > 0:
		return s.done.buffer[s.done.first].At, true
	case len(s.serving) > 0 && s.serving[0].at < never:
		return s.serving[0].at, true
	default:
		return 0, false
	}
}

// Cancel says that the client of j has gone. Without CancelAbandoned the job goes on and
// its Done will say Abandoned; with it the job leaves at once, its Done never comes, and
// its slot serves the next in the queue from now on.
//
// It returns false, and does nothing, where the job was done at or before now, also if
// Finish has not handed it out yet, or was cancelled before.
func (s *Station) Cancel(now time.Duration, j JobID) bool {
	s.Advance(now)
	slot := s.table.find(j)
	if slot == none || s.table.jobs[slot].abandoned {
		return false
	}
	if !s.config.CancelAbandoned {
		s.table.jobs[slot].abandoned = true
		return true
	}
	place := s.table.jobs[slot].place
	if place == waiting {
		s.waiting.remove(&s.table, slot)
	} else {
		s.serving.remove(&s.table, int(place))
		left := s.script.workAt(s.now)
		if s.strain.on {
			s.strain.turn(left, len(s.serving))
			s.retime()
		}
		s.startNext(left, s.now)
	}
	s.table.vacate(slot)
	return true
}

// Advance brings the station to now. Arrive, Finish and Cancel do so themselves; a driver
// needs it only before it reads Busy or Queued.
func (s *Station) Advance(now time.Duration) {
	// Most of what a storm brings comes while nothing happens; this much is inlined.
	if s.now = max(now, s.now); s.now >= s.quiet {
		s.advance()
	}
}

func (s *Station) advance() {
	for len(s.serving) > 0 && s.serving[0].at <= s.now {
		d := s.complete()
		s.done.push(d)
		s.startNext(s.left, d.At)
	}
	s.script.seek(s.now)
	for len(s.away) > 0 && s.away[0].To <= s.now {
		s.away = s.away[1:]
	}
	s.failing = len(s.away) > 0 && s.away[0].From <= s.now
	for len(s.errors) > 0 && s.errors[0].To <= s.now {
		s.errors = s.errors[1:]
	}
	s.erring = len(s.errors) > 0 && s.errors[0].From <= s.now
	s.quiet = s.script.spans[s.script.place].to
	switch {
	case s.failing:
		s.quiet = min(s.quiet, s.away[0].To)
	case len(s.away) > 0:
		s.quiet = min(s.quiet, s.away[0].From)
	}
	switch {
	case s.erring:
		s.quiet = min(s.quiet, s.errors[0].To)
	case len(s.errors) > 0:
		s.quiet = min(s.quiet, s.errors[0].From)
	}
	if len(s.serving) > 0 {
		s.quiet = min(s.quiet, s.serving[0].at)
	}
}

// Busy returns how many slots serve a job at the station's moment.
func (s *Station) Busy() int { return len(s.serving) }

// Queued returns how many jobs wait for a slot at the station's moment.
func (s *Station) Queued() int { return s.waiting.length }

// complete ends the next job to finish. The caller starts the one behind it, at the reading that complete leaves in left.
func (s *Station) complete() Done {
	first := &s.serving[0]
	slot, at := first.slot, first.at
	s.left = first.finish
	s.serving.remove(&s.table, 0)
	if s.strain.on {
		finish := s.left
		s.left = s.strain.reading(finish)
		s.strain.turn(s.left, len(s.serving))
		s.strain.shown = finish // which rounding may have missed
		s.retime()
	}
	j, id := &s.table.jobs[slot], s.table.id(slot)
	tag, arrived, started, abandoned := j.tag, j.arrived, j.started, j.abandoned
	s.table.vacate(slot)
	return Done{Job: id, Tag: tag, Arrived: arrived, Started: started, At: at, Abandoned: abandoned}
}

// startNext starts the job of the queue whose turn it is, if there is one, when the work clock shows
// begin, which is at the moment at. Those that are not to be served are dropped on the way.
func (s *Station) startNext(begin work, at time.Duration) {
	backlog := s.strict && at-s.since > BacklogAfter
	for s.waiting.length > 0 {
		slot := s.turn(backlog)
		s.waiting.remove(&s.table, slot)
		if s.strict {
			if why := s.fate(&s.table.jobs[slot], at, backlog); why != Kept {
				s.drop(slot, why, begin, at)
				continue
			}
		}
		s.start(slot, begin, at)
		return
	}
}

func (s *Station) start(slot int32, begin work, at time.Duration) {
	j := &s.table.jobs[slot]
	j.started = at
	if s.strain.on {
		s.startStrained(slot, begin)
		return
	}
	finish := begin.add(j.demand)
	done := s.script.momentOf(finish)
	s.quiet = min(s.quiet, done)
	s.table.started++
	// Filled in its place: one that is copied at once makes the copy wait for the fields.
	s.serving = append(s.serving, entry{})
	e := &s.serving[len(s.serving)-1]
	e.finish, e.order, e.at, e.slot = finish, s.table.started, done, slot
	s.serving.settle(&s.table)
}

// startStrained is start on the clock of the strain, when the script's shows w.
func (s *Station) startStrained(slot int32, w work) {
	finish := s.strain.at(w).add(s.table.jobs[slot].demand)
	s.table.started++
	s.serving = append(s.serving, entry{finish: finish, order: s.table.started, at: never, slot: slot})
	s.serving.settle(&s.table)
	s.strain.turn(w, len(s.serving))
	s.retime()
}

func (s *Station) draw() work {
	if s.service == nil {
		return s.demand
	}
	return workOf(float64(s.mean * exact.ExpFloat64(s.service)))
}

// takeToken serves an arrival at once if the bucket holds a token.
//
// The bucket is kept as the reading of the work clock when it will be full again: each
// token taken moves that by 1/PerSecond, and what is missing now is that far ahead.
func (s *Station) takeToken(tag uint64) Admission {
	reading := s.script.workAt(s.now)
	if reading.add(work{frac: grain}).less(s.tokenAt()) {
		return s.reject()
	}
	if s.errs() {
		return s.turnAway(&s.errors[0])
	}
	if s.full.less(reading) {
		s.full = reading
	}
	s.full = s.full.add(s.interval)
	slot := s.table.take()
	id := s.table.id(slot)
	s.table.vacate(slot)
	s.done.push(Done{Job: id, Tag: tag, Arrived: s.now, Started: s.now, At: s.now})
	return Admission{Kind: Accepted, Job: id}
}

// tokenAt returns the reading of the work clock from which the bucket holds a token.
func (s *Station) tokenAt() work {
	return s.full.sub(s.interval.times(uint64(s.config.Burst - 1)))
}
