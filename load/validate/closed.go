package validate

import (
	"context"
	"strconv"
	"time"

	"stormtest/load/sim"
)

// closedForms hold the strategies without jitter against their closed forms: one client is served in
// each wave, so that N of them take N(N+1)/2 attempts, and the last is served after the first N-1
// delays and its own millisecond.
func closedForms(c Config) []trial {
	sizes := []int{100, 1000}
	if c.Full {
		sizes = append(sizes, 10_000)
	}
	var trials []trial
	for _, f := range []struct {
		strategy string
		delay    func(k int) time.Duration // the schedule, written down again
	}{
		{"none", func(k int) time.Duration { return doubled(k) }},
		{"linear", func(k int) time.Duration { return min(20*time.Second, time.Duration(k+1)*100*time.Millisecond) }},
		{"fibonacci", fibonacci},
		{"constant", func(int) time.Duration { return 100 * time.Millisecond }},
	} {
		for _, n := range sizes {
			completion := time.Millisecond
			for k := range n - 1 {
				completion += f.delay(k)
			}
			t := once(func(ctx context.Context) []Check {
				s := simulate(ctx, lookup(f.strategy).guide(n, long), sim.Config{Seed: c.Seed})
				name := f.strategy + " N=" + strconv.Itoa(n) + ": "
				return []Check{
					Check{Name: name + "attempts"}.exact(float64(n) * float64(n+1) / 2).judged(float64(s.Attempts)),
					Check{Name: name + "completion", Unit: "s"}.exact(completion.Seconds()).judged(s.Completion.Seconds()),
				}
			})
			t.cost = float64(n) * float64(n) / 2
			trials = append(trials, t)
		}
	}
	return trials
}

// doubled is 100 ms doubling up to 20 s.
func doubled(k int) time.Duration {
	return min(20*time.Second, 100*time.Millisecond<<min(k, 10))
}

// fibonacci is 100 ms times 1, 1, 2, 3, 5, ... up to 20 s.
func fibonacci(k int) time.Duration {
	a, b := 100*time.Millisecond, 100*time.Millisecond
	for range k {
		if a >= 20*time.Second {
			break
		}
		a, b = b, a+b
	}
	return min(20*time.Second, a)
}
