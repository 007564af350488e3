package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/station"
)

// A trip is an attempt that waits for something: for the service's own work, or for the call that the service makes
// for it. It lives on when its caller has given it up.
type trip struct {
	left     time.Duration // when it left
	deadline time.Duration // when it times out
	reached  time.Duration // when it arrived; negative: it did not
	job      station.JobID
	turn     int64  // of a client's attempt: the number of the operation
	call     uint32 // of which it is an attempt
	behind   uint32 // the call that is made for it, and one more; 0 is none
	number   int32  // in its operation, copies counted
	attempt  uint8  // the Hedger's number of it
	link     uint8
	waited   bool // by its caller
	inside   bool // the service has its work to do
}

// sent is what is recorded of its leaving.
func (t *trip) sent() record.Sent {
	return record.Sent{Attempt: int(t.number), Due: t.left, At: t.left, Hedge: t.attempt > 0}
}

// trips holds the trips of a run and reuses their places.
type trips struct {
	all  []trip
	free []uint32
}

// spare is the place that take will give next.
func (s *trips) spare() uint32 {
	if n := len(s.free); n > 0 {
		return s.free[n-1]
	}
	return uint32(len(s.all))
}

// take puts a trip into a place, which it returns.
func (s *trips) take(t trip) uint32 {
	at := s.spare()
	if n := len(s.free); n > 0 {
		s.free = s.free[:n-1]
		s.all[at] = t
		return at
	}
	if at > indexMask {
		panic("sim: BUG: more attempts are under way than an event can name")
	}
	s.all = append(s.all, t)
	return at
}

// inUse is how many there are.
func (s *trips) inUse() int { return len(s.all) - len(s.free) }

// settle frees the place of a trip that nothing will happen to any more.
func (s *trips) settle(at uint32) {
	if t := &s.all[at]; !t.waited && !t.inside && t.behind == 0 {
		s.free = append(s.free, at)
	}
}

// send lets attempt j of a call leave now, which the account knows of.
func (e *chain) send(at uint32, j int) {
	c := &e.calls.all[at]
	l := &e.links[c.link]
	l.stats.Attempts++
	t := trip{left: e.now, reached: e.now, call: at, number: int32(c.number()), attempt: uint8(j), link: c.link}
	if t.link == 0 {
		t.turn = e.clients[c.client].operations
	}
	adm := e.reach(l, c)
	if l.costly {
		e.ask(c.link)
	}
	if adm.Kind == station.Refused {
		if l.rec != nil {
			l.rec.Lost(lostRefused)
		}
		t.reached = -1
		e.conclude(at, t, retry.Outcome{Kind: retry.Refused})
		return
	}
	e.arrive(c, &t, adm.Kind)
	switch {
	case adm.Kind == station.Rejected || adm.Kind == station.Failed:
		e.conclude(at, t, answer{status: int16(adm.Status), after: adm.RetryAfter}.outcome())
	case adm.Kind == station.Reset:
		e.conclude(at, t, retry.Outcome{Kind: retry.Reset})
	case adm.Kind == station.Accepted && l.instant:
		for _, ok := l.station.Finish(e.now); ok; _, ok = l.station.Finish(e.now) {
		}
		if l.rec != nil {
			l.rec.Served(e.now, false)
		}
		e.worked(&t)
		e.conclude(at, t, retry.Outcome{Kind: retry.Responded, Status: statusServed})
	default:
		t.job, t.waited, t.inside = adm.Job, true, true
		t.deadline = e.now + l.judge.AttemptTimeout(&c.state, e.now)
		place := e.trips.take(t)
		e.calls.all[at].trips[j] = place + 1
		e.watch(place)
		e.ask(t.link)
	}
}

// reach brings an attempt to its service, which is told how much time it has left where the plan says so.
func (e *chain) reach(l *link, c *call) station.Admission {
	tag := uint64(e.trips.spare())
	if !l.tells {
		return l.station.Arrive(e.now, tag)
	}
	left := l.judge.AttemptTimeout(&c.state, e.now)
	return l.station.ArriveBy(e.now, tag, e.now+min(left, math.MaxInt64-e.now))
}

// arrive counts an attempt that has reached its service.
func (e *chain) arrive(c *call, t *trip, kind station.Kind) {
	l := &e.links[t.link]
	l.stats.Arrivals++
	opening := false
	if t.link == 0 {
		client := &e.clients[c.client]
		opening = !client.arrived && t.number == 0
		client.arrived = true
	}
	if l.rec != nil {
		l.rec.Arrival(record.Arrival{
			At: e.now, Attempt: int(t.number), Opening: opening, Rejected: kind != station.Accepted && kind != station.Hung,
		})
	}
}

// watch schedules the timeout of an attempt, unless its answer is known to come first.
func (e *chain) watch(place uint32) {
	t := &e.trips.all[place]
	if e.last(t.link) && t.job != (station.JobID{}) {
		if done, ok := e.links[t.link].station.Ends(t.job); ok && done <= t.deadline {
			return
		}
	}
	e.schedule(t.deadline, chainTimeout|place)
}

// finish hands out what a service has done: its answer, or the call that it makes then.
func (e *chain) finish(number int) {
	l := &e.links[number]
	e.now = e.until
	d, ok := l.station.Finish(e.now)
	if !ok {
		panic("sim: BUG: a completion that is not there")
	}
	e.ask(uint8(number))
	place := uint32(d.Tag)
	e.trips.all[place].inside = false
	if d.Dropped != station.Kept {
		if l.rec != nil {
			l.rec.Dropped(d.At, d.Dropped == station.Expired)
		}
		e.tellCaller(place, answer{status: int16(l.status), after: d.RetryAfter})
		return
	}
	if !e.last(uint8(number)) {
		e.ring(place)
		return
	}
	e.answer(place, true)
}

// worked counts work that the first service has finished, with all that it needed of the service behind.
func (e *chain) worked(t *trip) {
	if e.effects != nil && t.link == 0 {
		e.effects.Done(t.call, t.turn) // the clients' calls have the clients' numbers
	}
}

// answer ends what a service did for an attempt: it has done its own work, and has had what it needed from the service
// behind, or not.
//
// What failed behind the service counts as rejected at it: it is a refusal that took its time.
func (e *chain) answer(place uint32, served bool) {
	t := &e.trips.all[place]
	l := &e.links[t.link]
	t.behind = 0
	a := answer{status: statusServed}
	if served {
		e.worked(t)
	} else {
		a.status = int16(l.status)
	}
	switch {
	case l.rec == nil:
	case served:
		l.rec.Served(e.now, !t.waited)
	default:
		l.rec.Rejected(t.reached)
	}
	e.tellCaller(place, a)
}

// tellCaller brings an answer to the caller, who listens if it has not given the attempt up.
func (e *chain) tellCaller(place uint32, a answer) {
	t := &e.trips.all[place]
	if !t.waited {
		e.trips.settle(place)
		return
	}
	t.waited = false
	heard := *t
	e.trips.settle(place)
	e.conclude(heard.call, heard, a.outcome())
}

// expire ends an attempt that has taken too long. Events of attempts that have ended are left in the queue, and the
// place may be another's by now.
func (e *chain) expire(place uint32) {
	t := &e.trips.all[place]
	if !t.waited || t.deadline != e.now {
		return
	}
	e.lose(place, retry.Timeout)
}

// lose ends an attempt without an answer.
func (e *chain) lose(place uint32, kind retry.Kind) {
	t := e.trips.all[place]
	e.quit(place)
	e.conclude(t.call, t, retry.Outcome{Kind: kind})
}

// quit tells the service that the caller of an attempt has gone. What the service does for it then goes on, or ends.
func (e *chain) quit(place uint32) {
	t := &e.trips.all[place]
	l := &e.links[t.link]
	t.waited = false
	behind := t.behind
	switch {
	case t.inside && t.job == (station.JobID{}): // hung
		t.inside = false
	case t.inside:
		gone := l.station.Cancel(e.now, t.job) // unless the work is done by now
		t.inside = !gone || !l.cancels
		e.ask(t.link)
	case behind != 0 && l.cancels:
		t.behind = 0
	}
	e.trips.settle(place)
	if behind != 0 && l.cancels {
		e.breakOff(behind - 1)
	}
}

// cut ends every connection at a service. The callers are told, in the order of their numbers.
func (e *chain) cut(number uint8) {
	var cut []uint32
	for i := range e.trips.all {
		if t := &e.trips.all[i]; t.waited && t.link == number {
			cut = append(cut, uint32(i))
		}
	}
	slices.SortStableFunc(cut, func(a, b uint32) int { return cmp.Compare(e.trips.all[a].call, e.trips.all[b].call) })
	for _, place := range cut {
		if t := &e.trips.all[place]; t.waited && t.link == number { // nothing that was told made it needless
			e.lose(place, retry.Reset)
		}
	}
}
