package wake

// The heap is 4-ary: with thousands of waiting clients it is half as deep as a binary one,
// and the four children of a node lie in one cache line of pointers.
const arity = 4

func before(a, b *Event) bool {
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

func (q *Queue) push(e *Event) {
	q.heap = append(q.heap, e)
	q.up(len(q.heap)-1, e)
}

// remove takes e, which is scheduled, out of the heap.
func (q *Queue) remove(e *Event) {
	i := e.index - 1
	e.index = 0
	last := len(q.heap) - 1
	moved := q.heap[last]
	q.heap[last] = nil
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

// up places e at i or above.
func (q *Queue) up(i int, e *Event) {
	for i > 0 {
		parent := (i - 1) / arity
		if !before(e, q.heap[parent]) {
			break
		}
		q.set(i, q.heap[parent])
		i = parent
	}
	q.set(i, e)
}

// down places e at i or below.
func (q *Queue) down(i int, e *Event) {
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
		if !before(q.heap[least], e) {
			break
		}
		q.set(i, q.heap[least])
		i = least
	}
	q.set(i, e)
}

func (q *Queue) set(i int, e *Event) {
	q.heap[i] = e
	e.index = i + 1
}
