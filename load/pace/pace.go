// Package pace says when clients start and when operations are due. It knows no clock: every
// moment is a time.Duration since t0 of the run, and chance is an argument.
package pace

import (
	"fmt"
	"math/bits"
	"time"
)

// Start returns when a client makes its first attempt: client*ramp/clients, rounded down to
// a ns. client counts from 0 to clients-1, so the starts are evenly spread over [0, ramp),
// the first at 0. A ramp of 0 starts everyone at 0.
//
// It does not overflow. A client outside 0..clients-1 or a negative ramp is a bug and panics.
func Start(client, clients int, ramp time.Duration) time.Duration {
	checkClient(client, clients)
	if ramp < 0 {
		panic(fmt.Sprintf("pace: BUG: ramp %v is negative", ramp))
	}
	hi, lo := bits.Mul64(uint64(client), uint64(ramp))
	at, _ := bits.Div64(hi, lo, uint64(clients)) // hi < clients, as client < clients
	return time.Duration(at)
}

// Share returns how many of total operations one client makes. Shares differ by one at most
// and add up to total; the remainder goes to the first clients.
//
// A client outside 0..clients-1 or a negative total is a bug and panics.
func Share(total int64, clients, client int) int64 {
	checkClient(client, clients)
	if total < 0 {
		panic(fmt.Sprintf("pace: BUG: total %d is negative", total))
	}
	share := total / int64(clients)
	if int64(client) < total%int64(clients) {
		share++
	}
	return share
}

func checkClient(client, clients int) {
	if client < 0 || client >= clients {
		panic(fmt.Sprintf("pace: BUG: client %d of %d", client, clients))
	}
}
