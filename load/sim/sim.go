package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
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
	// Breakers are what every attempt must pass; nil is none.
	Breakers *breaker.Bank
	// Mixture, where set, is the fleet: its parties have the place of Strategy, Budget and Breakers. A recorder that is
	// split must be split as it is.
	Mixture *retry.Mixture
	// Recorder takes what is measured; nil measures nothing, and the run is counted in Stats only.
	Recorder *record.Recorder
	// Effects, where set, counts how often the work of each operation was done.
	Effects *record.EffectTally
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
	// Cuts are what the end cut short of each party of a mixture; nil without one.
	Cuts []Cut
}

// A Cut is what the end of a run cut short of one party, of Stats.Unfinished and Stats.InFlight.
type Cut struct{ Unfinished, InFlight int64 }

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
	plan  *plan.Plan
	rec   *record.Solo // nil: nothing is recorded
	trace func(retry.Row)
	beat  func(time.Duration)

	effects *record.EffectTally // nil: not counted

	policy   retry.Policy
	judge    retry.Judge
	mixture  *retry.Mixture // nil: all clients follow policy
	judges   []retry.Judge  // of its parties
	paid     bool           // there are budgets
	budget   *budget.Bank   // nil: every retry is allowed
	breakers *breaker.Bank  // nil: every attempt may leave
	gated    bool           // attempts ask before they leave
	chance   delayChance    // what the judge draws from
	hint     streams        // what it draws the spread of a hint from; empty where the policy does not

	station *station.Station // nil: the target is row
	row     *row
	instant bool     // clients know of their success when they are accepted
	net     *network // nil: messages take no time and none is lost
	clients []client
	flights flights
	queue   *queue
	idle    idleRing
	open    *pace.Schedule // nil in a closed loop
	opening time.Duration  // when its next operation is due
	pending bool           // there is one

	duration  time.Duration
	share     int64  // how many operations each client makes in a closed loop
	sharers   uint32 // so many of the first ones make one more
	now       time.Duration
	until     time.Duration // the target's next completion, or the end of the run
	completes bool          // until is a completion
	active    int           // clients that may still have something to do
	stats     Stats

	touched int    // events to come whose clients have been touched
	sum     uint64 // there for touch, which must do something with what it reads
}

func newEngine(c Config) *engine {
	p := c.Plan
	e := &engine{
		plan: p, policy: p.Policy(c.Strategy), trace: c.Trace, beat: c.Beat, effects: c.Effects, budget: c.Budget, breakers: c.Breakers,
		gated:    c.Breakers != nil || c.Budget.Gates(),
		paid:     c.Budget != nil,
		instant:  p.Model == plan.ModelRejectIfBusy,
		net:      newNetwork(p, c.Seed),
		queue:    newQueue(p.Clients),
		duration: p.Duration,
		share:    p.OperationsTotal() / int64(p.Clients),
		sharers:  uint32(p.OperationsTotal() % int64(p.Clients)),
		stats:    Stats{Completion: -1},
	}
	if p.Model == plan.ModelOCC {
		e.row = &row{}
	} else {
		e.station = station.New(p.Station(), seed.Stream(c.Seed, seed.Service, 0))
		e.station.SetChance(seed.Stream(c.Seed, seed.Errors, 0))
	}
	if c.Recorder != nil {
		e.rec = c.Recorder.Solo()
	}
	e.judge.Init(&e.policy, rand.New(&e.chance), rand.New(&e.hint))
	spread := e.policy.RetryAfterJitter > 0
	if c.Mixture != nil {
		spread = e.mix(c.Mixture)
	}
	e.populate(c.Seed, spread)
	if e.net != nil { // each attempt is a flight, and growing to that by doubling would take three times the memory
		e.flights.all = make([]flight, 0, p.Clients)
	}
	if p.RatePerSecond > 0 {
		e.open = pace.NewSchedule(p.Schedule(), seed.Stream(c.Seed, seed.Arrivals, 0))
	}
	return e
}

// mix makes the judges of a mixture, and reports whether one of them spreads hints by draws of its own.
func (e *engine) mix(m *retry.Mixture) (spread bool) {
	e.mixture, e.judges, e.stats.Cuts = m, make([]retry.Judge, len(m.Parties)), make([]Cut, len(m.Parties))
	backoffs, hints := rand.New(&e.chance), rand.New(&e.hint)
	for i := range m.Parties {
		party := &m.Parties[i]
		e.judges[i].Init(party.Policy, backoffs, hints)
		e.gated, e.paid = e.gated || party.Gates(), e.paid || party.Budget != nil
		spread = spread || party.Policy.RetryAfterJitter > 0
	}
	return spread
}

// populate makes the clients, each with streams of its own or all with those of client 0; with one for hints, too, where
// their spread is drawn.
func (e *engine) populate(run uint64, spread bool) {
	n := e.plan.Clients
	e.clients = make([]client, n)
	e.chance.clients = e.clients
	if spread {
		e.hint.all = make([]rand.PCG, n)
	}
	for i := range e.clients {
		stream := uint32(i)
		if e.plan.SharedSeed {
			stream = 0
		}
		seed.Fill(&e.clients[i].chance, run, seed.Backoff, stream)
		if e.hint.all != nil {
			seed.Fill(&e.hint.all[i], run, seed.RetryAfter, stream)
		}
	}
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
	kindRead // of a flight to a row: it reads the version
	kindWrite
	kindReady // an attempt that had to wait for its turn
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
	e.look()
	for e.active > 0 {
		if e.stats.Events++; e.stats.Events%beatEvery == 0 && !e.goOn(ctx) {
			return
		}
		if e.queue.before(e.until) {
			if e.touched == 0 {
				e.touch()
			}
			e.touched--
			next := e.queue.pop()
			e.now = next.due
			e.handle(next.id)
			continue
		}
		if !e.completes {
			e.now = e.duration // what is left is due after it
			return
		}
		e.finish(e.until)
	}
}

// touchMost is how many clients are touched at a time.
const touchMost = 32

// touch reads something of each client, or flight, of the next events. With a million clients each is far away in
// memory, and one that is met in its own event is waited for alone; in one loop they come together. It makes a run of
// a million clients twice as fast, and with a network three times.
func (e *engine) touch() {
	next := e.queue.upcoming()
	next = next[:min(len(next), touchMost)]
	var sum uint64
	for _, ev := range next {
		index := ev.id & indexMask
		switch {
		case ev.id < uint32(len(e.clients)): // its attempt, of kind 0
			sum += e.clients[index].past
			if e.net != nil && e.net.streams.all[index] == (rand.PCG{}) {
				sum++
			}
		case index < uint32(len(e.flights.all)): // of a flight, or of nobody
			f := &e.flights.all[index]
			sum += e.clients[f.client].past
			if f.waited {
				sum++
			}
		}
	}
	e.sum, e.touched = sum, len(next)
}

// look asks the target when it will have done something. Whatever changes that calls it.
func (e *engine) look() {
	e.until, e.completes = e.duration, false
	if e.station == nil || e.instant {
		return
	}
	if at, ok := e.station.Next(); ok && at < e.duration {
		e.until, e.completes = at, true
	}
}

// handle does what is due now.
func (e *engine) handle(id uint32) {
	switch index := id & indexMask; id &^ indexMask {
	case kindAttempt:
		e.send(index)
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
	case kindReady:
		e.leave(index)
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

// cutOf is what is cut short of a client's party; nil where there is no mixture.
func (e *engine) cutOf(id uint32) *Cut {
	if e.mixture == nil {
		return nil
	}
	return &e.stats.Cuts[e.mixture.Of[id]]
}

// end counts what the end of the run cut short.
func (e *engine) end() Stats {
	s := &e.stats
	s.End = e.now
	for i := range e.flights.all {
		f := &e.flights.all[i]
		if f.outbound {
			e.lose(f.client, lostOnTheWay)
		}
		if f.waited {
			s.InFlight++
			if cut := e.cutOf(f.client); cut != nil {
				cut.InFlight++
			}
			if e.rec != nil {
				e.rec.Of(f.client).Sent(record.Sent{Attempt: int(f.attempt), Due: f.left, At: f.left})
			}
		}
	}
	for i := range e.clients {
		if state := &e.clients[i].state; state.Open() {
			s.Unfinished++
			if cut := e.cutOf(uint32(i)); cut != nil {
				cut.Unfinished++
			}
			e.judgeOf(uint32(i)).Cancel(state, s.End)
		}
	}
	e.tell(s.End)
	return *s
}
