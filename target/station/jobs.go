package station

import "time"

// A JobID names an accepted job while it is inside the station. It is a slot of the job
// table and the slot's generation: once the job has left, the ID never matches another
// job, short of 2^32 jobs later in the same slot. The zero value names no job.
type JobID struct{ slot, generation uint32 }

// job is one accepted job: waiting in the queue or in service. It is one line of the cache.
type job struct {
	tag        uint64
	demand     work
	arrived    time.Duration
	started    time.Duration // until then its deadline, never for none
	generation uint32
	place      int32 // in the heap of jobs in service, or waiting, or vacant
	next, prev int32 // neighbours in the queue; next also chains vacant slots
	abandoned  bool
}

const (
	waiting = -1 // job.place of a job in the queue
	vacant  = -2 // job.place of a slot without a job
	none    = -1 // no slot
)

// table holds the jobs and reuses their slots.
type table struct {
	jobs    []job
	freed   int32 // the slot vacated last, or none
	started uint64
}

func newTable(size int) table {
	return table{jobs: make([]job, 0, size), freed: none}
}

// take returns a vacant slot. Its generation is never 0.
func (t *table) take() int32 {
	if t.freed == none {
		t.jobs = append(t.jobs, job{generation: 1, place: waiting})
		return int32(len(t.jobs) - 1)
	}
	slot := t.freed
	j := &t.jobs[slot]
	t.freed = j.next
	*j = job{generation: j.generation, place: waiting}
	return slot
}

// vacate ends the slot's generation.
func (t *table) vacate(slot int32) {
	j := &t.jobs[slot]
	j.generation++
	if j.generation == 0 {
		j.generation = 1
	}
	j.place, j.next = vacant, t.freed
	t.freed = slot
}

func (t *table) id(slot int32) JobID {
	return JobID{uint32(slot), t.jobs[slot].generation}
}

// find returns the slot of id, or none where the job has left.
func (t *table) find(id JobID) int32 {
	if uint64(id.slot) >= uint64(len(t.jobs)) || t.jobs[id.slot].generation != id.generation {
		return none
	}
	return int32(id.slot)
}

// queue is the waiting jobs in the order in which they came, a list through the table: every step is O(1), also
// taking out of the middle.
type queue struct {
	head, tail int32
	length     int
}

func (q *queue) push(t *table, slot int32) {
	t.jobs[slot].next, t.jobs[slot].prev = none, q.tail
	if q.length == 0 {
		q.head = slot
	} else {
		t.jobs[q.tail].next = slot
	}
	q.tail = slot
	q.length++
}

func (q *queue) remove(t *table, slot int32) {
	next, prev := t.jobs[slot].next, t.jobs[slot].prev
	if slot == q.head {
		q.head = next
	} else {
		t.jobs[prev].next = next
	}
	if slot == q.tail {
		q.tail = prev
	} else {
		t.jobs[next].prev = prev
	}
	q.length--
}

// entry is a job in service. Its key lies in the entry, so that the heap's comparisons
// touch no other memory.
type entry struct {
	finish work // reading of the work clock
	order  uint64
	at     time.Duration // the moment of finish
	slot   int32
}

func (e *entry) before(other *entry) bool {
	if e.finish != other.finish {
		return e.finish.less(other.finish)
	}
	return e.order < other.order
}

// heap is a binary heap of the jobs in service, next to finish first, ties in the order
// they started. It keeps job.place, so that any job can be taken out in O(log n).
type heap []entry

// settle puts the last entry, which has just been appended, where it belongs.
func (h heap) settle(t *table) {
	last := len(h) - 1
	if last > 0 && h[last].before(&h[(last-1)/2]) {
		h.up(t, last, h[last])
		return
	}
	t.jobs[h[last].slot].place = int32(last)
}

func (h *heap) remove(t *table, place int) {
	old := *h
	*h = old[:len(old)-1]
	if place == len(*h) {
		return
	}
	last := old[len(old)-1]
	if place > 0 && last.before(&old[(place-1)/2]) {
		h.up(t, place, last)
	} else {
		h.down(t, place, last)
	}
}

// up puts e at place or nearer to the root.
func (h heap) up(t *table, place int, e entry) {
	for place > 0 {
		parent := (place - 1) / 2
		if !e.before(&h[parent]) {
			break
		}
		h.set(t, place, h[parent])
		place = parent
	}
	h.set(t, place, e)
}

// down puts e at place or further from the root.
func (h heap) down(t *table, place int, e entry) {
	for {
		child := 2*place + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h.set(t, place, h[child])
		place = child
	}
	h.set(t, place, e)
}

func (h heap) set(t *table, place int, e entry) {
	h[place] = e
	t.jobs[e.slot].place = int32(place)
}

// ring is a FIFO of completions that grows to the most it ever held.
type ring struct {
	buffer []Done // its length is 0 or a power of two
	first  int
	length int
}

func (r *ring) push(d Done) {
	if r.length == len(r.buffer) {
		grown := make([]Done, max(16, 2*len(r.buffer)))
		n := copy(grown, r.buffer[r.first:])
		copy(grown[n:], r.buffer[:r.first])
		r.buffer, r.first = grown, 0
	}
	r.buffer[(r.first+r.length)&(len(r.buffer)-1)] = d
	r.length++
}

func (r *ring) pop() Done {
	d := r.buffer[r.first]
	r.first = (r.first + 1) & (len(r.buffer) - 1)
	r.length--
	return d
}
