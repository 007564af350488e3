package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target"
	"stormtest/target/station"
)

// A storm is the run of one variant of the plan against one target.
type storm struct {
	trial
	env   Env
	trace *tracer
	log   *hlogger
	index int // of the variant, of count
	count int
	seed  int        // how many seeds after the plan's
	site  *elsewhere // nil: the built-in target
	rest  []string   // notes on whether the target was at rest before
	shown *shown

	chain       chain
	connections int // of each service of the chain, at most
	arrived     crowd
	listen      listenWatch
}

// run lets a fleet meet its target.
func (s *storm) run(ctx context.Context) (record.Run, []string, error) {
	s.newBank()
	s.shown = new(shown)
	switch {
	case s.site != nil:
		return s.runElsewhere(ctx)
	case s.plan.Transport == plan.TransportMemory:
		return s.runInMemory(ctx)
	}
	return s.runBuiltIn(ctx)
}

// target returns the built-in target, which tells s what it sees.
func (s *storm) target() (*target.Target, error) {
	s.record()
	s.arrived = make(crowd, s.plan.Clients)
	if s.plan.Transport == plan.TransportMemory || s.plan.IdempotencyKey { // else no request says which operation it is of
		s.countEffects()
	}
	return target.New(target.Config{
		Station:   s.plan.Station(),
		Service:   seed.Stream(s.plan.Seed.Value, seed.Service, 0),
		Errors:    seed.Stream(s.plan.Seed.Value, seed.Errors, 0),
		OnArrival: s.arrival,
		OnServed:  s.served,
		OnFailed:  s.recorder.Rejected,
		OnDropped: s.dropped,
		Behind:    s.chain.behind(0),
		Wake:      s.env.Wake,
	})
}

// runBuiltIn opens a target and a fleet, lets them meet, and closes both.
func (s *storm) runBuiltIn(ctx context.Context) (record.Run, []string, error) {
	place, err := s.env.Network()
	if err != nil {
		return record.Run{}, nil, err
	}
	defer func() { _ = place.Close() }()
	s.chain = s.newChain()
	defer s.chain.close()
	if err := s.chain.open(); err != nil {
		return record.Run{}, nil, err
	}
	tgt, err := s.target()
	if err != nil {
		return record.Run{}, nil, err
	}
	server, err := tgt.Listen(place.Opener)
	if err != nil {
		return record.Run{}, nil, err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	running, fail := context.WithCancel(ctx)
	defer fail()
	servers := append(s.chain.servers(), server)
	served := make([]error, len(servers))
	for i, server := range servers {
		wg.Go(func() {
			if served[i] = server.Serve(serving); served[i] != nil {
				fail() // a storm against nothing measures nothing
			}
		})
	}
	stats, err := s.release(running, tgt, place)
	stop()
	wg.Wait()
	if err = errors.Join(append(served, err)...); err != nil {
		return record.Run{}, nil, err
	}
	s.arrived.book(s.recorder, stats)
	run := s.summarise(stats, s.notes(stats.Unstarted))
	s.log.end(s.recorder, &run, ctx.Err() != nil)
	others := s.chain.measured(&run)
	return run, slices.Concat(record.Validity(run), exhaustion(stats), s.listen.reasons(), others), nil
}

// summarise returns what was measured.
func (s *storm) summarise(stats fleet.Stats, notes []string) record.Run {
	s.cuts = make([]cut, len(stats.Parts))
	for i, x := range stats.Parts {
		s.cuts[i] = cut{inFlight: x.InFlight, unfinished: x.Unfinished, connections: x.Connections, replayed: x.Replayed}
	}
	run := s.trial.summarise(record.End{
		At:          stats.End,
		InFlight:    stats.InFlight,
		Unfinished:  stats.Unfinished,
		Unstarted:   stats.Unstarted,
		Connections: stats.Connections,
		Replayed:    stats.Replayed,
		TimerSource: stats.TimerSource,
		Hedging:     hedged(s.policy(), stats.Hedging),
		Notes:       append(notes, s.listen.notes()...),
	})
	run.Notes = append(run.Notes, clockNotes(&s.plan, &run)...)
	return run
}

// record makes the recorders of the run.
func (s *storm) record() {
	c := s.recording(fleet.LostNames)
	s.recorder = record.New(c)
	s.split(c, nil)
}

// interim returns what is known of the run while it goes on.
func (s *storm) interim(t0 time.Time) record.Run {
	return s.recorder.Interim(record.End{
		At:       min(max(time.Since(t0), 0), s.plan.Duration),
		Strategy: s.variant.Name, Engine: s.engine, ArrivalsMeasuredAt: s.measuredAt,
	})
}

// release lets the fleet storm the target of this process, from one t0 for both, and returns
// when the fleet is done and the target has read what was sent.
func (s *storm) release(ctx context.Context, tgt *target.Target, place Place) (fleet.Stats, error) {
	cfg := s.fleet()
	cfg.Dial = place.Dial
	cfg.Request.Host = place.Host
	cfg.Request.Target = "/"
	cfg.Warm = true
	if cfg.Policy.Hedge.Most == 0 { // else nobody knows which of a client's attempts an arrival is
		cfg.Arrived = s.arrived.of
	}
	if err := s.chain.connect(ctx); err != nil {
		return fleet.Stats{}, err
	}
	calling, hangUp := context.WithCancel(ctx)
	defer hangUp()
	var t0 time.Time
	stats, err := s.meet(ctx, cfg, func(start time.Time) error {
		t0 = start
		return errors.Join(s.chain.start(calling, t0), tgt.Start(t0))
	})
	if err == nil && s.chain != nil {
		s.chain.settle(ctx, tgt, t0.Add(s.plan.Duration))
		stats.End = min(max(time.Since(t0), 0), s.plan.Duration)
	}
	hangUp()
	s.chain.wait()
	if err == nil {
		s.arrived.drain(stats)
	}
	return stats, err
}

// meet connects a fleet, calls start with the t0, and returns when the fleet is done.
func (s *storm) meet(ctx context.Context, cfg fleet.Config, start func(t0 time.Time) error) (fleet.Stats, error) {
	f := fleet.New(cfg)
	defer f.Close()
	s.listen.begin()
	if err := f.Connect(ctx); err != nil {
		return fleet.Stats{}, err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	logging, stop := context.WithCancel(ctx)
	defer stop()
	stats, err := f.Run(ctx, func(t0 time.Time) error {
		s.listen.started()
		s.begin(logging, &wg, t0)
		return start(t0)
	})
	s.listen.ended()
	return stats, err
}

// begin tells who wants to know that the run begins. What it starts in wg ends with ctx.
func (s *storm) begin(ctx context.Context, wg *sync.WaitGroup, t0 time.Time) {
	wg.Go(func() { s.log.follow(ctx, t0, s.logged(), s.recorder) })
	if s.env.Progress != nil {
		s.env.Progress(Stage{
			Index: s.index, Count: s.count, Strategy: s.variant.Name, Seed: s.seed, Seeds: s.plan.Repeat,
			Start: t0, Duration: s.plan.Duration, Operations: s.plan.OperationsTotal(),
			Totals: s.recorder.Totals,
			Bucket: s.plan.Bucket, CapacityPerSecond: s.capacity, Arrivals: s.recorder.Ticks,
			Interim: s.shown.interim(func() record.Run { return s.interim(t0) }),
		})
	}
}

// exhaustion says in words what this machine ran out of.
func exhaustion(stats fleet.Stats) []string {
	var reasons []string
	if stats.Barred > 0 {
		reasons = append(reasons, fmt.Sprintf("%d connections could not be opened because this machine has no route to the target, or its permissions or firewall do not allow it", stats.Barred))
	}
	if stats.Exhausted == 0 {
		return reasons
	}
	return append(reasons, fmt.Sprintf("%d connections could not be opened because this machine ran out of descriptors or ports; fewer clients, or higher limits, would fit", stats.Exhausted))
}

// arrival records what the target saw. It runs under the target's lock.
func (s *storm) arrival(a target.Arrival) {
	s.recorder.ArrivalOf(a.Client, record.Arrival{At: a.At, Attempt: a.Attempt, Opening: s.arrived.note(a), Rejected: a.Rejected})
}

// dropped records what the target threw out of its queue. It runs under the target's lock.
func (s *storm) dropped(d target.Dropped) {
	s.recorder.DroppedOf(d.Client, d.At, d.Why == station.Expired)
}

// served records what the target has finished. It runs under the target's lock.
func (s *storm) served(w target.Served) {
	s.recorder.ServedOf(w.Client, w.At, w.Wasted)
	if s.effects != nil && w.At < s.plan.Duration {
		s.effects.Done(w.Client, w.Operation)
	}
}

// fleet is what a fleet is and does, but for its way to the target.
func (s *storm) fleet() fleet.Config {
	p, own := s.plan, s.policy()
	policy := own.Policy(own.Strategies[0])
	cfg := fleet.Config{
		Clients:    p.Clients,
		Policy:     &policy,
		Budget:     s.budget,
		Breakers:   s.breakers,
		Mixture:    s.mixture(),
		Seed:       p.Seed.Value,
		SharedSeed: p.SharedSeed,
		Operations: p.OperationsTotal(),
		Ramp:       p.Ramp,
		Duration:   p.Duration,
		Request: fleet.Request{
			Method: own.Method,
			Agent:  "stormtest/" + s.env.Version,

			ClientHeader:  clientHeader,
			AttemptHeader: attemptHeader,
		},
		Wake:     s.env.Wake,
		Recorder: s.recorder,

		PropagateDeadline: p.PropagateDeadline,
	}
	if p.PropagateDeadline {
		cfg.Request.TimeoutHeader = timeoutHeader
	}
	if own.IdempotencyKey {
		cfg.Request.KeyPrefix = fmt.Sprintf("%016x-%s", p.Seed.Value, s.variant.Name)
	}
	if s.trace != nil {
		cfg.Trace = func(row retry.Row) { s.trace.write(s.policyOf(row.Client), row) }
	}
	if p.RatePerSecond > 0 {
		cfg.Open = pace.NewSchedule(p.Schedule(), seed.Stream(p.Seed.Value, seed.Arrivals, 0))
	}
	return cfg
}
