// Package wake fires events at moments finer than the runtime's timers.
//
// Go's timers end on epoll's 1 ms grid (measured here on an idle machine: 0.62 ms late at
// the median, 1.1 ms at p99). A fleet that wakes on one grid arrives in clumps, and a
// target without a queue then refuses what it would have served: the result is wrong, not
// only late. A Queue therefore sleeps on a thread of its own in ppoll(2), whose timeout has
// the kernel's high-resolution clock behind it (0.07 ms late at the median, 0.15 ms at p99),
// with the thread's timer slack set to 1 ns.
//
// It is a leaf: fleet and target both stand on it, and it knows neither.
package wake

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// An Event is a moment at which something is to happen. The zero value is an event that is
// not scheduled. It belongs to one Queue at a time and must not be copied while scheduled.
type Event struct {
	due   time.Duration
	index int // in the heap, plus one; 0 when not scheduled
	// ID is the owner's: the queue hands it back and does nothing with it.
	ID int
}

// Due returns the moment for which the event was last scheduled.
func (e *Event) Due() time.Duration { return e.due }

// A Source says what a Queue sleeps on.
type Source int

// The sources. Precise is the kernel's high-resolution clock on a locked thread where the
// system has it, and Timers elsewhere; Timers is the runtime's, which is also what a
// testing/synctest bubble needs. Spinning is Precise, with the last stretch of every sleep
// spent looking at the clock: 0.1 µs late instead of 70, and a core for it.
const (
	Precise Source = iota
	Timers
	Spinning
)

// A Queue calls back with events when they are due. Its methods are safe for concurrent use;
// Run is called once. Schedule costs O(log scheduled) and allocates nothing once
// the heap has grown.
type Queue struct {
	t0      time.Time
	sleeper sleeper
	spin    time.Duration // the last stretch before an event, which is not slept
	wave    chan struct{} // a token for each helper that a wave calls

	mu   sync.Mutex
	heap []place
	seq  uint64
	next time.Duration // what Run sleeps for; far when it sleeps for ever
}

// Batch is the most events that fire gets in one call.
const Batch = 64

// helpersMost bounds the helpers that one wave calls.
const helpersMost = 8

// far is later than any event.
const far = time.Duration(1<<63 - 1)

// A sleeper blocks one goroutine until a moment or until it is kicked.
type sleeper interface {
	// name is how reports call the source.
	name() string
	// start readies the calling goroutine, which alone calls sleep and stop.
	start()
	// sleep returns after d, or at once when kicked meanwhile or before; d < 0 is for ever.
	sleep(d time.Duration)
	kick()
	stop()
}

// New returns a queue whose moments count from t0. It holds system resources until Run
// returns, so it must be run. The error says what the system refused.
func New(t0 time.Time, s Source) (*Queue, error) {
	q := &Queue{t0: t0, next: far, wave: make(chan struct{}, helpersMost)}
	if s == Timers {
		q.sleeper = newTimers()
		return q, nil
	}
	s2, err := newPrecise()
	if err != nil {
		return nil, err
	}
	q.sleeper = s2
	if s == Spinning {
		q.spin = spinStretch
	}
	return q, nil
}

// Source names what the queue sleeps on, for a report.
func (q *Queue) Source() string {
	if q.spin > 0 {
		return fmt.Sprintf("%s, the last %v spinning", q.sleeper.name(), q.spin)
	}
	return q.sleeper.name()
}

// Now is the time since t0.
func (q *Queue) Now() time.Duration { return time.Since(q.t0) }

// Schedule sets e to fire at due, also when it was scheduled for another moment before. A
// moment in the past fires at once, from Run's goroutine.
func (q *Queue) Schedule(e *Event, due time.Duration) {
	q.mu.Lock()
	q.seq++
	if e.index != 0 {
		q.remove(e)
	}
	e.due = due
	q.push(place{due, q.seq, e})
	earlier := due < q.next
	if earlier {
		q.next = due // one kick is enough, whatever is scheduled before Run gets to it
	}
	q.mu.Unlock()
	if earlier {
		q.sleeper.kick()
	}
}

// Run calls fire with what is due, earliest first, until ctx is cancelled. It blocks, and
// needs a goroutine of its own. fire runs on it, must not keep the slice, and may schedule.
// A call gets at most Batch events, so that the first of a wave need not wait until the last
// is taken off the queue.
func (q *Queue) Run(ctx context.Context, fire func(due []*Event)) {
	q.sleeper.start()
	defer q.sleeper.stop()
	defer context.AfterFunc(ctx, q.sleeper.kick)()
	due := make([]*Event, 0, Batch)
	for ctx.Err() == nil {
		due = q.take(due[:0])
		if len(due) == Batch {
			select {
			case q.wave <- struct{}{}:
			default: // all helpers are called already
			}
		}
		if len(due) > 0 {
			fire(due)
			continue
		}
		if d := q.wait(); d < 0 || d > q.spin {
			q.sleeper.sleep(d - q.spin)
		}
	}
}

// Help is a second pair of hands for Run: when more than a batch is due, it takes batches
// too, until nothing is due, and calls fire with them at the same time as Run does. It blocks
// until ctx is cancelled, and needs a goroutine of its own; there may be several.
func (q *Queue) Help(ctx context.Context, fire func(due []*Event)) {
	due := make([]*Event, 0, Batch)
	for {
		select {
		case <-q.wave:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil { // what is due may schedule itself into the past without end
			if due = q.take(due[:0]); len(due) == 0 {
				break
			}
			fire(due)
		}
	}
}

// take moves what is due, up to a batch, from the heap to due.
func (q *Queue) take(due []*Event) []*Event {
	now := q.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.heap) > 0 && len(due) < Batch && q.heap[0].due <= now {
		e := q.heap[0].e
		q.remove(e)
		due = append(due, e)
	}
	q.next = far
	if len(q.heap) > 0 {
		q.next = q.heap[0].due
	}
	return due
}

// wait is how long Run may sleep; negative is for ever.
func (q *Queue) wait() time.Duration {
	q.mu.Lock()
	next := q.next
	q.mu.Unlock()
	if next == far {
		return -1
	}
	return max(0, next-q.Now())
}
