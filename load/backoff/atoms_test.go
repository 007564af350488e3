package backoff_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stormtest/load/backoff"
)

// Method: the share of 100,000 delays that are exactly one value, against the formula.
// False-positive rate 1e-6 each (normal approximation of the binomial; a share of exactly 0
// or 1 must be met exactly). The seed is fixed. At the same rate it misses a share off by
// less than 0.016.
func TestAtoms(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *backoff.Params)
		k      int
		at     time.Duration
		want   float64
	}{
		// Full under a clamp: 1 - cap/raw with raw = 25.6, 51.2, 102.4 s.
		{"full", mode(backoff.CapClamp), 7, 20_000 * ms, 0},
		{"full", mode(backoff.CapClamp), 8, 20_000 * ms, 0.21875},
		{"full", mode(backoff.CapClamp), 9, 20_000 * ms, 0.609375},
		{"full", mode(backoff.CapClamp), 10, 20_000 * ms, 0.8046875},
		{"full", mode(backoff.CapClamp), 1_000_000, 20_000 * ms, 1},
		{"full", mode(backoff.CapCeiling), 10, 20_000 * ms, 0},
		{"full", mode(backoff.CapFixed), 7, 20_000 * ms, 0},
		{"full", mode(backoff.CapFixed), 8, 20_000 * ms, 1},
		{"full", mode(backoff.CapRandom), 10, 20_000 * ms, 0},
		// Equal: 2(1 - cap/raw) up to raw = 2 cap.
		{"equal", mode(backoff.CapClamp), 8, 20_000 * ms, 0.4375},
		{"equal", mode(backoff.CapClamp), 9, 20_000 * ms, 1},
		{"equal", mode(backoff.CapFixed), 8, 20_000 * ms, 1},
		// Proportional: ((1+p)raw - cap)/(2p raw).
		{"proportional", mode(backoff.CapClamp), 8, 20_000 * ms, 1},
		{"proportional", func(p *backoff.Params) { p.CapMode, p.SpreadShare = backoff.CapClamp, 0.5 }, 8, 20_000 * ms, 18.4 / 25.6},
		{"proportional", func(p *backoff.Params) { p.CapMode, p.SpreadShare = backoff.CapClamp, 0.5 }, 7, 20_000 * ms, 0},
		{"proportional", mode(backoff.CapCeiling), 8, 20_000 * ms, 0},
		{"fixed", func(p *backoff.Params) { p.CapMode, p.Cap = backoff.CapClamp, 12_800*time.Millisecond }, 7, 12_800 * ms, 0.5},
		{"fixed", mode(backoff.CapClamp), 8, 20_000 * ms, 1},
		{"fixed", func(p *backoff.Params) { p.Noise = 200 * ms }, 0, 0, 0.25},
		{"additive", mode(backoff.CapClamp), 8, 20_000 * ms, 1},
		// 18 %, 68 %, 100 %: P(2^U[-1,1) > cap/c).
		{"exponent-noisy", nil, 7, 20_000 * ms, (1 - math.Log2(200.0/128)) / 2},
		{"exponent-noisy", nil, 8, 20_000 * ms, (1 - math.Log2(200.0/256)) / 2},
		{"exponent-noisy", nil, 9, 20_000 * ms, 1},
		{"exponent-noisy", mode(backoff.CapFixed), 8, 20_000 * ms, 1},
		{"exponent-noisy", mode(backoff.CapRandom), 9, 20_000 * ms, 0},
		// 15 %, 41 %: P(U[0,k) > log2(cap/b)).
		{"exponent", nil, 0, 100 * ms, 1},
		{"exponent", nil, 9, 20_000 * ms, 1 - math.Log2(200)/9},
		{"exponent", nil, 13, 20_000 * ms, 1 - math.Log2(200)/13},
		{"exponent", mode(backoff.CapFixed), 8, 20_000 * ms, 1},
		{"exponent", mode(backoff.CapRandom), 13, 20_000 * ms, 0},
		// The clamped floor: f/c.
		{"full-clamp", nil, 0, 50 * ms, 0.5},
		{"full-clamp", nil, 2, 50 * ms, 0.125},
		{"full-floor", nil, 2, 50 * ms, 0},
		{"full-clamp", func(p *backoff.Params) { p.Floor = p.Base }, 0, 100 * ms, 1},
		// The clamped floor: 2f/c - 1.
		{"equal-clamp", floor(75 * ms), 0, 75 * ms, 0.5},
		{"equal-clamp", floor(75 * ms), 1, 100 * ms, 0},
		{"equal-clamp", stripe, 0, 500 * ms, 1},
		// P(U[0.8, 1.3) > cap/M).
		{"mersenne-scaled", func(p *backoff.Params) { p.Cap = 12_700 * ms }, 6, 12_700 * ms, 0.6},
		{"mersenne-scaled", nil, 6, 12_700 * ms, 0},
		{"mersenne-scaled", nil, 7, 20_000 * ms, 1},
		{"mersenne-scaled", mode(backoff.CapRandom), 7, 20_000 * ms, 0},
		{"polly", mode(backoff.CapFixed), 8, 20_000 * ms, 1},
		{"polly", nil, 1_000_000, 20_000 * ms, 1},
		{"linear-jitter", mode(backoff.CapFixed), 199, 20_000 * ms, 1},
		{"linear-jitter", func(p *backoff.Params) { p.CapMode, p.WaitMax = backoff.CapClamp, 300*ms }, 99, 20_000 * ms, 0.5},
		{"linear-jitter", nil, 199, 20_000 * ms, 0},
		{"constant-full", func(p *backoff.Params) { p.CapMode, p.Cap = backoff.CapClamp, 150*ms }, 3, 150 * ms, 0.25},
		{"constant-full", func(p *backoff.Params) { p.CapMode, p.Cap = backoff.CapFixed, 200*ms }, 3, 200 * ms, 1},
		{"decorrelated", mode(backoff.CapFixed), 1_000, 100 * ms, 0},
	}
	for i, test := range tests {
		t.Run(fmt.Sprintf("%s/k=%d/%d", test.name, test.k, i), func(t *testing.T) {
			p := backoff.Defaults()
			if test.change != nil {
				test.change(&p)
			}
			delays := sampleAt(lookup(t, test.name).New(p), client(3, i), test.k, samples, false)
			got := shareOf(delays, test.at)
			bound := z * math.Sqrt(test.want*(1-test.want)/samples)
			if test.want == 0 {
				bound = 1.0 / samples // a continuous draw may hit any one ns
			}
			if math.Abs(got-test.want) > bound {
				t.Errorf("share exactly %v = %.4f, want %.4f +- %.4f", test.at, got, test.want, bound)
			}
		})
	}
}

// Decorrelated by retry index and in the long run, in both published forms, against
// reference figures computed from 5 million steps.
//
// Method: 20,000 operations of 50 retries. Each figure is a mean over independent
// operations, so its error is its deviation over operations / sqrt(20,000). False-positive
// rate 1e-6 each, beside 0.5 % or 0.5 ms for the error and rounding of the reference. It
// misses a mean off by less than 5 %; the two forms differ by 14 % at k = 7, 42 % in the
// long run.
func TestDecorrelatedInTheLongRun(t *testing.T) {
	const operations, retries, settled = 20_000, 50, 40
	tests := []struct {
		mode    backoff.CapMode
		means   map[int]float64
		mean    float64
		atCap   float64
		atCapAt map[int]float64 // rounded to 1 %
	}{
		{mode: backoff.CapClamp, mean: 9774, atCap: 0.29,
			means:   map[int]float64{0: 200, 1: 350, 2: 575, 3: 913, 4: 1421, 5: 2162, 6: 3074, 7: 4024, 8: 4913, 10: 6385, 13: 7844},
			atCapAt: map[int]float64{6: 0.02, 8: 0.08, 10: 0.14, 13: 0.21}},
		{mode: backoff.CapCeiling, mean: 5602, atCap: 0,
			means:   map[int]float64{0: 200, 1: 350, 2: 575, 3: 913, 4: 1421, 5: 2121, 6: 2842, 7: 3473, 8: 3978, 10: 4662, 13: 5194},
			atCapAt: map[int]float64{13: 0}},
	}
	for _, test := range tests {
		t.Run(test.mode.String(), func(t *testing.T) {
			p := backoff.Defaults()
			p.CapMode = test.mode
			s := lookup(t, "decorrelated").New(p)
			var delay, atCap [retries]tally
			var settledDelay, settledAtCap tally
			for i := range operations {
				var sum, hits float64
				for k, d := range walk(s, client(4, i), retries) {
					hit := 0.0
					if d == p.Cap {
						hit = 1
					}
					delay[k].add(inMs(d))
					atCap[k].add(hit)
					if k >= settled {
						sum += inMs(d)
						hits += hit
					}
				}
				settledDelay.add(sum / (retries - settled))
				settledAtCap.add(hits / (retries - settled))
			}
			for k, want := range test.means {
				delay[k].check(t, fmt.Sprintf("mean at k = %d", k), want, 0.5+0.005*want)
			}
			for k, want := range test.atCapAt {
				atCap[k].check(t, fmt.Sprintf("share at the cap at k = %d", k), want, 0.006)
			}
			settledDelay.check(t, "mean in the long run", test.mean, 0.005*test.mean)
			settledAtCap.check(t, "share at the cap in the long run", test.atCap, 0.001)
		})
	}
}

// A tally keeps what the mean of independent numbers and its error need.
type tally struct{ n, sum, squares float64 }

func (a *tally) add(x float64) {
	a.n++
	a.sum += x
	a.squares += x * x
}

// check fails unless the mean lies within z standard errors and slack of want.
func (a *tally) check(t *testing.T, what string, want, slack float64) {
	t.Helper()
	mean := a.sum / a.n
	bound := slack + z*math.Sqrt(max(0, a.squares/a.n-mean*mean)/a.n)
	if math.Abs(mean-want) > bound {
		t.Errorf("%s = %.4f, want %.4f +- %.4f", what, mean, want, bound)
	}
}

// Inversion, the guides' argument against exponent jitter, and that it says as much
// against full jitter. False-positive rate 1e-6 each; 0 must be met exactly.
func TestInversion(t *testing.T) {
	tests := []struct {
		name        string
		early, late int
		want        float64
	}{
		{"exponent", 2, 4, 0.25},
		{"exponent", 1, 2, 0.25},
		{"exponent-noisy", 2, 4, 0},
		{"exponent-noisy", 1, 2, 0.125},
		{"full", 2, 4, 0.125},
		{"full", 1, 2, 0.25},
	}
	for i, test := range tests {
		t.Run(fmt.Sprintf("%s/%d,%d", test.name, test.early, test.late), func(t *testing.T) {
			s := lookup(t, test.name).New(backoff.Defaults())
			early := sampleAt(s, client(5, 2*i), test.early, samples, false)
			late := sampleAt(s, client(5, 2*i+1), test.late, samples, false)
			got := 0.0
			for j := range early {
				if early[j] > late[j] {
					got += 1.0 / samples
				}
			}
			if bound := z * math.Sqrt(test.want*(1-test.want)/samples); math.Abs(got-test.want) > bound+1e-9 {
				t.Errorf("P(delay at k = %d > delay at k = %d) = %.4f, want %.4f +- %.4f", test.early, test.late, got, test.want, bound)
			}
		})
	}
}

// Polly's sum telescopes: the elapsed time after retry k lies between two neighbouring
// points of its curve, so waves tile time, and neighbouring delays are correlated by -0.40
// (where the variance of the curve's points grows fourfold a step, -4/(sqrt(5)*sqrt(20))).
// False-positive rate of the correlation 1e-6.
func TestPollyTilesTime(t *testing.T) {
	p := backoff.Defaults()
	p.Cap = time.Hour
	s := lookup(t, "polly").New(p)
	const n = 20_000
	curve := func(x float64) float64 { return 100 / 1.4 * math.Exp2(x) * math.Tanh(math.Sqrt(4*x)) }
	var x, y []float64
	for i := range n {
		delays, elapsed := walk(s, client(6, i), 8), 0.0
		for k, d := range delays {
			elapsed += inMs(d)
			if lo, hi := curve(float64(k)), curve(float64(k+1)); elapsed < lo-1e-4 || elapsed > hi+1e-4 {
				t.Fatalf("elapsed after retry %d = %.6f ms, want in [%.6f, %.6f)", k, elapsed, lo, hi)
			}
		}
		x, y = append(x, inMs(delays[6])), append(y, inMs(delays[7]))
	}
	if got, bound := correlation(x, y), z/math.Sqrt(n)+0.005; math.Abs(got+0.40) > bound {
		t.Errorf("correlation of neighbouring delays = %.3f, want -0.40 +- %.3f", got, bound)
	}
}

func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}
