package record

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// settled returns what Interim and Summarise must agree on when nothing is under way: all but the books and what the
// end decides.
func settled(run Run) Run {
	run.Books.Balanced, run.Books.Faults = false, nil
	run.Operations.Unfinished, run.Operations.Unstarted, run.Completion = 0, nil, nil
	return run
}

// A look at any time is what a summary then would be, though each look copies only what has changed since the one
// before: with moments that go back and forth, and refusals that become known long after the arrival.
func TestInterimIsTheSummarySoFar(t *testing.T) {
	for seed := range uint64(6) {
		rng := seeded(seed)
		r := New(fullConfig(1 + int(seed)%3))
		for step := range 8 {
			for _, e := range randomEvents(rng, 1+int(seed)*60) {
				e(r, rng.Uint32())
			}
			if step%2 == 0 {
				r.Rejected(time.Duration(rng.Int64N(int64(12 * time.Second))))
			}
			at := End{At: time.Duration(step+2) * time.Second, Strategy: "full"}
			got, want := settled(r.Interim(at)), settled(r.Summarise(at))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, look %d:\n%+v\nwant\n%+v", seed, step, got, want)
			}
		}
		r.Reset(fullConfig(len(r.shards)))
		if got, want := settled(r.Interim(End{At: time.Second})), settled(r.Summarise(End{At: time.Second})); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: after a reset:\n%+v\nwant\n%+v", seed, got, want)
		}
	}
}

// While others record, what a look finds is sound: its sums agree with its parts, and nothing is seen that is gone at the
// next look.
func TestInterimWhileRecording(t *testing.T) {
	r := New(fullConfig(3))
	var wait sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		events := randomEvents(seeded(uint64(w)), 4000)
		wait.Go(func() {
			for _, e := range events {
				e(r, uint32(w))
			}
		})
	}
	go func() { wait.Wait(); close(done) }()
	var before Run
	for look, last := 0, false; !last; look++ {
		select {
		case <-done:
			last = true
		default:
		}
		run := r.Interim(End{At: 12 * time.Second})
		var bucketed int64
		for i, b := range run.Buckets {
			bucketed += b.Arrivals
			if b.Arrivals != b.First+b.Retries || b.Arrivals != sumOfAll(b.ByAttempt) {
				t.Fatalf("look %d: bucket %d = %+v", look, i, b)
			}
			if i < len(before.Buckets) && b.Arrivals < before.Buckets[i].Arrivals {
				t.Fatalf("look %d: bucket %d lost arrivals", look, i)
			}
		}
		switch {
		case bucketed != run.Books.Arrivals:
			t.Fatalf("look %d: %d in buckets, %d arrivals", look, bucketed, run.Books.Arrivals)
		case run.Books.Balanced || !slices.Equal(run.Books.Faults, []string{UnderWay}):
			t.Fatalf("look %d: books = %+v, want them open", look, run.Books)
		case run.Operations.Started < before.Operations.Started || run.Delay.Count < before.Delay.Count:
			t.Fatalf("look %d: fewer than before: %+v", look, run.Operations)
		case run.Operations.Started != run.Operations.Succeeded+sumOf(run.Operations.GaveUp)+run.Operations.Unfinished:
			t.Fatalf("look %d: operations = %+v", look, run.Operations)
		}
		before = run
	}
	if got, want := settled(before), settled(r.Summarise(End{At: 12 * time.Second})); !reflect.DeepEqual(got, want) {
		t.Errorf("at the end:\n%+v\nwant\n%+v", got, want)
	}
}

func sumOfAll(list []int64) (sum int64) {
	for _, n := range list {
		sum += n
	}
	return sum
}

func TestTicks(t *testing.T) {
	r := New(Config{Duration: time.Minute})
	if got := r.Ticks(0); len(got) != 0 {
		t.Errorf("Ticks(0) of nothing = %v", got)
	}
	rng := seeded(1)
	for range 3000 {
		at := time.Duration(rng.Int64N(int64(40 * time.Second)))
		r.Arrival(Arrival{At: at, Attempt: rng.IntN(3), Rejected: rng.IntN(2) == 0})
		r.Served(at, rng.IntN(4) == 0)
	}
	r.Arrival(Arrival{At: 41 * time.Second})
	list := r.Summarise(End{At: time.Second}).Buckets
	for _, from := range []int{-1, 0, 1, 200, 255, 256, 410, 411, 5000} {
		got := r.Ticks(from)
		want := list[min(max(from, 0), len(list)):]
		if len(got) != len(want) {
			t.Fatalf("Ticks(%d) has %d buckets, want %d", from, len(got), len(want))
		}
		for i, b := range want {
			if tick := (Tick{b.Arrivals, b.First, b.Retries, b.Served, b.Wasted, b.Rejected}); got[i] != tick {
				t.Errorf("Ticks(%d)[%d] = %+v, want %+v", from, i, got[i], tick)
			}
		}
	}
}

// The waves of a run are those that its figures count, with their places.
func TestWavesOf(t *testing.T) {
	run := func(capacity *float64, counts ...int64) *Run {
		r := &Run{Bucket: 100 * time.Millisecond, CapacityPerSecond: capacity}
		for i, n := range counts {
			r.Buckets = append(r.Buckets, Bucket{At: time.Duration(i) * r.Bucket, Arrivals: n})
		}
		return r
	}
	for _, c := range []struct {
		name string
		run  *Run
		want []Wave
	}{
		{"nobody knows the capacity", run(nil, 500), nil},
		{"no bucket", run(ptr(100.0)), []Wave{}},
		{"at capacity is no wave", run(ptr(100.0), 10, 0), []Wave{}},
		{"two, the last to the end", run(ptr(100.0), 11, 30, 30, 10, 15), []Wave{
			{From: 0, To: ms(300), Arrivals: 71, PeakArrivals: 30, PeakAt: ms(100)},
			{From: ms(400), To: ms(500), Arrivals: 15, PeakArrivals: 15, PeakAt: ms(400)},
		}},
		{"capacity 0", run(ptr(0.0), 0, 1), []Wave{{From: ms(100), To: ms(200), Arrivals: 1, PeakArrivals: 1, PeakAt: ms(100)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := WavesOf(c.run); !reflect.DeepEqual(got, c.want) {
				t.Errorf("WavesOf = %+v, want %+v", got, c.want)
			}
		})
	}
	for seed := range uint64(20) {
		r := New(Config{Bucket: 3 * time.Millisecond, CapacityPerSecond: ptr(float64(seed) * 50)})
		for _, at := range poisson(seeded(seed), 400, 2*time.Second) {
			r.Arrival(Arrival{At: at})
		}
		run := r.Summarise(End{At: 2 * time.Second})
		waves := WavesOf(&run)
		if int64(len(waves)) != *run.Convoy.Waves {
			t.Fatalf("seed %d: %d waves, want %d", seed, len(waves), *run.Convoy.Waves)
		}
		for i, peak := range run.Convoy.WavePeaks {
			if waves[i].PeakArrivals != peak {
				t.Errorf("seed %d: wave %d has its peak at %d, want %d", seed, i, waves[i].PeakArrivals, peak)
			}
		}
	}
}

// BenchmarkInterim is a look at a run of so many seconds with 200 attempts in each: the first, and one a second later.
func BenchmarkInterim(b *testing.B) {
	for _, seconds := range []int{30, 7200} {
		c := fullConfig(0)
		c.Duration = time.Duration(seconds) * time.Second
		r, end := New(c), End{At: c.Duration}
		rng := seeded(1)
		for i := range uint32(200 * seconds) {
			at := time.Duration(rng.Int64N(int64(c.Duration)))
			r.OperationStarted(i)
			r.Sent(i, Sent{Attempt: 1, Due: at, At: at + time.Duration(rng.Int64N(1e7))})
			r.Arrival(Arrival{At: at, Attempt: 1})
			r.Outcome(i, Sample{Key: StatusKey(503), Answered: true, Latency: time.Duration(rng.Int64N(1e9))})
			r.Delay(i, Delay{Retry: 1, Planned: at / 10, Draw: at / 10})
			r.OperationEnded(i, Operation{At: at, Elapsed: at, Attempts: 2, Succeeded: true})
		}
		b.Run(fmt.Sprintf("%ds/first", seconds), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.view.copy, r.site.touched = nil, 0
				r.Interim(end)
			}
		})
		b.Run(fmt.Sprintf("%ds/next", seconds), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Arrival(Arrival{At: c.Duration - time.Second, Attempt: 1})
				r.Interim(end)
			}
		})
	}
}
