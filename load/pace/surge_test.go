package pace_test

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/pace"
	"stormtest/load/seed"
)

func TestSurgeMovesMoments(t *testing.T) {
	surge := func(from, to time.Duration, factor float64) []pace.Surge {
		return []pace.Surge{{From: from, To: to, Factor: factor}}
	}
	tests := []struct {
		name   string
		surges []pace.Surge
		want   []time.Duration // of the first operations at 1/s until 6 s
	}{
		{"none", nil, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}},
		{"twice as many", surge(2*time.Second, 4*time.Second, 2), []time.Duration{
			0, time.Second, 2 * time.Second, 2500 * ms, 3 * time.Second, 3500 * ms, 4 * time.Second, 5 * time.Second}},
		{"from the start", surge(0, time.Second, 3), []time.Duration{
			0, 333_333_333, 666_666_667, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}},
		{"a lull has none, and what was due in it is not made up for", surge(1500*ms, 3500*ms, 0), []time.Duration{
			0, time.Second, 4 * time.Second, 5 * time.Second}},
		{"a lull from a moment on at which one is due", surge(2*time.Second, 4*time.Second, 0), []time.Duration{
			0, time.Second, 4 * time.Second, 5 * time.Second}},
		{"half", surge(time.Second, 5*time.Second, 0.5), []time.Duration{0, time.Second, 3 * time.Second, 5 * time.Second}},
		{"two", []pace.Surge{{From: time.Second, To: 2 * time.Second, Factor: 2}, {From: 2 * time.Second, To: 3 * time.Second, Factor: 0}}, []time.Duration{
			0, time.Second, 1500 * ms, 3 * time.Second, 4 * time.Second, 5 * time.Second}},
		{"beyond the end", surge(5500*ms, time.Hour, 4), []time.Duration{
			0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 5625 * ms, 5875 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := all(pace.NewSchedule(pace.Config{PerSecond: 1, Surges: tt.surges, Until: 6 * time.Second}, nil))
			if !slices.Equal(got, tt.want) {
				t.Errorf("due at %v, want %v", got, tt.want)
			}
		})
	}
}

// drawSurges draws surges in order that do not overlap.
func drawSurges(t *rapid.T) []pace.Surge {
	var list []pace.Surge
	at := time.Duration(0)
	for range rapid.IntRange(0, 4).Draw(t, "surges") {
		from := at + time.Duration(rapid.IntRange(0, 3000).Draw(t, "wait"))*time.Millisecond
		at = from + time.Duration(rapid.IntRange(1, 5000).Draw(t, "length"))*time.Millisecond
		list = append(list, pace.Surge{From: from, To: at, Factor: float64(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 20, 200}).Draw(t, "tenths")) / 10})
	}
	return list
}

// dueBefore is the integral of the rate over [0, at), by exact arithmetic and rounded up: operation j is due when it reaches j.
func dueBefore(perSecond int64, surges []pace.Surge, at time.Duration) int64 {
	sum := new(big.Rat)
	add := func(from, to time.Duration, tenths int64) {
		if to = min(to, at); to > from {
			sum.Add(sum, new(big.Rat).Mul(big.NewRat(int64(to-from), int64(time.Second)), big.NewRat(perSecond*tenths, 10)))
		}
	}
	end := time.Duration(0)
	for _, s := range surges {
		add(end, s.From, 10)
		add(s.From, s.To, int64(math.Round(s.Factor*10)))
		end = s.To
	}
	add(end, math.MaxInt64, 10)
	n := new(big.Int).Add(sum.Num(), new(big.Int).Sub(sum.Denom(), big.NewInt(1)))
	return n.Div(n, sum.Denom()).Int64()
}

// Before every moment as many operations are due as the integral of the rate says, to the ns.
func TestSurgeCountsAreTheIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, surges := rapid.Int64Range(1, 300).Draw(t, "rate"), drawSurges(t)
		c := pace.Config{PerSecond: float64(perSecond), Surges: surges, Until: 12 * time.Second}
		due := all(pace.NewSchedule(c, nil))
		if !slices.IsSorted(due) {
			t.Fatal("moments fall")
		}
		if got, want := float64(dueBefore(perSecond, surges, c.Until)), c.PlainSeconds(c.Until)*float64(perSecond); got < want-1e-6 || got >= want+1 {
			t.Fatalf("%v operations, and %v by PlainSeconds", got, want)
		}
		for range 20 {
			at := time.Duration(rapid.Int64Range(0, int64(c.Until)).Draw(t, "at"))
			n, _ := slices.BinarySearch(due, at)
			// A moment is rounded to the nearest ns, so that one may be due half a ns to either side.
			if lo, hi := dueBefore(perSecond, surges, max(0, at-1)), dueBefore(perSecond, surges, at+1); int64(n) < lo || int64(n) > hi {
				t.Fatalf("%d operations are due before %v, want %d..%d", n, at, lo, hi)
			}
		}
		for i, s := range surges {
			n, _ := slices.BinarySearch(due, min(s.To, c.Until))
			m, _ := slices.BinarySearch(due, s.From)
			if s.Factor == 0 && n != m {
				t.Fatalf("%d operations are due in lull %d", n-m, i)
			}
		}
	})
}

// Poisson arrivals under a surge are those of the plain rate in the time that the surge makes of it: of 400 seeds the mean
// count in the surge is rate x factor x length, that around it the plain rate's. False-positive rate 1e-6 each.
func TestPoissonSurge(t *testing.T) {
	const runs = 400
	var in, out, square float64
	for run := range runs {
		due := all(pace.NewSchedule(pace.Config{
			PerSecond: 20, Poisson: true, Surges: []pace.Surge{{From: 2 * time.Second, To: 4 * time.Second, Factor: 5}}, Until: 6 * time.Second,
		}, seed.Stream(uint64(run), seed.Arrivals, 0)))
		from, _ := slices.BinarySearch(due, 2*time.Second)
		to, _ := slices.BinarySearch(due, 4*time.Second)
		in += float64(to-from) / runs
		square += float64(to-from) * float64(to-from) / runs
		out += float64(len(due)-to+from) / runs
	}
	within(t, "operations in the surge", in, 200, z*math.Sqrt(200.0/runs))
	within(t, "operations around it", out, 80, z*math.Sqrt(80.0/runs))
	within(t, "variance over mean in the surge", (square-in*in)/in, 1, z*math.Sqrt(2.0/runs))
}

func TestSurgeBugsPanic(t *testing.T) {
	for name, surges := range map[string][]pace.Surge{
		"overlap":   {{From: 0, To: 2, Factor: 1}, {From: 1, To: 3, Factor: 1}},
		"no order":  {{From: 5, To: 6, Factor: 1}, {From: 1, To: 3, Factor: 1}},
		"no length": {{From: 1, To: 1, Factor: 1}},
		"negative":  {{From: 1, To: 2, Factor: -1}},
		"NaN":       {{From: 1, To: 2, Factor: math.NaN()}},
		"infinite":  {{From: 1, To: 2, Factor: math.Inf(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			pace.NewSchedule(pace.Config{PerSecond: 1, Surges: surges}, nil)
		})
	}
}
