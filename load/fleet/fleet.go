// Package fleet runs the clients in real time: one goroutine a client, one connection each,
// all of them released from one barrier and each following its policy over real sockets.
//
// What keeps the fleet from synchronising itself, or from blaming the target for its own
// slowness, is here: connections are opened before t0; requests leave from a dispatcher that
// wakes finer than the runtime's timers (wake) and writes to the sockets itself, so that no
// goroutine has to be scheduled first; every attempt is timed from when it was due, and how
// late it left is recorded.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"stormtest/load/pace"
	"stormtest/load/record"
	"stormtest/load/remote"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/target/wake"
)

// The ways in which an attempt is lost on its way to the target, as indices into LostNames.
const (
	lostRefused = iota
	lostConnectTimeout
	lostConnectFailed
	LostReset // for the caller: reset, and never seen by the target
	lostConnecting
	lostTLSFailed
	lostNoDescriptor
	lostNoPort
	lostLocalNetwork
	lostLookup
	lostGivenUp
	LostUnread // for the caller: sent, and never read by the target until it stopped; of a target that is not ours, not even taken
)

// LostNames are the keys of the books' lost, for record.Config.
var LostNames = []string{
	lostRefused:        "refused",
	lostConnectTimeout: "connect_timeout",
	lostConnectFailed:  "connect_failed",
	LostReset:          "reset_before_arrival",
	lostConnecting:     "connecting_at_end",
	lostTLSFailed:      "tls_failed",
	lostNoDescriptor:   "local_descriptors",
	lostNoPort:         "local_ports",
	lostLocalNetwork:   "local_network",
	lostLookup:         "dns",
	lostGivenUp:        "given_up_connecting",
	LostUnread:         "unread_at_end",
}

// A Config says what the fleet is and does. Fields without a stated zero must be set.
type Config struct {
	Clients int
	Policy  *retry.Policy
	// Budget holds the accounts that the clients' retries need; nil is no budget.
	Budget *budget.Bank
	// Breakers are what every attempt must pass; nil is none.
	Breakers *breaker.Bank
	// Mixture, where set, is the fleet: its parties have the place of Policy, Budget and Breakers. A recorder that is split
	// must be split as it is.
	Mixture *retry.Mixture
	// Seed is the run's; SharedSeed gives every client the streams of client 0.
	Seed       uint64
	SharedSeed bool

	// Operations is how many the fleet has in all; 0 in an open loop is as many as are due.
	Operations int64
	// Ramp spreads the first attempts of a closed loop; 0 starts all clients at t0.
	Ramp time.Duration
	// Open, where set, is the open loop's schedule; nil is a closed loop.
	Open *pace.Schedule
	// Duration is when the run ends, whatever is still waiting.
	Duration time.Duration

	// Dial opens a connection to the target for a client, with TLS where the target wants it.
	Dial func(ctx context.Context, client int) (net.Conn, error)
	// Foreign says that the target is not ours. Then an attempt counts as arrived when it is
	// sent, and a target that takes no connection before t0 is a result and no error.
	Foreign bool
	// Secure says that Dial speaks TLS. Then the first client connects before t0 even where
	// every attempt opens its own connection, to see whether client and target fit.
	Secure bool
	// HTTP2 has every connection speak HTTP/2; otherwise one does where TLS chose it.
	HTTP2 bool
	// Request is what every attempt sends.
	Request Request
	// PropagateDeadline has every attempt tell the target how much time it has left. A Fleet does so in
	// Request.TimeoutHeader.
	PropagateDeadline bool
	// Warm has every client exchange one request with the target before t0, which must answer
	// it and must not count it. Otherwise the first wave alone would pay for what happens once:
	// the growth of stacks and of the kernel's buffers (scripts/bench/README.md).
	Warm bool
	// Wake is what the sends are timed with.
	Wake wake.Source

	Recorder *record.Recorder
	// Arrived returns how many attempts of a client have reached the target so far, and when
	// the last one did. It tells an attempt lost before its arrival from one lost after. nil:
	// nobody knows, and a reset is taken for one after the arrival.
	Arrived func(client int) (count int64, last time.Duration)
	// Trace, where set, is called once for every attempt that ended, from many goroutines.
	Trace func(retry.Row)
}

// Stats is what the fleet alone knows at the end.
type Stats struct {
	End         time.Duration // when the last client was done, 0..Duration: an interrupt may come before t0
	InFlight    int64
	Unfinished  int64
	Unstarted   int64
	Connections int64 // opened over the whole run
	Unconnected int64 // clients for which the target took no connection before t0
	Hurried     int64 // clients that had none because the time for connecting was over
	Replayed    int64 // requests sent again by net/http, which the server had not handled
	TimerSource string
	// Exhausted counts connections that could not be opened because this machine ran out of
	// descriptors or ports.
	Exhausted int64
	// Barred counts those that this machine has no route for, or does not allow.
	Barred int64
	// Sent and Lost count each client's attempts, and those of them that are known not to have
	// reached the target. Resets counts those that were reset and had not been seen to arrive
	// then: what of Sent - Lost never arrives was lost by a reset up to this number.
	Sent, Lost, Resets []int64
	// Hedging is what became of copies.
	Hedging record.Hedging
	// Parts are what of these is of each party of a mixture; nil without one.
	Parts []PartStats
}

// PartStats is what of Stats is of one party.
type PartStats struct{ InFlight, Unfinished, Connections, Replayed int64 }

// A partCount counts what is of one party.
type partCount struct{ connections, replayed atomic.Int64 }

// A Fleet is one run's clients. Connect, Run and Close are called in this order, once each.
//
// Run takes the clients to a barrier, and only when all of them are there does it set t0.
type Fleet struct {
	cfg     Config
	trips   bool // no attempt is written by the dispatcher
	clients []client
	calls   []*call  // of the clients, where their attempts may overlap; else nil
	service *Service // that it is of; then there are no clients
	queue   *wake.Queue
	t0      time.Time
	stopped atomic.Bool
	barrier barrier

	connections atomic.Int64
	inFlight    atomic.Int64
	unfinished  atomic.Int64
	exhausted   atomic.Int64
	barred      atomic.Int64
	unconnected atomic.Int64
	// wary is set when an attempt that followed an answer at once met a connection that had ended:
	// this target hangs up without saying so, and every client looks before it sends from then on.
	wary     atomic.Bool
	hurried  atomic.Int64
	replayed atomic.Int64

	parts []partCount // of the parties of a mixture

	opening wake.Event // the next operation of an open loop
	idle    idleQueue
}

// part returns the count of a client's party, nil where there is no mixture.
func (f *Fleet) part(client int) *partCount {
	if f.cfg.Mixture == nil {
		return nil
	}
	return &f.parts[f.cfg.Mixture.Of[client]]
}

// partsOf returns what the ends of the clients were, by party.
func (c *Config) partsOf(clients int, ledger func(i int) *ledger) []PartStats {
	if c.Mixture == nil {
		return nil
	}
	parts := make([]PartStats, len(c.Mixture.Parties))
	for i := range clients {
		part, l := &parts[c.Mixture.Of[i]], ledger(i)
		if l.flying {
			part.InFlight++
		}
		if l.begun {
			part.Unfinished++
		}
	}
	return parts
}

// New returns a fleet that has no connections yet.
func New(cfg Config) *Fleet {
	f := &Fleet{cfg: cfg, trips: cfg.alwaysTrips(), clients: make([]client, cfg.Clients)}
	f.opening.ID = openingID
	if cfg.Mixture != nil {
		f.parts = make([]partCount, len(cfg.Mixture.Parties))
	}
	for i := range f.clients {
		c := &f.clients[i]
		c.f, c.ev.ID = f, i
		if cfg.Policy.Hedge.Most > 0 {
			c.cfg, c.id = &f.cfg, i
			f.calls = append(f.calls, f.hedge(c))
		} else {
			c.init(&f.cfg, i)
		}
		c.prepare()
	}
	return f
}

// prepare makes what a client has for its attempts.
func (c *client) prepare() {
	c.signal = make(chan struct{}, 1)
	c.answeredAt = -1
	c.launch = c.release
	if !c.f.trips {
		c.request = c.f.cfg.Request.build(c.id)
	}
}

// connecting is how many connections are opened at a time before the run: few enough for
// any listen queue, so that no handshake is dropped and comes back a second later.
const connecting = 64

// connectMax and connectEach bound the time that connections to a target that is not ours may
// take before the run: that, and for each client so much. The others are opened when they are
// needed.
const (
	connectMax  = 10 * time.Second
	connectEach = 10 * time.Millisecond
)

// ConnectTime is how long so many clients may take to connect to a target that is not ours.
func ConnectTime(clients int) time.Duration {
	return connectMax + time.Duration(clients)*connectEach
}

// Connect opens every client's connection. The error is the first that failed; where the
// target is not ours, the first that was not the target's.
func (f *Fleet) Connect(ctx context.Context) error {
	count := len(f.clients)
	switch {
	case f.cfg.Request.CloseEach && f.cfg.Secure:
		count = 1
	case f.cfg.Request.CloseEach:
		return nil // every attempt opens its own
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dialing := ctx
	if f.cfg.Foreign {
		var done func()
		dialing, done = context.WithTimeout(ctx, ConnectTime(count))
		defer done()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(connecting, count) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				conn, err := f.dial(dialing, i)
				switch {
				case err == nil:
					f.clients[i].adopt(conn)
				case f.cfg.Foreign && ctx.Err() == nil && dialing.Err() != nil:
					f.hurried.Add(1)
				case f.cfg.Foreign && ctx.Err() == nil && targets(err):
					f.unconnected.Add(1)
				default:
					cancel(fmt.Errorf("fleet: open connection %d of %d: %w", i+1, count, err))
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// targets reports whether a failure to connect is the target's doing: not this machine's, and
// none that no retry mends.
func targets(err error) bool {
	_, local := remote.LocalFault(err)
	return !local && !errors.Is(err, ErrMisfit)
}

func (f *Fleet) dial(ctx context.Context, client int) (net.Conn, error) {
	conn, err := f.cfg.Dial(ctx, client)
	if err != nil {
		return nil, err
	}
	f.connections.Add(1)
	if part := f.part(client); part != nil {
		part.connections.Add(1)
	}
	return conn, nil
}

// Run takes the fleet to its barrier, sets t0 a little ahead, calls start with it, and
// releases the fleet. It returns when every operation has ended, at Duration, or when ctx is
// cancelled, whichever is first. Nothing that it started is left running; the connections
// stay open until Close.
func (f *Fleet) Run(ctx context.Context, start func(t0 time.Time) error) (Stats, error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	// What set-up left behind is not to be collected during the first wave. It is done before
	// the clients warm up, for a collection also takes back the stacks that grew.
	runtime.GC()
	f.barrier.init(len(f.clients))
	var clients sync.WaitGroup
	f.opens(run, &clients)
	for i := range f.clients {
		clients.Go(func() { f.clients[i].run(run) })
	}
	stats, err := f.release(run, stop, start, &clients)
	stop()
	clients.Wait()
	return stats, err
}

// release waits for the clients at the barrier, and for them to finish.
func (f *Fleet) release(ctx context.Context, stop func(), start func(time.Time) error, clients *sync.WaitGroup) (Stats, error) {
	if err := f.barrier.wait(ctx); err != nil {
		return Stats{}, err
	}
	f.t0 = time.Now().Add(f.lead())
	queue, err := wake.New(f.t0, f.cfg.Wake)
	if err != nil {
		return Stats{}, err
	}
	f.queue = queue
	clock, stopClock := context.WithCancel(context.WithoutCancel(ctx))
	var engine sync.WaitGroup
	defer engine.Wait()
	defer stopClock()
	f.dispatch(clock, &engine)
	if err := start(f.t0); err != nil {
		return Stats{}, err
	}
	defer f.stopWith(ctx)()
	defer time.AfterFunc(time.Until(f.t0.Add(f.cfg.Duration)), stop).Stop()
	if f.cfg.Open != nil {
		f.idle.init(len(f.clients))
		f.openFirst()
	}
	f.barrier.open()
	clients.Wait()
	end := min(max(f.now(), 0), f.cfg.Duration)
	stopClock()
	engine.Wait() // the dispatcher counts too
	for _, k := range f.calls {
		if k.stop(end) {
			f.unfinished.Add(1)
		}
	}
	return f.stats(end), nil
}

// stopWith stops all clients when ctx ends. The function that it returns calls that off, or waits
// for it where it is under way.
func (f *Fleet) stopWith(ctx context.Context) (off func()) {
	done := make(chan struct{})
	callOff := context.AfterFunc(ctx, func() {
		defer close(done)
		f.stopAll()
	})
	return func() {
		if !callOff() {
			<-done
		}
	}
}

// lead is how long the clients get to arm their first attempts.
func (f *Fleet) lead() time.Duration {
	return 20*time.Millisecond + time.Duration(len(f.clients))*10*time.Microsecond
}

// now is the time since t0.
func (f *Fleet) now() time.Duration { return time.Since(f.t0) }

func (f *Fleet) stats(end time.Duration) Stats {
	stats := Stats{
		End:         end,
		InFlight:    f.inFlight.Load(),
		Unfinished:  f.unfinished.Load(),
		Unstarted:   f.idle.unstarted,
		Connections: f.connections.Load(),
		Unconnected: f.unconnected.Load(),
		Replayed:    f.replayed.Load(),
		TimerSource: f.queue.Source(),
		Exhausted:   f.exhausted.Load(),
		Barred:      f.barred.Load(),
		Hurried:     f.hurried.Load(),
		Sent:        make([]int64, len(f.clients)),
		Lost:        make([]int64, len(f.clients)),
		Resets:      make([]int64, len(f.clients)),
	}
	for i := range f.clients {
		stats.count(i, &f.clients[i])
	}
	for i, k := range f.calls {
		for _, c := range k.pool.lanes[1:] {
			stats.count(i, c)
		}
	}
	stats.Hedging = hedged(f.calls)
	stats.Parts = f.cfg.partsOf(len(f.clients), func(i int) *ledger { return &f.clients[i].ledger })
	for i := range stats.Parts {
		stats.Parts[i].Connections, stats.Parts[i].Replayed = f.parts[i].connections.Load(), f.parts[i].replayed.Load()
	}
	return stats
}

// count adds what a client, or one lane of it, has sent.
func (s *Stats) count(client int, c *client) {
	s.Sent[client] += c.attempts
	s.Lost[client] += c.lost
	s.Resets[client] += c.resets
}

// stopAll ends every wait of the clients.
func (f *Fleet) stopAll() {
	if f.service != nil {
		f.service.stopAll()
		return
	}
	f.stopped.Store(true)
	for i := range f.clients {
		f.clients[i].interrupt()
	}
	for _, k := range f.calls {
		k.pool.stop()
	}
}

// Close closes every connection.
func (f *Fleet) Close() {
	for i := range f.clients {
		f.clients[i].hangUp()
	}
	for _, k := range f.calls {
		for _, c := range k.pool.lanes[1:] {
			c.hangUp()
		}
	}
}

// hangUp closes the client's connections, if it has any.
func (c *client) hangUp() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
	if c.trip != nil {
		c.trip.close()
	}
}
