package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target/exact"
	"stormtest/target/station"
)

// A network lies between the clients and the target where the plan has latency or loss. Every
// message takes a time of its own and may be lost; the news that a client has left is the end of its
// connection, which is not lost and never overtakes the request.
//
// What the network does to the n-th attempt of a client is drawn when the attempt leaves, so that it
// is the same whatever became of the others.
type network struct {
	latency   plan.Law
	lossShare float64
	streams   streams
	chance    *rand.Rand // draws from streams
}

// newNetwork returns nil where messages take no time and none is lost, unless the target is a row.
func newNetwork(p *plan.Plan, run uint64) *network {
	if p.Latency == (plan.Law{}) && p.LossShare == 0 && p.Model != plan.ModelOCC {
		return nil
	}
	n := &network{latency: p.Latency, lossShare: p.LossShare, streams: streams{all: make([]rand.PCG, p.Clients)}}
	n.chance = rand.New(&n.streams)
	for i := range n.streams.all {
		seed.Fill(&n.streams.all[i], run, seed.Network, uint32(i))
	}
	return n
}

// travel draws how long one message takes.
func (n *network) travel() time.Duration {
	if n.latency.SD == 0 {
		return n.latency.Mean
	}
	deviation := float64(float64(n.latency.SD) * exact.NormFloat64(n.chance))
	return time.Duration(math.Round(math.Abs(float64(n.latency.Mean) + deviation)))
}

// lost draws whether one message is lost.
func (n *network) lost() bool { return n.lossShare > 0 && n.chance.Float64() < n.lossShare }

// draw says what the network will do to an attempt that leaves now, and whether it loses the request.
func (n *network) draw(f *flight) (lost bool) {
	n.streams.of = f.client
	lost = n.lost()
	f.answerLost = n.lost()
	f.due, f.back, f.news = n.travel(), n.travel(), n.travel()
	return lost
}

// board returns the flight of the attempt that leaves now.
func (e *engine) board(id uint32) (f *flight, at uint32) {
	state := &e.clients[id].state
	f, at = e.flights.take()
	f.client, f.attempt, f.left, f.reached, f.waited = id, int32(state.Attempt()), e.now, -1, true
	f.origin = originOf(id, e.clients[id].operations())
	f.deadline = e.now + e.timeout(id)
	return f, at
}

// depart sends a client's attempt on its way.
func (e *engine) depart(id uint32) {
	f, at := e.board(id)
	lost := e.net.draw(f)
	if lost {
		e.lose(id, lostRequest)
		e.watch(at)
		return
	}
	f.due += e.now
	if f.due == e.now {
		e.land(at)
		return
	}
	f.outbound = true
	e.schedule(f.due, kindRequest|at)
	if f.due > f.deadline {
		e.watch(at)
	} // otherwise that waits for what it learns when it lands
}

// land brings a request to the target.
func (e *engine) land(at uint32) {
	e.meet(at)
	e.watch(at)
}

// meet lets the target deal with a request.
func (e *engine) meet(at uint32) {
	f := &e.flights.all[at]
	f.outbound = false
	if f.severed {
		e.lose(f.client, lostReset)
		e.reply(at, answer{kind: retry.Reset})
		return
	}
	adm := e.reach(f.origin.tag(at), f.deadline-f.left) // it says how long its client waits, and not how long it was on its way
	if adm.Kind == station.Refused {
		e.lose(f.client, lostRefused)
		e.reply(at, answer{kind: retry.Refused})
		return
	}
	f.reached = e.now
	e.arrive(f.client, int(f.attempt), adm.Kind)
	switch adm.Kind {
	case station.Accepted:
		if e.instant {
			e.serveAtOnce(f.origin, e.wasted(f))
			e.reply(at, answer{status: statusServed})
			return
		}
		f.inside, f.job = true, adm.Job
		e.look()
	case station.Hung:
		f.inside = true
	case station.Reset:
		e.reply(at, answer{kind: retry.Reset})
	default:
		e.reply(at, answer{status: int16(adm.Status), after: adm.RetryAfter})
	}
}
