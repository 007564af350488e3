package load

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target"
	"stormtest/target/station"
)

// A layer is a service behind the first one, in real time: its target, and the calls that the service before it makes to
// that.
type layer struct {
	*layerTrial
	failed int // the status with which its caller answers where a call has failed
	most   int // connections
	env    Env

	place   Place
	target  *target.Target
	server  *target.Server
	calls   *fleet.Service
	arrived crowd // by connection
	served  bool  // somebody serves by server
	started bool  // calls has started
	stats   fleet.Stats
}

// connectionsFirst is how many connections a service has before it is called, and connectionsMost how many at most, where
// this machine allows so many.
const (
	connectionsFirst = 16
	connectionsMost  = 1 << 14
)

// A chain is the services behind the first one, in the order of the calls; nil where there is none.
type chain []*layer

// newChain returns the services behind the first one, of which nothing is open yet.
func (s *storm) newChain() chain {
	links := s.policy().Chain()
	var c chain
	for i, t := range s.layerTrials() {
		l := &layer{layerTrial: t, failed: links[i].Plan.Status, most: s.connections, env: s.env}
		l.recorder = record.New(l.recording(links, fleet.LostNames))
		c = append(c, l)
	}
	return c
}

// open opens the targets, and what calls them. The caller closes the chain also where that fails.
func (c chain) open() error {
	for i, l := range c {
		if err := l.open(c.behind(i + 1)); err != nil {
			return fmt.Errorf("layer %s: %w", l.link.Name, err)
		}
	}
	return nil
}

// behind is what the service of a number calls when it has done its own work; nil where nothing is behind it.
func (c chain) behind(number int) func(at time.Duration, w *target.Work) {
	if number == len(c) {
		return nil
	}
	return c[number].call
}

func (l *layer) open(behind func(at time.Duration, w *target.Work)) error {
	l.arrived = make(crowd, l.most)
	var err error
	if l.place, err = l.env.Network(); err != nil {
		return err
	}
	l.target, err = target.New(target.Config{
		Station:   l.plan.Station(),
		Service:   seed.Stream(l.plan.Seed.Value, seed.Service, uint32(l.number)),
		Errors:    seed.Stream(l.plan.Seed.Value, seed.Errors, uint32(l.number)),
		OnArrival: l.arrival,
		OnServed:  func(w target.Served) { l.recorder.Served(w.At, w.Wasted) },
		OnFailed:  l.recorder.Rejected,
		OnDropped: l.dropped,
		Behind:    behind,
		Wake:      l.env.Wake,
	})
	if err != nil {
		return err
	}
	if l.server, err = l.target.Listen(l.place.Opener); err != nil {
		return err
	}
	l.calls = fleet.NewService(l.service())
	return nil
}

// service is what calls the layer's target.
func (l *layer) service() fleet.ServiceConfig {
	p, policy := &l.plan, l.link.Policy()
	cfg := fleet.Config{
		Policy:   &policy,
		Budget:   l.budget,
		Breakers: l.breakers,
		Seed:     p.Seed.Value,
		Duration: p.Duration,
		Dial:     l.place.Dial,
		Request: fleet.Request{
			Method: p.Method, Host: l.place.Host, Target: "/", Agent: "stormtest/" + l.env.Version,
			ClientHeader: clientHeader, AttemptHeader: attemptHeader,
		},
		Warm:              true,
		Wake:              l.env.Wake,
		Recorder:          l.recorder,
		Arrived:           l.arrived.of,
		PropagateDeadline: p.PropagateDeadline,
	}
	if p.PropagateDeadline {
		cfg.Request.TimeoutHeader = timeoutHeader
	}
	if p.IdempotencyKey {
		cfg.Request.KeyPrefix = fmt.Sprintf("%016x-%s-%s", p.Seed.Value, l.variant.Name, l.link.Name)
		cfg.Request.KeyShared = true
	}
	return fleet.ServiceConfig{Config: cfg, Layer: uint32(l.number), ConnectionsMost: len(l.arrived), CallsMost: plan.CallsMost}
}

// call makes the call that a request to the service before waits for, and has the request answered. It is that
// service's target.Config.Behind.
func (l *layer) call(at time.Duration, w *target.Work) {
	left := retry.NoLimit
	if ends, ok := w.Deadline(); ok {
		left = ends - at
	}
	if left <= 0 { // nobody will wait for it
		w.Answer(l.failed)
		return
	}
	quit, ok := l.calls.Call(fleet.Demand{Due: at, Left: left, Over: func(succeeded bool) {
		if succeeded {
			w.Answer(http.StatusOK)
		} else {
			w.Answer(l.failed)
		}
	}})
	if !ok {
		w.Answer(l.failed)
		return
	}
	w.Watch(quit)
}

// arrival records what the target saw. It runs under the target's lock.
func (l *layer) arrival(a target.Arrival) {
	l.arrived.note(a)
	l.recorder.Arrival(record.Arrival{At: a.At, Attempt: a.Attempt, Rejected: a.Rejected})
}

// dropped records what the target threw out of its queue. It runs under the target's lock.
func (l *layer) dropped(d target.Dropped) { l.recorder.Dropped(d.At, d.Why == station.Expired) }

// connect opens a few connections of each service to the one behind it, so that the first calls need not.
func (c chain) connect(ctx context.Context) error {
	for _, l := range c {
		if err := l.calls.Connect(ctx, min(len(l.arrived), connectionsFirst)); err != nil {
			return fmt.Errorf("layer %s: %w", l.link.Name, err)
		}
	}
	return nil
}

// start starts the clocks of the targets, and lets the services call, until ctx ends.
func (c chain) start(ctx context.Context, t0 time.Time) error {
	for _, l := range c {
		if err := l.target.Start(t0); err != nil {
			return err
		}
		if err := l.calls.Start(ctx, t0); err != nil {
			return err
		}
		l.started = true
	}
	return nil
}

// settle waits until nothing is under way at the first service and behind it, for clients who have gone, or until end.
func (c chain) settle(ctx context.Context, first *target.Target, end time.Time) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for (first.Busy() || c.busy()) && time.Now().Before(end) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c chain) busy() bool {
	return slices.ContainsFunc(c, func(l *layer) bool { return l.calls.Busy() > 0 || l.target.Busy() })
}

// wait returns when the services have ended, after start's context has, and their targets have read what was sent.
func (c chain) wait() {
	for _, l := range c {
		if l.started {
			l.stats = l.calls.Wait()
		}
	}
	for _, l := range c {
		l.arrived.drain(l.stats)
	}
}

// servers are what the chain's targets are served by.
func (c chain) servers() []*target.Server {
	var list []*target.Server
	for _, l := range c {
		list = append(list, l.server)
		l.served = true
	}
	return list
}

// close closes what is open.
func (c chain) close() {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, l := range c {
		if l.server != nil && !l.served {
			_ = l.server.Serve(ended) // which closes its listener
		}
		if l.calls != nil {
			l.calls.Close()
		}
		if l.place.Close != nil {
			_ = l.place.Close()
		}
	}
}

// measured puts what was measured of each service behind the first one into the run of the clients, and returns why it is
// not to be believed.
func (c chain) measured(front *record.Run) (reasons []string) {
	trials, runs := make([]*layerTrial, len(c)), make([]record.Run, len(c))
	for i, l := range c {
		l.arrived.book(l.recorder, l.stats)
		runs[i] = l.summarise(record.End{
			At:          front.Duration,
			InFlight:    l.stats.InFlight,
			Unfinished:  l.stats.Unfinished,
			Unstarted:   l.stats.Unstarted,
			Connections: l.stats.Connections,
			TimerSource: l.stats.TimerSource,
			Hedging:     hedged(l.link.Plan, l.stats.Hedging),
		})
		if n := l.stats.Unstarted; n > 0 {
			front.Notes = append(front.Notes, callsOver(n, l.link.Name))
		}
		trials[i] = l.layerTrial
		for _, reason := range slices.Concat(record.Validity(runs[i]), exhaustion(l.stats)) {
			reasons = append(reasons, "layer "+l.link.Name+": "+reason)
		}
	}
	layersOf(front, trials, runs)
	return reasons
}
