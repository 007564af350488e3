package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/load/seed"
	"stormtest/target/wake"
)

// A Service calls a target for others: what a client is, but that its operations come from outside, and as many at a
// time as there are. Each is a call; all follow one policy and, for a service is one process, share one budget. An attempt
// goes over a connection that is idle, or over a new one, and a call that sleeps holds none.
//
// Connect, Start, Wait and Close are called in this order, once each, and Call after Start.
type Service struct {
	f    Fleet
	cfg  ServiceConfig
	pool pool
	wg   sync.WaitGroup // lanes
	// chance and hint are what all calls draw from.
	chance, hint *rand.Rand
	serial       atomic.Int64 // of calls, so that each has a key of its own
	// engine is of the dispatchers, which stop when clock does.
	engine    sync.WaitGroup
	stopClock func()
	called    func() // waits until all has been told of the end

	// gate is held by who begins a call, so that none begins once the calls under way are counted.
	gate   sync.RWMutex
	closed bool

	mu    sync.Mutex
	calls []*call
	free  []*call
	full  int64
}

// A ServiceConfig says what a Service is. Of the Config it uses neither clients nor operations, and of Budget the
// first account, which is the service's. A client is, in Dial and in Arrived, the number of a connection.
type ServiceConfig struct {
	Config
	Layer           uint32 // the number of the layer that is called, 1 the first, for the streams of chance
	ConnectionsMost int
	CallsMost       int // under way at a time
}

// A Demand is a call that a Service is to make.
type Demand struct {
	Due time.Duration
	// Left is how long from Due on somebody waits for it; retry.NoLimit is for ever.
	Left time.Duration // above 0
	// Over is told how it ended, without any lock; never where the run ends first.
	Over func(succeeded bool)
}

// NewService returns a service that has no connections yet.
func NewService(cfg ServiceConfig) *Service {
	s := &Service{f: Fleet{cfg: cfg.Config}, cfg: cfg}
	s.f.service = s
	s.pool.most = cfg.ConnectionsMost
	s.chance = rand.New(&sharedSource{source: seed.Stream(cfg.Seed, seed.LayerDelay, cfg.Layer)})
	s.hint = rand.New(&sharedSource{source: seed.Stream(cfg.Seed, seed.LayerHint, cfg.Layer)})
	return s
}

// A sharedSource is chance for calls that decide side by side.
type sharedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *sharedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}

// Connect opens so many connections, of which each exchanges one request with the target, which must not count it.
func (s *Service) Connect(ctx context.Context, connections int) error {
	for i := range min(connections, s.pool.most) {
		conn, err := s.f.dial(ctx, i)
		if err != nil {
			return fmt.Errorf("fleet: open connection %d of %d: %w", i+1, connections, err)
		}
		c := s.f.lane(&s.pool, i)
		c.adopt(conn)
		s.pool.lanes = append(s.pool.lanes, c)
		if err := c.warm(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Start makes the service ready for calls, whose moments count from t0. When ctx ends what is under way is broken off.
func (s *Service) Start(ctx context.Context, t0 time.Time) error {
	queue, err := wake.New(t0, s.f.cfg.Wake)
	if err != nil {
		return err
	}
	s.f.t0, s.f.queue = t0, queue
	clock, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stopClock = stop
	s.f.dispatch(clock, &s.engine)
	s.pool.open = func(before int, t *try) *client {
		c := s.f.lane(&s.pool, before)
		t.lane = c
		s.wg.Go(func() {
			wake.GrowStack(c.id)
			c.serve(ctx, t)
		})
		return c
	}
	for _, c := range s.pool.lanes {
		s.wg.Go(func() { c.serve(ctx, nil) })
	}
	s.called = s.f.stopWith(ctx)
	return nil
}

// Call makes a call, and returns what breaks it off: that does nothing once the call has ended. It is false where so
// many are under way that there may be no more, and then the call is not made; nor is one after the end of the run.
func (s *Service) Call(d Demand) (quit func(), ok bool) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return func() {}, true
	}
	k := s.take()
	if k == nil {
		return nil, false
	}
	k.mu.Lock()
	defer k.unlock()
	operation := s.serial.Add(1) - 1
	k.operation = operation
	k.answer = d.Over
	k.begin(d.Due, d.Left)
	k.arm(d.Due, nil)
	return func() { s.quit(k, operation) }, true
}

// take returns a call that is not under way; nil where there may be no more.
func (s *Service) take() *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		k := s.free[last]
		s.free = s.free[:last]
		return k
	}
	if len(s.calls) == s.cfg.CallsMost {
		s.full++
		return nil
	}
	k := &call{f: &s.f, pool: &s.pool, id: len(s.calls), over: s.over}
	k.ev.ID = k.id
	k.judge.Init(s.f.cfg.Policy, s.chance, s.hint)
	k.bind(0)
	s.calls = append(s.calls, k)
	return k
}

// call returns the one of an event.
func (s *Service) call(id int) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// over takes back a call whose operation has ended. The caller holds its lock.
func (s *Service) over(k *call, end ended) *try {
	answer := k.answer
	k.told = func() { answer(end.succeeded) }
	s.put(k)
	return nil
}

func (s *Service) put(k *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, k)
}

// quit breaks a call off.
func (s *Service) quit(k *call, operation int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.begun || k.operation != operation {
		return
	}
	k.breakOff(s.f.now())
	s.put(k)
}

// Busy is how many calls are under way.
func (s *Service) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls) - len(s.free)
}

// Wait returns when everything has ended, after Start's context has.
func (s *Service) Wait() Stats {
	s.called()
	s.wg.Wait()
	end := min(max(s.f.now(), 0), s.f.cfg.Duration)
	s.stopClock()
	s.engine.Wait() // the dispatchers count too
	for _, k := range s.calls {
		if k.stop(end) {
			s.f.unfinished.Add(1)
		}
	}
	stats := s.f.stats(end)
	stats.Hedging = hedged(s.calls)
	stats.Unstarted = s.full
	for _, c := range s.pool.lanes {
		stats.Sent = append(stats.Sent, c.attempts)
		stats.Lost = append(stats.Lost, c.lost)
		stats.Resets = append(stats.Resets, c.resets)
	}
	return stats
}

// Close closes every connection.
func (s *Service) Close() {
	for _, c := range s.pool.lanes {
		c.hangUp()
	}
}

// stopAll ends every wait of the lanes.
func (s *Service) stopAll() {
	s.gate.Lock()
	s.closed = true
	s.gate.Unlock()
	s.f.stopped.Store(true)
	s.pool.stop()
}
