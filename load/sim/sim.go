package sim

import (
	"context"
	"time"

	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/target/station"
)

// The ways in which an attempt is lost on its way to the target, as indices into LostNames.
const (
	lostRefused = iota
	lostRequest
	lostReset
	lostUnwritten
	lostOnTheWay
)

// LostNames are the keys of the books' lost, for record.Config.
var LostNames = []string{
	lostRefused:   "refused",
	lostRequest:   "lost_request",
	lostReset:     "reset_before_arrival",
	lostUnwritten: "not_written",
	lostOnTheWay:  "on_the_way_at_end",
}

// A Config is one run of one strategy.
type Config struct {
	// Plan says what the fleet, its policy, the network and the target are. It must be valid.
	// Of its seed and its list of strategies nothing is read.
	Plan *plan.Plan
	// Strategy is the name of a row of backoff.Table.
	Strategy string
	// Seed is the run's.
	Seed uint64
	// Budget holds the accounts that the clients' retries need; nil is no budget.
	Budget *budget.Bank
	// Recorder takes what is measured; nil measures nothing, and the run is counted in Stats only.
	Recorder *record.Recorder
	// Trace, where set, is called once for every attempt that ended, in the order of the ends.
	Trace func(retry.Row)
	// Beat, where set, is called about every 65,536 events and at the end, with how far the run has
	// come. The recorder then holds everything up to there.
	Beat func(now time.Duration)
}

// Stats are the counts of one run.
type Stats struct {
	// End is when the last client was done, at most the plan's Duration; where the run was broken
	// off, how far it had come.
	End time.Duration
	// Attempts left their clients; Arrivals of them reached the target.
	Attempts, Arrivals int64
	// Succeeded and GaveUp are operations that ended, Unfinished those that the end cut short.
	Succeeded, GaveUp, Unfinished int64
	// InFlight are attempts that left and have no outcome.
	InFlight int64
	// Unstarted are operations of an open loop that were due while no client was idle.
	Unstarted int64
	// Completion is when the last operation succeeded; -1 where none did.
	Completion time.Duration
	// Events is how many the engine handled: attempts, completions, timeouts and messages.
	Events int64
}

// Run runs the plan to its end, or until ctx is cancelled, which it looks at every 65,536 events.
// A run that was broken off is what it was until then: its books balance.
//
// One goroutine; any number of runs may go on at once, with a recorder and a bank each.
func Run(ctx context.Context, c Config) Stats {
	e := newEngine(c)
	e.prepare()
	e.run(ctx)
	return e.end()
}

// An engine is one run. Not safe for concurrent use.
type engine struct {
	plan   *plan.Plan
	policy retry.Policy
	rec    *record.Solo // nil: nothing is recorded
	trace  func(retry.Row)
	beat   func(time.Duration)

	station *station.Station // nil: the target is row
	row     *row
	instant bool     // clients know of their success when they are accepted
	net     *network // nil: messages take no time and none is lost
	clients []client
	queue   *queue
	idle    idleRing
	open    *pace.Schedule // nil in a closed loop
	opening time.Duration  // when its next operation is due
	pending bool           // there is one

	duration   time.Duration
	operations int64 // of the whole fleet
	now        time.Duration
	active     int // clients that may still have something to do
	stats      Stats
}

func newEngine(c Config) *engine {
	p := c.Plan
	e := &engine{
		plan: p, policy: p.Policy(c.Strategy), trace: c.Trace, beat: c.Beat,
		instant:    p.Model == plan.ModelRejectIfBusy,
		net:        newNetwork(p, c.Seed),
		clients:    make([]client, p.Clients),
		queue:      newQueue(p.Clients),
		duration:   p.Duration,
		operations: p.OperationsTotal(),
		stats:      Stats{Completion: -1},
	}
	if p.Model == plan.ModelOCC {
		e.row = &row{}
	} else {
		e.station = station.New(p.Station(), seed.Stream(c.Seed, seed.Service, 0))
	}
	if c.Recorder != nil {
		e.rec = c.Recorder.Solo()
	}
	for i := range e.clients {
		stream := uint32(i)
		if p.SharedSeed {
			stream = 0
		}
		policy := &e.clients[i].policy
		policy.Init(&e.policy, seed.Stream(c.Seed, seed.Backoff, stream), seed.Stream(c.Seed, seed.RetryAfter, stream))
		policy.Under(c.Budget.Account(i))
	}
	if p.RatePerSecond > 0 {
		e.open = pace.NewSchedule(pace.Config{
			PerSecond: p.RatePerSecond,
			Poisson:   p.Arrivals == plan.ArrivalsPoisson,
			Total:     p.Operations,
			Until:     p.Duration,
		}, seed.Stream(c.Seed, seed.Arrivals, 0))
	}
	return e
}

// An event's id is its kind and what it is of: a client, a flight, or the place of an outage in the plan.
const (
	kindShift = 28
	indexMask = 1<<kindShift - 1
)

const (
	kindAttempt = iota << kindShift
	kindTimeout
	kindOpening
	kindCut
	kindRequest // of a flight: it arrives
	kindAnswer
	kindNews
	kindRead // of a write: it reads the version
	kindWrite
	kindWritten
)

// prepare schedules what is known from the start.
func (e *engine) prepare() {
	e.active = len(e.clients)
	if e.open != nil {
		e.idle.init(len(e.clients))
	}
	for i, o := range e.plan.Outages {
		if o.Mode == station.ModeRefuse {
			e.schedule(o.From, kindCut|uint32(i))
		}
	}
	for i := range e.clients {
		e.operate(uint32(i), pace.Start(i, len(e.clients), e.plan.Ramp))
	}
	if e.open != nil {
		e.nextOpening()
	}
}

// schedule adds an event, unless the run ends before it.
func (e *engine) schedule(due time.Duration, id uint32) {
	if due < e.duration {
		e.queue.push(due, id)
	}
}

// beatEvery is how many events pass between two looks at the context.
const beatEvery = 1 << 16

// run handles events until no client has anything to do, the run ends, or ctx does.
func (e *engine) run(ctx context.Context) {
	for e.active > 0 {
		if e.stats.Events++; e.stats.Events%beatEvery == 0 && !e.goOn(ctx) {
			return
		}
		until, completes := e.duration, false
		if e.station != nil && !e.instant {
			if at, ok := e.station.Next(); ok && at < e.duration {
				until, completes = at, true
			}
		}
		if !e.queue.before(until) {
			if completes {
				e.finish(until)
				continue
			}
			e.now = e.duration // what is left is due after it
			return
		}
		next := e.queue.pop()
		e.now = next.due
		switch index := next.id & indexMask; next.id &^ indexMask {
		case kindAttempt:
			e.leave(index)
		case kindTimeout:
			e.expire(index)
		case kindOpening:
			e.startOperation()
		case kindCut:
			e.cut()
		case kindRequest:
			e.land(index)
		case kindAnswer:
			e.hear(index)
		case kindNews:
			e.learn(index)
		case kindRead:
			e.read(index)
		case kindWrite:
			e.write(index)
		case kindWritten:
			e.learnWritten(index)
		}
	}
}

// goOn tells how far the run has come, and reports whether it may go on.
func (e *engine) goOn(ctx context.Context) bool {
	e.tell(e.now)
	return ctx.Err() == nil
}

// tell brings the recorder up to date, and tells how far the run has come.
func (e *engine) tell(now time.Duration) {
	if e.rec != nil {
		e.rec.Flush()
	}
	if e.beat != nil {
		e.beat(now)
	}
}

// finish hands out what the target has done at a moment.
func (e *engine) finish(at time.Duration) {
	e.now = at
	d, ok := e.station.Finish(at)
	if !ok {
		panic("sim: BUG: a completion that is not there")
	}
	if e.rec != nil {
		e.rec.Served(d.At, d.Abandoned)
	}
	switch {
	case d.Abandoned:
	case e.net != nil:
		e.reply(uint32(d.Tag), answer{status: statusServed})
	default:
		e.conclude(uint32(d.Tag), retry.Outcome{Kind: retry.Responded, Status: statusServed})
	}
}

// statusServed is the target's answer when the work is done.
const statusServed = 200

// end counts what the end of the run cut short.
func (e *engine) end() Stats {
	s := &e.stats
	s.End = e.now
	for i := range e.clients {
		c := &e.clients[i]
		if c.state == sent {
			e.recordSent(c)
			s.InFlight++
		}
		c.policy.Cancel(s.End)
		if c.begun {
			s.Unfinished++
		}
	}
	if e.net != nil {
		e.strand()
	}
	if e.row != nil {
		e.strandWrites()
	}
	e.tell(s.End)
	return *s
}
