package fleet

import (
	"context"
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
)

// A try is one attempt that a lane makes for a call. It does not change once a lane has it.
type try struct {
	call      *call
	lane      *client       // that has it; guarded by the call's mu
	operation int64         // of the call
	number    int           // in the operation, 0 first, copies counted
	place     int           // 0 is the operation's own, j its copy j
	due, ends time.Duration // when it leaves, and when its time is over
	hinted    bool          // due is a server's floor
}

// A lane is what a client has besides where it makes attempts for a call, and follows no policy itself: one at a time,
// over its own connection. It is guarded by the client's mu.
type lane struct {
	try      *try // the attempt under way; nil: none
	forsaken bool // nobody wants its outcome any more
	cut      context.CancelFunc
}

// number is that of the attempt under way.
func (c *client) number() int {
	if c.try != nil {
		return c.try.number
	}
	return c.policy.Attempt()
}

// serve makes one attempt after another, of which next, where set, is the first, until the pool is closed or the run
// ends.
func (c *client) serve(ctx context.Context, next *try) {
	for {
		c.load(next)
		o, at, how := c.await(ctx)
		t, left := c.lay()
		if t == nil {
			return // it was idle
		}
		if how != answered {
			if !left { // its call has it as sent
				c.miss(t)
				c.f.inFlight.Add(1)
			}
			t.call.interrupted(t)
			return
		}
		c.answeredAt = at
		row := retry.Row{
			Client: t.call.id, Operation: t.operation, Attempt: t.number,
			Due: c.due, Sent: c.sentAt, Arrived: c.reached, End: at, Outcome: o,
		}
		c.settle(t.number, o, at)
		c.deem(o, at)
		next = t.call.ended(t, row)
	}
}

// settle records that the attempt under way left, and its outcome.
func (l *ledger) settle(attempt int, o retry.Outcome, at time.Duration) {
	l.recordSent(attempt)
	sample := record.Sample{Latency: at - l.due, Answered: o.Kind == retry.Responded}
	if sample.Answered {
		sample.Key = record.StatusKey(o.Status)
	} else {
		sample.Key = record.KindKey(int(o.Kind))
	}
	l.cfg.Recorder.Outcome(uint32(l.id), sample)
}

// deem is judge for an attempt that need not decide its operation.
func (c *client) deem(o retry.Outcome, at time.Duration) {
	if !c.departed || o.Kind != retry.Responded {
		return
	}
	if c.cfg.Policy.RetryOn.Classify(o) == retry.Success {
		c.cfg.Recorder.ServedOf(uint32(c.id), at, false)
	} else {
		c.cfg.Recorder.RejectedOf(uint32(c.id), c.departedAt)
	}
}

// load prepares an attempt, or makes the lane wait for one where t is nil.
func (c *client) load(t *try) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t == nil {
		c.state = idling
		c.deadline(time.Time{})
		return
	}
	c.carry(t)
}

// carry prepares an attempt. The caller holds mu.
func (c *client) carry(t *try) {
	c.try, c.forsaken = t, false
	c.operation, c.hedge = t.operation, t.place > 0
	c.arm(t.due, t.hinted)
}

// take makes an attempt that is due, or returns false where the lane has left with the run.
func (c *client) take(t *try) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != idling || c.f.stopped.Load() {
		return false
	}
	c.carry(t)
	c.send(c.f.now())
	return true
}

// lay takes the attempt off the lane, and reports whether it has left.
func (c *client) lay() (t *try, left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, left = c.try, c.state == sent
	c.try, c.cut, c.state = nil, nil, off
	return t, left
}

// miss books an attempt that should have left, and did not because the run ended in that moment.
func (l *ledger) miss(t *try) {
	l.due, l.hinted, l.hedge, l.sentAt = t.due, t.hinted, t.place > 0, t.due
	l.recordSent(t.number)
	l.recordLost(LostUnread)
}

// rest makes the client wait for an operation, or the lane for an attempt. It is false where none will come. The caller
// holds mu.
func (c *client) rest() bool {
	if c.pool != nil {
		return c.pool.add(c)
	}
	return c.f.idle.add(c.id)
}

// until returns a context that ends with the attempt under way: when its time is over, or when nobody wants it any
// more.
func (c *client) until(ctx context.Context) (context.Context, context.CancelFunc) {
	attempt, cancel := context.WithDeadline(ctx, c.end())
	if c.pool != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cut = cancel; c.forsaken {
			cancel()
		}
	}
	return attempt, cancel
}

// forsake ends an attempt that nobody wants any more: its connection is closed, which the target sees.
func (c *client) forsake(t *try) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.try != t {
		return // it has ended
	}
	c.forsaken = true
	if c.cut != nil {
		c.cut()
	}
	c.deadline(longAgo)
}

// unwanted reports whether nobody wants the outcome of the attempt under way.
func (c *client) unwanted() bool {
	if c.pool == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forsaken
}

// givenUp is the outcome of an attempt that was ended because nobody wanted it any more.
func (c *client) givenUp(connected bool) retry.Outcome {
	switch {
	case !connected:
		c.recordLost(lostGivenUp)
	case c.f.cfg.Foreign && !c.departed:
		c.recordLost(LostUnread)
	}
	return retry.Outcome{Kind: retry.Cancelled}
}
