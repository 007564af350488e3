package pace_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/pace"
	"stormtest/load/seed"
)

const ms = time.Millisecond

// z is the two-sided normal quantile of a false-positive rate of 1e-6.
const z = 4.892

func TestStart(t *testing.T) {
	tests := []struct {
		name            string
		client, clients int
		ramp, want      time.Duration
	}{
		{"one client", 0, 1, 10 * time.Second, 0},
		{"no ramp", 1999, 2000, 0, 0},
		{"first", 0, 2000, 10 * time.Second, 0},
		{"second", 1, 2000, 10 * time.Second, 5 * ms},
		{"last", 1999, 2000, 10 * time.Second, 9995 * ms},
		{"rounded down", 2, 3, 10, 6},
		{"ramp of 1 ns", 1, 2, 1, 0},
		{"longest ramp", math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64, math.MaxInt64 - 1<<32},
		{"longest ramp, most clients", math.MaxInt - 1, math.MaxInt, math.MaxInt64, math.MaxInt64 - 1},
		{"most clients", math.MaxInt - 1, math.MaxInt, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := pace.Start(test.client, test.clients, test.ramp); got != test.want {
				t.Errorf("Start(%d, %d, %d) = %d ns, want %d", test.client, test.clients, test.ramp, got, test.want)
			}
		})
	}
}

// A ramp of 10 s over 2,000 clients has 20 starts in every 100 ms, the first at 0, the last
// before the end.
func TestRampIsEven(t *testing.T) {
	starts := make([]int, 100)
	for i := range 2000 {
		starts[pace.Start(i, 2000, 10*time.Second)/(100*ms)]++ // panics at 10 s
	}
	for bucket, n := range starts {
		if n != 20 {
			t.Errorf("starts in bucket %d = %d, want 20", bucket, n)
		}
	}
}

func TestStartsAreExactAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 3, math.MaxInt}), rapid.IntRange(1, math.MaxInt)).Draw(t, "clients")
		client := rapid.IntRange(0, clients-1).Draw(t, "client")
		ramp := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, math.MaxInt64}), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "ramp")
		want := new(big.Int).Mul(big.NewInt(int64(client)), big.NewInt(ramp))
		want.Div(want, big.NewInt(int64(clients)))
		got := pace.Start(client, clients, time.Duration(ramp))
		if int64(got) != want.Int64() {
			t.Fatalf("Start(%d, %d, %d) = %d, want %d", client, clients, ramp, got, want)
		}
		if ramp > 0 && got >= time.Duration(ramp) {
			t.Fatalf("Start(%d, %d, %d) = %d is not before the end of the ramp", client, clients, ramp, got)
		}
	})
}

func TestShare(t *testing.T) {
	tests := []struct {
		total           int64
		clients, client int
		want            int64
	}{
		{0, 1, 0, 0},
		{0, 5, 4, 0},
		{1, 5, 0, 1},
		{1, 5, 1, 0},
		{7, 3, 0, 3},
		{7, 3, 1, 2},
		{7, 3, 2, 2},
		{2000, 2000, 1999, 1},
		{math.MaxInt64, 1, 0, math.MaxInt64},
		{math.MaxInt64, 2, 0, math.MaxInt64/2 + 1},
		{math.MaxInt64, math.MaxInt, 0, 1},
		{math.MaxInt64 - 1, math.MaxInt, math.MaxInt - 1, 0},
	}
	for _, test := range tests {
		if got := pace.Share(test.total, test.clients, test.client); got != test.want {
			t.Errorf("Share(%d, %d, %d) = %d, want %d", test.total, test.clients, test.client, got, test.want)
		}
	}
}

func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.IntRange(1, 300).Draw(t, "clients")
		total := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "total")
		sum, before := int64(0), int64(math.MaxInt64)
		for client := range clients {
			share := pace.Share(total, clients, client)
			if share > before || share < before-1 && client > 0 {
				t.Fatalf("Share(%d, %d, %d) = %d after %d", total, clients, client, share, before)
			}
			sum, before = sum+share, share
		}
		if sum != total {
			t.Fatalf("shares of %d clients add up to %d, want %d", clients, sum, total)
		}
	})
}

// all returns what s gives until it ends.
func all(s *pace.Schedule) []time.Duration {
	var due []time.Duration
	for {
		at, ok := s.Next()
		if !ok {
			return due
		}
		due = append(due, at)
	}
}

// Operation j is due at j/rate to the nearest ns, by exact rational arithmetic on the rate
// as it is written, also after many operations.
func TestEvenScheduleIsExact(t *testing.T) {
	tests := []struct {
		rate     float64
		fraction string
	}{
		{50, "50"}, {1, "1"}, {3, "3"}, {7, "7"}, {1000, "1000"}, {999_983, "999983"}, {10_000_000, "10000000"},
		{0.5, "1/2"}, {0.1, "1/10"}, {0.7, "7/10"}, {100.0 / 60, "100/60"}, {1.0 / 3600, "1/3600"},
	}
	for _, test := range tests {
		t.Run(test.fraction, func(t *testing.T) {
			rate, ok := new(big.Rat).SetString(test.fraction)
			if !ok {
				t.Fatal("bad fraction")
			}
			s := pace.NewSchedule(pace.Config{PerSecond: test.rate, Until: 26 * 24 * time.Hour}, nil)
			for j := range int64(200_000) {
				got, ok := s.Next()
				if !ok {
					return // 26 days are over
				}
				if j%97 != 0 && j > 1000 {
					continue
				}
				exact := new(big.Rat).Quo(big.NewRat(j*int64(time.Second), 1), rate)
				off := new(big.Rat).Sub(exact, big.NewRat(int64(got), 1))
				if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
					t.Fatalf("operation %d at %v/s is due at %d ns, want %s", j, test.rate, got, exact.FloatString(3))
				}
			}
		})
	}
}

func TestEvenScheduleEnds(t *testing.T) {
	tests := []struct {
		name   string
		config pace.Config
		count  int
		last   time.Duration
	}{
		{"10/s for 20 s", pace.Config{PerSecond: 10, Until: 20 * time.Second}, 200, 19_900 * ms},
		{"3/s for 1 s", pace.Config{PerSecond: 3, Until: time.Second}, 3, 666_666_667},
		{"0.1/s for 30 s", pace.Config{PerSecond: 0.1, Until: 30 * time.Second}, 3, 20 * time.Second},
		{"1/s for 1 ns", pace.Config{PerSecond: 1, Until: 1}, 1, 0},
		{"total before the end", pace.Config{PerSecond: 10, Until: 20 * time.Second, Total: 7}, 7, 600 * ms},
		{"end before the total", pace.Config{PerSecond: 10, Until: time.Second, Total: 700}, 10, 900 * ms},
		{"total alone", pace.Config{PerSecond: 1000, Total: 5}, 5, 4 * ms},
		{"slowest rate", pace.Config{PerSecond: math.SmallestNonzeroFloat64}, 1, 0},
		{"fastest rate", pace.Config{PerSecond: math.MaxFloat64, Total: 3}, 3, 0},
		{"longest run", pace.Config{PerSecond: 1e-10, Until: math.MaxInt64}, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := pace.NewSchedule(test.config, nil)
			due := all(s)
			if len(due) != test.count || due[len(due)-1] != test.last {
				t.Errorf("%d operations, want %d; the last in %v, want %v", len(due), test.count, due[max(0, len(due)-2):], test.last)
			}
			if at, ok := s.Next(); ok {
				t.Errorf("Next after the end = %v, true", at)
			}
		})
	}
}

// Method: over 100,000 gaps the mean has the standard error g/sqrt(n) and the variance
// 2g^2*sqrt(2/n) of a true gap g, as gaps are exponential (fourth moment 9g^4); the
// distance from the exponential distribution is within the DKW bound. Counts in cells of
// 10 gaps' length have variance over mean 1 with deviation sqrt(2/cells) (chi-square).
//
// False-positive rate 1e-6 each; seed fixed. At the same rate it misses a rate off by less
// than 3.1 %, and would catch even gaps, uniform gaps and gaps rounded to whole ms.
func TestPoissonSchedule(t *testing.T) {
	const n = 100_000
	for _, rate := range []float64{0.5, 50, 20_000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			gap := float64(time.Second) / rate
			due := all(pace.NewSchedule(pace.Config{PerSecond: rate, Poisson: true, Total: n}, seed.Stream(42, seed.Arrivals, 0)))
			var mean, square, shortest float64
			cells := make([]float64, n/20) // sure to lie inside the n gaps
			for i, at := range due {
				before := time.Duration(0)
				if i > 0 {
					before = due[i-1]
				}
				if at < before {
					t.Fatalf("operation %d is due at %v after one at %v", i, at, before)
				}
				g := float64(at-before) / gap
				mean += g / n
				square += g * g / n
				if g < 0.5 {
					shortest += 1.0 / n
				}
				if cell := int(float64(at) / (10 * gap)); cell < len(cells) {
					cells[cell]++
				}
			}
			within(t, "mean gap", mean, 1, z/math.Sqrt(n))
			within(t, "variance of gaps", square-mean*mean, 1, z*math.Sqrt(8.0/n))
			within(t, "share of gaps below half the mean", shortest, 1-math.Exp(-0.5), z*0.5/math.Sqrt(n))
			k, m, s := float64(len(cells)), 0.0, 0.0
			for _, c := range cells {
				m += c / k
				s += c * c / k
			}
			within(t, "variance over mean of counts", (s-m*m)/m, 1, z*math.Sqrt(2/k))
		})
	}
}

func within(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if math.Abs(got-want) > bound {
		t.Errorf("%s = %.4f, want %.4f +- %.4f", what, got, want, bound)
	}
}

// The number of operations before the end is Poisson: over 400 seeds of 250 operations the
// mean has the error sqrt(250/400). False-positive rate 1e-6.
func TestPoissonCountBeforeTheEnd(t *testing.T) {
	const runs = 400
	total := 0
	for run := range runs {
		total += len(all(pace.NewSchedule(pace.Config{PerSecond: 50, Poisson: true, Until: 5 * time.Second}, seed.Stream(uint64(run), seed.Arrivals, 0))))
	}
	within(t, "operations in 5 s at 50/s", float64(total)/runs, 250, z*math.Sqrt(250.0/runs))
}

func TestSameSeedSameMoments(t *testing.T) {
	moments := func(run uint64) string {
		return fmt.Sprint(all(pace.NewSchedule(pace.Config{PerSecond: 50, Poisson: true, Total: 100}, seed.Stream(run, seed.Arrivals, 0))))
	}
	first := moments(42)
	if again := moments(42); again != first {
		t.Errorf("the same seed gives other moments: %s, then %s", first, again)
	}
	if moments(43) == first {
		t.Error("another seed gives the same moments")
	}
}

func TestBugsPanic(t *testing.T) {
	tests := []struct {
		name string
		call func()
		want string
	}{
		{"client too high", func() { pace.Start(2, 2, 1) }, "pace: BUG: client 2 of 2"},
		{"client negative", func() { pace.Share(1, 2, -1) }, "pace: BUG: client -1 of 2"},
		{"no clients", func() { pace.Share(1, 0, 0) }, "pace: BUG: client 0 of 0"},
		{"negative ramp", func() { pace.Start(0, 1, -1) }, "pace: BUG: ramp -1ns is negative"},
		{"negative total", func() { pace.Share(-1, 1, 0) }, "pace: BUG: total -1 is negative"},
		{"rate 0", func() { pace.NewSchedule(pace.Config{}, nil) }, "pace: BUG: rate 0 per second"},
		{"rate NaN", func() { pace.NewSchedule(pace.Config{PerSecond: math.NaN()}, nil) }, "pace: BUG: rate NaN per second"},
		{"rate infinite", func() { pace.NewSchedule(pace.Config{PerSecond: math.Inf(1)}, nil) }, "pace: BUG: rate +Inf per second"},
		{"negative bound", func() { pace.NewSchedule(pace.Config{PerSecond: 1, Until: -1}, nil) }, "pace: BUG: negative bound: total 0, until -1ns"},
		{"no source", func() { pace.NewSchedule(pace.Config{PerSecond: 1, Poisson: true}, nil) }, "pace: BUG: Poisson arrivals need a random source"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("panic %v, want %v", got, test.want)
				}
			}()
			test.call()
		})
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		s := pace.NewSchedule(pace.Config{PerSecond: 50, Poisson: poisson}, seed.Stream(1, seed.Arrivals, 0))
		if allocs := testing.AllocsPerRun(1000, func() { s.Next() }); allocs != 0 {
			t.Errorf("poisson %v: Next allocates %v times, want 0", poisson, allocs)
		}
	}
}

// Any accepted config gives moments that never fall and stay before the end.
func FuzzSchedule(f *testing.F) {
	for _, rate := range []float64{math.SmallestNonzeroFloat64, 1e-10, 1, 50, 1e9, math.MaxFloat64} {
		for _, until := range []int64{0, 1, int64(time.Second), math.MaxInt64 - 1, math.MaxInt64} {
			f.Add(rate, false, until, uint64(0))
			f.Add(rate, true, until, uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, rate float64, poisson bool, until int64, run uint64) {
		if !(rate > 0) || math.IsInf(rate, 0) || until < 0 {
			return
		}
		s := pace.NewSchedule(pace.Config{PerSecond: rate, Poisson: poisson, Until: time.Duration(until)}, rand.New(rand.NewPCG(run, 0)))
		before := time.Duration(0)
		for range 100 {
			at, ok := s.Next()
			if !ok {
				return
			}
			if at < before || until > 0 && at >= time.Duration(until) {
				t.Fatalf("rate %v, until %d: %d ns after %d", rate, until, at, before)
			}
			before = at
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for _, poisson := range []bool{false, true} {
		b.Run(fmt.Sprintf("poisson=%v", poisson), func(b *testing.B) {
			s := pace.NewSchedule(pace.Config{PerSecond: 1e6, Poisson: poisson}, seed.Stream(1, seed.Arrivals, 0))
			for b.Loop() {
				s.Next()
			}
		})
	}
}
