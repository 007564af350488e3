package sim

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A sorted is the queue that cannot be wrong: a list, and each event behind those of its moment.
type sorted []event

func (s *sorted) push(due time.Duration, id uint32) {
	i, _ := slices.BinarySearchFunc(*s, due, func(e event, due time.Duration) int {
		if e.due <= due {
			return -1
		}
		return 1
	})
	*s = slices.Insert(*s, i, event{due, id})
}

func (s *sorted) before(until time.Duration) bool { return len(*s) > 0 && (*s)[0].due < until }

func (s *sorted) pop() event {
	e := (*s)[0]
	*s = (*s)[1:]
	return e
}

// A pair is a queue and what it is held against.
type pair struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	queue  *queue
	sorted sorted
	next   uint32
	now    time.Duration
}

func (p *pair) push(due time.Duration) {
	p.queue.push(due, p.next)
	p.sorted.push(due, p.next)
	p.next++
}

// pop compares what is due before until, and takes it out.
func (p *pair) pop(until time.Duration) bool {
	p.t.Helper()
	want := p.sorted.before(until)
	if got := p.queue.before(until); got != want {
		p.t.Fatalf("before(%d) at %d = %t, want %t", until, p.now, got, want)
	}
	if !want {
		return false
	}
	upcoming := p.queue.upcoming()
	if len(upcoming) == 0 || len(upcoming) > len(p.sorted) || !slices.Equal(upcoming, p.sorted[:len(upcoming)]) {
		p.t.Fatalf("upcoming at %d = %v, want the first of %v", p.now, upcoming, p.sorted)
	}
	got, event := p.queue.pop(), p.sorted.pop()
	if got != event {
		p.t.Fatalf("pop after %d = %v, want %v", p.now, got, event)
	}
	p.now = event.due
	return true
}

// drain takes out everything.
func (p *pair) drain() {
	p.t.Helper()
	for p.pop(math.MaxInt64) {
	}
	for p.queue.before(math.MaxInt64) != p.sorted.before(math.MaxInt64) {
		p.t.Fatalf("before the end of time: %d left, want %d", p.queue.len(), len(p.sorted))
	}
	if p.queue.len() != len(p.sorted) { // what is due at the largest moment is before nothing
		p.t.Fatalf("len = %d, want %d", p.queue.len(), len(p.sorted))
	}
}

// later returns a moment that is not before now, or the last one.
func later(now, delay time.Duration) time.Duration {
	if delay > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + delay
}

// TestQueueKeepsOrder draws pushes and pops in any order: single ones and herds, of the same moment and of
// moments from one nanosecond to all of time apart, before and after the queue has looked ahead.
func TestQueueKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &pair{t: rt, queue: newQueue(0)}
		early := rapid.Bool().Draw(rt, "early") // may pushes be before what was looked at?
		marks := []time.Duration{0, 1 << 20, time.Hour}
		delays := rapid.OneOf(
			rapid.Just(time.Duration(0)),
			rapid.Map(rapid.IntRange(0, 62), func(bit int) time.Duration { return 1<<bit - 1 }),
			rapid.Custom(func(rt *rapid.T) time.Duration {
				return time.Duration(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 63).Draw(rt, "bits")-1).Draw(rt, "delay"))
			}),
		)
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) { p.push(later(p.now, delays.Draw(rt, "delay"))) },
			"herd": func(rt *rapid.T) {
				due := later(p.now, delays.Draw(rt, "delay"))
				for range rapid.IntRange(1, 200).Draw(rt, "events") {
					p.push(due)
				}
				marks = append(marks, due)
			},
			"spread": func(rt *rapid.T) {
				for range rapid.IntRange(1, 200).Draw(rt, "events") {
					p.push(later(p.now, delays.Draw(rt, "delay")))
				}
			},
			"again": func(rt *rapid.T) {
				if due := rapid.SampledFrom(marks).Draw(rt, "due"); due >= p.now {
					p.push(due)
				}
			},
			"pop": func(rt *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(rt, "events") {
					p.pop(math.MaxInt64)
				}
			},
			"until": func(rt *rapid.T) {
				until := later(p.now, delays.Draw(rt, "until"))
				for p.pop(until) {
				}
				if !early {
					p.now = until
				}
			},
			"early": func(rt *rapid.T) {
				if early {
					p.push(time.Duration(rapid.Int64Range(0, int64(p.now)).Draw(rt, "due")))
				}
			},
		})
		p.drain()
	})
}

// TestQueueInAFleet lets a fleet's events pass through: delays of one law, from some clients to many, against
// a sorted heap.
func TestQueueInAFleet(t *testing.T) {
	laws := []struct {
		name  string
		delay func(r *rand.Rand) time.Duration
	}{
		{"none", func(*rand.Rand) time.Duration { return 0 }},
		{"constant", func(*rand.Rand) time.Duration { return time.Second }},
		{"uniform", func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(20 * time.Second))) }},
		{"of any size", func(r *rand.Rand) time.Duration { return time.Duration(r.Uint64() >> (1 + r.IntN(60)) >> 8) }},
		{"a few moments", func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(3)) * time.Second }},
		{"short, seldom long", func(r *rand.Rand) time.Duration {
			if r.IntN(1000) == 0 {
				return time.Hour
			}
			return time.Duration(r.IntN(1000))
		}},
	}
	for _, law := range laws {
		for _, clients := range []int{1, 2, 63, 64, 65, 1000, 100_000} {
			t.Run(law.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(clients)))
				got, want := newQueue(clients), &quad{}
				for id := range uint32(clients) {
					got.push(0, id)
					want.push(0, id)
				}
				for range 3 * clients {
					if !got.before(math.MaxInt64) {
						t.Fatalf("%d clients: the queue ran empty", clients)
					}
					a, b := got.pop(), want.pop()
					if a != b {
						t.Fatalf("%d clients: pop = %v, want %v", clients, a, b)
					}
					due := a.due + law.delay(rng)
					got.push(due, a.id)
					want.push(due, a.id)
				}
				if got.len() != clients {
					t.Errorf("len = %d, want %d", got.len(), clients)
				}
			})
		}
	}
}

// TestQueueLooksNoFurther: a queue that was asked until a moment takes pushes from there on as fast as ever.
// One that had looked further would have to search its run for each of them, here 50 million steps.
func TestQueueLooksNoFurther(t *testing.T) {
	q := newQueue(0)
	q.push(time.Hour, 0)
	for i := range 10_000 {
		at := time.Duration(i) * time.Microsecond
		if q.before(at) {
			t.Fatalf("before(%v) = true, want false", at)
		}
		q.push(at+time.Minute-2*time.Duration(i)*time.Microsecond, uint32(i))
		if n := len(q.upcoming()); n > runBlocks*blockEvents+runGrowth {
			t.Fatalf("after %d pushes the run has %d events, want at most %d", i, n, runBlocks*blockEvents+runGrowth)
		}
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	for _, clients := range []int{10, 1000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		delay := func() time.Duration { return time.Duration(rng.Uint64() >> (1 + rng.IntN(63)) >> 16) }
		q := newQueue(clients)
		storm := func() {
			for id := range uint32(clients) {
				q.push(q.now+delay(), id)
			}
			for range 3 * clients {
				q.before(math.MaxInt64)
				e := q.pop()
				q.push(e.due+delay(), e.id)
			}
			for q.before(math.MaxInt64) {
				q.pop()
			}
		}
		for range 10 { // until it has grown
			storm()
		}
		cost := testing.AllocsPerRun(3, storm)
		if cost != 0 {
			t.Errorf("%d clients: %g allocations, want 0", clients, cost)
		}
	}
}

// FuzzQueue reads pushes and pops from bytes: a pop, or a moment relative to now or absolute.
func FuzzQueue(f *testing.F) {
	moments := []uint64{0, 1, 2, 63, 64, 65, math.MaxInt64, math.MaxInt64 - 1, 1 << 62, 1<<62 - 1}
	var corpus []byte
	for _, m := range moments {
		corpus = append(binary.LittleEndian.AppendUint64(append(corpus, 1), m), 0)
		f.Add(corpus)
	}
	f.Add(binary.LittleEndian.AppendUint64(slices.Repeat(corpus, 20), 0))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &pair{t: t, queue: newQueue(0)}
		text = text[:min(len(text), 2000)] // the sorted list is slow
		for len(text) > 0 {
			op := text[0]
			text = text[1:]
			if op%4 == 0 {
				p.pop(math.MaxInt64)
				continue
			}
			var word [8]byte
			text = text[copy(word[:], text):]
			moment := time.Duration(binary.LittleEndian.Uint64(word[:]) & math.MaxInt64)
			switch op % 4 {
			case 1:
				p.push(moment)
			case 2:
				p.push(later(p.now, moment>>(op/4)))
			case 3:
				for range cmp.Or(op/4, 100) {
					p.push(later(p.now, moment))
				}
			}
		}
		p.drain()
	})
}
