package wake

import "time"

// The heap is 4-ary: with thousands of waiting clients it is half as deep as a binary one,
// and the four children of a node lie side by side. A place holds what is compared, for the
// events themselves are spread over a fleet's memory: at 100,000 clients every look at one
// misses the caches.
const arity = 4

// A place is one event in the heap.
type place struct {
	due time.Duration
	seq uint64 // orders events due at one moment by when they were scheduled
	e   *Event
}

func before(a, b place) bool {
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

func (q *Queue) push(p place) {
	q.heap = append(q.heap, p)
	q.up(len(q.heap)-1, p)
}

// remove takes e, which is scheduled, out of the heap.
func (q *Queue) remove(e *Event) {
	i := e.index - 1
	e.index = 0
	last := len(q.heap) - 1
	moved := q.heap[last]
	q.heap[last] = place{}
	q.heap = q.heap[:last]
	if i == last {
		return
	}
	if i > 0 && before(moved, q.heap[(i-1)/arity]) {
		q.up(i, moved)
	} else {
		q.down(i, moved)
	}
}

// up places p at i or above.
func (q *Queue) up(i int, p place) {
	for i > 0 {
		parent := (i - 1) / arity
		if !before(p, q.heap[parent]) {
			break
		}
		q.set(i, q.heap[parent])
		i = parent
	}
	q.set(i, p)
}

// down places p at i or below.
func (q *Queue) down(i int, p place) {
	for {
		first := i*arity + 1
		if first >= len(q.heap) {
			break
		}
		least := first
		for c := first + 1; c < min(first+arity, len(q.heap)); c++ {
			if before(q.heap[c], q.heap[least]) {
				least = c
			}
		}
		if !before(q.heap[least], p) {
			break
		}
		q.set(i, q.heap[least])
		i = least
	}
	q.set(i, p)
}

func (q *Queue) set(i int, p place) {
	q.heap[i] = p
	p.e.index = i + 1
}
