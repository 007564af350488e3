package sim_test

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/seed"
)

// A call is one client's next call, due at a moment. Those due together go by when they were
// planned.
type call struct {
	due     time.Duration
	planned int
	client  int
}

type calls []call

func (c calls) Len() int { return len(c) }
func (c calls) Less(i, j int) bool {
	return c[i].due < c[j].due || c[i].due == c[j].due && c[i].planned < c[j].planned
}
func (c calls) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *calls) Push(x any)   { *c = append(*c, x.(call)) }
func (c *calls) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// A count is what the reference and the engine must agree on.
type count struct {
	attempts   int64
	completion time.Duration
	served     map[int]int64 // by bucket
	arrivals   map[int]int64
}

// reference is the guides' model written down as they tell it: all clients call at 0; a call is
// served where the server is free, which then is busy for 1/capacity; otherwise the client waits and
// calls again, for ever. It shares with the engine the strategy and the streams, nothing else.
func reference(p *plan.Plan, name string, run uint64) count {
	strategy := p.Backoff(name)
	service := time.Duration(float64(time.Second) / p.CapacityPerSecond)
	type state struct {
		r     *rand.Rand
		retry int
		prev  time.Duration
		carry float64
	}
	clients := make([]state, p.Clients)
	var pending calls
	for i := range clients {
		clients[i].r = seed.Stream(run, seed.Backoff, uint32(i))
		heap.Push(&pending, call{planned: i, client: i})
	}
	c := count{served: map[int]int64{}, arrivals: map[int]int64{}}
	var busyUntil time.Duration
	for planned := p.Clients; len(pending) > 0; planned++ {
		next := heap.Pop(&pending).(call)
		c.attempts++
		c.arrivals[int(next.due/p.Bucket)]++
		if next.due >= busyUntil {
			busyUntil = next.due + service
			c.served[int(busyUntil/p.Bucket)]++
			c.completion = busyUntil
			continue
		}
		s := &clients[next.client]
		delay := strategy.Delay(s.r, backoff.Attempt{Retry: s.retry, Prev: s.prev, Carry: &s.carry})
		s.retry++
		s.prev = delay
		heap.Push(&pending, call{due: next.due + delay, planned: planned, client: next.client})
	}
	return c
}

// TestAgreesWithReference holds the engine against the reference, exactly: attempts, completion,
// and what arrived and was served in every bucket, for every strategy that waits at all.
func TestAgreesWithReference(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	plans := []struct {
		name string
		edit func(*plan.Plan)
	}{
		{"guide", func(*plan.Plan) {}},
		{"first exponent 1", func(p *plan.Plan) { p.FirstExponent = 1 }},
		{"clamp, low cap", func(p *plan.Plan) { p.CapMode, p.Cap = backoff.CapClamp, time.Second }},
		{"random cap", func(p *plan.Plan) { p.CapMode, p.Cap = backoff.CapRandom, time.Second }},
		{"10/s", func(p *plan.Plan) { p.CapacityPerSecond = 10 }},
		{"200000/s", func(p *plan.Plan) { p.CapacityPerSecond = 200_000 }},
	}
	for _, tt := range plans {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range waiting() {
				p := guide(300)
				tt.edit(&p)
				got, want := measure(p, name, 3), reference(&p, name, 3)
				if got.stats.Attempts != want.attempts || got.stats.Completion != want.completion {
					t.Errorf("%s: %d attempts, completion %v; want %d, %v", name,
						got.stats.Attempts, got.stats.Completion, want.attempts, want.completion)
				}
				for i, b := range got.run.Buckets {
					if b.Served != want.served[i] || b.Arrivals != want.arrivals[i] {
						t.Fatalf("%s: bucket %d: %d served, %d arrivals; want %d, %d", name, i, b.Served, b.Arrivals, want.served[i], want.arrivals[i])
					}
				}
			}
		})
	}
}
