package wake

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// start runs q until the test ends and returns the channel of what fires.
func start(t *testing.T, q *Queue) <-chan *Event {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	fired := make(chan *Event, 1024)
	var wg sync.WaitGroup
	wg.Go(func() {
		q.Run(ctx, func(due []*Event) {
			for _, e := range due {
				fired <- e
			}
		})
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return fired
}

func TestEventsFireAtTheirMomentInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := New(time.Now(), Timers)
		if err != nil {
			t.Fatal(err)
		}
		fired := start(t, q)
		events := make([]Event, 200)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range events {
			events[i].ID = i
			q.Schedule(&events[i], time.Duration(r.Int64N(int64(time.Second))))
		}
		var last time.Duration
		for range events {
			e := <-fired
			if now := q.Now(); now != e.Due() {
				t.Errorf("event %d due at %v fired at %v", e.ID, e.Due(), now)
			}
			if e.Due() < last {
				t.Errorf("event %d due at %v fired after one due at %v", e.ID, e.Due(), last)
			}
			last = e.Due()
		}
	})
}

// TestHelpEndsWithItsContext: also while something is due again and again.
func TestHelpEndsWithItsContext(t *testing.T) {
	q, err := New(time.Now(), Timers)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var e Event
	q.Schedule(&e, 0)
	q.wave <- struct{}{}
	calls := 0
	q.Help(ctx, func([]*Event) {
		switch calls++; {
		case calls == 3:
			cancel()
		case calls > 1000:
			t.Error("it goes on after its context has ended")
			return
		}
		q.Schedule(&e, 0)
	})
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
}

func TestAnEarlierEventCutsTheSleepShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := New(time.Now(), Timers)
		fired := start(t, q)
		var late, early Event
		late.ID, early.ID = 1, 2
		q.Schedule(&late, time.Hour)
		synctest.Wait() // Run sleeps until the hour
		q.Schedule(&early, time.Second)
		if e := <-fired; e.ID != 2 || q.Now() != time.Second {
			t.Errorf("fired %d at %v, want event 2 at 1s", e.ID, q.Now())
		}
		q.Schedule(&late, 2*time.Second) // moved forward
		if e := <-fired; e.ID != 1 || q.Now() != 2*time.Second {
			t.Errorf("fired %d at %v, want event 1 at 2s", e.ID, q.Now())
		}
	})
}

// A wave comes in batches, all of it at its moment, each event once, whoever helps.
func TestAWaveFiresInBatches(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			q, _ := New(time.Now(), Timers)
			const wave = 500
			var mu sync.Mutex
			var fired []int
			fire := func(due []*Event) {
				mu.Lock()
				defer mu.Unlock()
				if len(due) > Batch || q.Now() != time.Second {
					t.Errorf("%d events at %v, want at most %d at 1s", len(due), q.Now(), Batch)
				}
				for _, e := range due {
					fired = append(fired, e.ID)
				}
			}
			var wg sync.WaitGroup
			wg.Go(func() { q.Run(ctx, fire) })
			for range helpers {
				wg.Go(func() { q.Help(ctx, fire) })
			}
			events := make([]Event, wave)
			for i := range events {
				events[i].ID = i
				q.Schedule(&events[i], time.Second)
			}
			time.Sleep(2 * time.Second)
			cancel()
			wg.Wait()
			if helpers == 0 && !slices.IsSorted(fired) {
				t.Error("the wave did not fire in the order in which it was scheduled")
			}
			slices.Sort(fired)
			if len(fired) != wave || len(slices.Compact(fired)) != wave {
				t.Errorf("%d helpers: %d events fired, want each of %d once", helpers, len(fired), wave)
			}
		})
	}
}

// The kernel's clock is real time, so each of these waits some 40 ms. It states no bound on
// lateness, which a busy machine could break: only that no event fires early, and all do.
func TestPreciseFiresAllAndNoneEarly(t *testing.T) {
	for _, source := range []Source{Precise, Spinning} {
		q, err := New(time.Now(), source)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var early, fired int
		var wg sync.WaitGroup
		wg.Go(func() {
			q.Run(ctx, func(due []*Event) {
				for _, e := range due {
					fired++
					if q.Now() < e.Due() {
						early++
					}
				}
				if fired == 100 {
					cancel()
				}
			})
		})
		events := make([]Event, 100)
		for i := range events {
			q.Schedule(&events[i], time.Duration(100-i)*400*time.Microsecond)
		}
		wg.Wait()
		if fired != 100 || early != 0 {
			t.Errorf("%s: fired %d, %d of them early; want 100 and 0", q.Source(), fired, early)
		}
	}
}

// The heap against a sorted slice, under any mix of schedule, move and remove.
func TestHeapOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &Queue{sleeper: newTimers(), next: far}
		events := make([]Event, 40)
		want := map[int]time.Duration{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			i := rapid.IntRange(0, len(events)-1).Draw(t, "event")
			events[i].ID = i
			if _, scheduled := want[i]; scheduled && rapid.Bool().Draw(t, "remove") {
				q.remove(&events[i])
				delete(want, i)
				continue
			}
			want[i] = time.Duration(rapid.IntRange(0, 50).Draw(t, "due"))
			q.Schedule(&events[i], want[i])
		}
		var got, wanted []time.Duration
		for len(q.heap) > 0 {
			e := q.heap[0].e
			q.remove(e)
			if e.due != want[e.ID] {
				t.Fatalf("event %d is due at %v, want %v", e.ID, e.due, want[e.ID])
			}
			got = append(got, e.due)
		}
		for _, d := range want {
			wanted = append(wanted, d)
		}
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Fatalf("popped %v, want %v", got, wanted)
		}
	})
}

func TestScheduleDoesNotAllocate(t *testing.T) {
	q := &Queue{sleeper: newTimers(), next: far}
	events := make([]Event, 1000)
	for i := range events {
		q.Schedule(&events[i], time.Duration(i))
	}
	if n := testing.AllocsPerRun(100, func() {
		q.Schedule(&events[500], 3)
		q.Schedule(&events[7], 9)
	}); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
}
