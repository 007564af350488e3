package fleet

import (
	"context"
	"sync"
	"time"

	"stormtest/load/pace"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target/wake"
)

// lanesSpare is how many times as many lanes a client may have as attempts: one that was given up takes a moment until it
// is idle again.
const lanesSpare = 4

// hedge makes the client one whose attempts may overlap: it is the first lane of its own call.
func (f *Fleet) hedge(c *client) *call {
	k := &call{f: f, id: c.id, over: f.goOn, pool: &pool{most: lanesSpare * (1 + f.cfg.Policy.Hedge.Most)}}
	k.ev.ID = c.id
	stream := uint32(c.id)
	if f.cfg.SharedSeed {
		stream = 0
	}
	k.judge.Init(f.cfg.Policy, seed.Stream(f.cfg.Seed, seed.Backoff, stream), seed.Stream(f.cfg.Seed, seed.RetryAfter, stream))
	k.bind(c.id)
	k.pool.lanes = []*client{c}
	c.pool = k.pool
	return k
}

// opens lets the clients' pools open lanes, which wg waits for.
func (f *Fleet) opens(ctx context.Context, wg *sync.WaitGroup) {
	for _, k := range f.calls {
		k.pool.open = func(_ int, t *try) *client {
			c := f.lane(k.pool, k.id)
			t.lane = c
			wg.Go(func() {
				wake.GrowStack(c.id)
				c.serve(ctx, t)
			})
			return c
		}
	}
}

// lane returns one more lane, without a connection.
func (f *Fleet) lane(p *pool, id int) *client {
	c := &client{f: f, pool: p, in: make([]byte, inBytes)}
	c.cfg, c.id = &f.cfg, id
	c.prepare()
	return c
}

// enter begins the operations of a client, and returns the attempt that its first lane is to make at once, if there is
// one. It takes mu.
func (k *call) enter(start time.Duration) *try {
	k.mu.Lock()
	defer k.unlock()
	return k.f.goOn(k, ended{at: start, free: k.pool.lanes[0]})
}

// goOn begins the next operation of a client in a closed loop, or makes it wait for one in an open loop.
func (f *Fleet) goOn(k *call, end ended) *try {
	switch {
	case f.cfg.Open != nil:
		k.idle = true
		if !f.idle.add(k.id) {
			k.leave()
		}
	case k.operation == pace.Share(f.cfg.Operations, f.cfg.Clients, k.id):
		k.leave()
	default:
		k.begin(end.at, retry.NoLimit)
		return k.arm(end.at, end.free)
	}
	return nil
}

// leave is the last act of a client.
func (k *call) leave() {
	k.idle = false
	k.pool.close()
}

// open starts an operation of an open loop on a client that is idle, or returns false. It takes mu.
func (k *call) open(due time.Duration) bool {
	k.mu.Lock()
	defer k.unlock()
	if !k.idle || k.f.stopped.Load() {
		return false
	}
	k.idle = false
	k.begin(due, retry.NoLimit)
	k.arm(due, nil)
	return true
}

// dismiss tells a client that is idle that no operation will come. It takes mu.
func (k *call) dismiss() {
	k.mu.Lock()
	defer k.unlock()
	if k.idle {
		k.leave()
	}
}

// stop breaks off the operation under way, if there is one, because the run is over. It takes mu.
func (k *call) stop(end time.Duration) (unfinished bool) {
	k.mu.Lock()
	defer k.unlock()
	if !k.begun {
		return false
	}
	k.abandon(end)
	return true
}

// hedged is what became of the copies of all calls, once nothing is under way.
func hedged(calls []*call) record.Hedging {
	var sum record.Hedging
	for _, k := range calls {
		sum.Sent += k.hedging.Sent
		sum.Won += k.hedging.Won
		sum.Cancelled += k.hedging.Cancelled
		sum.Withheld += k.hedging.Withheld
	}
	return sum
}
