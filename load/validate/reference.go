package validate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// zChance is the two-sided quantile of the normal distribution at 1e-6.
	zChance = 4.892
	// bandDeviations is how many standard deviations of a normal distribution its 5-95 % band spans.
	bandDeviations = 2 * 1.645
)

// A reference is a published mean over runs.
type reference struct {
	mean float64
	unit float64 // of the last printed digit of the mean
	band float64 // sd of one run by the published 5-95 % band or by many runs of ours; 0 where there is neither
	runs int     // that the mean is of; 0 is exact
}

// parseReference reads a figure as the tables print it: "4724 [4693-4753]", "0.019" or "19 845.5"; a space
// inside a number only parts its digits. "sd 1.2" behind it is that of 400 runs of ours, for figures that have
// no band and now and then a run far out. runs is how many the mean is of.
func parseReference(text string, runs int) reference {
	text, sd, known := strings.Cut(text, " sd ")
	mean, band, banded := strings.Cut(text, "[")
	r := reference{runs: runs}
	r.mean, r.unit = parseFigure(mean)
	if known {
		r.band, _ = parseFigure(sd)
	}
	if banded {
		p5, p95, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(band), "]"), "-")
		if !ok {
			panic(fmt.Sprintf("validate: BUG: band of %q", text))
		}
		low, _ := parseFigure(p5)
		high, unit := parseFigure(p95)
		r.band = max(r.band, (high-low+unit)/bandDeviations)
	}
	return r
}

// parseFigure reads one number and returns the unit of its last digit.
func parseFigure(text string) (x, unit float64) {
	text = strings.ReplaceAll(text, " ", "")
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("validate: BUG: figure %q: %v", text, err))
	}
	_, decimals, _ := strings.Cut(text, ".")
	return x, math.Pow(10, -float64(len(decimals)))
}

// check holds the mean of the figures of our runs against r.
func (r reference) check(c Check, figures []float64) Check {
	mean, sd := meanOf(figures), deviationOf(figures)
	if math.IsNaN(sd) { // of figures without a value, whose mean passes nowhere
		sd = 0
	}
	slack := r.unit / 2
	if r.runs > 0 {
		slack += zChance * max(sd, r.band) * math.Sqrt(1/float64(len(figures))+1/float64(r.runs))
	}
	// A mean of figures that are all the same is that figure; the half unit is then all there is.
	const rounding = 1e-9
	c = c.around(r.mean, slack+rounding*math.Abs(r.mean))
	if r.mean >= 0 && slices.Min(figures) >= 0 { // of counts and times nothing is below
		c.Low = max(0, c.Low)
	}
	return c.judged(mean)
}

// meanOf returns the mean, NaN of nothing.
func meanOf(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// deviationOf returns the unbiased standard deviation of x, 0 of fewer than two.
func deviationOf(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean := meanOf(x)
	var squares float64
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1))
}
