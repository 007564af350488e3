package sim_test

import (
	"container/heap"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target/station"
)

// A brute is the network written down a second time, with closures for events: slower, shorter, and
// with nothing of the engine's but the policy, the station and the streams. It counts what happened
// as text, in any order. It knows one operation a client, and no target that refuses connections.
type brute struct {
	p      plan.Plan
	policy retry.Policy
	st     *station.Station
	events thunks
	now    time.Duration
	pushed int
	seen   map[string]int
	inside map[uint64]func(retry.Outcome) // by tag
	tag    uint64

	arrivals int64
	active   int
	end      time.Duration
}

type thunk struct {
	at    time.Duration
	order int
	do    func()
}

type thunks []thunk

func (q thunks) Len() int { return len(q) }
func (q thunks) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q thunks) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *thunks) Push(x any)   { *q = append(*q, x.(thunk)) }
func (q *thunks) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (b *brute) after(d time.Duration, do func()) {
	b.pushed++
	heap.Push(&b.events, thunk{b.now + d, b.pushed, do})
}

func (b *brute) run(strategy string, run uint64) {
	b.policy = b.p.Policy(strategy)
	b.st = station.New(b.p.Station(), seed.Stream(run, seed.Service, 0))
	b.active = b.p.Clients
	for i := range b.p.Clients {
		c := new(retry.Client)
		c.Init(&b.policy, seed.Stream(run, seed.Backoff, uint32(i)), seed.Stream(run, seed.RetryAfter, uint32(i)))
		c.Begin(0)
		b.attempt(c, seed.Stream(run, seed.Network, uint32(i)), 0)
	}
	for b.active > 0 && len(b.events) > 0 {
		if at, ok := b.st.Next(); ok && at <= b.events[0].at && at < b.p.Duration {
			b.now = at
			d, _ := b.st.Finish(at)
			b.seen["served"]++
			if answer := b.inside[d.Tag]; !d.Abandoned {
				answer(retry.Outcome{Status: 200})
			}
			continue
		}
		e := heap.Pop(&b.events).(thunk)
		if e.at >= b.p.Duration {
			b.end = b.p.Duration
			return
		}
		b.now = e.at
		e.do()
	}
	b.end = b.now
}

// attempt plans one attempt of c, with what the network does to it.
func (b *brute) attempt(c *retry.Client, chance *rand.Rand, wait time.Duration) {
	b.after(wait, func() {
		lost := func() bool { return b.p.LossShare > 0 && chance.Float64() < b.p.LossShare }
		travel := func() time.Duration {
			if b.p.Latency.SD == 0 {
				return b.p.Latency.Mean
			}
			return time.Duration(math.Round(math.Abs(float64(b.p.Latency.Mean) + float64(b.p.Latency.SD)*chance.NormFloat64())))
		}
		requestLost, answerLost := lost(), lost()
		there, back, news := travel(), travel(), travel()
		due, done := b.now, false
		var job station.JobID
		conclude := func(o retry.Outcome) {
			done = true
			b.seen["outcome "+o.String()+" at "+b.now.String()]++
			if d := c.Decide(b.now, o); d.Retry {
				b.attempt(c, chance, d.Delay)
			} else {
				b.active--
			}
		}
		reply := func(o retry.Outcome) {
			if !answerLost {
				b.after(back, func() {
					if !done {
						conclude(o)
					}
				})
			}
		}
		b.after(c.AttemptTimeout(due), func() {
			b.after(0, func() { // an answer of the same moment comes first
				if done {
					return
				}
				conclude(retry.Outcome{Kind: retry.Timeout})
				b.after(max(news, due+there-b.now), func() { b.st.Cancel(b.now, job) })
			})
		})
		if requestLost {
			return
		}
		b.after(there, func() {
			b.tag++
			b.inside[b.tag] = reply
			b.arrivals++
			if adm := b.st.Arrive(b.now, b.tag); adm.Kind == station.Accepted {
				job = adm.Job
			} else if adm.Kind != station.Hung {
				reply(retry.Outcome{
					Status: adm.Status, Kind: map[station.Kind]retry.Kind{station.Reset: retry.Reset}[adm.Kind],
					Hint: retry.Hint{After: adm.RetryAfter, Valid: adm.RetryAfter > 0, Seen: adm.RetryAfter > 0},
				})
			}
		})
	})
}

// differ returns what the engine and the brute do not agree on: any outcome at its moment, how many
// arrived and were served, and the end.
func differ(p plan.Plan, strategy string, run uint64) string {
	b := brute{p: p, seen: map[string]int{}, inside: map[uint64]func(retry.Outcome){}}
	b.run(strategy, run)
	m := measure(p, strategy, run)
	got := map[string]int{}
	for _, r := range m.rows {
		got["outcome "+r.Outcome.String()+" at "+r.End.String()]++
	}
	for _, bucket := range m.run.Buckets {
		if bucket.Served > 0 {
			got["served"] += int(bucket.Served)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b.seen)) {
		if got[k] != b.seen[k] {
			return fmt.Sprintf("%s: %d, want %d", k, got[k], b.seen[k])
		}
	}
	if len(got) != len(b.seen) || b.arrivals != m.stats.Arrivals || b.end != m.stats.End {
		return fmt.Sprintf("%d different events, %d arrivals, end %v; want %d, %d, %v",
			len(got), m.stats.Arrivals, m.stats.End, len(b.seen), b.arrivals, b.end)
	}
	return ""
}

// TestAgreesWithBrute holds the network against the brute.
func TestAgreesWithBrute(t *testing.T) {
	for _, lines := range [][]string{
		{"latency: 10ms~2ms"},
		{"latency: 10ms", "queue: 50"},
		{"latency: 3ms~40ms", "queue: 100", "timeout: 100ms", "abandoned: process"},
		{"latency: 3ms~40ms", "queue: 100", "timeout: 100ms", "abandoned: cancel"},
		{"latency: 30ms~4ms", "loss: 10%", "queue: 20", "timeout: 300ms", "abandoned: cancel"},
		{"latency: 0s~1ms", "loss: 25%", "workers: 3", "timeout: 500ms", "max-elapsed: 4s"},
		{"latency: 30ms~4ms", "queue: 5", "outage: ['1s..2s=hang', '3s..4s=reset', '5s..6s=slow:4']", "retry-on: 503,reset,timeout", "timeout: 300ms"},
	} {
		for _, strategy := range []string{"full", "decorrelated", "equal"} {
			p := scenario(t, append([]string{"clients: 200", "capacity: 50/s", "duration: 20.0037s"}, lines...)...)
			if fault := differ(p, strategy, 4); fault != "" {
				t.Errorf("%s, %v: %s", strategy, lines, fault)
			}
		}
	}
}

// TestAgreesWithBruteOnAnyPlan is the same of any plan whose strategy draws, as far as the brute knows it.
func TestAgreesWithBruteOnAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, strategy := anyPlan(rt)
		p.Operations, p.RatePerSecond, p.Ramp, p.SharedSeed = 0, 0, 0, false
		p.Budget, p.Breaker = plan.Default().Budget, plan.Default().Breaker
		if p.Model != plan.ModelTokenBucket {
			p.Model = plan.ModelSlots
		}
		p.Latency.SD += time.Millisecond // a strategy may draw one delay twice; no two messages arrive together
		p.Outages = slices.DeleteFunc(p.Outages, func(o station.Outage) bool { return o.Mode == station.ModeRefuse })
		if !entryOf(t, strategy).Jittered {
			strategy = "full"
		}
		if fault := differ(p, strategy, rapid.Uint64().Draw(rt, "seed")); fault != "" {
			rt.Fatalf("%s: %s", strategy, fault)
		}
	})
}
