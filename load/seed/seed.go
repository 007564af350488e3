// Package seed is the only source of chance: every random number of a run comes from a
// Stream, and a stream depends on nothing but its three arguments.
//
// So the same run seed gives the same draws whatever the order of goroutines, a client's
// draws do not move when another client draws more, and a new purpose shifts no old one.
package seed

import "math/rand/v2"

// A Purpose is one kind of decision that chance makes. Its number is part of every stream:
// never renumber one, or every recorded seed means another run.
type Purpose uint32

// The purposes. The client of a stream that belongs to no client is 0.
const (
	Backoff      Purpose = 0  // delays of one client
	RetryAfter   Purpose = 1  // spread that one client adds to the server's hint
	Arrivals     Purpose = 2  // open-loop arrivals of the fleet
	Service      Purpose = 3  // service times of the target
	Pace         Purpose = 4  // starts of the clients
	Network      Purpose = 5  // latency and loss of one client's messages, in virtual time
	Budget       Purpose = 6  // retries that one retry budget rejects by chance
	Advice       Purpose = 7  // seeds with which a search tries policies; the client is the level
	Breaker      Purpose = 8  // open times of one circuit breaker
	LayerDelay   Purpose = 9  // delays of a service that calls a layer; the client is the layer, 1 the first, as for the next three
	LayerHint    Purpose = 10 // spread that such a service adds to a hint
	LayerBudget  Purpose = 11 // retries that the budget of such a service rejects by chance
	LayerBreaker Purpose = 12 // open times of its circuit breaker
	Errors       Purpose = 13 // arrivals that fail in a brownout of the target; the client is the layer
)

// Stream returns the generator of one client for one purpose in the run seeded with run.
//
// Streams with different arguments are independent for every use here, neighbours
// included. It costs two allocations, 32 bytes. Not safe for concurrent use; any
// two streams are. To make a fleet share its jitter (the fault of a common seed), give
// every client the stream of client 0.
//
// The generator is PCG-DXSM of math/rand/v2. Its seed is not the arguments themselves but
// a SplitMix64 hash of them: PCG streams whose seeds differ in high bits only are
// correlated in their first draw (measured: run seeds 2^40 apart, 4 million streams,
// chi-square of neighbours' differences 433 standard deviations off). Clients numbered
// 0, 1, 2, ... would be safe without it, but users choose the run seed.
// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
func Stream(run uint64, p Purpose, client uint32) *rand.Rand {
	g := new(rand.PCG)
	Fill(g, run, p, client)
	return rand.New(g)
}

// Fill makes g the generator of Stream. It allocates nothing, for who keeps millions of them.
func Fill(g *rand.PCG, run uint64, p Purpose, client uint32) {
	runHash := mix(run)
	// For one run the map from (p, client) to the first word is one to one.
	first := mix(runHash ^ (uint64(p)<<32 | uint64(client)))
	g.Seed(first, mix(first^runHash))
}

// mix is one step of SplitMix64: a one to one map in which every input bit flips every
// output bit with probability about one half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
