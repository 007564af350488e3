package fleet

import (
	"context"
	"runtime"
	"sync"
	"time"

	"stormtest/load/pace"
	"stormtest/load/retry"
	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/wake"
)

// A Memory is a fleet whose attempts reach the built-in target without sockets, in real time.
// It has no goroutine a client: one dispatcher takes what is due, hands it to the target,
// and asks the policy what follows. So its size is bounded by memory alone, and what an attempt
// costs is some 0.5 µs instead of some 20 (scripts/bench/README.md).
//
// It is no simulation: an attempt arrives at the moment when it was handed over, not at the
// one when it was due, and how late it was is recorded.
//
// Run is called once. Nothing here is safe for concurrent use, and while Run blocks only the
// dispatcher touches it.
type Memory struct {
	cfg     Config
	direct  *target.Direct
	clients []caller
	queue   *wake.Queue
	t0      time.Time
	stop    context.CancelFunc

	active  int        // clients that may still have something to do
	finish  wake.Event // the target's next completion
	next    time.Duration
	opening wake.Event // the next operation of an open loop
	idle    idleQueue

	// cutAt are the moments at which every connection is lost.
	cutAt []time.Duration
	cuts  []wake.Event
}

// A caller is one client of a Memory.
type caller struct {
	ledger
	state state // off, idling, armed or sent
	ev    wake.Event
	call  target.Call
}

// The events that belong to no client, beside openingID.
const (
	finishID = -2
	cutID    = -3
)

// NewMemory returns a fleet for a target that has not started. Of cfg it does not use Dial,
// Request, Warm and Arrived. The cuts are the moments at which the target closes every
// connection, as it does where an outage of mode refuse begins.
func NewMemory(cfg Config, t *target.Target, cuts []time.Duration) *Memory {
	m := &Memory{cfg: cfg, direct: t.Direct(), clients: make([]caller, cfg.Clients), next: -1, cutAt: cuts}
	m.finish.ID, m.opening.ID = finishID, openingID
	for i := range m.clients {
		c := &m.clients[i]
		c.init(&m.cfg, i)
		c.ev.ID = i
	}
	m.cuts = make([]wake.Event, len(cuts))
	for i := range cuts {
		m.cuts[i].ID = cutID
	}
	return m
}

// Run sets t0 a little ahead, calls start with it, and runs the fleet. It returns when every
// operation has ended, at Duration, or when ctx is cancelled, whichever is first. Nothing that
// it started is left running.
func (m *Memory) Run(ctx context.Context, start func(t0 time.Time) error) (Stats, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.stop = stop
	runtime.GC() // what set-up left behind is not to be collected during the first wave
	m.t0 = time.Now().Add(m.lead())
	if err := start(m.t0); err != nil {
		return Stats{}, err
	}
	queue, err := wake.New(m.t0, m.cfg.Wake)
	if err != nil {
		return Stats{}, err
	}
	m.queue = queue
	m.prepare()
	defer time.AfterFunc(time.Until(m.t0.Add(m.cfg.Duration)), stop).Stop()
	var dispatcher sync.WaitGroup
	dispatcher.Go(func() { queue.Run(ctx, m.fire) })
	dispatcher.Wait()
	return m.end(), nil
}

// lead is how long prepare may take.
func (m *Memory) lead() time.Duration {
	return 20*time.Millisecond + time.Duration(len(m.clients))*time.Microsecond
}

// prepare arms the first attempts.
func (m *Memory) prepare() {
	m.active = len(m.clients)
	if m.cfg.Open != nil {
		m.idle.init(len(m.clients))
	}
	for i, at := range m.cutAt {
		m.schedule(&m.cuts[i], at)
	}
	for i := range m.clients {
		c := &m.clients[i]
		m.operate(c, pace.Start(i, m.cfg.Clients, m.cfg.Ramp))
	}
	if m.cfg.Open != nil {
		m.idle.next, m.idle.pending = m.cfg.Open.Next()
		m.scheduleOpening()
	}
}

// schedule sets an event, unless the run ends before it.
func (m *Memory) schedule(e *wake.Event, due time.Duration) {
	if due < m.cfg.Duration {
		m.queue.Schedule(e, due)
	}
}

func (m *Memory) now() time.Duration { return time.Since(m.t0) }

// fire is what the dispatcher does with events that are due.
func (m *Memory) fire(due []*wake.Event) {
	for _, e := range due {
		now := m.now()
		if now >= m.cfg.Duration {
			m.stop()
			return
		}
		switch e.ID {
		case openingID:
			m.startOperations()
		case cutID:
			m.cut(now)
		case finishID:
		default:
			m.step(&m.clients[e.ID], now)
		}
	}
	m.settle(m.now())
}

// step does what is due for a client. An event may be out of date: the client's state counts.
func (m *Memory) step(c *caller, now time.Duration) {
	switch {
	case c.state == armed && c.due <= now:
		m.send(c, now)
	case c.state == sent && c.deadline() <= now:
		m.settle(now) // an answer that is there comes first
		if c.state == sent && c.deadline() <= now {
			m.direct.Leave(now, &c.call)
			m.conclude(c, retry.Outcome{Kind: retry.Timeout}, now)
		}
	}
}

// deadline is when the attempt under way times out.
func (c *caller) deadline() time.Duration { return c.due + c.policy.AttemptTimeout(c.due) }

// send hands the attempt to the target, if it may leave.
func (m *Memory) send(c *caller, now time.Duration) {
	switch adm := c.admit(now); {
	case adm.Refused:
		m.goOn(c, c.shortCircuited(now), now)
		return
	case adm.Wait > 0:
		c.due, c.state = now+adm.Wait, armed
		m.schedule(&c.ev, c.due)
		return
	}
	c.state, c.reached = sent, now
	c.left(now)
	a := target.Attempt{Client: uint32(c.id), Number: c.policy.Attempt(), Operation: c.operation}
	if m.cfg.PropagateDeadline {
		a.Timeout = max(c.deadline()-now, 1) // 0 would be for ever
	}
	switch adm := m.direct.Attempt(now, a, &c.call); adm.Kind {
	case station.Accepted, station.Hung:
		m.schedule(&c.ev, c.deadline())
	case station.Rejected, station.Failed:
		m.conclude(c, responded(adm.Status, adm.RetryAfter), now)
	case station.Reset:
		m.conclude(c, retry.Outcome{Kind: retry.Reset}, now)
	case station.Refused:
		c.reached = -1
		c.recordLost(lostRefused)
		m.conclude(c, retry.Outcome{Kind: retry.Refused}, now)
	}
}

// settle tells clients of their answers, and sees to the target's next completion.
func (m *Memory) settle(now time.Duration) {
	for _, a := range m.direct.Answered(now) {
		m.conclude(&m.clients[a.Client], responded(a.Status, a.RetryAfter), now)
	}
	if next := m.direct.Next(); next != m.next {
		m.next = next
		if next >= 0 {
			m.schedule(&m.finish, next)
		}
	}
}

// responded is an answer of the target; a Retry-After of 0 is none.
func responded(status int, retryAfter time.Duration) retry.Outcome {
	o := retry.Outcome{Kind: retry.Responded, Status: status}
	if retryAfter > 0 {
		o.Hint = retry.Hint{After: retryAfter, Valid: true, Seen: true}
	}
	return o
}

// cut ends every attempt that waits for an answer, as the loss of its connection does.
func (m *Memory) cut(now time.Duration) {
	m.settle(now)
	for i := range m.clients {
		if c := &m.clients[i]; c.state == sent {
			m.direct.Leave(now, &c.call)
			m.conclude(c, retry.Outcome{Kind: retry.Reset}, now)
		}
	}
}

// conclude ends an attempt with its outcome and arms what follows.
func (m *Memory) conclude(c *caller, o retry.Outcome, at time.Duration) {
	m.goOn(c, c.decide(o, at), at)
}

// goOn does what was decided.
func (m *Memory) goOn(c *caller, d retry.Decision, at time.Duration) {
	if d.Retry {
		m.arm(c, at+d.Delay, d.Hinted)
		return
	}
	c.operation++
	m.operate(c, at)
}

// operate prepares the client's next operation or, in an open loop, makes the client wait
// for one.
func (m *Memory) operate(c *caller, start time.Duration) {
	switch {
	case m.cfg.Open != nil:
		c.state = idling
		if !m.idle.add(c.id) {
			m.leave(c)
		}
	case c.operation == pace.Share(m.cfg.Operations, m.cfg.Clients, c.id):
		m.leave(c)
	default:
		c.begin(start)
		m.arm(c, start, false)
	}
}

// arm prepares the attempt that leaves at due.
func (m *Memory) arm(c *caller, due time.Duration, hinted bool) {
	c.due, c.hinted, c.admitted, c.state = due, hinted, false, armed
	m.schedule(&c.ev, due)
}

// leave is a client's last act.
func (m *Memory) leave(c *caller) {
	c.state = off
	if m.active--; m.active == 0 {
		m.stop()
	}
}

// startOperations hands every operation that is due to an idle client. One that finds none is
// counted and not made up for.
func (m *Memory) startOperations() {
	for m.idle.pending && m.idle.next <= m.now() {
		m.settle(m.now()) // it may free a client
		if i, ok := m.idle.take(); ok {
			c := &m.clients[i]
			c.begin(m.idle.next)
			c.due, c.hinted, c.admitted = m.idle.next, false, false
			m.send(c, m.now())
		} else {
			m.idle.unstarted++
		}
		m.idle.next, m.idle.pending = m.cfg.Open.Next()
	}
	m.scheduleOpening()
}

// scheduleOpening waits for the next operation. After the last one the idle clients leave, and
// the others as they fall idle.
func (m *Memory) scheduleOpening() {
	if m.idle.pending {
		m.schedule(&m.opening, m.idle.next)
		return
	}
	m.idle.end()
	for i, ok := m.idle.take(); ok; i, ok = m.idle.take() {
		m.leave(&m.clients[i])
	}
}

// end counts what the end of the run cut short.
func (m *Memory) end() Stats {
	stats := Stats{
		End:         max(0, min(m.now(), m.cfg.Duration)), // where nothing is ever due it is over before it begins
		Unstarted:   m.idle.unstarted,
		TimerSource: m.queue.Source(),
		Sent:        make([]int64, len(m.clients)),
		Lost:        make([]int64, len(m.clients)),
		Resets:      make([]int64, len(m.clients)),
	}
	for i := range m.clients {
		c := &m.clients[i]
		if c.state == sent {
			c.recordSent(c.policy.Attempt())
			stats.InFlight++
			c.flying = true
		}
		if c.unfinished(stats.End) {
			stats.Unfinished++
		}
		stats.Sent[i], stats.Lost[i] = c.attempts, c.lost
	}
	stats.Parts = m.cfg.partsOf(len(m.clients), func(i int) *ledger { return &m.clients[i].ledger })
	return stats
}
