package backoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/backoff"
)

// The edges of every parameter, at which formulas of this kind break.
var (
	edgeTimes       = []time.Duration{1, 2, 3, 100 * ms, time.Hour, math.MaxInt64/3 + 1, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
	edgeMultipliers = []float64{1, math.Nextafter(1, 2), 1.0001, 1.5, 2, math.Nextafter(2, 3), 3, 10, 1e6 + 0.5, 1 << 52, 1<<52 + 0.5, 1 << 53, 1 << 62, 1 << 63, 1 << 64, 1e300, math.MaxFloat64}
	edgeRetries     = []int{0, 1, 8, 44, 58, 62, 63, 91, 92, 900, 901, 1_000_000, math.MaxInt - 1, math.MaxInt}
	edgeShares      = []float64{0, math.SmallestNonzeroFloat64, 1e-9, 0.2, 0.5, math.Nextafter(1, 0), 1}
)

// checkDelay fails unless the delay at retry k, after one at the retry before, is within its
// range and the cap.
func checkDelay(t failer, e backoff.Entry, p backoff.Params, r *rand.Rand, k int) {
	s := e.New(p)
	carry, prev := 0.0, time.Duration(0)
	if k > 0 { // leaves prev and carry as the operation would
		prev = s.Delay(r, backoff.Attempt{Retry: k - 1, Carry: &carry})
	}
	a := backoff.Attempt{Retry: k, Prev: prev, Carry: &carry}
	lo, hi := s.Range(a)
	d := s.Delay(r, a)
	if d < 0 || d < lo || d > hi {
		t.Fatalf("%s, %+v, retry %d after %v: delay = %d ns, want %d..%d", e.Name, p, k, prev, d, lo, hi)
	}
	if d > p.Cap && (!e.PassesCap || p.CapMode == backoff.CapClamp) {
		t.Fatalf("%s, %+v, retry %d: delay = %d ns passes the cap", e.Name, p, k, d)
	}
	if anyLo, anyHi := s.Range(backoff.Attempt{Retry: k}); anyLo > lo || anyHi < hi {
		t.Fatalf("%s, %+v, retry %d: range %d..%d after %v is wider than %d..%d after any delay", e.Name, p, k, lo, hi, prev, anyLo, anyHi)
	}
	if floor := e.Floor(p); d < floor {
		t.Fatalf("%s, %+v, retry %d: delay = %d ns is below the floor %d", e.Name, p, k, d, floor)
	}
	if math.IsNaN(carry) || math.IsInf(carry, 0) {
		t.Fatalf("%s, %+v, retry %d: carry = %v", e.Name, p, k, carry)
	}
	if k < math.MaxInt && s.Ceiling(k) > s.Ceiling(k+1) {
		t.Fatalf("%s, %+v: ceiling falls from %d to %d ns after retry %d", e.Name, p, s.Ceiling(k), s.Ceiling(k+1), k)
	}
}

// A failer is a testing.TB or a *rapid.T.
type failer interface {
	Fatalf(format string, args ...any)
}

// Every combination of two edges, the other parameters usual.
func TestDelaysAtTheEdges(t *testing.T) {
	r := client(7, 0)
	every(t, backoff.Defaults(), func(t *testing.T, e backoff.Entry, p backoff.Params) {
		check := func(p backoff.Params) {
			if faults := p.Validate(); faults != nil {
				return // such as a cap below the base
			}
			for _, k := range edgeRetries {
				for first := range 2 {
					p.FirstExponent = first
					checkDelay(t, e, p, r, k)
				}
			}
		}
		for _, x := range edgeTimes {
			for _, y := range edgeTimes {
				p := p
				p.Base, p.Cap = x, y
				check(p)
				p.Noise, p.Floor, p.WaitMax = x, min(x, y), y
				check(p)
			}
			for _, m := range edgeMultipliers {
				p := p
				p.Base, p.Cap, p.Multiplier = x, math.MaxInt64, m
				check(p)
			}
			for _, share := range edgeShares {
				p := p
				p.Base, p.Cap, p.SpreadShare, p.CapJitterShare = x, math.MaxInt64, share, share
				check(p)
			}
		}
	})
}

func params(t *rapid.T) backoff.Params {
	edgeOr := func(name string, least, most time.Duration) time.Duration {
		fitting := []time.Duration{least, most}
		for _, d := range edgeTimes {
			if d >= least && d <= most {
				fitting = append(fitting, d)
			}
		}
		return rapid.OneOf(
			rapid.SampledFrom(fitting),
			rapid.Map(rapid.Int64Range(int64(least), int64(most)), func(x int64) time.Duration { return time.Duration(x) }),
		).Draw(t, name)
	}
	base := edgeOr("base", 1, math.MaxInt64)
	limit := edgeOr("cap", base, math.MaxInt64)
	shares := rapid.OneOf(rapid.SampledFrom(edgeShares), rapid.Float64Range(0, 1))
	return backoff.Params{
		Base: base, Cap: limit,
		Multiplier:     rapid.OneOf(rapid.SampledFrom(edgeMultipliers), rapid.Float64Range(1, 20)).Draw(t, "multiplier"),
		FirstExponent:  rapid.IntRange(0, 1).Draw(t, "first"),
		CapMode:        backoff.CapMode(rapid.IntRange(0, len(backoff.CapModes())-1).Draw(t, "mode")),
		CapJitterShare: shares.Draw(t, "cap jitter"),
		Noise:          edgeOr("noise", 0, math.MaxInt64),
		SpreadShare:    shares.Draw(t, "spread"),
		Floor:          edgeOr("floor", 0, limit),
		WaitMax:        edgeOr("wait", 0, math.MaxInt64),
	}
}

func TestDelaysAreInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := params(t)
		if faults := p.Validate(); faults != nil {
			t.Fatalf("%+v: %v", p, faults)
		}
		k := rapid.OneOf(rapid.SampledFrom(edgeRetries), rapid.IntRange(0, 200)).Draw(t, "k")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, e := range backoff.Table {
			checkDelay(t, e, p, r, k)
		}
	})
}

// Doubling is exact in whole nanoseconds: each delay is twice the one before or the cap.
func TestDoublingsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "base"))
		limit := time.Duration(rapid.Int64Range(int64(base), math.MaxInt64).Draw(t, "cap"))
		e, _ := backoff.Lookup("none")
		s := e.New(backoff.Params{Base: base, Cap: limit, Multiplier: 2})
		want := base
		for k := range 70 {
			if got := s.Delay(nil, backoff.Attempt{Retry: k}); got != want {
				t.Fatalf("base %d, cap %d: delay at k = %d is %d ns, want %d", base, limit, k, got, want)
			}
			if want > limit/2 {
				want = limit
			} else {
				want *= 2
			}
		}
	})
}

// A multiplier with a fraction gives the ceiling to the nearest ns of what exact rational
// arithmetic gives, as long as float64 holds whole ns; 1.5 is the multiplier of cenkalti.
func TestFractionalMultiplier(t *testing.T) {
	p := backoff.Params{Base: 500 * ms, Cap: 24 * time.Hour, Multiplier: 1.5}
	numerator, denominator := int64(p.Base), int64(1)
	for k := range 20 {
		want := time.Duration((numerator + denominator/2) / denominator)
		if got := p.Ceiling(k); got != want {
			t.Errorf("Ceiling(%d) = %d ns, want %d", k, got, want)
		}
		numerator, denominator = numerator*3, denominator*2
		for numerator%2 == 0 && denominator%2 == 0 {
			numerator, denominator = numerator/2, denominator/2
		}
	}
}

// Each window is hit up to both its ends: at 3 ns a missing or surplus nanosecond shows.
func TestRangesAreTight(t *testing.T) {
	p := backoff.Params{Base: 4, Cap: 1000, Multiplier: 2, Noise: 2, SpreadShare: 0.5, Floor: 2, WaitMax: 7}
	every(t, p, func(t *testing.T, e backoff.Entry, p backoff.Params) {
		s, r := e.New(p), client(8, 0)
		lo, hi := s.Range(backoff.Attempt{})
		seen := map[time.Duration]bool{}
		for range 1000 {
			carry := 0.0
			seen[s.Delay(r, backoff.Attempt{Carry: &carry})] = true
		}
		// Floating point widens a range by 1 ns at each end, never the set of delays.
		if spare := int(hi-lo) + 1 - len(seen); spare < 0 || spare > 2 {
			t.Errorf("different delays = %d in a range of %d..%d ns", len(seen), lo, hi)
		}
	})
}

func TestCapReachedAt(t *testing.T) {
	tests := []struct {
		name string
		p    backoff.Params
		want time.Duration
	}{
		{"guides", backoff.Defaults(), 25_500 * ms},
		{"first exponent 1", backoff.Params{Base: 100 * ms, Cap: 20 * time.Second, Multiplier: 2, FirstExponent: 1}, 25_400 * ms},
		{"cap is base", backoff.Params{Base: ms, Cap: ms, Multiplier: 2}, 0},
		{"cap is no step", backoff.Params{Base: 80 * ms, Cap: 120 * ms, Multiplier: 2}, 80 * ms},
		{"no growth", backoff.Params{Base: ms, Cap: 2 * ms, Multiplier: 1}, forever},
		{"no growth, first exponent 1", backoff.Params{Base: ms, Cap: ms, Multiplier: 1, FirstExponent: 1}, 0},
		{"hardly any growth", backoff.Params{Base: 1, Cap: math.MaxInt64, Multiplier: math.Nextafter(1, 2)}, forever},
		{"no cap", backoff.Params{Base: 1, Cap: math.MaxInt64, Multiplier: 2}, math.MaxInt64},
		{"huge multiplier", backoff.Params{Base: 1, Cap: math.MaxInt64, Multiplier: math.MaxFloat64}, 1},
		{"longest base", backoff.Params{Base: math.MaxInt64 - 1, Cap: math.MaxInt64, Multiplier: 2}, math.MaxInt64 - 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.p.CapReachedAt(); got != test.want {
				t.Errorf("CapReachedAt = %d ns, want %d", got, test.want)
			}
		})
	}
}

func TestFirstCeiling(t *testing.T) {
	tests := []struct {
		p    backoff.Params
		want time.Duration
	}{
		{backoff.Defaults(), 100 * ms},
		{backoff.Params{Base: 100 * ms, Cap: 20 * time.Second, Multiplier: 2, FirstExponent: 1}, 200 * ms},
		{backoff.Params{Base: 100 * ms, Cap: 150 * ms, Multiplier: 2, FirstExponent: 1}, 150 * ms},
		{backoff.Params{Base: 1, Cap: math.MaxInt64, Multiplier: math.MaxFloat64, FirstExponent: 1}, math.MaxInt64},
	}
	for _, test := range tests {
		if got := backoff.FirstCeiling(test.p); got != test.want {
			t.Errorf("FirstCeiling(%+v) = %v, want %v", test.p, got, test.want)
		}
	}
}

// The last Fibonacci number that fits into a time.Duration is F(92).
func TestLastFibonacci(t *testing.T) {
	e, _ := backoff.Lookup("fibonacci")
	p := backoff.Params{Base: 1, Cap: math.MaxInt64, Multiplier: 2}
	for k, want := range map[int]time.Duration{90: 4_660_046_610_375_530_309, 91: 7_540_113_804_746_346_429, 92: forever} {
		if got := e.Ceiling(p, k); got != want {
			t.Errorf("Ceiling(%d) = %d ns, want %d", k, got, want)
		}
	}
}

// "The sixteenth attempt waits an hour": 100 ms * 2^15, the 0-based retry 15, is 54.6 min.
func TestSixteenthRetry(t *testing.T) {
	p := backoff.Params{Base: 100 * ms, Cap: 24 * time.Hour, Multiplier: 2}
	if got, want := p.Ceiling(15), 3_276_800*ms; got != want {
		t.Errorf("Ceiling(15) = %v, want %v", got, want)
	}
}
