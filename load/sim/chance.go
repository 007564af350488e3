package sim

import "math/rand/v2"

// A delayChance is the stream of one client's delays, which lies in its line of the cache. It is turned
// to a client by its number: a pointer would cost a look at the collector's state each time.
type delayChance struct {
	clients []client
	of      uint32
}

// Uint64 implements rand.Source.
func (s *delayChance) Uint64() uint64 { return s.clients[s.of].chance.Uint64() }

// streams are those of all clients for one purpose, turned to that of one.
type streams struct {
	all []rand.PCG
	of  uint32
}

// Uint64 implements rand.Source.
func (s *streams) Uint64() uint64 { return s.all[s.of].Uint64() }
