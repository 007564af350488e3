package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A schedule is what the benchmark and the tests need of a queue.
type schedule interface {
	push(due time.Duration, id uint32)
	before(until time.Duration) bool
	pop() event
}

// A boxed is the heap that everybody writes first: container/heap over events with a sequence.
type boxed struct {
	list sequenced
	next uint64
}

type sequencedEvent struct {
	due      time.Duration
	sequence uint64
	id       uint32
}

func (e sequencedEvent) less(o sequencedEvent) bool {
	return e.due < o.due || e.due == o.due && e.sequence < o.sequence
}

type sequenced []sequencedEvent

func (s sequenced) Len() int           { return len(s) }
func (s sequenced) Less(i, j int) bool { return s[i].less(s[j]) }
func (s sequenced) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sequenced) Push(x any)        { *s = append(*s, x.(sequencedEvent)) }
func (s *sequenced) Pop() any {
	old := *s
	e := old[len(old)-1]
	*s = old[:len(old)-1]
	return e
}

func (b *boxed) push(due time.Duration, id uint32) {
	heap.Push(&b.list, sequencedEvent{due, b.next, id})
	b.next++
}
func (b *boxed) before(until time.Duration) bool {
	return len(b.list) > 0 && b.list[0].due < until
}
func (b *boxed) pop() event {
	e := heap.Pop(&b.list).(sequencedEvent)
	return event{e.due, e.id}
}

// A quad is a heap of four children a node, the best of the plain array heaps.
type quad struct {
	list []sequencedEvent
	next uint64
}

func (q *quad) push(due time.Duration, id uint32) {
	e := sequencedEvent{due, q.next, id}
	q.next++
	q.list = append(q.list, e)
	i := len(q.list) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.less(q.list[parent]) {
			break
		}
		q.list[i] = q.list[parent]
		i = parent
	}
	q.list[i] = e
}

func (q *quad) before(until time.Duration) bool {
	return len(q.list) > 0 && q.list[0].due < until
}

func (q *quad) pop() event {
	first, last := q.list[0], q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	i := 0
	for {
		child := 4*i + 1
		if child >= len(q.list) {
			break
		}
		least := child
		for j := child + 1; j < min(child+4, len(q.list)); j++ {
			if q.list[j].less(q.list[least]) {
				least = j
			}
		}
		if !q.list[least].less(last) {
			break
		}
		q.list[i] = q.list[least]
		i = least
	}
	if len(q.list) > 0 {
		q.list[i] = last
	}
	return event{first.due, first.id}
}

var queueKinds = []struct {
	name string
	make func(events int) schedule
}{
	{"queue", func(events int) schedule { return newQueue(events) }},
	{"4-ary", func(events int) schedule { return &quad{list: make([]sequencedEvent, 0, events)} }},
	{"container", func(events int) schedule { return &boxed{list: make(sequenced, 0, events)} }},
}

// BenchmarkHold takes one event out and puts one in, as the classic "hold model" does: the delays are
// uniform, up to 20 s.
func BenchmarkHold(b *testing.B) {
	for _, pending := range []int{1e3, 1e4, 1e5, 1e6, 1e7} {
		for _, k := range queueKinds {
			b.Run(fmt.Sprintf("%s/pending=%d", k.name, pending), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				delay := func() time.Duration { return time.Duration(rng.Uint64() % uint64(20*time.Second)) }
				q := k.make(pending)
				for i := range pending {
					q.push(delay(), uint32(i))
				}
				hold := func(n int) {
					for range n {
						if !q.before(1 << 62) {
							b.Fatal("the queue ran empty")
						}
						e := q.pop()
						q.push(e.due+delay(), e.id)
					}
				}
				hold(3 * pending) // until the shape is that of the steady state
				b.ReportAllocs()
				b.ResetTimer()
				hold(b.N)
			})
		}
	}
}
