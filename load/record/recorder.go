package record

import (
	"time"
)

// A Recorder takes the samples of one run. It has two sides: the target's (arrivals and finished
// work) behind one lock, and the clients' in shards with a lock each.
//
// Every method is safe for concurrent use. A call allocates nothing, but for the storage of a new
// second of the run: 16 kB of cells, and for each bucket 0.2 kB and a packed histogram of at most
// 10 kB, however many attempts the run has.
type Recorder struct {
	config Config
	site   site
	shards []shard
	solo   *Solo // nil: there is none
	split  split
	view   view
}

// An Arrival is one attempt that reached the target, or for a target that is not ours the moment
// it was sent.
type Arrival struct {
	At time.Duration
	// Attempt is 0 for the first attempt of an operation, n for its n-th retry.
	Attempt int
	// Unknown says that nothing told a first attempt from a retry. Attempt is then 0 or 1, as the
	// caller supposes, and Bucket.Unknown counts it.
	Unknown bool
	// Opening marks the first attempt of a client's first operation: the first wave, of which
	// the start spread is measured.
	Opening bool
	// Rejected says that the target refused it, over capacity or by the outage.
	Rejected bool
}

// A Sent is one attempt leaving its client.
type Sent struct {
	Attempt int           // 0 first
	Due     time.Duration // when it should have left
	At      time.Duration // when it left
	// Hedge says that another attempt of the operation was under way when it left.
	Hedge bool
	// Early says that it left before the moment an obeyed Retry-After allowed.
	Early bool
}

// A Sample is the outcome of one attempt.
type Sample struct {
	Key OutcomeKey
	// Answered says that the target answered, so that Latency is a latency.
	Answered bool
	// Latency is from when the attempt was due to when its outcome was known.
	Latency time.Duration
}

// A Delay is one planned sleep before a retry.
type Delay struct {
	Retry int // 0 before the first retry
	// Planned is what the client will sleep: Draw, or what an obeyed Retry-After made of it.
	Planned time.Duration
	// Draw is what the strategy asked for. The shares at the cap and the floor, and the mode of the
	// first delay, are of draws.
	Draw time.Duration
}

// An Operation is how one operation ended.
type Operation struct {
	At time.Duration // when its last outcome was known
	// Elapsed is since its first attempt was due, sleeps included.
	Elapsed time.Duration
	// Attempts is the number of the attempt that succeeded, 1 for the first, copies counted; of an operation that did not
	// succeed, how many it had, copies not counted.
	Attempts  int
	Succeeded bool
	// Reason is an index into Config.ReasonNames where it did not succeed.
	Reason int
	// Drawn says that a limit forbade the next retry when the strategy had drawn its delay, which was Draw.
	Drawn bool
	Draw  time.Duration
}

// A Hint is one Retry-After header on an answer.
type Hint struct {
	Valid  bool // its value is of RFC 9110's grammar
	Obeyed bool // it set the wait
}

// New returns a Recorder for one run. It panics where c.Validate finds a fault.
func New(c Config) *Recorder {
	if faults := c.Validate(); len(faults) > 0 {
		panic("record: BUG: " + faults[0].Error())
	}
	c = c.withDefaults()
	r := &Recorder{config: c, shards: make([]shard, c.Shards)}
	r.site.init(c)
	for i := range r.shards {
		r.shards[i].init(c)
	}
	return r
}

func (r *Recorder) shard(client uint32) *shard {
	return &r.shards[client%uint32(len(r.shards))]
}

// Arrival records one attempt at the target.
func (r *Recorder) Arrival(a Arrival) { r.site.arrival(a) }

// Served records that the target finished one piece of work at the given moment; wasted says that
// nobody got the answer: its client had gone by then or, over a network that takes its time, was going to
// before the answer was there.
func (r *Recorder) Served(at time.Duration, wasted bool) { r.site.servedAt(at, wasted) }

// Dropped records that the target threw an attempt out of its queue unserved at the given moment, because its
// deadline had passed or else because it had waited too long.
func (r *Recorder) Dropped(at time.Duration, expired bool) { r.site.droppedAt(at, expired) }

// Rejected records that the attempt which arrived at the given moment was turned away, where that
// was not known yet when it arrived.
func (r *Recorder) Rejected(at time.Duration) { r.site.rejectedAt(at) }

// Waited records that an attempt of client had to wait for a connection of its own.
func (r *Recorder) Waited(client uint32, d time.Duration) {
	r.shard(client).wait(d)
	if part := r.part(client); part != nil {
		part.Waited(client, d)
	}
}

// OperationStarted records that client began an operation.
func (r *Recorder) OperationStarted(client uint32) {
	r.shard(client).operationStarted()
	if part := r.part(client); part != nil {
		part.OperationStarted(client)
	}
}

// Sent records that client sent an attempt.
func (r *Recorder) Sent(client uint32, s Sent) {
	r.shard(client).send(s)
	if part := r.part(client); part != nil {
		part.Sent(client, s)
	}
}

// Outcome records what became of an attempt of client.
func (r *Recorder) Outcome(client uint32, s Sample) {
	r.shard(client).outcome(s)
	if part := r.part(client); part != nil {
		part.Outcome(client, s)
	}
}

// Lost records that an attempt of client, already counted as sent, never reached the target; how is
// an index into Config.LostNames.
func (r *Recorder) Lost(client uint32, how int) {
	r.shard(client).lose(how)
	if part := r.part(client); part != nil {
		part.Lost(client, how)
	}
}

// ShortCircuited records an attempt of client that was due and not let out: it is not Sent, and has no Outcome.
func (r *Recorder) ShortCircuited(client uint32) {
	r.shard(client).shortCircuit()
	if part := r.part(client); part != nil {
		part.ShortCircuited(client)
	}
}

// Delay records a sleep that client planned.
func (r *Recorder) Delay(client uint32, d Delay) {
	r.shard(client).delayed(d)
	if part := r.part(client); part != nil {
		part.Delay(client, d)
	}
}

// Hint records a Retry-After header that client received.
func (r *Recorder) Hint(client uint32, h Hint) {
	r.shard(client).hint(h)
	if part := r.part(client); part != nil {
		part.Hint(client, h)
	}
}

// OperationEnded records that an operation of client succeeded or was given up.
func (r *Recorder) OperationEnded(client uint32, o Operation) {
	r.shard(client).operationEnded(o)
	if part := r.part(client); part != nil {
		part.OperationEnded(client, o)
	}
}

// Totals are the few running counts that a progress line shows.
type Totals struct {
	Started, Succeeded, GaveUp int64 // operations
	Sent                       int64 // attempts
	Arrivals, Served           int64
}

// Totals returns the counts so far. The parts are read one after another, so that they may
// disagree by what happened in between. O(shards).
func (r *Recorder) Totals() Totals {
	t := r.site.totals()
	for i := range r.shards {
		r.shards[i].addTotals(&t)
	}
	return t
}

// Summarise computes the Run. Call it when nothing records any more; it changes nothing, so it may
// be called again. O(milliseconds of the run).
func (r *Recorder) Summarise(e End) Run {
	if r.solo != nil {
		r.solo.fold()
	}
	return summarise(r, e)
}

// Reset forgets everything that was recorded and keeps the storage for another run, with a Config of as many
// shards. Call it when nothing records any more; what was handed out before stays as it is.
func (r *Recorder) Reset(c Config) {
	if faults := c.Validate(); len(faults) > 0 {
		panic("record: BUG: " + faults[0].Error())
	}
	if c = c.withDefaults(); c.Shards != len(r.shards) {
		panic("record: BUG: another number of shards")
	}
	if r.solo != nil {
		r.solo.fold() // into what is forgotten too
	}
	r.config = c
	r.split = split{}
	r.view.copy = nil
	r.site.reset(c)
	for i := range r.shards {
		r.shards[i].reset(c)
	}
	if r.solo != nil {
		r.solo.begin()
	}
}
