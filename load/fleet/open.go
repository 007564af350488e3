package fleet

import (
	"sync"
	"time"
)

// An idleQueue holds the clients of an open loop that wait for an operation, longest first,
// so that the work goes round the whole fleet.
type idleQueue struct {
	mu        sync.Mutex
	ring      []int32
	first     int
	length    int
	exhausted bool // no operation will come any more

	// The dispatcher's alone.
	next      time.Duration // when the next operation is due
	pending   bool          // next is one to come
	unstarted int64
}

func (q *idleQueue) init(clients int) { q.ring = make([]int32, clients) }

// add puts a client at the end, or returns false where no operation will come any more.
func (q *idleQueue) add(client int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.exhausted {
		return false
	}
	if q.length == len(q.ring) {
		panic("fleet: BUG: a client is idle twice")
	}
	q.ring[(q.first+q.length)%len(q.ring)] = int32(client)
	q.length++
	return true
}

// take returns the client that has been idle longest, or false where none is.
func (q *idleQueue) take() (client int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.length == 0 {
		return 0, false
	}
	client = int(q.ring[q.first])
	q.first = (q.first + 1) % len(q.ring)
	q.length--
	return client, true
}

// end says that no operation will come any more.
func (q *idleQueue) end() {
	q.mu.Lock()
	q.exhausted = true
	q.mu.Unlock()
}

// openNext schedules the next operation of the open loop. After the last one the idle
// clients end, and the others as they fall idle.
func (f *Fleet) openNext() {
	f.idle.next, f.idle.pending = f.cfg.Open.Next()
	if f.idle.pending {
		f.queue.Schedule(&f.opening, f.idle.next)
		return
	}
	f.idle.end()
	for {
		i, ok := f.idle.take()
		if !ok {
			return
		}
		f.clients[i].dismiss()
	}
}

// startOperations hands every operation that is due to an idle client. One that finds none
// is counted and not made up for.
func (f *Fleet) startOperations() {
	for f.idle.pending && f.idle.next <= f.now() {
		if i, ok := f.idle.take(); !ok || !f.clients[i].open(f.idle.next) {
			f.idle.unstarted++
		}
		f.openNext()
	}
}
