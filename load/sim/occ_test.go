package sim_test

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// writers is the plan of the AWS architecture blog's simulator: clients that write one row once each,
// over messages of |Normal(10, 2)| ms.
func writers(clients int) plan.Plan {
	p := guide(clients)
	p.Model = plan.ModelOCC
	p.Base, p.Cap, p.FirstExponent = 5*time.Millisecond, 2*time.Second, 1
	p.Latency = plan.Law{Mean: 10 * time.Millisecond, SD: 2 * time.Millisecond}
	return p
}

// TestWritersMeans compares mean writes and completion with the reference numbers of the AWS
// simulator's model, means of 200 seeds each, rounded to so many digits.
//
// A mean of n seeds differs from one of 200 with a deviation of sd*sqrt(1/n + 1/200), where sd is that of
// the n runs; at 5.5 of Student's t with 39 degrees of freedom the false-positive rate is 3e-6 a mean, 1e-4 for
// all. It would catch a mean of writes that is 2 % off (of none and decorrelated 4 %); equal jitter in place of
// full is 2 % at 100 clients.
// Where the reference has 5 and 95 % quantiles, their distance over 2*1.645 must be within a factor of 1.9 of
// that sd: 5 deviations of the quotient's logarithm, which has 0.11 of our 40 runs and 0.06 of its 200.
func TestWritersMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	spread := func(share float64) func(*plan.Plan) {
		return func(p *plan.Plan) { p.SpreadShare = share }
	}
	clamp := func(p *plan.Plan) { p.CapMode = backoff.CapClamp }
	original := func(*plan.Plan) {}
	tests := []struct {
		clients        int
		strategy       string
		edit           func(*plan.Plan)
		writes         float64
		low, top       float64 // 0: not known
		completion     float64 // s
		completionUnit float64 // of its last digit
	}{
		{100, "none", original, 1849, 1768, 1944, 63.2, 0.1},
		{100, "decorrelated", clamp, 1003, 957, 1051, 4.54, 0.01},
		{100, "equal", original, 812, 798, 825, 6.63, 0.01},
		{100, "full", original, 796, 786, 808, 4.98, 0.01},
		{100, "immediate", original, 2422, 2374, 2474, 2.03, 0.01},
		{100, "fixed", original, 802, 780, 825, 14.4, 0.1},
		{100, "proportional", spread(0.2), 839, 0, 0, 9.3, 0.1},
		{100, "proportional", spread(0.5), 733, 0, 0, 6.5, 0.1},
		{100, "exponent", original, 915, 0, 0, 5.0, 0.1},
		{100, "exponent-noisy", original, 708, 0, 0, 6.0, 0.1},
		{190, "none", original, 5158, 0, 0, 100.6, 0.1},
		{190, "decorrelated", clamp, 2437, 0, 0, 7.9, 0.1},
		{190, "equal", original, 1761, 0, 0, 9.4, 0.1},
		{190, "full", original, 1771, 0, 0, 7.4, 0.1},
	}
	const seeds, reference = 40, 200.0
	for _, tt := range tests {
		p := writers(tt.clients)
		tt.edit(&p)
		var writes, completion sample
		for s := range uint64(seeds) {
			got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: tt.strategy, Seed: 100 + s})
			if got.Succeeded != int64(tt.clients) || got.Arrivals != got.Attempts {
				t.Fatalf("%s, %d clients: %d succeeded, %d of %d writes arrived", tt.strategy, tt.clients, got.Succeeded, got.Arrivals, got.Attempts)
			}
			writes.add(float64(got.Attempts))
			completion.add(got.Completion.Seconds())
		}
		deviations := 5.5 * math.Sqrt(1/float64(seeds)+1/reference)
		if bound := deviations*writes.deviation() + 0.5; math.Abs(writes.mean()-tt.writes) > bound {
			t.Errorf("%s, %d clients, spread %v: mean writes = %.1f, want %.0f within %.1f",
				tt.strategy, tt.clients, p.SpreadShare, writes.mean(), tt.writes, bound)
		}
		if bound := deviations*completion.deviation() + tt.completionUnit/2; math.Abs(completion.mean()-tt.completion) > bound {
			t.Errorf("%s, %d clients, spread %v: mean completion = %.3f s, want %v within %.3f",
				tt.strategy, tt.clients, p.SpreadShare, completion.mean(), tt.completion, bound)
		}
		if want := (tt.top - tt.low) / (2 * 1.645); want > 0 && math.Abs(math.Log(writes.deviation()/want)) > math.Log(1.9) {
			t.Errorf("%s, %d clients: writes deviate by %.1f, want %.1f", tt.strategy, tt.clients, writes.deviation(), want)
		}
	}
}

// A sample is of numbers of which only mean and deviation count.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }
func (s *sample) mean() float64 { return s.sum / s.n }
func (s *sample) deviation() float64 {
	return math.Sqrt((s.squares - s.sum*s.sum/s.n) / (s.n - 1))
}

// rowReference is the original written down as it stands there: a client reads, writes what it has read, and
// where another write came between, waits and begins again. It shares with the engine the strategy and the
// streams, nothing else.
func rowReference(p *plan.Plan, name string, run uint64) (writes int64, completion time.Duration) {
	strategy := p.Backoff(name)
	type state struct {
		chance, network *rand.Rand
		retry           int
		prev            time.Duration
		carry           float64
		hops            [4]time.Duration
		version         int
		step            int // the next message to arrive
		conflict        bool
	}
	clients := make([]state, p.Clients)
	var pending calls
	planned := 0
	next := func(c int, at time.Duration) {
		planned++
		heap.Push(&pending, call{due: at, planned: planned, client: c})
	}
	begin := func(c int, at time.Duration) {
		s := &clients[c]
		for i := range s.hops {
			s.hops[i] = time.Duration(math.Round(math.Abs(float64(p.Latency.Mean) + float64(p.Latency.SD)*s.network.NormFloat64())))
		}
		s.step = 0
		next(c, at+s.hops[0])
	}
	for i := range clients {
		clients[i].chance, clients[i].network = seed.Stream(run, seed.Backoff, uint32(i)), seed.Stream(run, seed.Network, uint32(i))
		begin(i, 0)
	}
	version := 0
	for len(pending) > 0 {
		event := heap.Pop(&pending).(call)
		s := &clients[event.client]
		switch s.step {
		case 0: // the row is read
			s.version = version
		case 2: // the row is written
			writes++
			if s.conflict = s.version != version; !s.conflict {
				version++
			}
		case 3:
			completion = event.due
			if s.conflict {
				delay := strategy.Delay(s.chance, backoff.Attempt{Retry: s.retry, Prev: s.prev, Carry: &s.carry})
				s.retry++
				s.prev = delay
				begin(event.client, event.due+delay)
			}
			continue
		}
		s.step++
		next(event.client, event.due+s.hops[s.step])
	}
	return writes, completion
}

// TestWritersAgreeWithReference holds the engine against the reference, exactly, for every strategy.
func TestWritersAgreeWithReference(t *testing.T) {
	for _, e := range backoff.Table {
		for _, clients := range []int{1, 2, 60} {
			p := writers(clients)
			got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: e.Name, Seed: 7})
			writes, completion := rowReference(&p, e.Name, 7)
			if got.Attempts != writes || got.Completion != completion {
				t.Errorf("%s, %d clients: %d writes, completion %v; want %d, %v", e.Name, clients, got.Attempts, got.Completion, writes, completion)
			}
		}
	}
}

// TestWriteAfterTimeout: of a timeout that ends before the version is there, at that moment, before the answer
// of the write, and with it. One client, three attempts, messages of 10 ms: a write arrives after 30 ms. Its
// client does not wait any more where it has 20 ms, so that the work is wasted and the run over before the last.
func TestWriteAfterTimeout(t *testing.T) {
	for _, tt := range []struct {
		timeout                                    string
		served, unwritten, late, succeeded, wasted int64
	}{
		{timeout: "19ms", unwritten: 3},
		{timeout: "20ms", served: 2, late: 1, wasted: 2},
		{timeout: "39ms", served: 3, wasted: 3}, // written while the client waits, and answered when it does not
		{timeout: "40ms", served: 1, succeeded: 1},
	} {
		p := scenario(t, "clients: 1", "model: occ", "latency: 10ms", "max-retries: 2", "base: 1s", "timeout: "+tt.timeout)
		m := measure(p, "constant", 1)
		var served, wasted int64
		for _, b := range m.run.Buckets {
			served += b.Served
			wasted += b.Wasted
		}
		if b := &m.run.Books; b.Arrivals != tt.served || b.Lost["not_written"] != tt.unwritten || b.Lost["on_the_way_at_end"] != tt.late ||
			m.stats.Succeeded != tt.succeeded || served != tt.served || wasted != tt.wasted || !b.Balanced {
			t.Errorf("books %+v, %d succeeded, %d served, %d wasted; want %+v", b, m.stats.Succeeded, served, wasted, tt)
		}
	}
}

// TestWritesLost compares the shares of attempts whose messages are lost, of writers that never meet: p of each of
// the four messages.
//
// Counts of n attempts are binomial; at 4.9 deviations the false-positive rate is 1e-6 each. It would catch a
// share that is 1.7 percentage points off.
func TestWritesLost(t *testing.T) {
	const clients, come = 20_000, 0.7
	p := scenario(t, "clients: 20000", "ramp: 20000s", "duration: 20010s", "bucket: 10s", "model: occ", "latency: 10ms", "loss: 30%", "max-retries: 0", "timeout: 500ms")
	m := measure(p, "full", 5)
	for _, s := range []struct {
		name  string
		got   int64
		share float64
	}{
		{"requests lost", m.run.Books.Lost["lost_request"], 1 - come + come*come*(1-come)},
		{"not written", m.run.Books.Lost["not_written"], come * (1 - come)},
		{"arrivals", m.run.Books.Arrivals, come * come * come},
		{"succeeded", m.run.Operations.Succeeded, come * come * come * come},
	} {
		bound := 4.9 * math.Sqrt(clients*s.share*(1-s.share))
		if want := clients * s.share; math.Abs(float64(s.got)-want) > bound {
			t.Errorf("%s = %d, want %.0f within %.0f", s.name, s.got, want, bound)
		}
	}
}

// TestWritersOfOneMoment: without latency those conflict that come at one moment, and nobody else.
func TestWritersOfOneMoment(t *testing.T) {
	for _, tt := range []struct {
		ramp   string
		writes int64
	}{{"0s", 55}, {"10s", 10}} {
		p := scenario(t, "clients: 10", "model: occ", "max-elapsed: unlimited", "duration: 1h", "ramp: "+tt.ramp)
		if got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: "none", Seed: 1}); got.Attempts != tt.writes || got.Succeeded != 10 {
			t.Errorf("ramp %s: %d writes, %d succeeded; want %d, 10", tt.ramp, got.Attempts, got.Succeeded, tt.writes)
		}
	}
}
