package record

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// seeded returns the stream of one test: fixed, so that a statistical test that passes always passes.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// ms returns x milliseconds.
func ms(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }

// poisson returns the arrivals of a constant rate in [0, window), in order.
func poisson(r *rand.Rand, perSecond float64, window time.Duration) []time.Duration {
	var times []time.Duration
	for at := r.ExpFloat64() / perSecond; at < window.Seconds(); at += r.ExpFloat64() / perSecond {
		times = append(times, time.Duration(at*1e9))
	}
	return times
}

// sorted returns times in ascending order.
func sorted(times []time.Duration) []time.Duration {
	slices.Sort(times)
	return times
}

// near fails the test unless got is within tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.5f, want %.5f +- %.5f", what, got, want, tolerance)
	}
}

// value returns x, and fails the test where it has none.
func value(t *testing.T, what string, x float64, ok bool) float64 {
	t.Helper()
	if !ok {
		t.Fatalf("%s has no value", what)
	}
	return x
}

// sigmas is the distance from a mean that a normal figure passes with probability 1e-6.
const sigmas = 4.9
