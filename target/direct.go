package target

import (
	"cmp"
	"time"

	"stormtest/target/station"
)

// A Direct is the way to a Target without connections, for a fleet in the same process that
// has more clients than a process has sockets. Its holder also keeps the target's clock: it
// brings the moments, and asks at Next for what has been done.
//
// Moments count from the start of the run. One that lies before the latest so far counts as
// the latest. A method takes the target's lock once, and allocates nothing once the target
// has grown to its load. Not safe for concurrent use.
type Direct struct {
	t     *Target
	taken []Answer // what Answered returned
}

// A Call is a client's attempt under way, if one is: the client has one at a time. The zero
// Call is ready. It must not be copied or moved between Attempt and the answer.
type Call struct{ x exchange }

// An Answer is what a client gets that was waiting.
type Answer struct {
	Client     uint32
	Status     int           // 200, or that of an attempt that was thrown out of the queue
	RetryAfter time.Duration // 0 is none
}

// Direct starts the target with a clock that its holder keeps. It takes the place of Start
// and Run, and is called once.
func (t *Target) Direct() *Direct {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.started)
	return &Direct{t: t}
}

// An Attempt is what a client hands to the target.
type Attempt struct {
	Client uint32
	Number int // in its operation, 0 first
	// Operation is the number of the client's operation, 0 first.
	Operation int64
	// Timeout is how long the client says that it will wait, as HeaderTimeout does; 0 where it does not say.
	Timeout time.Duration
}

// Attempt hands the target one attempt. Accepted, the client is waiting until Answered names
// it or Leave takes c away. Hung is never answered. All other kinds are final.
func (d *Direct) Attempt(now time.Duration, a Attempt, c *Call) station.Admission {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	c.x.client = a.Client
	return d.t.admit(now, call{origin{a.Client, a.Operation}, a.Number, cmp.Or(a.Timeout, noTimeout)}, &c.x)
}

// Leave says that the client of c has given up. It does nothing where c is not waiting, or
// its work was done by now; then Answered names the client.
func (d *Direct) Leave(now time.Duration, c *Call) {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if c.x.pending {
		d.t.leave(now, &c.x)
	}
}

// Answered returns the answers to clients whose work was done, or thrown out of the queue, by now and that no earlier
// call returned, in the order of its ends. The slice is good until the next call.
func (d *Direct) Answered(now time.Duration) []Answer {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	d.t.settle(now)
	d.taken, d.t.direct = d.t.direct, d.taken[:0]
	return d.taken
}

// Next returns the moment from which Answered has something new to say, or the target
// something to finish for nobody; negative where nothing is inside.
func (d *Direct) Next() time.Duration {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if len(d.t.direct) > 0 {
		return 0
	}
	return d.t.next
}
