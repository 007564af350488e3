package load

import (
	"sync/atomic"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/record"
	"stormtest/target"
)

// arrivals is what a target has seen of one client. The target writes it under its lock.
type arrivals struct {
	count atomic.Int64
	last  atomic.Int64 // the moment of the last one, ns since t0
}

// A crowd is what a target has seen of each client.
type crowd []arrivals

// note takes in an arrival, and reports whether it is the client's first one, and known to be of an operation's first
// attempt.
func (c crowd) note(a target.Arrival) (opening bool) {
	if int(a.Client) >= len(c) {
		return false
	}
	seen := &c[a.Client]
	seen.last.Store(int64(a.At)) // before the count, which says that it is there
	return seen.count.Add(1) == 1 && a.Attempt == 0
}

// of is fleet.Config.Arrived.
func (c crowd) of(client int) (count int64, last time.Duration) {
	seen := &c[client]
	return seen.count.Load(), time.Duration(seen.last.Load())
}

// missing is how many attempts of a client have left, are not known to be lost, and have not arrived.
func (c crowd) missing(stats fleet.Stats, client int) int64 {
	return stats.Sent[client] - stats.Lost[client] - c[client].count.Load()
}

// drainMax bounds the wait for the target to read what was sent last; what it has not read
// by then is booked as lost.
const drainMax = time.Second

// drain waits until every attempt that was not lost has arrived.
func (c crowd) drain(stats fleet.Stats) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(drainMax); c.outstanding(stats) && time.Now().Before(end); {
		<-tick.C
	}
}

func (c crowd) outstanding(stats fleet.Stats) bool {
	for i := range stats.Sent {
		if c.missing(stats, i) > 0 {
			return true
		}
	}
	return false
}

// book books what has not arrived as lost.
func (c crowd) book(r *record.Recorder, stats fleet.Stats) {
	for i := range stats.Sent {
		for n := range c.missing(stats, i) {
			how := fleet.LostUnread
			if n < stats.Resets[i] {
				how = fleet.LostReset
			}
			r.Lost(uint32(i), how)
		}
	}
}
