package target

import (
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
	taken []uint32 // what Answered returned
}

// A Call is a client's attempt under way, if one is: the client has one at a time. The zero
// Call is ready. It must not be copied or moved between Attempt and the answer.
type Call struct{ x exchange }

// Direct starts the target with a clock that its holder keeps. It takes the place of Start
// and Run, and is called once.
func (t *Target) Direct() *Direct {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.started)
	return &Direct{t: t}
}

// Attempt hands the target one attempt. Accepted, the client is waiting until Answered names
// it or Leave takes c away. Hung is never answered. All other kinds are final.
func (d *Direct) Attempt(now time.Duration, client uint32, attempt int, c *Call) station.Admission {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	c.x.client = client
	return d.t.admit(now, client, attempt, &c.x)
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

// Answered returns the clients whose work was done by now and that no earlier call returned,
// in the order of its ends. The slice is good until the next call.
func (d *Direct) Answered(now time.Duration) []uint32 {
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
