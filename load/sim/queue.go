package sim

import (
	"math/bits"
	"time"
)

// An event is what is to happen at a moment; the engine says what the id stands for.
type event struct {
	due time.Duration
	id  uint32
}

// A queue holds events that are to come and gives them back by moment; those of one moment in the order in
// which they were pushed, so that an event needs no sequence number.
//
// It is a radix heap over lists of blocks, as lazy as it can be. A push only files the event: in a bucket of
// the level of the highest digit in which its moment differs from base, by that digit. When the events before
// limit, the run, have been taken out, the first bucket is opened: what is in some blocks is sorted and is the
// next run; what is more is filed again, at lower levels, relative to the bucket's start. An event is so
// moved once a level at most (in a fleet's storm one to three times), always from one list to the end of
// another: memory is read and written in order, and a million pending events cost little more than a thousand.
// An event that is pushed before limit goes straight to its place in the run.
//
// Why the order of pushes is kept, for two events of one moment t, a pushed before b:
//   - A bucket is a list that grows at its end and is read from its beginning.
//   - While a waits in the bucket of level l and digit d, b comes to that bucket too. For a is there because
//     base has t's digits above l, and at l a smaller one than d. Base moves only to the start of the bucket that is
//     opened, which is the first one, or inside of it (cut): if its level is below l, base changes below l
//     only; if it is l, its digit is smaller than d; above l it cannot be, for a's bucket is before it.
//   - Where a's bucket is opened, all lower buckets are empty, so that a goes to the beginning of another list or of
//     the run, and those that were behind it follow in their order.
//   - Where a is in the run, t is before limit, so that b is put into the run, behind all that is due at t. Only the
//     run of the moment base itself is of limit = base: it is the beginning of list 0, to which b goes then.
//
// TestQueueKeepsOrder holds it against a sorted list.
//
// Any moment from 0 to the largest may be pushed at any time, and the order is right. Fast it is where time
// does not go back: where nothing is pushed before what was popped or before the until for which [queue.before]
// said no. Otherwise what is too early stays in the run, which is searched from its end.
//
// Cost: 20 to 30 ns for a push with its pop up to 100,000 events, some 50 at a million (BenchmarkHold); no allocation
// once it has grown; 16 bytes an event, and 0.1 to 0.4 MB. Not safe for concurrent use.
// Source: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster Algorithms for the Shortest Path Problem", 1990, "radix heap"; the sorted
// run and the late splits are those of Tang, Goh, Thng, "Ladder Queue", 2005.
type queue struct {
	run  []event // sorted from head on
	head int
	most int           // how long the run may get by insertions
	now  time.Duration // when the last popped event was due

	// What is due before limit is in the run, the rest in the buckets, by its digits relative to base.
	// base is at most limit; what is due between them shares base's digits from the opened bucket's level on.
	base, limit uint64

	filled   uint64         // which levels have events
	occupied [levels]uint64 // which of a level's buckets
	buckets  [levels * digits]bucket
	length   int

	// A block is blockEvents places in events; the first one is never used, so that 0 is none.
	events []event
	next   []uint32 // the block after each, of its list
	free   uint32   // list of blocks
}

const (
	digitBits = 6
	digits    = 1 << digitBits
	// levels are those of the eleven digits, and one of a single bucket, 0: what is due at base.
	levels = 1 + (63+digitBits-1)/digitBits

	blockEvents = 31
	// runBlocks is how many blocks of one bucket are sorted to be the next run.
	runBlocks = 8
	// runGrowth is how much longer the run may get by insertions.
	runGrowth = 64
	// sortFew events are sorted by insertion alone, and no more than sortSame of one digit.
	sortFew  = 8
	sortSame = 64
)

// A bucket is a list of blocks, of which the last one has room from at to end. The zero bucket is empty.
type bucket struct{ head, blocks, at, end uint32 }

// newQueue returns an empty queue with memory for so many events. It grows where there are more, and where a few
// of them are in more buckets than is usual.
func newQueue(events int) *queue {
	// Each bucket may have a block that is not full. A few events are not in all of them, and memory for them
	// would take as long to make ready as all their run does.
	blocks := 2 + events/blockEvents + min(levels*digits, 128+events/64)
	return &queue{
		run:    make([]event, 0, 2*(runBlocks*blockEvents+runGrowth)),
		most:   runGrowth,
		events: make([]event, blockEvents, blocks*blockEvents),
		next:   make([]uint32, 1, blocks),
	}
}

// push adds an event, due at 0 or later.
func (q *queue) push(due time.Duration, id uint32) {
	q.length++
	if uint64(due) >= q.limit {
		q.file(event{due, id})
		return
	}
	q.insert(event{due, id})
	if len(q.run)-q.head > q.most {
		q.cut()
	}
}

// before reports whether there is an event due before until; the next one is then the first of upcoming.
// A caller that asks no further than it may have to go lets the queue leave later buckets as they are.
func (q *queue) before(until time.Duration) bool {
	if q.head < len(q.run) {
		return q.run[q.head].due < until
	}
	return q.refill(uint64(until))
}

// pop takes out the next event. It must be known to be there, from before.
func (q *queue) pop() event {
	e := q.run[q.head]
	q.head++
	q.length--
	q.now = e.due
	return e
}

// upcoming are the next events in their order, as far as they are sorted already: mostly some, and at least
// one where before has just said yes. They are valid until the next call.
func (q *queue) upcoming() []event { return q.run[q.head:] }

// len is how many events wait.
func (q *queue) len() int { return q.length }

// insert puts an event into the run, behind those of its moment.
func (q *queue) insert(e event) {
	if len(q.run) == cap(q.run) && q.head >= len(q.run)/2 {
		q.run = q.run[:copy(q.run, q.run[q.head:])]
		q.head = 0
	}
	run := append(q.run, e)
	i := len(run) - 1
	for ; i > q.head && run[i-1].due > e.due; i-- {
		run[i] = run[i-1]
	}
	run[i] = e
	q.run = run
}

// file appends an event to its bucket.
func (q *queue) file(e event) {
	level := uint(bits.Len64(uint64(e.due)^q.base)+digitBits-1) / digitBits
	digit := uint(uint64(e.due) >> ((level - 1) * digitBits) % digits) // of level 0 there is none: 0
	b := &q.buckets[level*digits+digit]
	if b.at == b.end {
		q.extend(level, digit)
	}
	q.events[b.at] = e
	b.at++
}

// extend adds a block to a bucket that is empty or full.
//
//go:noinline
func (q *queue) extend(level, digit uint) {
	i := q.free
	if i != 0 {
		q.free = q.next[i]
	} else {
		i = uint32(len(q.next))
		q.next = append(q.next, 0)
		q.events = append(q.events, make([]event, blockEvents)...)
	}
	b := &q.buckets[level*digits+digit]
	if b.blocks == 0 {
		b.head = i
		q.occupied[level] |= 1 << digit
		q.filled |= 1 << level
	} else {
		q.next[b.end/blockEvents-1] = i
	}
	b.blocks++
	b.at, b.end = i*blockEvents, (i+1)*blockEvents
}

// refill makes the next run of the first buckets, which must begin before until, and reports whether its first
// event is due before until. The run must be empty.
func (q *queue) refill(until uint64) bool {
	q.run, q.head = q.run[:0], 0
	for q.filled != 0 {
		level := uint(bits.TrailingZeros64(q.filled))
		if level == 0 {
			if until <= q.base {
				return false
			}
			q.refillEqual()
			return true
		}
		shift := (level - 1) * digitBits
		digit := uint(bits.TrailingZeros64(q.occupied[level]))
		start := q.base>>shift&^(digits-1)<<shift | uint64(digit)<<shift
		if until <= start {
			return false
		}
		b := q.take(level, digit)
		q.base, q.limit = start, start
		switch {
		case level == 1: // all of them are due at start
			q.buckets[0], q.occupied[0] = b, 1
			q.filled |= 1
		case b.blocks <= runBlocks && q.sort(b, shift-digitBits):
			q.limit = start + 1<<shift
			q.most = len(q.run) + runGrowth
			return uint64(q.run[0].due) < until
		default:
			q.split(b)
		}
	}
	return false
}

// sort makes the events of a list the run, and reports whether it did: it leaves them where they are if too many
// have one digit, which begins at shift. They are put in the order of that digit, and then in their own by
// insertion; a few are so at once.
func (q *queue) sort(b bucket, shift uint) bool {
	if b.blocks == 1 && b.at-b.head*blockEvents < sortFew {
		q.run = append(q.run, q.events[b.head*blockEvents:b.at]...)
		q.insertionSort()
		q.release(b.head, b.head)
		return true
	}
	var next [digits]uint32 // by digit: how many there are, then where the next one goes
	for rest := b; rest.blocks > 0; {
		for _, e := range q.detach(&rest) {
			next[uint64(e.due)>>shift%digits]++
		}
	}
	var most, sum uint32
	for digit, count := range next {
		most = max(most, count)
		next[digit] = sum
		sum += count
	}
	if most > sortSame {
		return false
	}
	q.run = q.run[:sum]
	for rest := b; rest.blocks > 0; {
		for _, e := range q.detach(&rest) {
			at := &next[uint64(e.due)>>shift%digits]
			q.run[*at] = e
			*at++
		}
	}
	q.insertionSort()
	q.release(b.head, b.end/blockEvents-1)
	return true
}

// insertionSort sorts the run; what is due at one moment keeps its order.
func (q *queue) insertionSort() {
	run := q.run
	for i := 1; i < len(run); i++ {
		e, at := run[i], i
		for ; at > 0 && run[at-1].due > e.due; at-- {
			run[at] = run[at-1]
		}
		run[at] = e
	}
}

// split files the events of a list again. It copies some blocks of them first: a copy waits for all of the memory at
// once, and the blocks can be used again while they are near. The run lends its room.
func (q *queue) split(b bucket) {
	for b.blocks > 0 {
		some := q.run[:0]
		for range min(b.blocks, runBlocks) {
			i := b.head
			some = append(some, q.detach(&b)...)
			q.release(i, i)
		}
		for _, e := range some {
			q.file(e)
		}
	}
}

// refillEqual makes the first block of list 0 the run.
func (q *queue) refillEqual() {
	b := &q.buckets[0]
	i := b.head
	q.run = append(q.run, q.detach(b)...)
	q.release(i, i)
	if b.blocks == 0 {
		q.occupied[0] = 0
		q.filled &^= 1
	}
}

// take empties a bucket.
func (q *queue) take(level, digit uint) bucket {
	b := q.buckets[level*digits+digit]
	q.buckets[level*digits+digit] = bucket{}
	if q.occupied[level] &^= 1 << digit; q.occupied[level] == 0 {
		q.filled &^= 1 << level
	}
	return b
}

// detach takes the first block off a list and returns its events, which are there until the block is used again.
func (q *queue) detach(b *bucket) []event {
	first := b.head * blockEvents
	if b.blocks--; b.blocks == 0 {
		events := q.events[first:b.at]
		*b = bucket{}
		return events
	}
	b.head = q.next[b.head]
	return q.events[first : first+blockEvents]
}

// release puts blocks that are one behind the other on the list of free ones, of which the last released, still
// near, are used first.
func (q *queue) release(head, tail uint32) {
	q.next[tail], q.free = q.free, head
}

// cut shortens a run that insertions have made long: it keeps what is due in the widest stretch around now
// that holds half of runGrowth at most, and files the rest.
func (q *queue) cut() {
	pending := q.run[q.head:]
	from, pivot := max(q.base, uint64(q.now)), uint64(pending[runGrowth/2].due)
	if pivot < from || q.limit == q.base {
		return // what was pushed too early, or waits for list 0, cannot be filed
	}
	q.base, q.limit = from, from // the narrowest: what is due at from goes to list 0, behind those that stay
	keep := runGrowth / 2
	if level := uint(bits.Len64(pivot^from)+digitBits-1) / digitBits; level > 0 {
		shift := (level - 1) * digitBits
		q.base = from >> shift << shift
		q.limit = q.base + 1<<shift
		for keep > 0 && uint64(pending[keep-1].due) >= q.limit {
			keep--
		}
	}
	for _, e := range pending[keep:] {
		q.file(e)
	}
	q.run = q.run[:q.head+keep]
	q.most = runGrowth
}
