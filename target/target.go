// Package target is the server under the storm: finite capacity, a bounded queue, an outage
// script, and the habit of working on for clients that have gone.
//
// The rules are station's, which is pure; this package gives them a clock and sockets. A
// Target serves in three ways over the same rules: a Server, a lean HTTP/1.1 loop for the
// fleet's plain requests (scripts/bench/README.md tells what it was measured against), an
// HTTPServer for clients that are not ours, and ServeHTTP, for any other server or test.
package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"stormtest/target/station"
	"stormtest/target/wake"
)

// The headers by which the target knows who calls. Client and Attempt hold decimal numbers:
// the client's index, and how many attempts of the same operation came before (0 is the
// first). A request without them is an arrival of an unknown client's first attempt.
const (
	HeaderClient  = "Stormtest-Client"
	HeaderAttempt = "Stormtest-Attempt"
	// HeaderTimeout holds how much time the client has left for the attempt, as gRPC writes it (see
	// [AppendTimeout]); ServeHTTP takes gRPC's own grpc-timeout too. A client without it waits for ever.
	HeaderTimeout = "Stormtest-Timeout"
)

// Unknown is the Client of an arrival without the header.
const Unknown = ^uint32(0)

// An Arrival is one attempt at the moment it reached the target.
type Arrival struct {
	At       time.Duration // since the target's t0
	Client   uint32
	Attempt  int  // 0 is an operation's first; with Config.Attempts also UnknownAttempt
	Rejected bool // turned away at once, over capacity or by the outage, with a status or a reset
}

// A Served is one piece of work that the target has finished.
type Served struct {
	At        time.Duration // since the target's t0
	Client    uint32        // whose attempt it was
	Operation int64         // of the client, from 0; UnknownOperation where the request did not say
	Wasted    bool          // the client had gone
}

// UnknownOperation is the Operation of work whose request had no KeyHeader that ends in a number.
const UnknownOperation = -1

// A Dropped is one attempt that the target took and threw out of its queue unserved.
type Dropped struct {
	At     time.Duration // since the target's t0
	Client uint32
	Why    station.Drop
}

// Config says what a Target is. The zero value of every field but Station is usable.
type Config struct {
	Station station.Config
	// Service draws service times where Station.ServiceExp asks for them, and Errors the arrivals that fail where there is
	// an outage of mode errors.
	Service, Errors *rand.Rand
	// OnArrival and OnServed, where set, are told of every arrival and of every piece of work
	// finished. They run under the target's lock,
	// one at a time, and must be quick; At may step back by what
	// lies between a stamp, which is the kernel's where it has one, and the lock.
	OnArrival func(Arrival)
	OnServed  func(Served)
	// OnDropped, where set, is told as they are of every attempt that is thrown out of the queue.
	OnDropped func(Dropped)
	// OnFailed, where set, is told of every request that was turned away after the target's own work on it, because
	// what is behind has failed, with the moment when it arrived. It runs as OnServed does, which is told of the others only
	// then.
	OnFailed func(arrived time.Duration)
	// Behind, where set, is what the target does when its own work on a request is done: instead of being answered the
	// request waits for [Work.Answer]. It is told of every piece of work that was finished at a moment, also for a client that has
	// gone, outside the target's lock and from many goroutines. A Direct has none.
	Behind func(at time.Duration, w *Work)
	// Attempts, where set, tells ServeHTTP which attempt a request is; nil reads HeaderAttempt alone.
	Attempts *Attempts
	// OnHandled, where set, is told of every request that ServeHTTP is through with. It is called
	// from many goroutines at once.
	OnHandled func(Handled)
	// Wake is what the moments of completion are timed with.
	Wake wake.Source
}

// A Target serves requests at limited capacity. Make it with New, give it a t0 with Start.
// Its methods are safe for concurrent use. Memory is bounded by slots, queue and open
// connections; nothing grows with attempts.
type Target struct {
	cfg    Config
	alarms *wake.Queue
	finish wake.Event // the next completion

	answers responder

	mu      sync.Mutex
	t0      time.Time
	st      *station.Station
	waiting []*exchange // by the tag that the station carries for a job; nil: the client has gone
	origins []origin    // by the tag: what the job is for, whether its client has gone or not
	free    []uint64    // unused places in waiting
	next    time.Duration
	texts   answerTexts
	direct  []Answer        // to clients of a Direct who have not been told
	passed  []passed        // work that is done and of which Config.Behind has not been told
	works   int             // of passed on that are not answered
	ends    []time.Duration // by tag, when the client of a job gives it up; empty where nothing is behind
	started chan struct{}
}

// An exchange is one request that may have to wait for its answer. At most one of out and
// ready is set; neither is where a Direct hands the answer out.
type exchange struct {
	out    sender        // where the answer is written, for a Server
	ready  chan struct{} // closed when there is an answer, for ServeHTTP
	client uint32        // who waits, for a Direct

	// Guarded by the target's lock, but answer once ready is closed.
	pending bool
	answer  station.Admission // its status and hint, for ServeHTTP
	job     station.JobID
	tag     uint64
	work    *Work // where the job is done and what is behind the target is not
}

// An origin says for which operation a request is.
type origin struct {
	client    uint32
	operation int64
}

// served is work for the request that was finished.
func (o origin) served(at time.Duration, wasted bool) Served {
	return Served{At: at, Client: o.client, Operation: o.operation, Wasted: wasted}
}

// A call is one request as it reached the target.
type call struct {
	origin
	attempt int
	timeout time.Duration // how long its client will wait from now on; noTimeout is for ever
}

// noTimeout is longer than any client waits.
const noTimeout time.Duration = math.MaxInt64

// New returns a target that has not started: until Start it answers everything with 200 and
// counts nothing, so that a client can warm its connection up. The error
// lists every fault of the station's configuration.
func New(cfg Config) (*Target, error) {
	if err := errors.Join(cfg.Station.Validate()...); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	cfg.Station.Outages = slices.Clone(cfg.Station.Outages)
	slices.SortFunc(cfg.Station.Outages, func(a, b station.Outage) int { return cmp.Compare(a.From, b.From) })
	st := station.New(cfg.Station, cfg.Service)
	st.SetChance(cfg.Errors)
	return &Target{
		cfg:     cfg,
		st:      st,
		answers: newResponder(),
		next:    -1,
		texts:   newAnswerTexts(&cfg.Station),
		started: make(chan struct{}),
	}, nil
}

// Start sets the moment from which the outage script and every arrival count. Requests
// before it are answered and not counted. It is called once.
func (t *Target) Start(t0 time.Time) error {
	alarms, err := wake.New(t0, t.cfg.Wake)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.t0, t.alarms = t0, alarms
	t.st.SetClock(time.Duration(t0.UnixNano()))
	close(t.started)
	return nil
}

// Run keeps the target's clock until ctx is cancelled: it answers work when it is done. It
// waits for Start, and blocks; a Server calls it, and a user of ServeHTTP runs it in a
// goroutine of its own.
func (t *Target) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { t.answers.run(ctx) })
	select {
	case <-t.started:
	case <-ctx.Done():
		return
	}
	t.alarms.Run(ctx, func([]*wake.Event) {
		t.mu.Lock()
		// Only to the moment of the alarm: arrivals before now may still wait to be read. It may have
		// been set anew, for later than now, while this one waited for the lock.
		t.settle(min(t.finish.Due(), t.alarms.Now()))
		t.unlock()
	})
}

// arrive admits one attempt stamped at the given time. On Accepted, x is pending until the
// work is done or gone is called. The text is the answer to write at once, if there is one.
func (t *Target) arrive(stamp time.Time, c call, x *exchange) (station.Admission, []byte) {
	t.mu.Lock()
	defer t.unlock()
	if t.alarms == nil {
		return station.Admission{Kind: station.Failed, Status: http.StatusOK}, t.texts.served
	}
	adm := t.admit(stamp.Sub(t.t0), c, x)
	if adm.Kind == station.Rejected || adm.Kind == station.Failed {
		return adm, t.texts.text(adm, stamp)
	}
	return adm, nil
}

// admit is arrive at a moment, once the target has started. The caller holds mu.
func (t *Target) admit(now time.Duration, c call, x *exchange) station.Admission {
	t.finishDue(now)
	tag := t.reserve(x, c.origin)
	adm := t.st.ArriveBy(now, tag, c.deadline(now))
	if adm.Kind != station.Refused && t.cfg.OnArrival != nil {
		rejected := adm.Kind == station.Rejected || adm.Kind == station.Failed || adm.Kind == station.Reset
		t.cfg.OnArrival(Arrival{At: now, Client: c.client, Attempt: c.attempt, Rejected: rejected})
	}
	if adm.Kind == station.Accepted {
		x.pending, x.job, x.tag = true, adm.Job, tag
		t.note(tag, c.deadline(now))
	} else {
		t.release(tag)
	}
	t.settle(now) // a token bucket serves at once
	return adm
}

// deadline is when the client of a call that arrives now will have gone.
func (c *call) deadline(now time.Duration) time.Duration {
	if now = max(now, 0); c.timeout < noTimeout-now {
		return now + c.timeout
	}
	return noTimeout
}

// gone says that the client of x left. It does nothing when x waits for no answer.
func (t *Target) gone(x *exchange) {
	t.mu.Lock()
	defer t.unlock()
	if x.pending {
		t.leave(t.alarms.Now(), x)
	}
}

// leave is gone at a moment, for an x that is pending. The caller holds mu.
func (t *Target) leave(now time.Duration, x *exchange) {
	t.finishDue(now)
	if !x.pending {
		return // finished in the same moment
	}
	x.pending = false
	if x.work != nil {
		t.abandon(x)
		return
	}
	t.st.Cancel(now, x.job)
	t.waiting[x.tag] = nil
	if t.cfg.Station.CancelAbandoned {
		t.release(x.tag)
	}
	t.alarm()
}

// settle finishes what is due and sets the alarm for what comes next.
func (t *Target) settle(now time.Duration) {
	t.finishDue(now)
	t.alarm()
}

func (t *Target) finishDue(now time.Duration) {
	for {
		d, ok := t.st.Finish(now)
		if !ok {
			return
		}
		switch {
		case d.Dropped != station.Kept:
			if t.cfg.OnDropped != nil {
				t.cfg.OnDropped(Dropped{At: d.At, Client: t.origins[d.Tag].client, Why: d.Dropped})
			}
		case t.cfg.OnServed != nil && t.cfg.Behind == nil: // else when that has answered
			t.cfg.OnServed(t.origins[d.Tag].served(d.At, d.Abandoned))
		}
		switch x := t.waiting[d.Tag]; {
		case d.Dropped != station.Kept && x != nil:
			t.answer(x, station.Admission{Kind: station.Rejected, Status: t.texts.status, RetryAfter: d.RetryAfter})
		case d.Dropped != station.Kept: // for nobody
		case t.cfg.Behind != nil:
			t.pass(&d)
		case x != nil:
			t.answer(x, station.Admission{Status: http.StatusOK})
		}
		t.release(d.Tag)
	}
}

// answer lets the client of x, who waits, have its answer.
func (t *Target) answer(x *exchange, a station.Admission) {
	x.pending, x.answer = false, a
	switch {
	case x.out != nil:
		text := t.texts.served
		if a.Status != http.StatusOK {
			text = t.texts.text(a, time.Now())
		}
		t.answers.send(x.out, text)
	case x.ready != nil:
		close(x.ready)
	default:
		t.direct = append(t.direct, Answer{x.client, a.Status, a.RetryAfter})
	}
}

// alarm schedules the next completion, if it is another one than before.
func (t *Target) alarm() {
	at, ok := t.st.Next()
	switch {
	case !ok:
		t.next = -1
	case at != t.next:
		t.next = at
		if t.alarms != nil { // a Direct asks for it
			t.alarms.Schedule(&t.finish, at)
		}
	}
}

func (t *Target) reserve(x *exchange, o origin) uint64 {
	if n := len(t.free); n > 0 {
		tag := t.free[n-1]
		t.free = t.free[:n-1]
		t.waiting[tag], t.origins[tag] = x, o
		return tag
	}
	t.waiting, t.origins = append(t.waiting, x), append(t.origins, o)
	return uint64(len(t.waiting) - 1)
}

func (t *Target) release(tag uint64) {
	t.waiting[tag] = nil
	t.free = append(t.free, tag)
}
