package fleet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/load/pace"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/wake"
	"stormtest/target/wire"
)

// A client is one member of the fleet. Its goroutine waits for answers and decides; the
// dispatcher sends. So while a client sleeps before a retry it already waits for the answer,
// and sees when its connection is lost.
type client struct {
	ledger // begun, hinted, due and sentAt are guarded by mu

	f      *Fleet
	ev     wake.Event
	launch func() // method release, kept so that no attempt allocates
	// signal wakes a client without a connection: its attempt is due, or it is dismissed.
	signal   chan struct{}
	start    time.Duration // of the next operation of a closed loop
	released bool          // what is prepared has been let happen
	// answeredAt is when the last outcome was known; prompt says that the attempt under way was due
	// then, so that nothing can have come in between but what came with the answer.
	answeredAt time.Duration
	prompt     bool
	in         []byte // what is being read
	trip       *trip  // where the attempts go through net/http; then conn is nil
	pool       *pool  // whose lane it is; nil for a client that makes its attempts itself
	// writing is the connection that is being written to under mu, of a target that is not ours.
	writing atomic.Pointer[wire.Conn]

	mu sync.Mutex
	lane
	state      state
	broken     bool // the attempt could not be sent
	departed   bool // the attempt counts as arrived, at a target that is not ours
	departedAt time.Duration
	turnedAt   time.Duration
	conn       *wire.Conn // nil: there is none, and it is dialled when the attempt is due
	request    built
}

// A state says what a client waits for.
type state uint8

const (
	off       state = iota // nothing
	idling                 // an operation of the open loop
	armed                  // its attempt to leave, at due
	sent                   // an answer; its attempt left at sentAt
	turned                 // nothing: its attempt was not let out, at turnedAt
	dismissed              // nothing any more: the open loop has ended
)

// An ending says why a client waits no longer.
type ending uint8

const (
	answered    ending = iota // the attempt has an outcome
	interrupted               // the run ended first
	unlet                     // the attempt was not let out
	closed                    // the open loop ended while the client was idle
)

// inBytes holds the heads of the built-in target's answers.
const inBytes = 256

// longAgo is a deadline that ends a read at once.
var longAgo = time.Unix(1, 0)

// run takes the client through its operations, until the last one, or the run, ends.
func (c *client) run(ctx context.Context) {
	c.in = make([]byte, inBytes)
	wake.GrowStack(c.id)
	if !c.f.barrier.arrive(ctx, c.warm(ctx)) {
		return
	}
	c.start = pace.Start(c.id, c.f.cfg.Clients, c.f.cfg.Ramp)
	if c.pool != nil {
		c.serve(ctx, c.f.calls[c.id].enter(c.start))
		return
	}
	for c.next() && c.operate(ctx) {
		c.operation++
	}
}

// warmMax bounds the exchange before t0.
const warmMax = 10 * time.Second

// warm exchanges one request with the target that it does not count.
func (c *client) warm(ctx context.Context) error {
	if !c.f.cfg.Warm {
		return nil
	}
	c.mu.Lock()
	defer context.AfterFunc(ctx, c.interrupt)()
	err := c.conn.SetReadDeadline(time.Now().Add(warmMax))
	if err == nil {
		err = c.conn.Send(c.request.text)
	}
	c.mu.Unlock()
	if err == nil {
		var n int
		n, err = c.conn.Receive(c.in)
		if err == nil {
			_, err = c.receive(n, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("fleet: first exchange of client %d: %w", c.id, err)
	}
	return nil
}

// next prepares the first attempt of the next operation, or makes the client wait for one.
func (c *client) next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f.cfg.Open != nil {
		c.state = idling
		c.deadline(time.Time{})
		return true
	}
	if c.operation == pace.Share(c.f.cfg.Operations, c.f.cfg.Clients, c.id) {
		return false
	}
	c.begin(c.start)
	c.arm(c.start, false)
	return true
}

// operate sees one operation through to its end. It returns false where the run or the open
// loop ended first.
func (c *client) operate(ctx context.Context) bool {
	for {
		outcome, at, how := c.await(ctx)
		var d retry.Decision
		switch how {
		case answered:
			d = c.decide(outcome, at)
			c.judge(outcome, at, d)
			c.answeredAt = at
		case unlet:
			d = c.shortCircuited(at)
			c.answeredAt = -1 // nobody has looked at the connection
		default:
			c.leave()
			return false
		}
		if !d.Retry {
			c.start = at
			return true
		}
		c.mu.Lock()
		c.arm(at+d.Delay, d.Hinted)
		c.mu.Unlock()
	}
}

// leave is the client's last act: its operation, if there is one, stays unfinished.
func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == turned {
		c.f.cfg.Recorder.ShortCircuited(uint32(c.id))
	}
	c.state = off
	if c.unfinished(c.f.now()) {
		c.f.unfinished.Add(1)
	}
}

// arm prepares the attempt that leaves at due. The caller holds mu.
func (c *client) arm(due time.Duration, hinted bool) {
	if c.trip == nil {
		c.request.set(c.operation, c.number())
	}
	c.prompt = due == c.answeredAt
	c.due, c.hinted, c.admitted, c.broken, c.departed, c.state = due, hinted, false, false, false, armed
	c.deadline(c.end())
}

// release lets what is prepared happen: the attempt leaves when it is due, or an operation of
// the open loop may come. It is called once the connection is watched for the answer.
func (c *client) release() {
	c.released = true
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := c.f.now(); {
	case c.f.stopped.Load():
	case c.state == idling:
		if !c.rest() {
			c.close()
		}
	case c.due <= now:
		c.send(now)
	default:
		c.f.queue.Schedule(&c.ev, c.due)
	}
}

// deadline ends reads at t, or at once when the run has ended, and where the target is not ours
// writes too. The caller holds mu.
func (c *client) deadline(t time.Time) {
	if c.conn == nil {
		return
	}
	if c.f.stopped.Load() {
		t = longAgo
	}
	// It fails on a closed connection only, and then the read says so.
	if c.f.cfg.Foreign {
		_ = c.conn.SetDeadline(t)
		return
	}
	_ = c.conn.SetReadDeadline(t)
}

// fire is called by a goroutine of dispatch when the attempt is due.
func (c *client) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A connection lost, or an end, while the event was on its way leaves nothing to send.
	if now := c.f.now(); c.state == armed && c.due <= now && !c.f.stopped.Load() {
		c.send(now)
	}
}

// send lets the attempt leave, if it may: over the connection, or by waking the client to dial. The
// caller holds mu.
func (c *client) send(now time.Duration) {
	switch adm := c.admit(now); {
	case adm.Refused: // the client itself decides what follows
		c.state, c.turnedAt = turned, now
		c.deadline(longAgo)
		if c.conn == nil {
			c.wake() // and only then, for a signal that nobody waits for would end a later wait
		}
		return
	case adm.Wait > 0:
		c.due, c.prompt, c.state = now+adm.Wait, false, armed
		c.deadline(c.end())
		c.f.queue.Schedule(&c.ev, c.due)
		return
	}
	c.state = sent
	c.left(now)
	if c.conn == nil {
		c.wake()
		return
	}
	c.post(now)
}

// depart counts the attempt as arrived where the target is not ours: nobody knows more of it
// than when it was sent.
func (c *client) depart(at time.Duration) {
	if !c.f.cfg.Foreign {
		return
	}
	c.departed, c.departedAt = true, at
	attempt := c.number()
	c.f.cfg.Recorder.ArrivalOf(uint32(c.id), record.Arrival{At: at, Attempt: attempt, Opening: attempt == 0 && c.operation == 0})
}

// judge tells the recorder how the target dealt with an attempt, where the target is not ours.
func (c *client) judge(o retry.Outcome, at time.Duration, d retry.Decision) {
	switch {
	case !c.departed || o.Kind != retry.Responded:
	case d.Reason == retry.Succeeded:
		c.f.cfg.Recorder.ServedOf(uint32(c.id), at, false)
	default:
		c.f.cfg.Recorder.RejectedOf(uint32(c.id), c.departedAt)
	}
}

func (c *client) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// interrupt ends what the client waits for, because the run ends.
func (c *client) interrupt() {
	if conn := c.writing.Load(); conn != nil { // whoever writes has mu
		_ = conn.SetWriteDeadline(longAgo)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline(longAgo)
}

// open starts an operation on an idle client, or returns false where the client has left with
// the run. startOperations calls it.
func (c *client) open(due time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != idling || c.f.stopped.Load() {
		return false
	}
	c.begin(due)
	c.arm(due, false)
	c.send(c.f.now())
	return true
}

// dismiss tells an idle client that no operation will come. scheduleOpening calls it.
func (c *client) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == idling {
		c.close()
	}
}

// close tells the client that no operation will come. The caller holds mu.
func (c *client) close() {
	c.state = dismissed
	c.deadline(longAgo)
	c.wake()
}

// await returns the outcome of the attempt once it has left, and when it was known.
func (c *client) await(ctx context.Context) (retry.Outcome, time.Duration, ending) {
	c.released = false
	for {
		if c.conn == nil {
			if !c.released {
				c.release()
			}
			select {
			case <-c.signal:
			case <-ctx.Done():
			}
			if how, waiting := c.unsent(false); waiting {
				return c.unanswered(how)
			}
			if c.trip == nil {
				if o, err := c.connect(ctx); err != nil {
					return c.failed(ctx, o)
				}
			}
			if c.trip != nil {
				return c.travel(ctx)
			}
		}
		var n int
		var err error
		switch {
		case c.released:
			n, err = c.conn.Receive(c.in)
		case c.f.cfg.Foreign && (!c.prompt || c.f.wary.Load()): // it may have hung up without a word
			n, err = c.conn.ReceiveAfterLook(c.launch, c.in)
		default:
			n, err = c.conn.ReceiveAfter(c.launch, c.in)
		}
		how, waiting := c.unsent(true)
		switch {
		case !waiting:
			return c.read(ctx, n, err)
		case c.f.stopped.Load() || how != interrupted:
			return c.unanswered(how)
		}
	}
}

// unanswered is what await returns for an attempt that has not left.
func (c *client) unanswered(how ending) (retry.Outcome, time.Duration, ending) {
	if how == unlet { // and only then nobody writes it
		return retry.Outcome{}, c.turnedAt, how
	}
	return retry.Outcome{}, 0, how
}

// unsent reports whether the client still waits to send, and the ending if that is the end.
// If it waits on, and lost says so, its connection was lost while nothing was under way: it is
// closed here, under the lock that a send takes, so that the attempt dials when it is due.
func (c *client) unsent(lost bool) (ending, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == dismissed {
		return closed, true
	}
	if c.state == turned && !c.f.stopped.Load() {
		return unlet, true
	}
	waiting := c.state != sent
	if waiting && lost && !c.f.stopped.Load() {
		_ = c.conn.Close()
		c.conn = nil
	}
	return interrupted, waiting
}
