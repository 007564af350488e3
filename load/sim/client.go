package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/station"
)

// A client is one member of the fleet. It is one line of the cache: with a million of them every
// event meets another one, and what costs most of its time is to bring it in.
type client struct {
	state  retry.State // 40 bytes
	chance rand.PCG    // for its delays
	past   uint64      // twice how many operations it has ended, and one if an attempt of it has arrived
}

func (c *client) operations() int64 { return int64(c.past >> 1) }

// opens counts an attempt that arrives, and reports whether it is the client's first to arrive and of
// its first wave.
func (c *client) opens(number int) bool {
	first := c.past&1 == 0
	c.past |= 1
	return first && number == 0
}

// An attempt is one that has ended, or is about to.
type attempt struct {
	number  int           // in the operation, 0 first
	left    time.Duration // when it was due, and left
	reached time.Duration // when it arrived at the target; negative: it did not
}

// operate prepares the client's next operation or, in an open loop, makes the client wait for one.
func (e *engine) operate(id uint32, start time.Duration) {
	c := &e.clients[id]
	switch {
	case e.open != nil:
		if !e.idle.add(id) {
			e.active--
		}
	case c.operations() == e.shareOf(id):
		e.active--
	default:
		e.begin(id, start)
		e.schedule(start, kindAttempt|id)
	}
}

// shareOf is pace.Share without its divisions.
func (e *engine) shareOf(id uint32) int64 {
	if id < e.sharers {
		return e.share + 1
	}
	return e.share
}

// begin starts an operation whose first attempt is due then.
func (e *engine) begin(id uint32, due time.Duration) {
	e.judgeOf(id).Begin(&e.clients[id].state, due)
	if e.rec != nil {
		e.rec.Of(id).OperationStarted()
	}
}

// judgeOf returns the judge, ready to decide for a client.
func (e *engine) judgeOf(id uint32) *retry.Judge {
	if e.mixture != nil {
		return e.judgeOfParty(id)
	}
	if e.budget != nil {
		e.judge.Under(e.budget.Account(int(id)))
	}
	if e.breakers != nil {
		e.judge.Behind(e.breakers.Breaker(int(id)))
	}
	return &e.judge
}

// judgeOfParty is judgeOf in a mixture.
func (e *engine) judgeOfParty(id uint32) *retry.Judge {
	party, place := e.mixture.Party(int(id))
	judge := &e.judges[e.mixture.Of[id]]
	judge.Under(party.Budget.Account(place))
	judge.Behind(party.Breakers.Breaker(place))
	return judge
}

// timeout is how long the attempt of a client may take that leaves now.
func (e *engine) timeout(id uint32) time.Duration {
	judge := &e.judge
	if e.mixture != nil {
		judge = &e.judges[e.mixture.Of[id]]
	}
	return judge.AttemptTimeout(&e.clients[id].state, e.now)
}

// send lets the attempt leave that is due now, if it may.
func (e *engine) send(id uint32) {
	if e.gated && !e.admitted(id) {
		return
	}
	e.leave(id)
}

// admitted reports whether the attempt that is due may leave now. One that has to wait is due later, and one that may not
// leave at all ends here.
func (e *engine) admitted(id uint32) bool {
	c := &e.clients[id]
	adm := e.judgeOf(id).Admit(&c.state, e.now)
	switch {
	case adm.Refused:
		a, o := attempt{c.state.Attempt(), e.now, -1}, retry.Outcome{Kind: retry.ShortCircuited}
		d := e.decide(id, o)
		if e.rec != nil {
			e.rec.Of(id).ShortCircuited()
			e.planned(id, a, d)
		}
		e.follow(id, a, o, d)
	case adm.Wait > 0:
		e.schedule(e.now+adm.Wait, kindReady|id)
	default:
		return true
	}
	return false
}

// leave sends the attempt.
func (e *engine) leave(id uint32) {
	c := &e.clients[id]
	e.stats.Attempts++
	if e.paid {
		e.judgeOf(id).Leave(&c.state, e.now)
	}
	switch {
	case e.row != nil:
		e.compete(id)
		return
	case e.net != nil:
		e.depart(id)
		return
	}
	adm := e.reach(originOf(id, c.operations()).tag(e.flights.spare()), e.timeLeft(id))
	switch adm.Kind {
	case station.Rejected, station.Failed:
		e.turnAway(id, &adm)
	case station.Refused:
		e.lose(id, lostRefused)
		e.conclude(id, attempt{c.state.Attempt(), e.now, -1}, retry.Outcome{Kind: retry.Refused})
	default:
		e.admit(id, &adm)
	}
}

// timeLeft is how long an attempt that leaves now may take, where the target is told; else it is not worked out.
func (e *engine) timeLeft(id uint32) time.Duration {
	if !e.plan.PropagateDeadline {
		return retry.NoLimit
	}
	return e.timeout(id)
}

// reach brings an attempt to the target, which is told how much time it has left.
func (e *engine) reach(tag uint64, left time.Duration) station.Admission {
	deadline := retry.NoLimit
	if e.plan.PropagateDeadline {
		deadline = e.now + min(left, math.MaxInt64-e.now)
	}
	adm := e.station.ArriveBy(e.now, tag, deadline)
	if e.plan.ShedCostShare > 0 { // being turned away makes others wait
		e.look()
	}
	return adm
}

// turnAway ends an attempt that the target has answered at once. It is what a storm does most.
func (e *engine) turnAway(id uint32, adm *station.Admission) {
	c := &e.clients[id]
	a := attempt{c.state.Attempt(), e.now, e.now}
	o := answer{status: int16(adm.Status), after: adm.RetryAfter}.outcome()
	e.stats.Arrivals++
	opening := c.opens(a.number)
	d := e.decide(id, o)
	switch {
	case e.rec == nil:
	case d.Retry:
		e.rec.Of(id).Refused(record.Refusal{
			At: e.now, Attempt: a.number, Key: record.StatusKey(o.Status), Opening: opening,
			Planned: d.Delay, Draw: d.Draw,
		})
		if o.Hint.Seen {
			e.rec.Of(id).Hint(record.Hint{Valid: true, Obeyed: d.Hinted})
		}
	default:
		e.rec.Of(id).Arrival(record.Arrival{At: e.now, Attempt: a.number, Opening: opening, Rejected: true})
		e.record(id, a, o, d)
	}
	e.follow(id, a, o, d)
}

// admit sees to an attempt that the target has taken, or has reset.
func (e *engine) admit(id uint32, adm *station.Admission) {
	c := &e.clients[id]
	a := attempt{c.state.Attempt(), e.now, e.now}
	e.arrive(id, a.number, adm.Kind)
	switch {
	case adm.Kind == station.Reset:
		e.conclude(id, a, retry.Outcome{Kind: retry.Reset})
		return
	case adm.Kind == station.Accepted && e.instant:
		e.serveAtOnce(originOf(id, c.operations()), false)
		e.conclude(id, a, retry.Outcome{Kind: retry.Responded, Status: statusServed})
		return
	}
	f, flight := e.flights.take()
	f.client, f.attempt, f.left, f.reached = id, int32(a.number), e.now, e.now
	f.origin = originOf(id, c.operations())
	f.job, f.waited, f.inside = adm.Job, true, true
	f.deadline = e.now + e.timeout(id)
	e.watch(flight)
	e.look()
}

// lose counts an attempt that does not reach the target.
func (e *engine) lose(id uint32, how int) {
	if e.rec != nil {
		e.rec.Of(id).Lost(how)
	}
}

// arrive counts an attempt that has reached the target.
func (e *engine) arrive(id uint32, number int, kind station.Kind) {
	e.stats.Arrivals++
	opening := e.clients[id].opens(number)
	if e.rec != nil {
		e.rec.Of(id).Arrival(record.Arrival{
			At: e.now, Attempt: number, Opening: opening, Rejected: kind != station.Accepted && kind != station.Hung,
		})
	}
}

// serveAtOnce counts the work of a target whose clients know of their success when they are
// accepted. The station goes on to be busy with it.
func (e *engine) serveAtOnce(o origin, wasted bool) {
	for _, ok := e.station.Finish(e.now); ok; _, ok = e.station.Finish(e.now) {
	}
	e.done(o)
	if e.rec != nil {
		e.rec.Of(o.client()).Served(e.now, wasted)
	}
}

// conclude ends an attempt with its outcome.
func (e *engine) conclude(id uint32, a attempt, o retry.Outcome) {
	d := e.decide(id, o)
	if e.rec != nil {
		e.record(id, a, o, d)
	}
	e.follow(id, a, o, d)
}

// decide asks the policy what follows an outcome.
func (e *engine) decide(id uint32, o retry.Outcome) retry.Decision {
	c := &e.clients[id]
	e.chance.of, e.hint.of = id, id
	return e.judgeOf(id).Decide(&c.state, e.now, o)
}

// follow does what was decided.
func (e *engine) follow(id uint32, a attempt, o retry.Outcome, d retry.Decision) {
	if e.trace != nil {
		sent := a.left
		if o.Kind == retry.ShortCircuited {
			sent = -1
		}
		e.trace(retry.Row{
			Client: int(id), Operation: e.clients[id].operations(), Attempt: a.number,
			Due: a.left, Sent: sent, Arrived: a.reached, End: e.now, Outcome: o, Decision: d,
		})
	}
	if d.Retry {
		e.schedule(e.now+d.Delay, kindAttempt|id)
		return
	}
	if d.Reason == retry.Succeeded {
		e.stats.Succeeded++
		e.stats.Completion = e.now
	} else {
		e.stats.GaveUp++
	}
	e.clients[id].past += 2
	e.operate(id, e.now)
}

// record tells the recorder of an attempt that has ended.
func (e *engine) record(id uint32, a attempt, o retry.Outcome, d retry.Decision) {
	rec := e.rec.Of(id)
	rec.Sent(record.Sent{Attempt: a.number, Due: a.left, At: a.left})
	sample := record.Sample{Latency: e.now - a.left, Answered: o.Kind == retry.Responded}
	if sample.Answered {
		sample.Key = record.StatusKey(o.Status)
	} else {
		sample.Key = record.KindKey(int(o.Kind))
	}
	rec.Outcome(sample)
	if o.Hint.Seen {
		rec.Hint(record.Hint{Valid: o.Hint.Valid, Obeyed: d.Hinted})
	}
	e.planned(id, a, d)
}

// planned tells the recorder of what follows an attempt.
func (e *engine) planned(id uint32, a attempt, d retry.Decision) {
	rec := e.rec.Of(id)
	if d.Retry {
		rec.Delay(record.Delay{Retry: a.number, Planned: d.Delay, Draw: d.Draw})
		return
	}
	rec.OperationEnded(record.Operation{
		At: e.now, Elapsed: e.clients[id].state.Elapsed(e.now), Attempts: a.number + 1,
		Succeeded: d.Reason == retry.Succeeded, Reason: int(d.Reason),
		Drawn: d.Reason.Drew(), Draw: d.Draw,
	})
}
