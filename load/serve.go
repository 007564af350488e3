package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/seed"
	"stormtest/target"
	"stormtest/target/station"
)

// Outside is the strategy of a run whose clients are not ours.
const Outside = "outside"

// A Service is how the target is served to clients that are not ours.
type Service struct {
	Opener target.Opener
	// AtOnce starts the run, and with it the outage script, when Serve is called instead of at the
	// first request.
	AtOnce bool
	// OpenEnd says that the plan's duration is only the longest: ctx ends the run, and what was
	// quiet before that is left out of the report.
	OpenEnd bool
	// KeyHeader is the header that stays the same in every attempt of an operation; empty means
	// target.KeyHeader.
	KeyHeader string
	// Kernel says that Opener's listeners are the kernel's, whose drops of handshakes are then watched.
	Kernel bool
}

// serviceFields are the fields of a plan that a Service reads, beside those of the target, the
// record and the gates.
var serviceFields = []string{"base", "duration", "propagate-deadline", "seed"}

// ServiceFields returns the fields of a plan that a Service reads. Of the clients it wants their
// base delay, which says when they are judged, and whether they tell how much time they have left.
func ServiceFields() []plan.Field {
	return slices.DeleteFunc(plan.Fields(), func(f plan.Field) bool {
		return f.Name == "layer" || !slices.Contains([]plan.Group{plan.Target, plan.Record, plan.Gates}, f.Group) && !slices.Contains(serviceFields, f.Name)
	})
}

// Serve serves the plan's target to clients that are not ours until the plan's duration is over or
// ctx is cancelled, and returns what arrived as a result of one run. The plan must be valid and
// have a seed; of it, ServiceFields count, and what CheckService refuses is an error.
//
// What only clients know has no value in the result. A request that carries nothing by which
// target.Attempts knows its number counts as a retry from the first failure of the run on, and as a
// first attempt before that: a note of the result says how many were so. The result is marked
// interrupted where ctx ended it before a duration that was asked for, and where the reader of a pipe
// that Trace or HLog writes to has gone, which ends it too.
func Serve(ctx context.Context, p plan.Plan, c Service, env Env) (*record.Result, error) {
	var listen listenWatch
	if c.Kernel {
		listen.read = readListenDrops
	}
	return serve(ctx, p, c, env, listen)
}

// errReaderGone is why a run ends whose trace or log nobody reads any more.
var errReaderGone = errors.New("whoever read the trace or the log has gone")

// serve is Serve with what tells the kernel's drops.
func serve(ctx context.Context, p plan.Plan, c Service, env Env, listen listenWatch) (*record.Result, error) {
	if !p.Seed.Set {
		panic("load: BUG: a plan without a seed")
	}
	if err := CheckService(p); err != nil {
		return nil, err
	}
	p = servicePlan(p)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	abandon := func() { cancel(errReaderGone) }
	trace, stopTrace := startTracer(ctx, env.Trace, abandon)
	defer stopTrace()
	s := &service{
		plan: p, config: c, env: env, trace: trace, listen: listen,
		attempts: target.NewAttempts(c.KeyHeader, 0),
		started:  make(chan struct{}),
		failure:  never,
		statuses: make(map[int]int64),
	}
	result := &record.Result{
		Schema:         record.Schema,
		Tool:           record.Tool{Version: env.Version},
		Plan:           servicePlanText(p),
		PlanHash:       p.Hash(),
		Seed:           p.Seed.Value,
		StartedAt:      time.Now().UTC().Truncate(time.Millisecond),
		Valid:          true,
		InvalidReasons: []string{},
		Gates:          []record.Gate{},
	}
	s.log = newHLogger(env.HLog, result, abandon)
	run, err := s.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("load: serve: %w", err)
	}
	result.Interrupted = s.interrupted(ctx)
	run.Whole = !result.Interrupted
	s.shown.end(&run)
	result.Runs = []record.Run{run}
	env.finished(run)
	result.InvalidReasons = append(result.InvalidReasons, s.listen.reasons()...)
	result.Valid = len(result.InvalidReasons) == 0
	return result, errors.Join(s.log.done(!result.Interrupted), trace.flush())
}

// CheckService returns what no Service can do of a valid plan, as [plan.Plan.For] says it of ServiceFields.
//
// A Service has no clients to read a scenario's fleet for, and passes it over; but a network in between, or more
// seeds than one, would be other figures than asked for.
func CheckService(p plan.Plan) error {
	own := servicePlan(p)
	own.Latency, own.LossShare = p.Latency, p.LossShare
	err := own.For(plan.Real)
	if p.Repeat > 1 {
		err = errors.Join(err, &plan.FieldError{Field: "repeat", Got: strconv.Itoa(p.Repeat), Want: "1 of a service: its clients are not ours to begin again"})
	}
	if f, _ := plan.FieldNamed("layer"); len(p.Layers) > 0 {
		err = errors.Join(err, &plan.FieldError{Field: f.Name, Got: fmt.Sprint(f.Get(&p)), Want: "none of a service: it answers by itself"})
	}
	return err
}

// servicePlan returns p with the default in every field that a Service does not read.
func servicePlan(p plan.Plan) plan.Plan {
	own := plan.Default()
	for _, f := range ServiceFields() {
		if err := f.Set(&own, f.Get(&p)...); err != nil {
			panic("load: BUG: a plan that is not valid: " + err.Error())
		}
	}
	return own
}

// servicePlanText is the plan's JSON with the fields that a Service reads: a scenario file too.
func servicePlanText(p plan.Plan) json.RawMessage {
	var all map[string]json.RawMessage
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic("load: BUG: a plan without JSON: " + err.Error())
	}
	var b bytes.Buffer
	separator := byte('{')
	for _, f := range ServiceFields() {
		b.WriteByte(separator)
		separator = ','
		fmt.Fprintf(&b, "%q:%s", f.Name, all[f.Name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// never is later than any moment of a run.
const never time.Duration = 1<<63 - 1

// A service is the run of one target for clients that are not ours.
type service struct {
	plan     plan.Plan
	config   Service
	env      Env
	trace    *tracer
	log      *hlogger
	recorder *record.Recorder
	tgt      *target.Target
	server   *target.HTTPServer
	attempts *target.Attempts
	listen   listenWatch // from the start to the end

	starting sync.Mutex
	closed   bool          // no request starts the run any more
	started  chan struct{} // closed once t0 and startErr are set
	t0       time.Time
	startErr error

	// Written under the target's lock.
	last    atomic.Int64 // the moment in ns that something arrived or was finished
	unknown atomic.Int64

	shown shown

	mu         sync.Mutex    // may be taken under the target's lock, not the other way round
	failure    time.Duration // the first sign that the clients fail; never so far
	stopping   bool
	statuses   map[int]int64
	resets     int64
	left       int64 // clients that had gone
	unanswered int64
}

// run opens the target, serves until the end, and closes it.
func (s *service) run(ctx context.Context) (record.Run, error) {
	s.recorder = record.New(s.recording())
	for _, o := range s.plan.Outages {
		s.fail(o.From)
	}
	var err error
	s.tgt, err = target.New(target.Config{
		Station:   s.plan.Station(),
		Service:   seed.Stream(s.plan.Seed.Value, seed.Service, 0),
		Errors:    seed.Stream(s.plan.Seed.Value, seed.Errors, 0),
		OnArrival: s.arrival,
		OnServed:  s.served,
		OnDropped: s.dropped,
		OnHandled: s.handled,
		Attempts:  s.attempts,
		Wake:      s.env.Wake,
	})
	if err != nil {
		return record.Run{}, err
	}
	s.server, err = s.tgt.ListenHTTP(s.config.Opener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.start()
		s.tgt.ServeHTTP(w, r)
	}))
	if err != nil {
		return record.Run{}, err
	}
	if s.config.AtOnce {
		s.start()
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(serving) }()
	end, err := s.wait(ctx, served)
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	stop()
	if err == nil {
		err = <-served
	}
	if err != nil {
		return record.Run{}, err
	}
	s.listen.ended()
	run := s.summarise(end)
	if s.hasStarted() { // else nothing came, and the log has no run
		s.log.end(s.recorder, &run, s.interrupted(ctx))
	}
	return run, s.startErr
}

// interrupted says that a signal came before the end of a duration that was asked for, or that a reader
// has gone.
func (s *service) interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && (!s.config.OpenEnd || errors.Is(context.Cause(ctx), errReaderGone))
}

// start begins the run, once, unless the service is over before it began.
func (s *service) start() {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.closed || s.hasStarted() {
		return
	}
	s.listen.begin()
	s.t0 = time.Now()
	s.startErr = s.tgt.Start(s.t0)
	if s.env.Progress != nil {
		s.env.Progress(Stage{
			Count: 1, Strategy: Outside, Start: s.t0, Duration: s.plan.Duration,
			Totals: s.recorder.Totals, Outside: true,
			Bucket: s.plan.Bucket, CapacityPerSecond: &s.plan.CapacityPerSecond, Arrivals: s.recorder.Ticks,
			Interim: s.shown.interim(s.interim),
		})
	}
	close(s.started)
}

func (s *service) hasStarted() bool {
	select {
	case <-s.started:
		return true
	default:
		return false
	}
}

// close makes start do nothing from now on, and reports whether the run has begun before.
func (s *service) close() bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.closed = true
	return s.hasStarted()
}

// wait returns when the run is over, and its length; or the error of a server that has ended.
func (s *service) wait(ctx context.Context, served <-chan error) (time.Duration, error) {
	select {
	case <-s.started:
	case <-ctx.Done():
		if !s.close() {
			return 0, nil
		}
	case err := <-served:
		return 0, errors.Join(err, errEnded)
	}
	if s.startErr != nil {
		return 0, nil // run tells it
	}
	stopLog := s.startLog(ctx)
	defer stopLog()
	timer := time.NewTimer(time.Until(s.t0.Add(s.plan.Duration)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.plan.Duration, nil
	case <-ctx.Done():
		return time.Since(s.t0), nil
	case err := <-served:
		return 0, errors.Join(err, errEnded)
	}
}

// startLog begins the histogram log and writes it as the run goes on, until stop is called.
func (s *service) startLog(ctx context.Context) (stop func()) {
	capacity := s.plan.CapacityPerSecond
	run := record.HLogRun{
		Strategy: Outside, Engine: record.EngineReal, ArrivalsMeasuredAt: "target",
		Planned: s.plan.Duration, Bucket: s.plan.Bucket, CapacityPerSecond: &capacity,
	}
	if s.config.OpenEnd {
		run.Planned = 0
	}
	logging, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.log.follow(logging, s.t0, run, s.recorder) })
	return func() {
		cancel()
		wg.Wait()
	}
}

var errEnded = errors.New("the server ended by itself")

// fail takes note of a sign that the clients fail, and returns the moment of the first one before it.
func (s *service) fail(at time.Duration) (before time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.failure
	s.failure = min(s.failure, at)
	return before
}

// arrival records what the target saw. It runs under the target's lock.
func (s *service) arrival(a target.Arrival) {
	r := record.Arrival{At: a.At, Attempt: a.Attempt, Rejected: a.Rejected}
	sign := never
	if a.Rejected || a.Attempt > 0 {
		sign = a.At
	}
	failure := s.fail(sign)
	if a.Attempt == target.UnknownAttempt {
		s.unknown.Add(1)
		r.Unknown, r.Attempt = true, 0
		if a.At >= failure {
			r.Attempt = 1
		}
	}
	s.happened(a.At)
	s.recorder.Arrival(r)
}

// served is told of finished work under the target's lock.
func (s *service) served(w target.Served) {
	s.happened(w.At)
	s.recorder.Served(w.At, w.Wasted)
}

// dropped is told of what was thrown out of the queue under the target's lock. To the clients it is a failure.
func (s *service) dropped(d target.Dropped) {
	s.happened(d.At)
	s.fail(d.At)
	s.recorder.Dropped(d.At, d.Why == station.Expired)
}

// happened takes note of a moment, under the target's lock.
func (s *service) happened(at time.Duration) { s.last.Store(max(s.last.Load(), int64(at))) }

// handled counts what a request got.
func (s *service) handled(h target.Handled) {
	if !h.Counted {
		return
	}
	outcome, now := "", time.Since(s.t0)
	s.mu.Lock()
	switch {
	case h.Status != 0:
		s.statuses[h.Status]++
	case h.Reset:
		s.resets++
		outcome = answerReset
	case s.stopping:
		s.unanswered++
	default:
		s.left++
		s.failure = min(s.failure, now) // a timeout, as far as anybody here can tell
		outcome = answerGone
	}
	s.mu.Unlock()
	if s.trace != nil {
		s.trace.writeOutside(h, now, outcome)
	}
}

// What an arrival got that got no status.
const (
	answerReset = "reset"
	answerGone  = "client_gone"
)

// recording says over which windows the run is measured.
func (s *service) recording() record.Config {
	p := s.plan
	capacity := p.CapacityPerSecond
	c := record.Config{Bucket: p.Bucket, Duration: p.Duration, CapacityPerSecond: &capacity, Detail: true, Shards: 1, Drops: p.Drops()}
	for _, o := range p.Outages {
		c.Triggers = append(c.Triggers, record.Trigger{From: o.From, To: o.To})
	}
	return c
}

// summarise returns the run of the given length. Nothing records any more.
func (s *service) summarise(length time.Duration) record.Run {
	e := s.end(length)
	if quiet := s.quietFrom(e.WindowTo); s.config.OpenEnd && quiet < length {
		e.At = quiet
		e.Notes = append(e.Notes, fmt.Sprintf("nothing arrived in the last %v before the end, which are left out", (length-quiet).Round(time.Millisecond)))
	}
	e.Notes = append(e.Notes, s.notes(*e.Outside)...)
	return s.recorder.Summarise(e)
}

// interim returns what is known of the run while it goes on.
func (s *service) interim() record.Run {
	return s.recorder.Interim(s.end(min(max(time.Since(s.t0), 0), s.plan.Duration)))
}

// end is what is known at the given moment beside what was recorded.
func (s *service) end(at time.Duration) record.End {
	s.mu.Lock()
	o := record.Outside{Answers: map[string]int64{}, Unanswered: s.unanswered, Unknown: s.unknown.Load()}
	for status, n := range s.statuses {
		o.Answers[strconv.Itoa(status)] = n
	}
	for name, n := range map[string]int64{answerReset: s.resets, answerGone: s.left} {
		if n > 0 {
			o.Answers[name] = n
		}
	}
	s.mu.Unlock()
	e := record.End{
		At: at, Strategy: Outside, Engine: record.EngineReal, ArrivalsMeasuredAt: "target",
		Connections: s.server.Connections(), Outside: &o,
	}
	if failure := s.fail(never); failure < at {
		o.Failure = &failure
		e.WindowFrom, e.WindowTo = s.window(failure, at)
	}
	return e
}

// window is the standard window of the convoy index, as it lies after the first failure.
func (s *service) window(failure, length time.Duration) (from, to time.Duration) {
	p := s.plan
	p.Duration = length
	p.Outages = []station.Outage{{From: failure}}
	return p.ConvoyWindow()
}

// quietFrom is the end of the bucket in which something happened last, and not before the end of
// the window.
func (s *service) quietFrom(windowTo time.Duration) time.Duration {
	last := time.Duration(s.last.Load())
	return max(last-last%s.plan.Bucket+s.plan.Bucket, windowTo)
}

// notes is what a reader of this run must know beside its figures.
func (s *service) notes(o record.Outside) []string {
	var notes []string
	if unknown := s.unknown.Load(); unknown > 0 {
		rest := "as the run had no failure, all are taken for first attempts"
		if o.Failure != nil {
			rest = fmt.Sprintf("those from the first failure on, at %v, are taken for retries, those before it for first attempts",
				o.Failure.Round(time.Millisecond))
		}
		notes = append(notes, fmt.Sprintf("%d of the arrivals carried nothing that tells a retry from a first attempt (no attempt counter, no key such as %s): %s",
			unknown, target.KeyHeader, rest))
	}
	if o.Failure != nil {
		notes = append(notes, fmt.Sprintf("judged from 10 to 100 times the base delay after the first failure (an outage, a refusal, a client that left first or a known retry), with a base of %v: --base says what the clients' own is", s.plan.Base))
	}
	if n := s.attempts.Forgotten(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d keys of operations were forgotten to make room: a later retry of theirs was taken for a first attempt", n))
	}
	return slices.Concat(notes, s.listen.notes(), s.plan.Warnings())
}
