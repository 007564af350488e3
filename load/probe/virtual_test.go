package probe

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"stormtest/load/record"
)

// The search is played in virtual time against services whose capacity is known.

// A service says when, and with which status, a request that arrives at now is answered. Requests arrive in
// order of time. A status of 0 is none: the time is then when the client gives up.
type service func(now time.Duration) (done time.Duration, status int)

// queueing has so many servers, each taking so long, and a queue without end; above most in it, where that is
// not 0, it rejects.
func queueing(servers int, each time.Duration, most int) service {
	free := make([]time.Duration, servers)
	var leaving []time.Duration
	return func(now time.Duration) (time.Duration, int) {
		inside := 0
		for _, at := range leaving {
			if at > now {
				inside++
			}
		}
		if most > 0 && inside >= servers+most {
			return now + time.Millisecond, http.StatusServiceUnavailable
		}
		at := 0
		for i := range free {
			if free[i] < free[at] {
				at = i
			}
		}
		free[at] = max(free[at], now) + each
		if leaving = append(leaving, free[at]); len(leaving) > 4096 {
			leaving = leaving[2048:]
		}
		return free[at], http.StatusOK
	}
}

// places has so many places, in each of which a request takes an exponential time of that mean, and rejects
// who finds none free.
func places(most int, mean time.Duration) service {
	r := rand.New(rand.NewPCG(1, 2))
	var leaving []time.Duration
	return func(now time.Duration) (time.Duration, int) {
		leaving = slices.DeleteFunc(leaving, func(at time.Duration) bool { return at <= now })
		if len(leaving) >= most {
			return now + time.Millisecond, http.StatusServiceUnavailable
		}
		done := now + time.Duration(r.ExpFloat64()*float64(mean))
		leaving = append(leaving, done)
		return done, http.StatusOK
	}
}

// limited lets a rate through to a service that takes so long.
func limited(perSecond, burst float64, each time.Duration) service {
	b := newBucket(perSecond, burst)
	return func(now time.Duration) (time.Duration, int) {
		if b.allow(now) {
			return now + each, http.StatusOK
		}
		return now + each/10, http.StatusServiceUnavailable
	}
}

// constant answers everything alike.
func constant(each time.Duration, status int) service {
	return func(now time.Duration) (time.Duration, int) { return now + each, status }
}

// losing answers ever more slowly the more are inside: each takes so long for each of them, and again for
// each beyond most.
func losing(each time.Duration, most int) service {
	var leaving []time.Duration
	return func(now time.Duration) (time.Duration, int) {
		leaving = slices.DeleteFunc(leaving, func(at time.Duration) bool { return at <= now })
		inside := len(leaving) + 1
		took := each * time.Duration(max(inside, most))
		if inside > most {
			took = each * time.Duration(2*inside-most)
		}
		leaving = append(leaving, now+took)
		return now + took, http.StatusOK
	}
}

// play is driver.drive against a service, beginning at start.
func play(s shape, serve service, start time.Duration) batch {
	b := batch{shape: s, errors: map[string]int64{}}
	due, quota := make([]time.Duration, s.workers), make([]int, s.workers)
	for i := range due {
		quota[i] = s.requests / s.workers
		if i < s.requests%s.workers {
			quota[i]++
		}
		due[i] = s.turn() + s.turn()*time.Duration(i)/time.Duration(s.workers)
	}
	for {
		w := -1
		for i := range due {
			if quota[i] > 0 && due[i] < s.length && (w < 0 || due[i] < due[w]) {
				w = i
			}
		}
		if w < 0 {
			return b
		}
		now := due[w]
		done, status := serve(start + now)
		done -= start
		b.requests++
		b.sends = append(b.sends, now)
		if status == 0 {
			b.errors[errorTimeout]++
		} else {
			b.samples = append(b.samples, sample{sent: now, took: done - now, status: status})
		}
		b.elapsed = max(b.elapsed, done, s.length)
		if due[w] = max(done, now+s.turn()); quota[w] == 1 && (b.spent == 0 || done < b.spent) {
			b.spent = done
		}
		quota[w]--
	}
}

// searchOf plays a whole search.
func searchOf(serve service, l limits) ([]step, verdict, time.Duration, int) {
	var done []step
	var at time.Duration
	used := 0
	for {
		s, end := next(done, at, used, l)
		if end != nil {
			return done, *end, at, used
		}
		b := play(s, serve, at)
		done = append(done, b.figures())
		at += b.elapsed
		used += int(b.requests)
	}
}

func usualLimits() limits {
	c := Config{}.withDefaults()
	return limits{time: c.MaxTime, requests: c.MaxRequests, concurrency: c.MaxConcurrency, step: c.step, hold: c.hold}
}

func TestSearch(t *testing.T) {
	const none = -1
	tests := []struct {
		name  string
		serve service
		limit record.ProbeLimit
		want  float64
		share float64 // how far from want
	}{
		{"four workers of 20 ms", queueing(4, 20*time.Millisecond, 0), record.ProbePlateau, 200, 0.05},
		{"one worker of 1 ms", queueing(1, time.Millisecond, 0), record.ProbePlateau, 1000, 0.05},
		{"64 workers of 100 ms", queueing(64, 100*time.Millisecond, 0), record.ProbePlateau, 640, 0.10},
		{"four workers of 20 ms and a queue of 10", queueing(4, 20*time.Millisecond, 10), record.ProbeRejections, 200, 0.10},
		{"four workers of 20 ms and a queue of 1", queueing(4, 20*time.Millisecond, 1), record.ProbeRejections, 200, 0.10},
		{"four places of 2.66 ms and no queue", places(4, 2660*time.Microsecond), record.ProbeRejections, 1503, 0.05},
		{"200 a second, bursts of 400", limited(200, 400, time.Millisecond), record.ProbeRejections, 200, 0.10},
		{"200 a second, bursts of 20", limited(200, 20, time.Millisecond), record.ProbeRejections, 200, 0.05},
		{"50 a second, bursts of 20", limited(50, 20, time.Millisecond), record.ProbeRejections, 50, 0.05},
		{"5 a second, bursts of 2", limited(5, 2, time.Millisecond), record.ProbeRejections, 5, 0.20},
		{"1,000 a second, bursts of 200", limited(1000, 200, 500*time.Microsecond), record.ProbeRejections, 1000, 0.05},
		{"200 a second, bursts of 200", limited(200, 200, time.Millisecond), record.ProbeRejections, 200, 0.05},
		{"200 a second, no bursts", limited(200, 1, time.Millisecond), record.ProbeRejections, 200, 0.20},
		{"200 a second behind 50 ms", limited(200, 20, 50*time.Millisecond), record.ProbeRejections, 200, 0.10},
		{"1,000 a second with four, and less with more", losing(time.Millisecond, 4), record.ProbePlateau, 1000, 0.10},
		{"a limit beyond the connections", constant(100*time.Millisecond, http.StatusOK), record.ProbeConcurrency, none, 0},
		{"nothing is good", constant(time.Millisecond, http.StatusNotFound), record.ProbeFailing, none, 0},
		{"nothing is answered", constant(5*time.Second, 0), record.ProbeFailing, none, 0},
		{"very slow", queueing(1, 3*time.Second, 0), record.ProbeTime, none, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := usualLimits()
			done, end, at, used := searchOf(test.serve, l)
			if end.limit != test.limit {
				t.Errorf("limit = %q, want %q", end.limit, test.limit)
			}
			if (end.capacity == nil) != (test.want == none) {
				t.Errorf("capacity = %v, want %v", end.capacity, test.want)
			} else if end.capacity != nil && math.Abs(*end.capacity/test.want-1) > test.share {
				t.Errorf("capacity = %.1f, want %v within %v", *end.capacity, test.want, test.share)
			}
			if used > l.requests || at > l.time+10*time.Second {
				t.Errorf("took %d requests in %v, want at most %d, and %v to send them", used, at, l.requests, l.time)
			}
			for _, s := range done {
				t.Logf("%-6s %3d x %6.1f: offered %7.1f good %7.1f bad %.2f", s.mode, s.workers, s.perSecond, s.offered, s.good, s.badShare)
			}
			t.Logf("%v, %d requests", at, used)
		})
	}
}

// A bucket is nginx's limit_req with burst and nodelay: every request let through adds one, the rate takes
// away, and more than burst is refused. Safe for concurrent use.
type bucket struct {
	mu    sync.Mutex
	rate  float64 // per second
	burst float64
	level float64
	last  time.Duration
}

func newBucket(rate, burst float64) *bucket { return &bucket{rate: rate, burst: burst, level: -1} }

func (b *bucket) allow(now time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	level := max(0, b.level-(now-b.last).Seconds()*b.rate)
	if b.level < 0 {
		level = -1 // the first one is free
	}
	if level+1 > b.burst {
		return false
	}
	b.level, b.last = level+1, now
	return true
}

// Where this machine was busy itself, what a target rejects says nothing of the target.
func TestABusyMachineNamesNoCapacity(t *testing.T) {
	rejected := step{shape: shape{mode: closed, workers: 2}, good: 1000, goodCount: 400, badShare: 0.2}
	for _, m := range []mode{paced, hold} {
		last := step{shape: shape{mode: m, workers: 8, perSecond: 1500}, offered: 1500, good: 900, goodCount: 900, badShare: 0.4, own: ownMost}
		if _, end := next([]step{rejected, last, last}, time.Second, 2000, usualLimits()); end == nil || end.limit != record.ProbeMachine || end.capacity != nil {
			t.Errorf("after %s on a busy machine: %+v, want the machine and no capacity", m, end)
		}
		last.own = ownMost / 2
		if _, end := next([]step{rejected, last, last}, time.Second, 2000, usualLimits()); end != nil && end.limit == record.ProbeMachine {
			t.Errorf("after %s on an idle machine: the machine", m)
		}
	}
}
