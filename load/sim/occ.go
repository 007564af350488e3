package sim

import (
	"time"

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
type row struct{ version uint64 }

// compete sends a client's attempt on its way. What the network does to it is drawn now, so that it is
// known now how the attempt will end, but for who wins.
func (e *engine) compete(id uint32) {
	f, at := e.board(id)
	n := e.net
	var lost [4]bool
	var arrives [4]time.Duration // each message
	n.streams.of = id
	moment := e.now
	for i := range arrives {
		lost[i] = n.lost()
		moment += n.travel()
		arrives[i] = moment
	}
	f.due, f.back = arrives[2], arrives[3]-arrives[2]
	f.answerLost = lost[3] || arrives[3] > f.deadline
	switch {
	case lost[0]:
		e.lose(id, lostRequest)
	case lost[1] || arrives[1] > f.deadline:
		e.lose(id, lostUnwritten)
	case lost[2]:
		e.lose(id, lostRequest)
	default:
		f.outbound = true
		e.schedule(arrives[0], kindRead|at)
		if !f.answerLost {
			return
		}
	}
	e.schedule(f.deadline, kindTimeout|at)
}

// read gives the row's version to an attempt.
func (e *engine) read(at uint32) {
	f := &e.flights.all[at]
	f.version = e.row.version
	e.schedule(f.due, kindWrite|at)
}

// write tries to write the row.
func (e *engine) write(at uint32) {
	f := &e.flights.all[at]
	f.outbound, f.reached = false, e.now
	kind, status := station.Rejected, e.plan.Status
	if f.version == e.row.version {
		e.row.version++
		kind, status = station.Accepted, statusServed
	}
	e.arrive(f.client, int(f.attempt), kind)
	if kind == station.Accepted {
		e.done(f.origin)
		if e.rec != nil {
			e.rec.Of(f.client).Served(e.now, e.wasted(f))
		}
	}
	e.reply(at, answer{status: int16(status)})
}
