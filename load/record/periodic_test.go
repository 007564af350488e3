package record

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestAutocorrelation(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int64
		lag    int
		want   float64
		ok     bool
	}{
		{"none", nil, 1, 0, false},
		{"no lag", []int64{1, 2, 3}, 0, 0, false},
		{"negative lag", []int64{1, 2, 3}, -1, 0, false},
		{"lag of the whole length", []int64{1, 2, 3}, 3, 0, false},
		{"all alike", []int64{4, 4, 4, 4}, 2, 0, false},
		{"all 0", []int64{0, 0, 0, 0}, 2, 0, false},
		{"a pattern of two", []int64{0, 8, 0, 8, 0, 8}, 2, 1, true},
		{"half a pattern on", []int64{0, 8, 0, 8, 0, 8}, 1, -1, true},
		// m = 2; products at lag 1: (-1)(0) + (0)(1) = 0 over 2, times 3/2.
		{"by hand", []int64{1, 2, 3}, 1, 0, true},
		// m = 3; deviations -2,-1,0,3: lag 1: 2 + 0 + 0 = 2 over 14, times 4/3.
		{"by hand, uneven", []int64{1, 2, 3, 6}, 1, 2.0 / 14 * 4 / 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Autocorrelation(c.counts, c.lag)
			if ok != c.ok || !(math.Abs(got-c.want) <= 1e-12) {
				t.Errorf("Autocorrelation(%v, %d) = %v, %t, want %v, %t", c.counts, c.lag, got, ok, c.want, c.ok)
			}
		})
	}
}

// Poisson traffic, K = 600, lag = 200: mean 0, sd about 0.07 (domain 5.4, written "0.07" and measured 0.061), and
// never PERIODIC. Method: 500 runs, 4.9 standard errors for mean and sd; a rate of one flag in 3000 would show
// with a probability of 15 %.
func TestAutocorrelationUnderPoisson(t *testing.T) {
	const runs = 500
	var sum, squares float64
	for k := range runs {
		r, periodic, ok := Periodic(poissonCounts(uint64(7000+k), 5, 600), 200)
		value(t, "r", r, ok)
		if periodic {
			t.Errorf("run %d: Poisson traffic is periodic with r = %.3f", k, r)
		}
		sum += r
		squares += r * r
	}
	sd := math.Sqrt(squares / runs)
	near(t, "mean r", sum/runs, 0, sigmas*0.07/math.Sqrt(runs))
	near(t, "sd of r", sd, 0.065, 0.006+sigmas*0.07/math.Sqrt(2*runs))
}

// pattern returns counts by a formula of the bucket's number.
func pattern(k int, of func(i int) float64) []int64 {
	counts := make([]int64, k)
	for i := range counts {
		counts[i] = int64(math.Round(of(i)))
	}
	return counts
}

func TestPeriodic(t *testing.T) {
	const lag = 200
	frozen := poissonCounts(1, 5, lag)
	for _, c := range []struct {
		name   string
		counts []int64
		want   bool
		ok     bool
	}{
		{"whole fleet every lag", pattern(3*lag, func(i int) float64 { return float64(i%lag/(lag-1)) * 1000 }), true, true},
		{"whole fleet every lag, even", pattern(600, func(i int) float64 { return float64((i+1)%lag/(lag-1)) * 1000 }), true, true},
		{"a frozen Poisson spread", pattern(3*lag, func(i int) float64 { return float64(frozen[i%lag]) }), true, true},
		{"frozen while a fifth of the fleet is served each lag", pattern(4*lag, func(i int) float64 {
			return 100 * float64(frozen[i%lag]) * math.Pow(0.8, float64(i/lag))
		}), true, true},
		{"frozen while half the fleet is served each lag", pattern(4*lag, func(i int) float64 {
			return 100 * float64(frozen[i%lag]) * math.Pow(0.5, float64(i/lag))
		}), false, true},
		{"a steady rate of 7.5, in whole arrivals", pattern(3*lag, func(i int) float64 { return float64(7 + i%2) }), false, true},
		{"too short", pattern(3*lag-1, func(i int) float64 { return float64(frozen[i%lag]) }), false, false},
		{"quiet", make([]int64, 3*lag), false, false},
		{"constant", pattern(3*lag, func(int) float64 { return 100 }), false, false},
		{"one burst", pattern(3*lag, func(i int) float64 { return float64(i/(3*lag-1)) * 1000 }), false, true},
		{"a step down", pattern(3*lag, func(i int) float64 { return 1000 - float64(i/lag)*400 }), false, true},
		{"a step down in ten lags", pattern(10*lag, func(i int) float64 { return 1000 - float64(i/(5*lag))*450 }), false, true},
		{"half the period", pattern(3*lag, func(i int) float64 { return 500 + 400*math.Sin(float64(i)*math.Pi/lag) }), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, periodic, ok := Periodic(c.counts, lag)
			if periodic != c.want || ok != c.ok {
				t.Errorf("Periodic = %.3f, %t, %t, want %t, %t", r, periodic, ok, c.want, c.ok)
			}
		})
	}
	if _, periodic, ok := Periodic(frozen, 0); periodic || ok {
		t.Error("Periodic at lag 0 has a value")
	}
}

// The guard: a series that only falls is not periodic, though its autocorrelation may be far above the
// threshold. Straight, exponential and 1/t slopes of every steepness, smooth (rounded to whole arrivals) and with
// Poisson noise, over 3 to 20 lags.
func TestPeriodicGuardsAgainstDecay(t *testing.T) {
	deceived := 0
	rapid.Check(t, func(rt *rapid.T) {
		lag := rapid.IntRange(5, 200).Draw(rt, "lag")
		k := rapid.IntRange(3*lag, 20*lag).Draw(rt, "buckets")
		scale := math.Pow(10, rapid.Float64Range(0, 6).Draw(rt, "log10 of the counts"))
		steepness := rapid.Float64Range(0, 10).Draw(rt, "steepness")
		shape := rapid.SampledFrom([]string{"straight", "exponential", "inverse"}).Draw(rt, "shape")
		r := seeded(rapid.Uint64().Draw(rt, "seed"))
		noise := rapid.Bool().Draw(rt, "noise")
		counts := pattern(k, func(i int) float64 {
			x := float64(i) / float64(k)
			switch shape {
			case "straight":
				x = max(0, 1-steepness*x/10)
			case "exponential":
				x = math.Exp(-steepness * x)
			default:
				x = 1 / (1 + 3*steepness*x)
			}
			x *= scale
			if noise {
				x += r.NormFloat64() * math.Sqrt(x)
			}
			return max(0, x)
		})
		raw, periodic, _ := Periodic(counts, lag)
		if raw >= PeriodicMin {
			deceived++
		}
		if periodic {
			rt.Fatalf("%s decay over %d buckets is periodic at lag %d: r = %.3f", shape, k, lag, raw)
		}
	})
	t.Logf("%d series had r >= %v all the same", deceived, PeriodicMin)
	if deceived == 0 {
		t.Error("no series was autocorrelated: this test tests nothing")
	}
}

// Dividing by the moving average makes a slope one constant: exactly for a straight one, and for an
// exponential one away from rounding.
func TestOverMovingAverage(t *testing.T) {
	for _, lag := range []int{1, 2, 5, 10} {
		straight := pattern(60, func(i int) float64 { return float64(6000 - 100*i) })
		ratios := overMovingAverage(straight, lag)
		if len(ratios) != 60-2*(lag/2) {
			t.Errorf("lag %d: %d ratios, want %d", lag, len(ratios), 60-2*(lag/2))
		}
		for _, x := range ratios {
			near(t, "ratio of a straight slope", x, 1, 1e-12)
		}
		falling := overMovingAverage(pattern(60, func(i int) float64 { return 1e12 * math.Exp(-float64(i)/20) }), lag)
		for _, x := range falling {
			near(t, "ratio of an exponential slope", x, falling[0], 1e-6)
		}
	}
	for _, x := range overMovingAverage(make([]int64, 30), 10) {
		near(t, "ratio of nothing", x, 1, 0)
	}
}
