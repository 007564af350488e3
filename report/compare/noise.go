package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// FalsePositiveShare bounds the share of the comparisons of a plan with itself in which any figure at all comes out as
// beyond noise, whatever the number of figures, strategies and results in them.
const FalsePositiveShare = 0.01

// How many arrangements of the seeds are looked at: all of them where that is no more than the most, else so many by
// chance that the work stays bounded.
const (
	arrangementsMost  = 20_000
	arrangementsLeast = 2_000
	seedsTimesMost    = 4_000_000 // arrangements times seeds
)

// A sample is one figure of the seeds of both sides, the base's first, NaN for a seed that has none.
type sample []float64

// A noise holds figures against what chance alone would make of them.
//
// The question is whether the seeds of both sides could be those of one plan. If they were, which of them are called
// base would be as good as drawn. So all figures are looked at again under every such arrangement of the seeds, and a
// figure is beyond noise where hardly any arrangement sets any figure as far apart. That is the permutation test by
// the largest statistic (Westfall and Young 1993, single step): it supposes nothing of how figures are distributed or hang
// together, and its p is already that of the whole family. How far a figure is apart is its correlation with the
// side, which is the difference of the means in standard deviations, so that all figures have one scale.
//
// Seeds are not paired: with another base delay the same seed is not the same chance. But the figures of one seed, of
// all its strategies, stay together.
type noise struct {
	base, other int      // seeds of each side
	samples     []sample // of base+other values each
}

// arrangements is how many are looked at, and whether these are all.
func (n noise) arrangements() (looked int, all bool) {
	seeds := n.base + n.other
	if total := binomial(seeds, n.base); total <= arrangementsMost {
		return int(total), true
	}
	return max(arrangementsLeast, min(arrangementsMost, seedsTimesMost/seeds)), false
}

// chanceLeast is the smallest p that so many seeds can come to: that of the arrangement that is there and, where both
// sides have as many and all are looked at, the one with the sides changed over.
func (n noise) chanceLeast() float64 {
	looked, all := n.arrangements()
	if all && n.base == n.other {
		return min(1, 2/float64(looked))
	}
	return 1 / float64(looked)
}

// chances returns p of every sample: in what share of the arrangements some sample is as far apart as this one is. It
// is 1 for a sample that does not vary, and never 0. The same samples give the same p. O(arrangements * seeds * samples).
func (n noise) chances() []float64 {
	t := newTally(n)
	looked, all := n.arrangements()
	chosen := make([]int, n.base)
	for i := range chosen {
		chosen[i] = i
	}
	copy(t.observed, t.apart(chosen))
	if all {
		for more := true; more; more = nextCombination(chosen, n.base+n.other) {
			t.look(chosen)
		}
	} else {
		t.look(chosen)
		t.draw(looked - 1)
	}
	p := make([]float64, len(n.samples))
	for k := range p {
		p[k] = float64(t.reached[k]) / float64(looked)
	}
	return p
}

// A tally counts arrangements.
type tally struct {
	noise
	rows     [][]float64 // by seed, then by sample: standardised values
	present  [][]bool    // by sample, then by seed; nil where every seed has a value
	observed []float64
	reached  []int
	sums     []float64 // of the arrangement that is looked at
}

func newTally(n noise) *tally {
	k := len(n.samples)
	t := &tally{noise: n, rows: make([][]float64, n.base+n.other), present: make([][]bool, k), observed: make([]float64, k), reached: make([]int, k), sums: make([]float64, k)}
	for i := range t.rows {
		t.rows[i] = make([]float64, k)
	}
	for k, s := range n.samples {
		for i, v := range standardised(s) {
			t.rows[i][k] = v
		}
		if slices.ContainsFunc(s, math.IsNaN) {
			t.present[k] = make([]bool, len(s))
			for i, v := range s {
				t.present[k][i] = !math.IsNaN(v)
			}
		}
	}
	return t
}

// standardised returns s with mean 0 and squares that add up to 1; 0 for a seed without a value, and for all where
// they are one value.
func standardised(s sample) []float64 {
	out := make([]float64, len(s))
	lo, hi, known := math.Inf(1), math.Inf(-1), 0.0
	for _, v := range s {
		if !math.IsNaN(v) {
			lo, hi, known = min(lo, v), max(hi, v), known+1
		}
	}
	if !(lo < hi) {
		return out
	}
	var sum float64
	for i, v := range s { // halved, so that no difference overflows
		if !math.IsNaN(v) {
			out[i] = (v/2 - lo/2) / (hi/2 - lo/2)
			sum += out[i]
		}
	}
	var squares float64
	for i, v := range s {
		if !math.IsNaN(v) {
			out[i] -= sum / known
			squares += float64(out[i] * out[i])
		}
	}
	for i := range out {
		out[i] /= math.Sqrt(squares)
	}
	return out
}

// apart returns for every sample how far the chosen seeds are from the others, 0..1, in a slice of the tally's own.
func (t *tally) apart(chosen []int) []float64 {
	clear(t.sums)
	for _, i := range chosen {
		for k, v := range t.rows[i] {
			t.sums[k] += v
		}
	}
	seeds := float64(len(t.rows))
	whole := math.Sqrt(seeds / (float64(len(chosen)) * (seeds - float64(len(chosen)))))
	for k := range t.sums {
		scale := whole
		if present := t.present[k]; present != nil {
			scale = scaleOf(present, chosen)
		}
		t.sums[k] = float64(math.Abs(t.sums[k]) * scale)
	}
	return t.sums
}

// scaleOf makes a correlation of a sum over the chosen of the seeds that have a value; 0 where one side has none.
func scaleOf(present []bool, chosen []int) float64 {
	var here, all float64
	for _, has := range present {
		if has {
			all++
		}
	}
	for _, i := range chosen {
		if present[i] {
			here++
		}
	}
	if here == 0 || here == all {
		return 0
	}
	return math.Sqrt(all / (here * (all - here)))
}

// look counts one arrangement. The same arrangement must not differ from itself by the order of a sum.
func (t *tally) look(chosen []int) {
	const rounding = 1e-9
	most := slices.Max(append(t.apart(chosen), 0)) + rounding
	for k, observed := range t.observed {
		if most >= observed {
			t.reached[k]++
		}
	}
}

// draw looks at so many arrangements by chance, the same in every run of the program.
func (t *tally) draw(count int) {
	r := rand.New(rand.NewPCG(0x5eed, 0xca5e))
	order := make([]int, len(t.rows))
	for i := range order {
		order[i] = i
	}
	for range count {
		for i := range t.base {
			j := i + r.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
		}
		t.look(order[:t.base])
	}
}

// nextCombination makes of ascending numbers below n the combination that follows, and says whether there was one.
func nextCombination(c []int, n int) bool {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i] < n-len(c)+i {
			c[i]++
			for j := i + 1; j < len(c); j++ {
				c[j] = c[j-1] + 1
			}
			return true
		}
	}
	return false
}

// binomial is n over k, exact up to a million; above that it is only known to be above.
func binomial(n, k int) float64 {
	k = min(k, n-k)
	total := 1.0
	for i := 1; i <= k && total < 1e6; i++ {
		total = total * float64(n-k+i) / float64(i)
	}
	return math.Round(total)
}
