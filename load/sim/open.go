package sim

// An idleRing holds the clients of an open loop that wait for an operation, longest first, so that
// the work goes round the whole fleet.
type idleRing struct {
	ring      []uint32
	first     int
	length    int
	exhausted bool // no operation will come any more
}

func (q *idleRing) init(clients int) { q.ring = make([]uint32, clients) }

// add puts a client at the end, or returns false where no operation will come any more.
func (q *idleRing) add(client uint32) bool {
	if q.exhausted {
		return false
	}
	if q.length == len(q.ring) {
		panic("sim: BUG: a client is idle twice")
	}
	q.ring[(q.first+q.length)%len(q.ring)] = client
	q.length++
	return true
}

// take returns the client that has been idle longest, or false where none is.
func (q *idleRing) take() (client uint32, ok bool) {
	if q.length == 0 {
		return 0, false
	}
	client = q.ring[q.first]
	q.first = (q.first + 1) % len(q.ring)
	q.length--
	return client, true
}

// startOperation hands the operation that is due to an idle client. One that finds none is counted
// and not made up for.
func (e *engine) startOperation() {
	if id, ok := e.idle.take(); ok {
		e.begin(id, e.opening)
		e.send(id)
	} else {
		e.stats.Unstarted++
	}
	e.nextOpening()
}

// nextOpening schedules the next operation. After the last one the idle clients retire, and the
// others as they fall idle.
func (e *engine) nextOpening() {
	if e.opening, e.pending = e.open.Next(); e.pending {
		e.schedule(e.opening, kindOpening)
		return
	}
	e.idle.exhausted = true
	e.active -= e.idle.length
	e.idle.length = 0
}
