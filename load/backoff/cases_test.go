package backoff_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// Public faults of other backoffs: overflow into a hot loop, jitter after the cap, one
// jitter for all. See also the extremes in properties_test.go.

// D-01: 1 ms doubles past int64 nanoseconds at retry 44, and shifted it is 0 from retry 58 on.
// Every client still waits 200 delays within the cap.
//
// The sums of 200 delays of one client have, for full, mean 495 ms and deviation 20 ms, so
// that one of 50 falls outside with probability 0.01; the seed is fixed. Wrong
// implementations have sums near 110 ms or none at all. The two decorrelated forms differ:
// at the cap one is U[1 ms, 5 ms), the other has an atom at 5 ms.
func TestOverflowIsNoHotLoop(t *testing.T) {
	const clients, retries = 50, 200
	tests := []struct {
		name           string
		mode           backoff.CapMode
		sumMin, sumMax time.Duration
	}{
		{"full", backoff.CapCeiling, 420 * ms, 570 * ms},
		{"equal", backoff.CapCeiling, 705 * ms, 785 * ms},
		{"decorrelated", backoff.CapClamp, 720 * ms, 905 * ms},
		{"decorrelated", backoff.CapCeiling, 515 * ms, 670 * ms},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.name, "/", test.mode), func(t *testing.T) {
			p := backoff.Params{Base: ms, Cap: 5 * ms, Multiplier: 2, CapMode: test.mode}
			s := lookup(t, test.name).New(p)
			var early, late []time.Duration
			for i := range clients {
				delays, sum := walk(s, client(42, i), retries), time.Duration(0)
				for k, d := range delays {
					if d < 0 || d > p.Cap {
						t.Fatalf("client %d: delay before retry %d = %v, want in [0, %v]", i, k+1, d, p.Cap)
					}
					sum += d
				}
				if sum < test.sumMin || sum > test.sumMax {
					t.Errorf("client %d: sum of %d delays = %v, want %v..%v", i, retries, sum, test.sumMin, test.sumMax)
				}
				early, late = append(early, delays[4:44]...), append(late, delays[44:]...)
			}
			// Two samples of one distribution: false-positive rate about 1e-6
			// (Kolmogorov and Smirnov's asymptotic bound).
			n, m := float64(len(early)), float64(len(late))
			bound := math.Sqrt(-math.Log(alpha/2) / 2 * (n + m) / (n * m))
			if gap := distanceBetween(early, late); gap > bound {
				t.Errorf("distance of retries 5-44 from retries 45-200 = %.4f, want <= %.4f", gap, bound)
			}
		})
	}
}

// D-02: no strategy whose entry does not say so passes the cap, in no mode; in the clamp mode
// none does.
func TestJitterDoesNotPassTheCap(t *testing.T) {
	p := backoff.Params{Base: 80 * ms, Cap: 120 * ms, Multiplier: 2}
	every(t, p, func(t *testing.T, e backoff.Entry, p backoff.Params) {
		for i := range 500 {
			for k, d := range walk(e.New(p), client(42, i), 6) {
				if d < 0 {
					t.Fatalf("client %d: delay before retry %d = %v, want at least 0", i, k+1, d)
				}
				if d > p.Cap && (!e.PassesCap || p.CapMode == backoff.CapClamp) {
					t.Fatalf("client %d: delay before retry %d = %v, want at most %v", i, k+1, d, p.Cap)
				}
			}
		}
	})
}

// D-02: where the delays of 500 clients lie from retry 2 on, and that no clamp piles them up on
// the cap: fewer than 1 % are exactly there.
func TestNoPileUpAtTheCap(t *testing.T) {
	tests := []struct {
		name     string
		min, max time.Duration
		piles    bool
	}{
		{"constant", 80 * ms, 80 * ms, false},
		{"none", 120 * ms, 120 * ms, true},
		{"equal", 60 * ms, 120 * ms, false},
		{"full", 0, 120 * ms, false},
		{"decorrelated", 80 * ms, 120 * ms, false},
	}
	p := backoff.Params{Base: 80 * ms, Cap: 120 * ms, Multiplier: 2}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var delays []time.Duration
			for i := range 500 {
				delays = append(delays, walk(lookup(t, test.name).New(p), client(42, i), 6)[1:]...)
			}
			for _, d := range delays {
				if d < test.min || d > test.max {
					t.Fatalf("delay = %v, want %v..%v", d, test.min, test.max)
				}
			}
			if got := shareOf(delays, p.Cap); got >= 0.01 != test.piles {
				t.Errorf("share exactly at the cap = %.3f, piled up = %v", got, test.piles)
			}
		})
	}
}

// D-03: 2,000 clients have first delays of their own: independent between neighbours, the same
// whenever the run is repeated in whatever order, others with another seed. Rows are the
// strategies whose first delay is random without an atom.
func TestClientsDoNotShareTheirJitter(t *testing.T) {
	const clients = 2000
	p := backoff.Params{Base: time.Second, Cap: time.Second, Multiplier: 2}
	for _, e := range backoff.Table {
		s := e.New(p)
		lo, hi := s.Range(backoff.Attempt{})
		delays := sampleAt(s, client(9, 0), 0, 1000, false)
		if hi-lo < 200*ms || max(shareOf(delays, e.Floor(p)), shareOf(delays, p.Cap)) > 0.01 {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			first := func(run uint64, i int) time.Duration { return walk(s, client(run, i), 1)[0] }
			delays, x, y, kept := map[time.Duration]bool{}, []float64{}, []float64{}, 0
			for i := range clients {
				d := first(42, i)
				delays[d] = true
				if i > 0 {
					x, y = append(x, inMs(first(42, i-1))), append(y, inMs(d))
				}
				if first(43, i) == d {
					kept++
				}
				if d > hi || d < lo {
					t.Errorf("client %d: first delay = %v, want %v..%v", i, d, lo, hi)
				}
			}
			if len(delays) < clients-1 {
				t.Errorf("different first delays = %d, want at least %d of %d", len(delays), clients-1, clients)
			}
			if c := correlation(x, y); math.Abs(c) >= 0.1 {
				t.Errorf("correlation of neighbours = %.3f, want below 0.1 in size", c)
			}
			if kept >= 5 {
				t.Errorf("clients that keep their delay with another seed = %d, want fewer than 5", kept)
			}
		})
	}
}

// D-03: one client's failures never lengthen another's delays, and the order in which clients are
// asked does not matter: a strategy keeps nothing.
func TestClientsDoNotDisturbEachOther(t *testing.T) {
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, p backoff.Params) {
		s := e.New(p)
		alone := make([][]time.Duration, 3)
		for i := range alone {
			alone[i] = walk(e.New(p), client(42, i), 12)
		}
		for i := 2; i >= 0; i-- { // one shared strategy, the other way round
			if got, want := walk(s, client(42, i), 12), alone[i]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("client %d: delays beside others %v, alone %v", i, got, want)
			}
		}
	})
}
