package main

import (
	"fmt"
	"slices"
	"time"

	"stormtest/scripts/bench/stamp"
)

// A spread is how far apart the arrivals of one release were.
type spread struct{ p1p99, firstLast time.Duration }

// spreadOf returns the spread of a release of n arrivals, or an error where they are not all there.
func spreadOf(stamps []stamp.Stamp, which burst, n int) (spread, error) {
	var at []time.Duration
	for _, s := range stamps {
		if which == all || which == first && s.Request == 0 || which == second && s.Request == 1 {
			at = append(at, s.At)
		}
	}
	if len(at) != n {
		return spread{}, runError(fmt.Sprintf("%d of %d arrived", len(at), n))
	}
	slices.Sort(at)
	return spread{p1p99: at[n*99/100] - at[n/100], firstLast: at[n-1] - at[0]}, nil
}

// A rate is how much one client did in a closed loop, and for how much CPU.
type rate struct {
	perSecond float64
	cpu       time.Duration // for each attempt
}

// Of the arrivals of a closed loop those within [settled, settled+counted) of the first are counted, so
// that the opening of connections and the end are not.
func rateOf(m measure, settled, counted time.Duration) (rate, error) {
	if len(m.stamps) == 0 {
		return rate{}, runError("nothing arrived")
	}
	begin := slices.MinFunc(m.stamps, func(a, b stamp.Stamp) int { return int(a.At - b.At) }).At
	end := slices.MaxFunc(m.stamps, func(a, b stamp.Stamp) int { return int(a.At - b.At) }).At
	if end-begin < settled+counted {
		return rate{}, runError(fmt.Sprintf("ended after %v", (end - begin).Round(time.Millisecond)))
	}
	n := 0
	for _, s := range m.stamps {
		if at := s.At - begin - settled; at >= 0 && at < counted {
			n++
		}
	}
	return rate{perSecond: float64(n) / counted.Seconds(), cpu: m.cpu / time.Duration(len(m.stamps))}, nil
}
