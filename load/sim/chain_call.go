package sim

import (
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
)

// A call is an operation: a client's, or what a service wants of the one behind it.
type call struct {
	state  retry.State
	hedger retry.Hedger
	begun  time.Duration // when its first attempt was due
	due    time.Duration // of its next attempt, where it sleeps
	hedge  time.Duration // when the event for its next copy is due; 0: there is none
	// trips are its attempts that are under way: of attempt j of the Hedger, its place and one more.
	trips  [1 + retry.HedgesMost]uint32
	client uint32 // of link 0
	parent uint32 // the attempt for which a layer is called
	copies int32  // that were sent
	best   int32  // number of the attempt that succeeded
	link   uint8
	sleeps bool // until due
	queues bool // until due, for a throttle that makes it wait
}

// number is that of the attempt which leaves next or has left last, counted from 0.
func (c *call) number() int { return c.state.Attempt() + int(c.copies) }

// calls holds the calls of a run and reuses their places, but for those of the clients, which come first.
type calls struct {
	all  []call
	free []uint32
}

// take returns the place of an empty call.
func (s *calls) take() uint32 {
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		s.all[at] = call{}
		return at
	}
	if len(s.all) > indexMask {
		panic("sim: BUG: more calls are under way than an event can name")
	}
	s.all = append(s.all, call{})
	return uint32(len(s.all) - 1)
}

// operate prepares the client's next operation or, in an open loop, makes the client wait for one.
func (e *chain) operate(id uint32, start time.Duration) {
	share := e.share
	if id < e.sharers {
		share++
	}
	switch {
	case e.open != nil:
		if !e.idle.add(id) {
			e.active--
		}
	case e.clients[id].operations == share:
		e.active--
	default:
		e.begin(id, start)
		e.calls.all[id].sleeps, e.calls.all[id].due = true, start
		e.schedule(start, chainCall|id)
	}
}

// begin starts a client's operation, whose first attempt is due then.
func (e *chain) begin(id uint32, due time.Duration) {
	c := &e.calls.all[id]
	*c = call{client: id, begun: due}
	e.judgeOf(c).BeginHedged(&c.state, &c.hedger, due)
	if rec := e.links[0].rec; rec != nil {
		rec.OperationStarted()
	}
}

// startOperation hands the operation that is due to an idle client. One that finds none is counted
// and not made up for.
func (e *chain) startOperation() {
	if id, ok := e.idle.take(); ok {
		e.begin(id, e.opening)
		e.leave(id)
	} else {
		e.links[0].stats.Unstarted++
	}
	e.nextOpening()
}

// nextOpening schedules the next operation. After the last one the idle clients retire, and the
// others as they fall idle.
func (e *chain) nextOpening() {
	at, ok := e.open.Next()
	if e.opening = at; ok {
		e.schedule(at, chainOpening)
		return
	}
	e.idle.exhausted = true
	e.active -= e.idle.length
	e.idle.length = 0
}

// judgeOf returns the judge of a call, ready to decide for it.
func (e *chain) judgeOf(c *call) *retry.Judge {
	l := &e.links[c.link]
	if l.budget != nil {
		l.judge.Under(l.budget.Account(int(c.client)))
	}
	if l.breakers != nil {
		l.judge.Behind(l.breakers.Breaker(int(c.client)))
	}
	l.delays.of, l.hints.of = c.client, c.client
	return &l.judge
}

// wake lets the attempt leave for which a call has slept. Events of calls that were given up are left in the queue,
// and the place may be another's by now.
func (e *chain) wake(at uint32) {
	c := &e.calls.all[at]
	if c.sleeps && c.due == e.now {
		e.leave(at)
	}
}

// leave lets the call's own attempt leave now, if it may. One that has to wait is due later, and one that may not leave at
// all ends here.
func (e *chain) leave(at uint32) {
	c := &e.calls.all[at]
	c.sleeps = false
	if e.links[c.link].gated {
		switch adm := e.judgeOf(c).Admit(&c.state, e.now); {
		case adm.Refused:
			t := trip{left: e.now, reached: -1, call: at, number: int32(c.number()), link: c.link}
			e.conclude(at, t, retry.Outcome{Kind: retry.ShortCircuited})
			return
		case adm.Wait > 0:
			c.queues, c.due = true, e.now+adm.Wait
			e.schedule(c.due, chainReady|at)
			return
		}
	}
	e.depart(at)
}

// ready lets an attempt leave that had to wait.
func (e *chain) ready(at uint32) {
	if c := &e.calls.all[at]; c.queues && c.due == e.now {
		c.queues = false
		e.depart(at)
	}
}

// depart sends the call's own attempt.
func (e *chain) depart(at uint32) {
	c := &e.calls.all[at]
	e.judgeOf(c).LeaveHedged(&c.state, &c.hedger, e.now)
	e.watchHedge(at)
	e.send(at, 0)
}

// watchHedge schedules the next copy, where there is one to come.
func (e *chain) watchHedge(at uint32) {
	c := &e.calls.all[at]
	due, ok := e.links[c.link].judge.HedgeDue(&c.state, &c.hedger)
	if !ok || due == c.hedge {
		return
	}
	c.hedge = due
	e.schedule(due, chainHedge|at)
}

// hedge sends the copy that is due, or does what follows where it may not leave.
func (e *chain) hedge(at uint32) {
	c := &e.calls.all[at]
	l := &e.links[c.link]
	if due, ok := l.judge.HedgeDue(&c.state, &c.hedger); !ok || due != e.now || c.hedge != e.now {
		return
	}
	e.turn(at, e.judgeOf(c).HedgeTurn(&c.state, &c.hedger, e.now))
}

// conclude ends an attempt with its outcome.
func (e *chain) conclude(at uint32, t trip, o retry.Outcome) {
	c := &e.calls.all[at]
	l := &e.links[c.link]
	c.trips[t.attempt] = 0
	retries := c.state.Attempt()
	turn := e.judgeOf(c).Hear(&c.state, &c.hedger, e.now, retry.Heard{Attempt: int(t.attempt), Outcome: o})
	if l.rec != nil {
		if o.Kind == retry.ShortCircuited {
			l.rec.ShortCircuited()
		} else {
			e.record(l.rec, &t, o)
		}
		if o.Hint.Seen {
			l.rec.Hint(record.Hint{Valid: o.Hint.Valid, Obeyed: turn.Hinted})
		}
		if !turn.Waits && turn.Retry {
			l.rec.Delay(record.Delay{Retry: retries, Planned: turn.Delay, Draw: turn.Draw})
		}
	}
	if turn.Reason == retry.Succeeded && !turn.Waits {
		c.best = t.number
		if t.attempt > 0 {
			l.stats.Hedging.Won++
		}
	}
	e.tellOf(c, &t, o, turn.Decision)
	e.turn(at, turn)
}

// tellOf writes an attempt of a client that has ended into the trace.
func (e *chain) tellOf(c *call, t *trip, o retry.Outcome, d retry.Decision) {
	if e.trace == nil || c.link != 0 {
		return
	}
	sent := t.left
	if o.Kind == retry.ShortCircuited {
		sent = -1
	}
	e.trace(retry.Row{
		Client: int(c.client), Operation: e.clients[c.client].operations, Attempt: int(t.number),
		Due: t.left, Sent: sent, Arrived: t.reached, End: e.now, Outcome: o, Decision: d,
	})
}

// record tells the recorder of an attempt that has ended.
func (e *chain) record(rec *record.Solo, t *trip, o retry.Outcome) {
	rec.Sent(t.sent())
	sample := record.Sample{Latency: e.now - t.left, Answered: o.Kind == retry.Responded}
	if sample.Answered {
		sample.Key = record.StatusKey(o.Status)
	} else {
		sample.Key = record.KindKey(int(o.Kind))
	}
	rec.Outcome(sample)
}

// turn does what the policy said. It may end the call, and all that was done for it.
func (e *chain) turn(at uint32, t retry.Turn) {
	c := &e.calls.all[at]
	hedging := &e.links[c.link].stats.Hedging
	hedging.Withheld += int64(t.Withheld)
	for j := range c.trips {
		if t.GivenUp>>j&1 == 1 {
			hedging.Cancelled++
			e.giveUp(at, j)
		}
	}
	switch {
	case t.Copy != 0:
		hedging.Sent++
		c.copies++
		e.watchHedge(at)
		e.send(at, t.Copy)
	case t.Waits:
		e.watchHedge(at)
	case t.Retry:
		c.sleeps, c.due = true, e.now+t.Delay
		e.schedule(c.due, chainCall|at)
	default:
		e.done(at, t.Decision)
	}
}

// giveUp breaks off attempt j of a call, of which nobody wants the answer any more.
func (e *chain) giveUp(at uint32, j int) {
	c := &e.calls.all[at]
	place := c.trips[j] - 1
	c.trips[j] = 0
	t := &e.trips.all[place]
	l, o := &e.links[c.link], retry.Outcome{Kind: retry.Cancelled}
	if l.rec != nil {
		e.record(l.rec, t, o)
	}
	e.tellOf(c, t, o, retry.Decision{})
	e.quit(place)
}

// done ends a call: the client goes on to its next operation, or the service answers its caller.
func (e *chain) done(at uint32, d retry.Decision) {
	c := &e.calls.all[at]
	l := &e.links[c.link]
	succeeded, last := d.Reason == retry.Succeeded, c.state.Attempt() // whose draw is not one of the copies'
	if succeeded {
		last = int(c.best)
		l.stats.Succeeded++
		l.stats.Completion = e.now
	} else {
		l.stats.GaveUp++
	}
	if l.rec != nil {
		l.rec.OperationEnded(record.Operation{
			At: e.now, Elapsed: max(e.now-c.begun, 0), Attempts: last + 1,
			Succeeded: succeeded, Reason: int(d.Reason),
			Drawn: d.Reason.Drew(), Draw: d.Draw,
		})
	}
	if c.link == 0 {
		e.clients[c.client].operations++
		e.operate(c.client, e.now)
		return
	}
	parent := c.parent
	e.release(at)
	e.answer(parent, succeeded)
}

// release frees the place of a call to a layer.
func (e *chain) release(at uint32) {
	c := &e.calls.all[at]
	e.links[c.link].calls--
	*c = call{}
	e.calls.free = append(e.calls.free, at)
}

// ring lets a service call the one behind it for an attempt whose own work is done.
func (e *chain) ring(parent uint32) {
	t := &e.trips.all[parent]
	l := &e.links[t.link+1]
	left := t.deadline - e.now
	switch tells := e.links[t.link].tells; {
	case !t.waited && e.links[t.link].cancels:
		e.answer(parent, false)
		return
	case l.calls == plan.CallsMost:
		l.stats.Unstarted++
		e.answer(parent, false)
		return
	case tells && left <= 0: // nobody will wait for it
		e.answer(parent, false)
		return
	case !tells:
		left = retry.NoLimit
	}
	l.calls++
	number := t.link + 1
	at := e.calls.take()
	e.trips.all[parent].behind = at + 1
	c := &e.calls.all[at]
	c.link, c.parent, c.begun = number, parent, e.now
	e.judgeOf(c).BeginWithin(&c.state, e.now, left)
	if l.rec != nil {
		l.rec.OperationStarted()
	}
	e.leave(at)
}

// breakOff ends a call whose caller has gone.
func (e *chain) breakOff(at uint32) {
	c := &e.calls.all[at]
	l := &e.links[c.link]
	e.judgeOf(c).CancelHedged(&c.state, &c.hedger, e.now)
	for j := range c.trips {
		if c.trips[j] != 0 {
			e.giveUp(at, j)
		}
	}
	l.stats.GaveUp++
	if l.rec != nil {
		l.rec.OperationEnded(record.Operation{At: e.now, Elapsed: e.now - c.begun, Attempts: c.number() + 1, Reason: int(retry.CallerGone)})
	}
	e.release(at)
}
