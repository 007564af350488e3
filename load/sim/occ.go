package sim

import (
	"time"

	"stormtest/load/retry"
	"stormtest/target/station"
)

// A row is the target of model occ: one row of a database with a version, written under optimistic
// concurrency control. An attempt reads the version and then writes with it; the write succeeds, and
// makes a new version, only if the row still has the version that was read. Otherwise it is a
// conflict, which the client is told of with the plan's status. There is no capacity: what limits the
// fleet is that one write of those that have read the same version succeeds.
//
// An attempt is four messages, each with a draw of the plan's latency: the request to read, its
// answer, the request to write, its answer. What arrives is the write. A client that has not got the
// version when its attempt times out writes nothing; one that has may have written without knowing.
//
// Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015, and the simulator behind it,
// aws-samples/aws-arch-backoff-simulator. There the first backoff of a client is of exponent 1, and no
// message is lost.
type row struct {
	version uint64
	writes  []write
	free    []uint32 // places in writes
}

// A write is one attempt between its client and the row.
type write struct {
	client  uint32
	attempt int32         // its number in the operation
	version uint64        // of the row, when it was read
	way     time.Duration // from there until the write arrives
	answer  time.Duration // from there until its answer does; negative: the client does not wait so long

	out      bool // it has not arrived
	conflict bool
}

// none is the place of a write that will not be.
const none = indexMask

// compete sends a client's attempt on its way. What the network does to it is drawn now, so that it is
// known now how the attempt will end, but for who wins.
func (e *engine) compete(id uint32) {
	c := &e.clients[id]
	c.reached, c.flight = -1, none
	var lost [4]bool
	var arrives [4]time.Duration // each message, after the attempt left
	n, r, at := e.net, e.net.chance[id], time.Duration(0)
	for i := range arrives {
		lost[i] = n.lost(r)
		at += n.travel(r)
		arrives[i] = at
	}
	patience := c.policy.AttemptTimeout(c.due)
	w := write{client: id, attempt: int32(c.policy.Attempt()), way: arrives[2] - arrives[0], answer: arrives[3] - arrives[2], out: true}
	if lost[3] || arrives[3] > patience {
		w.answer = -1
	}
	switch {
	case lost[0]:
		e.lose(lostRequest)
	case lost[1] || arrives[1] > patience:
		e.lose(lostUnwritten)
	case lost[2]:
		e.lose(lostRequest)
	default:
		c.flight = e.row.take(w)
		e.schedule(e.now+arrives[0], kindRead|c.flight)
		if w.answer >= 0 {
			return
		}
	}
	e.schedule(c.deadline(), kindTimeout|id)
}

// take finds a place for a write.
func (r *row) take(w write) (id uint32) {
	if k := len(r.free); k > 0 {
		id = r.free[k-1]
		r.free = r.free[:k-1]
		r.writes[id] = w
		return id
	}
	if len(r.writes) >= none {
		panic("sim: BUG: more writes are on their way than an event can name")
	}
	r.writes = append(r.writes, w)
	return uint32(len(r.writes) - 1)
}

// read gives the row's version to an attempt.
func (e *engine) read(id uint32) {
	w := &e.row.writes[id]
	w.version = e.row.version
	e.schedule(e.now+w.way, kindWrite|id)
}

// write tries to write the row.
func (e *engine) write(id uint32) {
	w := &e.row.writes[id]
	w.out, w.conflict = false, w.version != e.row.version
	c, kind := &e.clients[w.client], station.Rejected
	if !w.conflict {
		e.row.version++
		kind = station.Accepted
	}
	waited := w.answer >= 0 || c.state == sent && c.flight == id
	if waited {
		c.reached = e.now
	}
	e.arrive(c, int(w.attempt), kind)
	if !w.conflict && e.rec != nil {
		e.rec.Served(e.now, !waited)
	}
	if w.answer < 0 {
		e.row.free = append(e.row.free, id)
		return
	}
	e.schedule(e.now+w.answer, kindWritten|id)
}

// learnWritten tells a client what has become of its write.
func (e *engine) learnWritten(id uint32) {
	w := e.row.writes[id]
	e.row.free = append(e.row.free, id)
	status := statusServed
	if w.conflict {
		status = e.plan.Status
	}
	e.conclude(w.client, retry.Outcome{Kind: retry.Responded, Status: status})
}

// strandWrites counts the attempts that the end of the run finds before their write.
func (e *engine) strandWrites() {
	for i := range e.row.writes {
		if e.row.writes[i].out {
			e.lose(lostOnTheWay)
		}
	}
}
