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
	started   bool // an operation has come
	exhausted bool // no operation will come any more

	// Of the goroutine that has the opening event.
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
	if !q.started {
		q.started = true
		q.order()
	}
	if q.length == 0 {
		return 0, false
	}
	client = int(q.ring[q.first])
	q.first = (q.first + 1) % len(q.ring)
	q.length--
	return client, true
}

// order puts those who have waited since the start in the order of their numbers, for none of them has waited longer than
// another: else the order in which their goroutines came would decide who does what.
func (q *idleQueue) order() {
	waits := make([]bool, len(q.ring))
	for _, client := range q.ring[:q.length] { // first is 0: nobody has been taken
		waits[client] = true
	}
	i := 0
	for client, here := range waits {
		if here {
			q.ring[i] = int32(client)
			i++
		}
	}
}

// end says that no operation will come any more.
func (q *idleQueue) end() {
	q.mu.Lock()
	q.exhausted = true
	q.mu.Unlock()
}

// openFirst prepares the schedule's first operation.
func (f *Fleet) openFirst() {
	f.idle.next, f.idle.pending = f.cfg.Open.Next()
	f.scheduleOpening()
}

// startOperations hands every operation that is due to an idle client. One that finds none
// is counted and not made up for. Whoever takes the opening event off the queue calls it, and
// it goes back on the queue last, so that only one goroutine at a time is here.
func (f *Fleet) startOperations() {
	for f.idle.pending && f.idle.next <= f.now() && !f.stopped.Load() {
		if i, ok := f.idle.take(); !ok || !f.openClient(i, f.idle.next) {
			f.idle.unstarted++
		}
		f.idle.next, f.idle.pending = f.cfg.Open.Next()
	}
	if !f.stopped.Load() { // else what is overdue would be due at once, again and again
		f.scheduleOpening()
	}
}

// scheduleOpening waits for the next operation. After the last one the idle clients end, and
// the others as they fall idle.
func (f *Fleet) scheduleOpening() {
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
		if f.calls != nil {
			f.calls[i].dismiss()
			continue
		}
		f.clients[i].dismiss()
	}
}

// openClient starts an operation on a client that was idle, or returns false.
func (f *Fleet) openClient(client int, due time.Duration) bool {
	if f.calls != nil {
		return f.calls[client].open(due)
	}
	return f.clients[client].open(due)
}
