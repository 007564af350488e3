package validate

import (
	"math"
	"testing"
)

func TestParseReference(t *testing.T) {
	tests := []struct {
		text             string
		mean, unit, band float64
	}{
		{"4724", 4724, 1, 0},
		{"0.019", 0.019, 0.001, 0},
		{"19 845.5", 19_845.5, 0.1, 0},
		{"4724 [4693-4753]", 4724, 1, 61 / 3.29},
		{"0.43 [0.4-0.5]", 0.43, 0.01, 0.2 / 3.29},
		{"40.4 sd 3.0", 40.4, 0.1, 3},
		{"202 [196-216] sd 9.5", 202, 1, 9.5},
		{"77 701 [77 580-77 803]", 77_701, 1, 224 / 3.29},
	}
	for _, test := range tests {
		r := parseReference(test.text, 200)
		if r.mean != test.mean || math.Abs(r.unit-test.unit) > 1e-12 || math.Abs(r.band-test.band) > 1e-9 || r.runs != 200 {
			t.Errorf("parseReference(%q) = %+v, want %+v", test.text, r, test)
		}
	}
}

// The range is half a unit of the last digit, and 4.892 standard errors of both means: here of 100 runs and of
// 400, with the larger sd of ours and the band's.
func TestReferenceCheck(t *testing.T) {
	ours := make([]float64, 100)
	for i := range ours {
		ours[i] = 10 + 2*float64(i%2) // mean 11, sd 1.005
	}
	c := parseReference("10.5 [10-11]", 400).check(Check{}, ours)
	slack := 0.05 + 4.892*1.0050378*math.Sqrt(1.0/100+1.0/400)
	if math.Abs(c.High-10.5-slack) > 1e-6 || math.Abs(10.5-c.Low-slack) > 1e-6 || *c.Got != 11 || !c.OK {
		t.Errorf("check = %+v, want 11 within 10.5 +- %v", c, slack)
	}
	c = parseReference("10.5 [8-13]", 400).check(Check{}, ours)
	if slack := 0.05 + 4.892*6/3.29*math.Sqrt(1.0/100+1.0/400); math.Abs(c.High-10.5-slack) > 1e-6 {
		t.Errorf("check with a wide band = %+v, want within +- %v", c, slack)
	}
}

func TestNothingNeverPasses(t *testing.T) {
	for _, got := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if c := (Check{}).within(0, math.Inf(-1), math.Inf(1)).judged(got); c.OK || c.Got != nil {
			t.Errorf("judged(%v) = %+v, want one without a value that failed", got, c)
		}
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		x    float64
		want string
	}{
		{0, "0"}, {-1e-9, "0"}, {0.97, "0.97"}, {0.00123, "0.0012"}, {1, "1"}, {1.23456, "1.235"}, {12.3456, "12.35"},
		{123.456, "123.5"}, {1234.56, "1234.6"}, {20_009.524, "20009.5"}, {501_499.5, "501500"}, {-2.0472, "-2.047"},
	}
	for _, test := range tests {
		if got := number(test.x); got != test.want {
			t.Errorf("number(%v) = %q, want %q", test.x, got, test.want)
		}
	}
}
