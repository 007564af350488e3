package sim

import (
	"cmp"
	"slices"
	"time"

	"stormtest/load/retry"
	"stormtest/target/station"
)

// A flight is an attempt that did not end when it began: it waits inside the target, or it is on its
// way there or back. It lives on when its client has given it up.
type flight struct {
	client   uint32
	attempt  int32         // its number in the operation
	origin   origin        // the operation
	left     time.Duration // when it left
	deadline time.Duration // when it times out
	reached  time.Duration // when it arrived; negative: it has not
	job      station.JobID

	due      time.Duration // of the request's arrival, or else of the answer's
	back     time.Duration // how long the answer will take
	news     time.Duration // how long the news that the client has left will take
	response answer
	version  uint64 // of the row, when it was read

	waited     bool // by the client
	inside     bool // the target has it, served or hung
	outbound   bool // the request is on its way
	inbound    bool // the answer is on its way
	leaving    bool // the news that the client has left is on its way
	answerLost bool
	severed    bool // the target has closed the connection that the request is on
}

// of returns what is told of the attempt when it ends.
func (f *flight) of() attempt { return attempt{int(f.attempt), f.left, f.reached} }

// An answer is an outcome that is on its way to the client.
type answer struct {
	after  time.Duration // Retry-After, 0 for none
	status int16
	kind   retry.Kind
}

func (a answer) outcome() retry.Outcome {
	o := retry.Outcome{Kind: a.kind, Status: int(a.status)}
	if a.after > 0 {
		o.Hint = retry.Hint{After: a.after, Valid: true, Seen: true}
	}
	return o
}

// flights holds the flights of a run and reuses their places.
type flights struct {
	all  []flight
	free []uint32
}

// spare is the place that take will give next.
func (s *flights) spare() uint32 {
	if n := len(s.free); n > 0 {
		return s.free[n-1]
	}
	return uint32(len(s.all))
}

// take returns an empty flight, and its place. The pointer is good until the next take.
func (s *flights) take() (*flight, uint32) {
	at := s.spare()
	if n := len(s.free); n > 0 {
		s.free = s.free[:n-1]
		s.all[at] = flight{}
		return &s.all[at], at
	}
	if at > indexMask {
		panic("sim: BUG: more attempts are under way than an event can name")
	}
	s.all = append(s.all, flight{})
	return &s.all[at], at
}

// settle frees the place of a flight that nothing will happen to any more.
func (s *flights) settle(at uint32) {
	if f := &s.all[at]; !f.waited && !f.inside && !f.outbound && !f.inbound && !f.leaving {
		s.free = append(s.free, at)
	}
}

// finish hands out what the target has done at a moment.
func (e *engine) finish(at time.Duration) {
	e.now = at
	d, ok := e.station.Finish(at)
	if !ok {
		panic("sim: BUG: a completion that is not there")
	}
	e.look()
	a, flight, o := answer{status: statusServed}, uint32(d.Tag), origin(d.Tag>>tagShift)
	if d.Dropped != station.Kept {
		a = answer{status: int16(e.plan.Status), after: d.RetryAfter}
	}
	switch {
	case e.rec == nil:
	case d.Dropped != station.Kept:
		e.rec.Of(o.client()).Dropped(d.At, d.Dropped == station.Expired)
	default:
		e.rec.Of(o.client()).Served(d.At, d.Abandoned || e.wasted(&e.flights.all[flight]))
	}
	if d.Dropped == station.Kept {
		e.done(o)
	}
	if !d.Abandoned {
		e.reply(flight, a)
	}
}

// statusServed is the target's answer when the work is done.
const statusServed = 200

// wasted reports whether the answer that the target has ready now reaches nobody: the client has
// gone, whether the news of it is there or not, or will have by the time, or the answer gets lost.
func (e *engine) wasted(f *flight) bool {
	return !f.waited || f.answerLost || e.now+f.back > f.deadline
}

// reply sends a flight's answer on its way. Without a network it is there at once.
func (e *engine) reply(at uint32, a answer) {
	f := &e.flights.all[at]
	f.inside = false
	switch {
	case f.answerLost || !f.waited:
		e.flights.settle(at)
	case f.back == 0:
		f.response = a
		e.hear(at)
	default:
		if a.after > 0 && e.plan.RetryAfterDated() {
			a.after = max(a.after-f.back, 1) // of which some is over when it is read
		}
		f.response, f.inbound, f.due = a, true, e.now+f.back
		e.schedule(f.due, kindAnswer|at)
	}
}

// hear brings an answer to the client, which listens if it has not given the attempt up.
func (e *engine) hear(at uint32) {
	f := &e.flights.all[at]
	f.inbound = false
	if !f.waited {
		e.flights.settle(at)
		return
	}
	f.waited = false
	client, a, o := f.client, f.of(), f.response.outcome()
	e.flights.settle(at)
	e.conclude(client, a, o)
}

// watch schedules the timeout of a flight, unless an answer is known to come first: in a storm most do,
// and their timeouts would fill the queue.
func (e *engine) watch(at uint32) {
	f := &e.flights.all[at]
	if !f.waited || f.inbound && f.due <= f.deadline {
		return
	}
	if f.inside && !f.answerLost {
		if done, ok := e.station.Ends(f.job); ok && done+f.back <= f.deadline {
			return
		}
	}
	e.schedule(f.deadline, kindTimeout|at)
}

// expire ends an attempt that has taken too long. Events of attempts that have ended are left in the
// queue, so that the flight counts, and the place may be another's by now. An answer that arrives at
// this very moment comes first.
func (e *engine) expire(at uint32) {
	f := &e.flights.all[at]
	if !f.waited || f.deadline != e.now || f.inbound && f.due == e.now {
		return
	}
	e.quit(at, retry.Timeout)
}

// quit ends an attempt without an answer. The news of it is a message of its own, which never
// overtakes the request.
func (e *engine) quit(at uint32, kind retry.Kind) {
	f := &e.flights.all[at]
	f.waited = false
	client, a := f.client, f.of()
	if e.row == nil && (f.outbound || f.inside) {
		due := e.now + f.news
		if f.outbound {
			due = max(due, f.due)
		}
		if due > e.now {
			f.leaving = true
			e.schedule(due, kindNews|at)
		} else {
			e.abandon(f)
		}
	}
	e.flights.settle(at)
	e.conclude(client, a, retry.Outcome{Kind: kind})
}

// learn brings the target the news that the client of a flight has left.
func (e *engine) learn(at uint32) {
	f := &e.flights.all[at]
	f.leaving = false
	e.abandon(f)
	e.flights.settle(at)
}

// abandon tells the target that the client of a flight has left.
func (e *engine) abandon(f *flight) {
	if f.inside {
		e.station.Cancel(e.now, f.job)
		e.look()
		f.inside = false
	}
}

// cut ends every connection at the target. Of what is inside the clients are told, in the order of
// their numbers; what is on its way will find its connection gone.
func (e *engine) cut() {
	var inside []uint32
	for i := range e.flights.all {
		f := &e.flights.all[i]
		f.severed = f.severed || f.outbound
		if f.inside {
			inside = append(inside, uint32(i))
		}
	}
	slices.SortStableFunc(inside, func(a, b uint32) int {
		return cmp.Compare(e.flights.all[a].client, e.flights.all[b].client)
	})
	for _, at := range inside {
		e.abandon(&e.flights.all[at])
		e.reply(at, answer{kind: retry.Reset})
	}
}
