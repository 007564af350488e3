package record

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"
)

// fullConfig returns a Config that uses everything.
func fullConfig(shards int) Config {
	return Config{
		Duration:           12 * time.Second,
		CapacityPerSecond:  ptr(100.0),
		WindowFrom:         time.Second,
		WindowTo:           10 * time.Second,
		Triggers:           []Trigger{{From: 2 * time.Second, To: 3 * time.Second}},
		OpenLoop:           true,
		Period:             time.Second,
		PeriodFrom:         4 * time.Second,
		PeriodTo:           12 * time.Second,
		Cap:                400 * time.Millisecond,
		Floor:              time.Millisecond,
		FirstDelayJittered: true,
		StartTogether:      true,
		KindNames:          []string{"timeout", "refused"},
		ReasonNames:        []string{"max_retries", "max_elapsed"},
		LostNames:          []string{"refused", "reset"},
		Detail:             true,
		Shards:             shards,
	}
}

// An event is one call on a Recorder, by a client.
type event func(r *Recorder, client uint32)

// randomEvents returns n calls of every kind with arguments in and out of range.
func randomEvents(r *rand.Rand, n int) []event {
	duration := func() time.Duration { return time.Duration(r.Int64N(int64(13*time.Second))) - time.Second/2 }
	events := make([]event, n)
	for i := range events {
		at, length, k := duration(), duration(), r.IntN(14)-1
		yes, no := r.IntN(2) == 0, r.IntN(3) == 0
		switch r.IntN(9) {
		case 0, 1:
			events[i] = func(rec *Recorder, _ uint32) {
				rec.Arrival(Arrival{At: at, Attempt: max(k, 0), Opening: yes, Rejected: no})
			}
		case 2:
			events[i] = func(rec *Recorder, _ uint32) { rec.Served(at, yes) }
		case 3:
			events[i] = func(rec *Recorder, client uint32) {
				rec.Sent(client, Sent{Attempt: max(k, 0), Due: at, At: at + length/1000, Early: no})
			}
		case 4:
			key := StatusKey(200 + k)
			if yes {
				key = KindKey(k)
			}
			events[i] = func(rec *Recorder, client uint32) {
				rec.Outcome(client, Sample{Key: key, Answered: !yes, Latency: length})
			}
		case 5:
			events[i] = func(rec *Recorder, client uint32) { rec.Lost(client, k) }
		case 6:
			draw := []time.Duration{length, 400 * time.Millisecond, time.Millisecond}[r.IntN(3)]
			events[i] = func(rec *Recorder, client uint32) {
				rec.Delay(client, Delay{Retry: max(k, 0), Planned: length, Draw: draw})
			}
		case 7:
			events[i] = func(rec *Recorder, client uint32) { rec.Hint(client, Hint{Valid: yes, Obeyed: no}) }
		default:
			events[i] = func(rec *Recorder, client uint32) {
				rec.OperationStarted(client)
				rec.OperationEnded(client, Operation{At: at, Elapsed: length, Attempts: k + 2, Succeeded: yes, Reason: k, Drawn: no, Draw: length})
			}
		}
	}
	return events
}

// One result whatever the order of the calls, the clients that make them and the number of shards.
func TestSummaryDoesNotDependOnOrderOrShards(t *testing.T) {
	seeds := uint64(12)
	if raceDetector {
		seeds = 5
	}
	for seed := range seeds {
		r := seeded(seed)
		events := randomEvents(r, int(seed*seed)*20)
		shards := 1 + int(seed*3)%7
		one, other := New(fullConfig(1)), New(fullConfig(shards))
		for _, e := range events {
			e(one, 0)
		}
		for _, i := range r.Perm(len(events)) {
			events[i](other, r.Uint32())
		}
		end := End{At: 12 * time.Second, InFlight: 3, Unfinished: 4, Unstarted: 5}
		want, got := one.Summarise(end), other.Summarise(end)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: with %d shards:\n%+v\nwith one:\n%+v", seed, shards, got, want)
		}
		if again := other.Summarise(end); !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: a second summary differs:\n%+v\n%+v", seed, again, got)
		}
	}
}

// Calls from many goroutines give what the same calls give one after another.
func TestRecorderConcurrently(t *testing.T) {
	const workers = 8
	one, other := New(fullConfig(1)), New(fullConfig(3))
	var wait sync.WaitGroup
	for w := range workers {
		events := randomEvents(seeded(uint64(w)), 500)
		for _, e := range events {
			e(one, uint32(w))
		}
		wait.Go(func() {
			for i, e := range events {
				e(other, uint32(w))
				if i%100 == 0 {
					other.Totals()
				}
			}
		})
	}
	wait.Wait()
	end := End{At: 12 * time.Second}
	if got, want := other.Summarise(end), one.Summarise(end); !reflect.DeepEqual(got, want) {
		t.Errorf("from %d goroutines:\n%+v\nfrom one:\n%+v", workers, got, want)
	}
	if got, want := other.Totals(), one.Totals(); got != want || got.Sent == 0 || got.Arrivals == 0 {
		t.Errorf("Totals() = %+v, want %+v", got, want)
	}
}

// hotCalls is every call an attempt makes.
func hotCalls() map[string]event {
	i := 0
	moment := func() time.Duration { // within 10 s, so that storage is there after a while
		i = (i + 7919) % 10_000_000
		return time.Duration(i) * time.Microsecond
	}
	return map[string]event{
		"Arrival":          func(r *Recorder, _ uint32) { r.Arrival(Arrival{At: moment(), Attempt: i % 12, Opening: i%12 == 0}) },
		"Served":           func(r *Recorder, _ uint32) { r.Served(moment(), i%3 == 0) },
		"OperationStarted": func(r *Recorder, c uint32) { r.OperationStarted(c) },
		"Sent":             func(r *Recorder, c uint32) { r.Sent(c, Sent{Attempt: i % 12, Due: moment(), At: moment() + 1}) },
		"Outcome": func(r *Recorder, c uint32) {
			r.Outcome(c, Sample{Key: StatusKey(503), Answered: true, Latency: moment()})
		},
		"Lost":  func(r *Recorder, c uint32) { r.Lost(c, 1) },
		"Delay": func(r *Recorder, c uint32) { r.Delay(c, Delay{Retry: i % 12, Planned: moment(), Draw: moment()}) },
		"Hint":  func(r *Recorder, c uint32) { r.Hint(c, Hint{Valid: true}) },
		"OperationEnded": func(r *Recorder, c uint32) {
			r.OperationEnded(c, Operation{At: moment(), Attempts: 3, Succeeded: true})
		},
	}
}

func TestCallsDoNotAllocate(t *testing.T) {
	for name, call := range hotCalls() {
		r := New(fullConfig(2))
		client := uint32(0)
		for range 100_000 { // every bucket's histogram has found its size
			call(r, client)
		}
		got := testing.AllocsPerRun(1000, func() {
			client++
			call(r, client)
		})
		if got != 0 {
			t.Errorf("%s allocates %v times a call, want 0", name, got)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	for name, call := range hotCalls() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := New(fullConfig(2))
			client := uint32(0)
			for b.Loop() {
				client++
				call(r, client)
			}
		})
	}
}

func BenchmarkSentParallel(b *testing.B) {
	r := New(fullConfig(0))
	var mu sync.Mutex
	next := uint32(0)
	b.RunParallel(func(p *testing.PB) {
		mu.Lock()
		next++
		client := next
		mu.Unlock()
		for p.Next() {
			r.Sent(client, Sent{Due: 5, At: 1000})
		}
	})
}

func BenchmarkSummarise(b *testing.B) {
	for _, seconds := range []int{30, 3600} {
		b.Run(fmt.Sprintf("%ds", seconds), func(b *testing.B) {
			end := time.Duration(seconds) * time.Second
			r := New(Config{Duration: end, WindowTo: end, CapacityPerSecond: ptr(1000.0), Shards: 1})
			rng := seeded(1)
			for range 1000 * seconds {
				r.Arrival(Arrival{At: time.Duration(rng.Int64N(int64(end))), Attempt: 1})
			}
			for b.Loop() {
				r.Summarise(End{At: end})
			}
		})
	}
}

// heap returns the bytes in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Case D-16: 1.2 million attempts are 1.2 million in every total; a second million in the same seconds takes no memory,
// and 40 more seconds take less than 20 MB.
func TestMemoryAndTotals(t *testing.T) {
	n := 1_200_000
	if raceDetector {
		n /= 20
	}
	r := New(Config{Duration: time.Minute, Shards: 1, KindNames: []string{"timeout"}})
	rng := seeded(1)
	attempts := func(n int, from, to time.Duration) {
		for i := range n {
			at := from + time.Duration(rng.Int64N(int64(to-from)))
			r.OperationStarted(uint32(i))
			r.Sent(uint32(i), Sent{Due: at, At: at})
			r.Arrival(Arrival{At: at, Rejected: true})
			r.Outcome(uint32(i), Sample{Key: StatusKey(503), Answered: true, Latency: 1})
			r.OperationEnded(uint32(i), Operation{At: at, Elapsed: 1, Attempts: 1})
		}
	}
	attempts(n/2, 0, 20*time.Second)
	before := heap()
	attempts(n/2, 0, 20*time.Second)
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("as many attempts again in the same 20 s took %d bytes, want none to speak of", grown)
	}
	run := r.Summarise(End{At: 20 * time.Second})
	var buckets int64
	for _, b := range run.Buckets {
		buckets += b.Arrivals
	}
	for name, got := range map[string]int64{
		"operations": run.Operations.Started, "sent": run.Attempts.Sent, "outcomes": run.Attempts.ByOutcome["503"],
		"buckets": buckets, "latencies": run.Latency.Count, "lateness": run.Lateness.Count, "arrivals": run.Books.Arrivals,
	} {
		if got != int64(n) {
			t.Errorf("%s = %d, want %d", name, got, n)
		}
	}
	if len(run.Books.Faults) != 0 || !run.Books.Balanced {
		t.Errorf("books = %+v, want them balanced", run.Books)
	}
	attempts(n, 20*time.Second, time.Minute)
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("40 more seconds took %d bytes, want less than 20 MB", grown)
	}
	runtime.KeepAlive(r)
}

func TestNewRefusesBrokenConfigs(t *testing.T) {
	nan := 0.0
	nan /= nan
	names := make([]string, 100)
	for _, c := range []struct {
		name   string
		config Config
		faults int
	}{
		{"zero", Config{}, 0},
		{"everything", fullConfig(0), 0},
		{"capacity 0", Config{CapacityPerSecond: ptr(0.0)}, 0},
		{"thin bucket", Config{Bucket: 1}, 1},
		{"too many buckets", Config{Bucket: BucketMin, Duration: time.Hour}, 1},
		{"capacity", Config{CapacityPerSecond: &nan}, 1},
		{"every fault at once", Config{
			Bucket: -1, Duration: -1, CapacityPerSecond: ptr(-1.0), WindowFrom: -1, Triggers: []Trigger{{From: 2, To: 1}},
			PeriodFrom: 2, RecoveryWatch: -1, Period: -1, Cap: -1, Floor: -1,
			KindNames: names, ReasonNames: names, LostNames: names, Shards: -1,
		}, 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.config.Validate(); len(got) != c.faults {
				t.Errorf("Validate() = %v, want %d faults", got, c.faults)
			}
			defer func() {
				if r := recover(); (r != nil) != (c.faults > 0) {
					t.Errorf("New panics with %v, want a panic: %t", r, c.faults > 0)
				}
			}()
			New(c.config)
		})
	}
}

func TestOutcomeNames(t *testing.T) {
	kinds := []string{"timeout", "refused"}
	for _, c := range []struct {
		key  OutcomeKey
		want string
	}{
		{StatusKey(200), "200"}, {StatusKey(0), "0"}, {StatusKey(999), "999"}, {StatusKey(1000), "other"}, {StatusKey(-1), "other"},
		{KindKey(0), "timeout"}, {KindKey(1), "refused"}, {KindKey(2), "other"}, {KindKey(KindsMax), "other"}, {KindKey(-1), "other"},
	} {
		if got := outcomeName(c.key, kinds); got != c.want {
			t.Errorf("name of key %d = %q, want %q", c.key, got, c.want)
		}
	}
}
