package breaker

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A Bank holds the breakers of one fleet: one for all clients, or one each. nil is a bank without breakers. Safe for
// concurrent use.
type Bank struct {
	config   Config
	breakers []Breaker
}

// A Chance returns a stream of its own for each breaker. It is called while the bank is made, and only where open times
// are jittered.
type Chance func(breaker uint32) *rand.Rand

// NewBank returns the bank of so many clients, nil where c is no breaker. c must be without faults.
func NewBank(c Config, clients int, chance Chance) *Bank {
	if c.Kind == None {
		return nil
	}
	if faults := c.Validate(); len(faults) > 0 {
		panic(fmt.Sprintf("breaker: BUG: no bank for %+v: %v", c, faults))
	}
	n := clients
	if c.Shared {
		n = min(clients, 1)
	}
	b := &Bank{config: c, breakers: make([]Breaker, n)}
	counts := b.windows()
	for i := range b.breakers {
		var stream *rand.Rand
		if c.spread() > 0 {
			stream = chance(uint32(i))
		}
		b.breakers[i].init(&b.config, stream, counts(i))
	}
	return b
}

// windows returns what gives each breaker its window, all of them made at once.
func (b *Bank) windows() func(breaker int) window {
	c, n := &b.config, len(b.breakers)
	switch {
	case !Table[c.Kind].Rates:
		return func(int) window { return nil }
	case c.Last > 0:
		words := ringWords(c.Last)
		rings, bits := make([]ring, n), make([]uint64, n*words)
		return func(i int) window {
			rings[i] = ring{bits: bits[i*words : (i+1)*words], size: c.Last}
			return &rings[i]
		}
	}
	all := make([]sliding, n)
	return func(i int) window {
		all[i].width = c.Window / slotCount
		return &all[i]
	}
}

// Breaker returns the breaker of a client, nil of a nil bank.
func (b *Bank) Breaker(client int) *Breaker {
	switch {
	case b == nil:
		return nil
	case b.config.Shared:
		return &b.breakers[0]
	}
	return &b.breakers[client]
}

// Breakers is how many there are.
func (b *Bank) Breakers() int64 { return int64(len(b.breakers)) }

// Ledger returns the sum of all breakers at the end of the run.
func (b *Bank) Ledger(end time.Duration) Ledger {
	var sum Ledger
	for i := range b.breakers {
		l := b.breakers[i].Ledger(end)
		sum.Opened += l.Opened
		sum.Reopened += l.Reopened
		sum.Closed += l.Closed
		sum.Probes += l.Probes
		sum.ShortCircuited += l.ShortCircuited
		sum.OpenAtEnd += l.OpenAtEnd
		sum.OpenFor += l.OpenFor
	}
	return sum
}
