package validate

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/seed"
	"stormtest/load/sim"
	"stormtest/target/station"
)

// stationary are the checks of many delays together, and of whole operations.
func stationary(c Config) []trial {
	stream := func(i int) *rand.Rand { return seed.Stream(c.Seed, seed.Backoff, uint32(1000+i)) }
	return []trial{
		once(func(context.Context) []Check { return longRun(stream(0), backoff.CapClamp, 9774, 0.290) }),
		once(func(context.Context) []Check { return longRun(stream(1), backoff.CapCeiling, 5602, 0) }),
		once(func(context.Context) []Check { return shareAtCap(stream(2)) }),
		once(func(context.Context) []Check { return inversions(stream(3)) }),
		once(func(ctx context.Context) []Check { return deadTarget(ctx, c.Seed) }),
		once(func(context.Context) []Check { return freshSeeds(c.Fresh) }),
	}
}

// longRun holds decorrelated jitter far from its start against the reference, which had 5,000,000 steps.
// Neighbouring delays are correlated, so the errors are those of means over chains of delays.
func longRun(r *rand.Rand, mode backoff.CapMode, mean, share float64) []Check {
	const chains, settle, steps, published = 1000, 100, 1000, 5_000_000
	s := strategyOf("decorrelated", func(p *backoff.Params) { p.CapMode = mode })
	means, shares := make([]float64, chains), make([]float64, chains)
	for i := range means {
		var d time.Duration
		for k := range settle + steps {
			d = s.Delay(r, backoff.Attempt{Retry: k, Prev: d})
			if k < settle {
				continue
			}
			means[i] += milliseconds(d) / steps
			if d == 20*time.Second {
				shares[i] += 1.0 / steps
			}
		}
	}
	slack := func(x []float64) float64 {
		return standardErrors * deviationOf(x) * math.Sqrt(1.0/chains+float64(steps)/published)
	}
	name := "decorrelated, " + mode.String() + ", far from its start: "
	share0 := Check{Name: name + "share at cap"}
	if share == 0 {
		share0 = share0.exact(0)
	} else {
		share0 = share0.around(share, slack(shares)+0.0005)
	}
	return []Check{
		Check{Name: name + "mean", Unit: "ms"}.around(mean, slack(means)+0.5).judged(meanOf(means)),
		share0.judged(meanOf(shares)),
	}
}

// shareAtCap holds the atom of full jitter under a clamped cap against 1 - cap/c.
func shareAtCap(r *rand.Rand) []Check {
	s := strategyOf("full", func(p *backoff.Params) { p.CapMode = backoff.CapClamp })
	var list []Check
	for k := 8; k <= 10; k++ {
		hits := 0
		for range draws {
			if s.Delay(r, backoff.Attempt{Retry: k}) == 20*time.Second {
				hits++
			}
		}
		want := 1 - 20_000/(100*math.Exp2(float64(k)))
		c := Check{Name: "full, clamp, k=" + strconv.Itoa(k) + ": share at cap"}
		list = append(list, c.around(want, standardErrors*math.Sqrt(want*(1-want)/draws)).judged(float64(hits)/draws))
	}
	return list
}

// inversions holds the chance that a later wait is the shorter one against the catalogue's: it condemns
// exponent jitter, and full jitter has it too.
func inversions(r *rand.Rand) []Check {
	var list []Check
	for _, row := range []struct {
		strategy string
		want     float64
		rounded  float64
	}{{"full", 400.0 / 3200, 0}, {"exponent", 0.251, 0.0005}, {"exponent-noisy", 0, 0}} {
		s := strategyOf(row.strategy, nil)
		hits := 0
		for range draws {
			if s.Delay(r, backoff.Attempt{Retry: 2}) > s.Delay(r, backoff.Attempt{Retry: 4}) {
				hits++
			}
		}
		slack := standardErrors * math.Sqrt(row.want*(1-row.want)/draws)
		c := Check{Name: row.strategy + ": P(k=2 above k=4)"}
		list = append(list, c.around(row.want, slack+row.rounded).judged(float64(hits)/draws))
	}
	return list
}

// deadTarget holds an operation's limit of 5 s against targets that fail at once and that never answer.
func deadTarget(ctx context.Context, first uint64) []Check {
	var list []Check
	for _, mode := range []station.Mode{station.ModeStatus, station.ModeHang} {
		p := lookup("full").guide(100, time.Minute)
		p.MaxElapsed = 5 * time.Second
		p.Outages = []station.Outage{{To: p.Duration, Mode: mode}}
		s := simulate(ctx, p, sim.Config{Seed: first})
		name := "full, max-elapsed 5s, target " + mode.String() + ": "
		list = append(list,
			Check{Name: name + "end", Unit: "s"}.within(5, 0, 6.5).judged(s.End.Seconds()),
			Check{Name: name + "given up"}.exact(100).judged(float64(s.GaveUp)))
	}
	return list
}

// freshSeeds holds the first delays of two processes that start together against each other.
func freshSeeds(fresh [2]uint64) []Check {
	const clients = 100
	s := strategyOf("full", nil)
	different := 0
	for i := range uint32(clients) {
		a := s.Delay(seed.Stream(fresh[0], seed.Backoff, i), backoff.Attempt{})
		b := s.Delay(seed.Stream(fresh[1], seed.Backoff, i), backoff.Attempt{})
		if a != b {
			different++
		}
	}
	c := Check{Name: "two processes at once: first delays that differ"}
	return []Check{c.within(clients, clients-1, clients).judged(float64(different))}
}
