package validate

import (
	"context"
	"math"
	"strconv"
	"time"

	"stormtest/load/sim"
)

// published hold what the guides print of their own model against what that model gives. Nothing here
// expects the printed table: the checks are that it cannot come from the model, and which of its
// statements do.
func published(c Config) []trial {
	return []trial{once(impossible), c.ordering(100, 400, "-13 %", 0.13), c.ordering(1000, 200, "-21 %", 0.21)}
}

// impossible counts the attempts that a client without jitter can make in the 31 s that the guides
// print for none.
func impossible(context.Context) []Check {
	attempts, at := 0, time.Duration(0)
	for k := 0; at < 31*time.Second; k++ {
		attempts++
		at += doubled(k)
	}
	return []Check{
		Check{Name: "none, the first 31 s: attempts of a client"}.exact(9).judged(float64(attempts)).
			noted("the guides print 28,000 attempts in 31 s for 1,000 clients; 9,000 are all there can be, and the model takes 500,500 in 19,845.5 s"),
	}
}

// ordering holds by how much decorrelated jitter needs fewer attempts than full jitter, which the guides
// say needs the fewest.
func (c Config) ordering(clients, runs int, text string, fewer float64) trial {
	full, decorrelated := lookup("full").guide(clients, long), lookup("decorrelated, ceiling").guide(clients, long)
	return trial{
		runs: runs,
		cost: 9 * float64(clients),
		run: func(ctx context.Context, i int) []float64 {
			a := simulate(ctx, full, sim.Config{Seed: c.Seed + uint64(i)})
			b := simulate(ctx, decorrelated, sim.Config{Seed: c.Seed + uint64(i)})
			return []float64{1 - float64(b.Attempts)/float64(a.Attempts)}
		},
		judge: func(figures [][]float64) []Check {
			slack := 0.005 + zChance*deviationOf(figures[0])*math.Sqrt(1/float64(runs)+1.0/400)
			name := "decorrelated against full, N=" + strconv.Itoa(clients)
			return []Check{Check{Name: name + ": share saved"}.around(fewer, slack).judged(meanOf(figures[0])).
				noted("the guides print that full jitter needs the fewest; in their own model decorrelated has " + text)}
		},
	}
}
