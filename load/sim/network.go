package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"stormtest/load/plan"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/target/station"
)

// A network lies between the clients and the target where the plan has latency or loss. Every
// message takes a time of its own and may be lost; the news that a client has left is the end of its
// connection, which is not lost and never overtakes the request.
//
// Each attempt is a flight, which lives on when its client has given it up: the request still
// arrives and is work, and the answer still travels. What the network does to the n-th attempt of a
// client is drawn when the attempt leaves, so that it is the same whatever became of the others.
type network struct {
	latency   plan.Law
	lossShare float64
	chance    []*rand.Rand // of each client
	flights   []flight
	free      []uint32 // places in flights
}

// A flight is one attempt between its client and the target.
type flight struct {
	client  uint32
	attempt int32 // its number in the operation
	job     station.JobID
	reached time.Duration // when the request arrived; negative: it has not
	due     time.Duration // of the request's arrival, or else of the answer's
	answer  time.Duration // how long the answer will take
	leaving time.Duration // how long the news that the client has left will take
	outcome answer

	waited     bool // by the client
	outbound   bool // the request is on its way
	inside     bool // the target has it, served or hung
	inbound    bool // the answer is on its way
	news       bool // the news that the client has left is on its way
	answerLost bool
	severed    bool // the target has closed the connection that the request is on
}

// An answer is an outcome that is on its way to the client.
type answer struct {
	after  time.Duration // Retry-After, 0 for none
	status int16
	kind   retry.Kind
}

func (a answer) outcome() retry.Outcome {
	o := retry.Outcome{Kind: a.kind, Status: int(a.status)}
	if a.after > 0 {
		o.Hint = retry.Hint{After: a.after, Valid: true, Seen: true}
	}
	return o
}

// newNetwork returns nil where messages take no time and none is lost, unless the target is a row.
func newNetwork(p *plan.Plan, run uint64) *network {
	if p.Latency == (plan.Law{}) && p.LossShare == 0 && p.Model != plan.ModelOCC {
		return nil
	}
	n := &network{latency: p.Latency, lossShare: p.LossShare, chance: make([]*rand.Rand, p.Clients)}
	for i := range n.chance {
		n.chance[i] = seed.Stream(run, seed.Network, uint32(i))
	}
	return n
}

// travel draws how long one message takes.
func (n *network) travel(r *rand.Rand) time.Duration {
	if n.latency.SD == 0 {
		return n.latency.Mean
	}
	// The conversion keeps the product from being fused with the sum, which some machines would.
	deviation := float64(float64(n.latency.SD) * r.NormFloat64())
	return time.Duration(math.Round(math.Abs(float64(n.latency.Mean) + deviation)))
}

// lost draws whether one message is lost.
func (n *network) lost(r *rand.Rand) bool { return n.lossShare > 0 && r.Float64() < n.lossShare }

// take returns a new flight of a client, and whether its request is lost on the way.
func (n *network) take(client uint32, attempt int) (id uint32, lost bool) {
	r := n.chance[client]
	f := flight{client: client, attempt: int32(attempt), reached: -1, waited: true}
	lost = n.lost(r)
	f.answerLost = n.lost(r)
	f.due, f.answer, f.leaving = n.travel(r), n.travel(r), n.travel(r)
	if k := len(n.free); k > 0 {
		id = n.free[k-1]
		n.free = n.free[:k-1]
		n.flights[id] = f
		return id, lost
	}
	if len(n.flights) > indexMask {
		panic("sim: BUG: more attempts are on their way than an event can name")
	}
	n.flights = append(n.flights, f)
	return uint32(len(n.flights) - 1), lost
}

// settle frees the place of a flight that nothing will happen to any more.
func (n *network) settle(id uint32) {
	if f := &n.flights[id]; !f.waited && !f.outbound && !f.inside && !f.inbound && !f.news {
		n.free = append(n.free, id)
	}
}

// depart sends a client's attempt on its way.
func (e *engine) depart(id uint32) {
	c := &e.clients[id]
	flight, lost := e.net.take(id, c.policy.Attempt())
	c.flight = flight
	f := &e.net.flights[flight]
	switch travel := f.due; {
	case lost:
		e.lose(lostRequest)
	case travel == 0:
		e.land(flight)
	default:
		f.due += e.now
		f.outbound = true
		e.schedule(f.due, kindRequest|flight)
	}
	if c.state == sent {
		e.schedule(c.deadline(), kindTimeout|id)
	}
}

// land brings a request to the target.
func (e *engine) land(id uint32) {
	f := &e.net.flights[id]
	f.outbound = false
	if f.severed {
		e.lose(lostReset)
		e.reply(id, answer{kind: retry.Reset})
		return
	}
	adm := e.station.Arrive(e.now, uint64(id))
	if adm.Kind == station.Refused {
		e.lose(lostRefused)
		e.reply(id, answer{kind: retry.Refused})
		return
	}
	f.reached = e.now
	e.arrive(&e.clients[f.client], int(f.attempt), adm.Kind)
	switch adm.Kind {
	case station.Accepted:
		if e.instant {
			e.reply(id, answer{status: statusServed})
			return
		}
		f.inside, f.job = true, adm.Job
	case station.Hung:
		f.inside = true
	case station.Reset:
		e.reply(id, answer{kind: retry.Reset})
	default:
		e.reply(id, answer{status: int16(adm.Status), after: adm.RetryAfter})
	}
}

// reply sends a flight's answer on its way.
func (e *engine) reply(id uint32, a answer) {
	f := &e.net.flights[id]
	f.inside = false
	switch {
	case f.answerLost || !f.waited:
		e.net.settle(id)
	case f.answer == 0:
		f.outcome = a
		e.hear(id)
	default:
		f.outcome, f.inbound, f.due = a, true, e.now+f.answer
		e.schedule(f.due, kindAnswer|id)
	}
}

// hear brings an answer to the client, which listens if it has not given the attempt up.
func (e *engine) hear(id uint32) {
	f := &e.net.flights[id]
	f.inbound = false
	if f.waited {
		f.waited = false
		client, o := f.client, f.outcome.outcome()
		e.clients[client].reached = f.reached
		e.net.settle(id)
		e.conclude(client, o)
		return
	}
	e.net.settle(id)
}

// giveUp ends a client's attempt without an answer. An answer that arrives at this very moment
// comes first.
func (e *engine) giveUp(id uint32) {
	c := &e.clients[id]
	flight := c.flight
	f := &e.net.flights[flight]
	if f.inbound && f.due == e.now {
		return
	}
	f.waited = false
	c.reached = f.reached
	if f.outbound || f.inside {
		at := e.now + f.leaving
		if f.outbound {
			at = max(at, f.due)
		}
		if at > e.now {
			f.news = true
			e.schedule(at, kindNews|flight)
		} else {
			e.leaveTarget(f)
		}
	}
	e.net.settle(flight)
	e.conclude(id, retry.Outcome{Kind: retry.Timeout})
}

// learn brings the news that the client of a flight has left.
func (e *engine) learn(id uint32) {
	f := &e.net.flights[id]
	f.news = false
	e.leaveTarget(f)
	e.net.settle(id)
}

// leaveTarget tells the target that the client of a flight has left.
func (e *engine) leaveTarget(f *flight) {
	if f.inside {
		e.station.Cancel(e.now, f.job)
		f.inside = false
	}
}

// sever ends every connection at the target: of what is inside the clients are told, and what is on
// its way will find its connection gone.
func (e *engine) sever() {
	for i := range e.net.flights {
		f := &e.net.flights[i]
		f.severed = f.severed || f.outbound
		if f.inside {
			e.station.Cancel(e.now, f.job)
			e.reply(uint32(i), answer{kind: retry.Reset})
		}
	}
}

// strand counts the requests that the end of the run finds on their way.
func (e *engine) strand() {
	for i := range e.net.flights {
		if e.net.flights[i].outbound {
			e.lose(lostOnTheWay)
		}
	}
}
