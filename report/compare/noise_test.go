package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChancesByHand: two seeds against two have six arrangements; the one that is there and its mirror are as far apart
// as can be, so p is a third. A second figure that some other arrangement sets as far apart makes it larger.
func TestChancesByHand(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name        string
		base, other int
		samples     []sample
		want        []float64
	}{
		{"alone", 2, 2, []sample{{1, 2, 10, 11}}, []float64{2.0 / 6}},
		{"the sides changed over", 2, 2, []sample{{10, 11, 1, 2}}, []float64{2.0 / 6}},
		{"no difference", 2, 2, []sample{{1, 2, 1, 2}}, []float64{1}},
		{"does not vary", 2, 2, []sample{{3, 3, 3, 3}}, []float64{1}},
		{"two of one kind", 2, 2, []sample{{1, 2, 10, 11}, {2, 4, 20, 22}}, []float64{2.0 / 6, 2.0 / 6}},
		{"another is further apart elsewhere", 2, 2, []sample{{1, 2, 10, 11}, {1, 5, 1, 5}}, []float64{4.0 / 6, 1}},
		{"three against one", 3, 1, []sample{{1, 2, 3, 9}}, []float64{1.0 / 4}},
		{"a seed without a value", 2, 3, []sample{{1, 2, 10, 11, nan}}, []float64{2.0 / 10}},
		{"no value at all", 2, 2, []sample{{nan, nan, nan, nan}}, []float64{1}},
		{"one side without values", 2, 2, []sample{{1, 2, nan, nan}}, []float64{1}},
		{"huge", 2, 2, []sample{{-math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}}, []float64{2.0 / 6}},
		{"no figures", 2, 2, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := noise{tt.base, tt.other, tt.samples}.chances()
			if !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
				t.Errorf("chances = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestChancesOfOnePlan: comparisons of a plan with itself. At most FalsePositiveShare of them have any figure beyond
// noise. 60 figures that hang together in groups, of six seeds a side, so that all 924 arrangements are looked at; heavy
// tails and ties among them. The number of false alarms is binomial with a share of at most 0.01: of 600 comparisons
// more than 22 come with a probability under 1e-6. It would catch a share of 0.06.
func TestChancesOfOnePlan(t *testing.T) {
	const comparisons, seeds, alarmsMost = 600, 6, 22
	r := rand.New(rand.NewPCG(1, 2))
	alarms := 0
	for range comparisons {
		if slices.Min(noise{seeds, seeds, onePlan(r, 2*seeds)}.chances()) <= FalsePositiveShare {
			alarms++
		}
	}
	if alarms > alarmsMost {
		t.Errorf("%d of %d comparisons of a plan with itself show something beyond noise, want at most %d", alarms, comparisons, alarmsMost)
	}
	t.Logf("%d of %d", alarms, comparisons)
}

func onePlan(r *rand.Rand, seeds int) []sample {
	samples := make([]sample, 60)
	for k := range samples {
		samples[k] = make(sample, seeds)
	}
	for i := range seeds {
		var common float64
		for k := range samples {
			if k%6 == 0 {
				common = r.NormFloat64()
			}
			v := common + 0.5*r.NormFloat64()
			switch k % 4 {
			case 1:
				v = math.Exp(3 * v)
			case 2:
				v = math.Round(v)
			case 3:
				if v > 1.5 {
					v = math.NaN()
				}
			}
			samples[k][i] = v
		}
	}
	return samples
}

// TestChancesSeeAnEffect: a shift of three standard deviations in one of 60 figures is beyond noise with twenty seeds a
// side, and p is that of arrangements by chance; five seeds a side suffice for one that is far beyond.
func TestChancesSeeAnEffect(t *testing.T) {
	for _, tt := range []struct {
		name  string
		seeds int
		shift float64
	}{{"twenty seeds", 20, 3}, {"five seeds", 5, 100}} {
		t.Run(tt.name, func(t *testing.T) {
			samples := onePlan(rand.New(rand.NewPCG(3, 4)), 2*tt.seeds)
			for i := range tt.seeds {
				samples[0][tt.seeds+i] += tt.shift
			}
			n := noise{tt.seeds, tt.seeds, samples}
			p := n.chances()
			if p[0] > FalsePositiveShare {
				t.Errorf("p = %v, want at most %v", p[0], FalsePositiveShare)
			}
			if least := n.chanceLeast(); slices.Min(p) < least {
				t.Errorf("p = %v is below the least of %v", slices.Min(p), least)
			}
			if again := n.chances(); !slices.Equal(p, again) {
				t.Errorf("the same samples give %v and %v", p, again)
			}
		})
	}
}

func TestSeedsThatCanShowAnything(t *testing.T) {
	for _, tt := range []struct {
		base, other int
		can         bool
	}{{4, 4, false}, {5, 5, true}, {2, 20, true}, {2, 12, false}, {1, 99, true}, {3, 8, true}, {10_000, 10_000, true}} {
		if least := (noise{base: tt.base, other: tt.other}).chanceLeast(); (least <= FalsePositiveShare) != tt.can {
			t.Errorf("%d against %d seeds: least p = %v", tt.base, tt.other, least)
		}
	}
}

func BenchmarkChances(b *testing.B) {
	samples := onePlan(rand.New(rand.NewPCG(1, 2)), 40)
	for b.Loop() {
		noise{20, 20, samples}.chances()
	}
}
