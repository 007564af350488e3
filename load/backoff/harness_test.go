package backoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/seed"
)

const (
	ms      = time.Millisecond
	forever = time.Duration(math.MaxInt64)

	// alpha is the false-positive rate of each statistical check, z its two-sided quantile
	// of the normal distribution.
	alpha = 1e-6
	z     = 4.892

	// samples is the usual number of draws of one check.
	samples = 100_000
)

// client returns the backoff stream of one client in the run seeded with run.
func client(run uint64, i int) *rand.Rand {
	return seed.Stream(run, seed.Backoff, uint32(i))
}

// lookup returns an entry that must exist.
func lookup(t testing.TB, name string) backoff.Entry {
	t.Helper()
	e, ok := backoff.Lookup(name)
	if !ok {
		t.Fatalf("Lookup(%q) found nothing", name)
	}
	return e
}

// walk returns the first n delays of one operation, kept as a caller keeps them.
func walk(s backoff.Strategy, r *rand.Rand, n int) []time.Duration {
	delays := make([]time.Duration, n)
	carry, prev := 0.0, time.Duration(0)
	for k := range delays {
		prev = s.Delay(r, backoff.Attempt{Retry: k, Prev: prev, Carry: &carry})
		delays[k] = prev
	}
	return delays
}

// sampleAt returns n delays at retry index k, each of its own operation. With chain each
// operation runs through the retries before; without, k is asked for at once.
func sampleAt(s backoff.Strategy, r *rand.Rand, k, n int, chain bool) []time.Duration {
	delays := make([]time.Duration, n)
	for i := range delays {
		if chain {
			delays[i] = walk(s, r, k+1)[k]
			continue
		}
		carry := 0.0
		delays[i] = s.Delay(r, backoff.Attempt{Retry: k, Carry: &carry})
	}
	return delays
}

// moments are the first four of a sample of delays, in ms.
type moments struct{ mean, sd, kurtosis float64 }

func momentsOf(delays []time.Duration) moments {
	n := float64(len(delays))
	var m moments
	for _, d := range delays {
		m.mean += inMs(d) / n
	}
	var second, fourth float64
	for _, d := range delays {
		x := inMs(d) - m.mean
		second += x * x / n
		fourth += x * x * x * x / n
	}
	m.sd = math.Sqrt(second)
	if second > 0 {
		m.kurtosis = fourth / (second * second)
	}
	return m
}

// shareOf returns the share of delays that are exactly d.
func shareOf(delays []time.Duration, d time.Duration) float64 {
	hits := 0
	for _, x := range delays {
		if x == d {
			hits++
		}
	}
	return float64(hits) / float64(len(delays))
}

func inMs(d time.Duration) float64 { return float64(d) / float64(ms) }
