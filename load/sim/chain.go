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

// A ChainConfig is one run of a plan in which an attempt may be more than one request to one target: services behind
// the first one, and copies of attempts. See [plan.Link] for the rules of both.
type ChainConfig struct {
	// Links are the services, the first one's plan also the clients'. Its network must take no time and lose nothing,
	// and no target may be a row.
	Links []plan.Link
	// Accounts hold what is measured and allowed at each link.
	Accounts []LinkAccounts
	// Seed is the run's.
	Seed uint64
	// Effects, where set, counts how often the first service finished the work of each of the clients' operations.
	Effects *record.EffectTally
	// Trace and Beat are as in Config; the trace is of the clients' attempts.
	Trace func(retry.Row)
	Beat  func(now time.Duration)
}

// LinkAccounts are those of one link.
type LinkAccounts struct {
	// Budget holds the accounts of the callers: of the clients or, of a layer, of the one service that calls it. nil is
	// no budget.
	Budget *budget.Bank
	// Breakers are what every attempt must pass; nil is none.
	Breakers *breaker.Bank
	// Recorder takes what is measured; nil measures nothing.
	Recorder *record.Recorder
}

// ChainStats are the counts of one run.
type ChainStats struct {
	// End is when the clients were done, and all that was done for them; at most the plan's Duration.
	End    time.Duration
	Events int64
	Links  []LinkStats
}

// LinkStats are the counts at one link. Its operations are the clients', or the calls of the service before.
type LinkStats struct {
	Attempts, Arrivals            int64
	Succeeded, GaveUp, Unfinished int64
	InFlight                      int64
	// Unstarted are operations of an open loop that were due while no client was idle, and calls that were not made
	// because plan.CallsMost were under way.
	Unstarted  int64
	Completion time.Duration // of the last success; -1 where there was none
	Hedging    record.Hedging
}

// RunChain is Run for a chain. A plan without layers and hedges comes out as in Run, to the last figure.
func RunChain(ctx context.Context, c ChainConfig) ChainStats {
	e := newChain(c)
	e.prepare()
	e.run(ctx)
	return e.end()
}

// A chain is one run. Not safe for concurrent use.
type chain struct {
	plan  *plan.Plan // the clients' and the first service's
	trace func(retry.Row)
	beat  func(time.Duration)

	effects *record.EffectTally // nil: not counted

	links   []link
	clients []chainClient
	calls   calls
	trips   trips
	queue   *queue
	idle    idleRing
	open    *pace.Schedule // nil in a closed loop
	opening time.Duration  // when its next operation is due

	duration  time.Duration
	share     int64
	sharers   uint32
	now       time.Duration
	until     time.Duration // the next completion of any service, or the end of the run
	completes int           // which service's that is; -1: until is the end
	active    int           // clients that may still have something to do
	stats     ChainStats
}

// A link is a service, and how it is called.
type link struct {
	policy   retry.Policy
	judge    retry.Judge
	budget   *budget.Bank  // nil: every retry is allowed
	breakers *breaker.Bank // nil: every attempt may leave
	gated    bool          // attempts ask before they leave
	rec      *record.Solo  // nil: nothing is recorded
	delays   streams       // what the judge draws from: one stream a client, or one of the calling service
	hints    streams
	station  *station.Station
	instant  bool // clients know of their success when they are accepted
	cancels  bool // work whose caller has gone is dropped
	tells    bool // attempts carry their deadline
	costly   bool // being turned away makes others wait
	status   int  // the answer where the call behind has failed
	outages  []station.Outage
	next     time.Duration // when it will have done something
	stats    *LinkStats
	calls    int // under way
}

// A chainClient is one member of the fleet; its operation under way is the call of its number.
type chainClient struct {
	operations int64 // that have ended
	arrived    bool  // an attempt of it has
}

func newChain(c ChainConfig) *chain {
	p := c.Links[0].Plan
	if p.Model == plan.ModelOCC || p.Latency != (plan.Law{}) || p.LossShare > 0 {
		panic("sim: BUG: a chain over a network, or of a row")
	}
	e := &chain{
		plan: p, trace: c.Trace, beat: c.Beat, effects: c.Effects,
		links: make([]link, len(c.Links)), clients: make([]chainClient, p.Clients),
		queue: newQueue(p.Clients), duration: p.Duration,
		share: p.OperationsTotal() / int64(p.Clients), sharers: uint32(p.OperationsTotal() % int64(p.Clients)),
		stats: ChainStats{Links: make([]LinkStats, len(c.Links))},
	}
	for i := range e.links {
		e.links[i].init(i, c)
		e.links[i].stats = &e.stats.Links[i]
		e.links[i].stats.Completion = -1
	}
	e.calls.all = make([]call, p.Clients)
	if p.RatePerSecond > 0 {
		e.open = pace.NewSchedule(p.Schedule(), seed.Stream(c.Seed, seed.Arrivals, 0))
	}
	return e
}

// init makes the link of a number: 0 is the clients'.
func (l *link) init(number int, c ChainConfig) {
	p := c.Links[number].Plan
	l.policy = c.Links[number].Policy()
	l.budget, l.breakers = c.Accounts[number].Budget, c.Accounts[number].Breakers
	l.gated = l.breakers != nil || l.budget.Gates()
	if r := c.Accounts[number].Recorder; r != nil {
		l.rec = r.Solo()
	}
	delays, hints := seed.LayerDelay, seed.LayerHint
	callers := 1
	if number == 0 {
		delays, hints, callers = seed.Backoff, seed.RetryAfter, p.Clients
	}
	l.delays.all = make([]rand.PCG, callers)
	if l.policy.RetryAfterJitter > 0 {
		l.hints.all = make([]rand.PCG, callers)
	}
	for i := range l.delays.all {
		stream := uint32(i)
		switch {
		case number > 0:
			stream = uint32(number)
		case p.SharedSeed:
			stream = 0
		}
		seed.Fill(&l.delays.all[i], c.Seed, delays, stream)
		if l.hints.all != nil {
			seed.Fill(&l.hints.all[i], c.Seed, hints, stream)
		}
	}
	l.judge.Init(&l.policy, rand.New(&l.delays), rand.New(&l.hints))
	l.station = station.New(p.Station(), seed.Stream(c.Seed, seed.Service, uint32(number)))
	l.station.SetChance(seed.Stream(c.Seed, seed.Errors, uint32(number)))
	l.instant = p.Model == plan.ModelRejectIfBusy
	l.cancels = p.Abandoned == plan.AbandonedCancel
	l.tells, l.costly = p.PropagateDeadline, p.ShedCostShare > 0
	l.status, l.outages, l.next = p.Status, p.Outages, p.Duration
}

// last reports whether nothing is behind the link.
func (e *chain) last(number uint8) bool { return int(number) == len(e.links)-1 }

// An event's id is its kind and what it is of: a call, an attempt, or the place of a link.
const (
	chainCall    = iota << kindShift // its next attempt is due
	chainTimeout                     // of an attempt
	chainOpening
	chainCut
	chainHedge // a copy of a call's attempt is due
	chainReady // a call's attempt has waited for its turn
)

// prepare schedules what is known from the start.
func (e *chain) prepare() {
	e.active = len(e.clients)
	if e.open != nil {
		e.idle.init(len(e.clients))
	}
	for i := range e.links {
		for _, o := range e.links[i].outages {
			if o.Mode == station.ModeRefuse {
				e.schedule(o.From, chainCut|uint32(i))
			}
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
func (e *chain) schedule(due time.Duration, id uint32) {
	if due < e.duration {
		e.queue.push(due, id)
	}
}

// busy reports whether a client has something to do, or a service behind the first one has something to do for one
// that has gone.
func (e *chain) busy() bool {
	return e.active > 0 || len(e.links) > 1 && e.trips.inUse() > 0
}

// run handles events until there is nothing to do, the run ends, or ctx does.
func (e *chain) run(ctx context.Context) {
	e.look()
	for e.busy() {
		if e.stats.Events++; e.stats.Events%beatEvery == 0 && !e.goOn(ctx) {
			return
		}
		if e.queue.before(e.until) {
			next := e.queue.pop()
			e.now = next.due
			e.handle(next.id)
			continue
		}
		if e.completes < 0 {
			e.now = e.duration // what is left is due after it
			return
		}
		e.finish(e.completes)
	}
}

// look finds the service that will have done something first; of several at one moment the last one of the chain, so
// that answers go up before new work goes down.
func (e *chain) look() {
	e.until, e.completes = e.duration, -1
	for i := len(e.links) - 1; i >= 0; i-- {
		if next := e.links[i].next; next < e.until {
			e.until, e.completes = next, i
		}
	}
}

// ask asks a service when it will have done something. Whatever changes that calls it.
func (e *chain) ask(number uint8) {
	l := &e.links[number]
	l.next = e.duration
	if !l.instant {
		if at, ok := l.station.Next(); ok {
			l.next = min(at, e.duration)
		}
	}
	e.look()
}

// handle does what is due now.
func (e *chain) handle(id uint32) {
	switch index := id & indexMask; id &^ indexMask {
	case chainCall:
		e.wake(index)
	case chainTimeout:
		e.expire(index)
	case chainOpening:
		e.startOperation()
	case chainCut:
		e.cut(uint8(index))
	case chainHedge:
		e.hedge(index)
	case chainReady:
		e.ready(index)
	}
}

// goOn tells how far the run has come, and reports whether it may go on.
func (e *chain) goOn(ctx context.Context) bool {
	e.tell(e.now)
	return ctx.Err() == nil
}

// tell brings the recorders up to date, and tells how far the run has come.
func (e *chain) tell(now time.Duration) {
	for i := range e.links {
		if rec := e.links[i].rec; rec != nil {
			rec.Flush()
		}
	}
	if e.beat != nil {
		e.beat(now)
	}
}

// end counts what the end of the run cut short.
func (e *chain) end() ChainStats {
	e.stats.End = e.now
	for i := range e.trips.all {
		t := &e.trips.all[i]
		if !t.waited {
			continue
		}
		l := &e.links[t.link]
		l.stats.InFlight++
		if l.rec != nil {
			l.rec.Sent(t.sent())
		}
	}
	for i := range e.calls.all {
		c := &e.calls.all[i]
		if c.state.Open() {
			l := &e.links[c.link]
			l.stats.Unfinished++
			e.judgeOf(c).CancelHedged(&c.state, &c.hedger, e.now)
		}
	}
	e.tell(e.now)
	return e.stats
}
