package sim

import (
	"time"

	"stormtest/load/pace"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/station"
)

// A client is one member of the fleet.
type client struct {
	policy    retry.Client
	due       time.Duration // of the attempt under way
	reached   time.Duration // when it arrived; negative: it did not
	job       station.JobID // of the attempt inside the target, where there is no network
	flight    uint32        // the attempt under way, where there is one
	operation int64         // how many operations it has ended
	state     state
	begun     bool // an operation is under way
	seen      bool // an attempt of it has arrived
}

// A state says what a client waits for.
type state uint8

const (
	off    state = iota // nothing any more
	idling              // an operation of the open loop
	armed               // its attempt to leave, at due
	sent                // an answer
)

// operate prepares the client's next operation or, in an open loop, makes the client wait for one.
func (e *engine) operate(id uint32, start time.Duration) {
	c := &e.clients[id]
	switch {
	case e.open != nil:
		c.state = idling
		if !e.idle.add(id) {
			e.retire(c)
		}
	case c.operation == pace.Share(e.operations, len(e.clients), int(id)):
		e.retire(c)
	default:
		e.begin(c, start)
		e.arm(id, start)
	}
}

// begin starts an operation whose first attempt is due then.
func (e *engine) begin(c *client, due time.Duration) {
	c.begun = true
	c.policy.Begin(due)
	if e.rec != nil {
		e.rec.OperationStarted()
	}
}

// arm prepares the attempt that leaves at due.
func (e *engine) arm(id uint32, due time.Duration) {
	c := &e.clients[id]
	c.due, c.state = due, armed
	e.schedule(due, kindAttempt|id)
}

// retire is a client's last act.
func (e *engine) retire(c *client) {
	c.state = off
	e.active--
}

// leave lets the attempt leave that is due.
func (e *engine) leave(id uint32) {
	c := &e.clients[id]
	if c.state != armed || c.due != e.now {
		panic("sim: BUG: an attempt that is not due")
	}
	e.send(id)
}

// deadline is when the attempt under way times out.
func (c *client) deadline() time.Duration { return c.due + c.policy.AttemptTimeout(c.due) }

// send lets the attempt leave that is under way.
func (e *engine) send(id uint32) {
	c := &e.clients[id]
	c.state = sent
	c.policy.Leave(e.now)
	e.stats.Attempts++
	switch {
	case e.row != nil:
		e.compete(id)
		return
	case e.net != nil:
		e.depart(id)
		return
	}
	c.reached = e.now
	adm := e.station.Arrive(e.now, uint64(id))
	if adm.Kind == station.Refused {
		c.reached = -1
		e.lose(lostRefused)
		e.conclude(id, retry.Outcome{Kind: retry.Refused})
		return
	}
	e.arrive(c, c.policy.Attempt(), adm.Kind)
	switch adm.Kind {
	case station.Accepted:
		if e.instant {
			e.conclude(id, retry.Outcome{Kind: retry.Responded, Status: statusServed})
			return
		}
		c.job = adm.Job
		e.schedule(c.deadline(), kindTimeout|id)
	case station.Hung:
		c.job = station.JobID{}
		e.schedule(c.deadline(), kindTimeout|id)
	case station.Reset:
		e.conclude(id, retry.Outcome{Kind: retry.Reset})
	default:
		e.conclude(id, answer{status: int16(adm.Status), after: adm.RetryAfter}.outcome())
	}
}

// lose counts an attempt that does not reach the target.
func (e *engine) lose(how int) {
	if e.rec != nil {
		e.rec.Lost(how)
	}
}

// arrive counts an attempt that has reached the target.
func (e *engine) arrive(c *client, attempt int, kind station.Kind) {
	e.stats.Arrivals++
	if e.rec != nil {
		e.rec.Arrival(record.Arrival{
			At: e.now, Attempt: attempt, Opening: !c.seen && attempt == 0,
			Rejected: kind != station.Accepted && kind != station.Hung,
		})
	}
	c.seen = true
	if kind == station.Accepted && e.instant {
		e.serveAtOnce()
	}
}

// serveAtOnce counts the work of a target whose clients know of their success when they are
// accepted. The station goes on to be busy with it.
func (e *engine) serveAtOnce() {
	for _, ok := e.station.Finish(e.now); ok; _, ok = e.station.Finish(e.now) {
	}
	if e.rec != nil {
		e.rec.Served(e.now, false)
	}
}

// expire ends an attempt that has taken too long. Events of attempts that have ended are left in
// the queue, so that the client's state counts.
func (e *engine) expire(id uint32) {
	c := &e.clients[id]
	switch {
	case c.state != sent || c.deadline() != e.now:
	case e.row != nil:
		e.conclude(id, retry.Outcome{Kind: retry.Timeout})
	case e.net != nil:
		e.giveUp(id)
	default:
		e.abandon(id, retry.Timeout)
	}
}

// cut ends every attempt that waits for an answer, as the loss of its connection does.
func (e *engine) cut() {
	if e.net != nil {
		e.sever()
		return
	}
	for i := range e.clients {
		if e.clients[i].state == sent {
			e.abandon(uint32(i), retry.Reset)
		}
	}
}

// abandon ends an attempt without an answer.
func (e *engine) abandon(id uint32, kind retry.Kind) {
	e.station.Cancel(e.now, e.clients[id].job)
	e.conclude(id, retry.Outcome{Kind: kind})
}

// conclude ends an attempt with its outcome and arms what follows.
func (e *engine) conclude(id uint32, o retry.Outcome) {
	c := &e.clients[id]
	d := e.decide(id, o)
	if d.Retry {
		e.arm(id, e.now+d.Delay)
		return
	}
	if d.Reason == retry.Succeeded {
		e.stats.Succeeded++
		e.stats.Completion = e.now
	} else {
		e.stats.GaveUp++
	}
	c.begun = false
	c.operation++
	e.operate(id, e.now)
}

// decide asks the policy what follows an outcome and records both.
func (e *engine) decide(id uint32, o retry.Outcome) retry.Decision {
	c := &e.clients[id]
	attempt := c.policy.Attempt()
	d := c.policy.Decide(e.now, o)
	if e.rec != nil {
		e.record(c, attempt, o, d)
	}
	if e.trace != nil {
		e.trace(retry.Row{
			Client: int(id), Operation: c.operation, Attempt: attempt,
			Due: c.due, Sent: c.due, Arrived: c.reached, End: e.now, Outcome: o, Decision: d,
		})
	}
	return d
}

// record tells the recorder of an attempt that has ended.
func (e *engine) record(c *client, attempt int, o retry.Outcome, d retry.Decision) {
	e.rec.Sent(record.Sent{Attempt: attempt, Due: c.due, At: c.due})
	sample := record.Sample{Latency: e.now - c.due, Answered: o.Kind == retry.Responded}
	if sample.Answered {
		sample.Key = record.StatusKey(o.Status)
	} else {
		sample.Key = record.KindKey(int(o.Kind))
	}
	e.rec.Outcome(sample)
	if o.Hint.Seen {
		e.rec.Hint(record.Hint{Valid: o.Hint.Valid, Obeyed: d.Hinted})
	}
	if d.Retry {
		e.rec.Delay(record.Delay{Retry: attempt, Planned: d.Delay, Draw: d.Draw})
		return
	}
	e.rec.OperationEnded(record.Operation{
		At: e.now, Elapsed: c.policy.Elapsed(e.now), Attempts: attempt + 1,
		Succeeded: d.Reason == retry.Succeeded, Reason: int(d.Reason),
	})
}

// recordSent tells the recorder of an attempt that the end of the run cut short.
func (e *engine) recordSent(c *client) {
	if e.rec != nil {
		e.rec.Sent(record.Sent{Attempt: c.policy.Attempt(), Due: c.due, At: c.due})
	}
}
