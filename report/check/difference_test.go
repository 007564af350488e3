package check_test

import (
	"errors"
	"strings"
	"testing"

	"stormtest/report/check"
)

func TestParseDifference(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       check.Difference
	}{
		{"percent", "amplification<=+10%", check.Difference{Metric: "amplification", Op: "<=", Bound: 10, Relative: true}},
		{"less percent", "p99 < -5.5%", check.Difference{Metric: "latency_p99", Op: "<", Bound: -5.5, Relative: true}},
		{"duration", "completion<=+2s", check.Difference{Metric: "completion", Op: "<=", Bound: 2e9}},
		{"shorter", "completion<=-1m30s", check.Difference{Metric: "completion", Op: "<=", Bound: -90e9}},
		{"ratio", "convoy_index<=+0.05", check.Difference{Metric: "convoy_index", Op: "<=", Bound: 0.05}},
		{"share", "success_rate>=-0.01", check.Difference{Metric: "success_share", Op: ">=", Bound: -0.01}},
		{"strategy", "full:attempts_sent<=+0%", check.Difference{Strategy: "full", Metric: "attempts_sent", Op: "<=", Relative: true}},
		{"count", "waves<=+2", check.Difference{Metric: "waves", Op: "<=", Bound: 2}},
		{"nothing less", "waves>=-0", check.Difference{Metric: "waves", Op: ">="}},
		{"beyond noise", "amplification<=+0% @beyond-noise", check.Difference{Metric: "amplification", Op: "<=", Relative: true, Beyond: true}},
		{"blanks", "  full : waves  <= + 2 @ beyond-noise ", check.Difference{Strategy: "full", Metric: "waves", Op: "<=", Bound: 2, Beyond: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Text = strings.TrimSpace(tt.text)
			got, err := check.ParseDifference(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("ParseDifference(%q) = %+v, %v, want %+v", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestParseDifferenceRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"the probe", "probe_capacity>=-10%", []string{"probe_capacity is of the target before the storm, which is not compared"}},
		{"empty", "", []string{"no comparison", "+10%"}},
		{"a gate of a run", "amplification<3", []string{`"3" has no sign`, "+10%", "+0.05"}},
		{"no bound", "waves<=", []string{"no difference after"}},
		{"sign alone", "waves<=+", []string{"no value"}},
		{"two signs", "convoy_index<=+-0.1", []string{"two signs"}},
		{"duration without a unit", "completion<=+2", []string{"needs a unit"}},
		{"share above 1", "success_share>=-5", []string{"0..1"}},
		{"percent of no number", "waves<=+x%", []string{"number of percent"}},
		{"percent alone", "waves<=+%", []string{"number of percent"}},
		{"infinite percent", "waves<=+Inf%", []string{"number of percent"}},
		{"unknown metric", "amplificaton<=+1%", []string{"did you mean amplification?"}},
		{"operator", "waves=<+1", []string{`operator "=<"`}},
		{"strategy", "Full:waves<=+1", []string{`strategy "Full" is not a name`}},
		{"what is behind", "waves<=+1@worst", []string{`"worst" behind the @, want beyond-noise`}},
		{"nothing behind", "waves<=+1@", []string{`"" behind the @`}},
		{"every fault at once", "X:wavs =< 1", []string{`strategy "X"`, "wavs", `operator "=<"`, "no sign"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := check.ParseDifference(tt.text)
			var fault *check.Error
			if !errors.As(err, &fault) || got != (check.Difference{}) {
				t.Fatalf("ParseDifference(%q) = %+v, %v, want an *Error", tt.text, got, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("ParseDifference(%q): %q does not say %q", tt.text, err, part)
				}
			}
		})
	}
}

// TestDifferenceOfWords: a figure that is a word has no difference.
func TestDifferenceOfWords(t *testing.T) {
	for _, m := range check.Metrics() {
		if m.Unit != check.Word {
			continue
		}
		if _, err := check.ParseDifference(m.Name + "<=+1"); err == nil || !strings.Contains(err.Error(), "word") {
			t.Errorf("%s: %v, want an error that says that it is a word", m.Name, err)
		}
	}
}

func TestDifferenceHolds(t *testing.T) {
	for _, tt := range []struct {
		text        string
		base, other float64
		value       float64
		known, want bool
	}{
		{"amplification<=+10%", 4, 4.4, 10.000000000000009, true, true}, // which is 10 %
		{"amplification<=+10%", 4, 4.41, 10.250000000000004, true, false},
		{"amplification<=+10%", 4, 3, -25, true, true},
		{"success_share>=-0.01", 0.99, 0.98, -0.010000000000000009, true, true},
		{"success_share>=-0.01", 0.99, 0.9799, -0.010099999999999998, true, false},
		{"completion<=+2s", 10e9, 12e9, 2e9, true, true},
		{"completion<=+2s", 10e9, 12e9 + 1000, 2e9 + 1000, true, false},
		{"waves<=+0%", 0, 0, 0, true, true},
		{"waves<=+50%", 0, 1, 0, false, false}, // no share of nothing
		{"waves<=+1", 0, 1, 1, true, true},
		{"periodicity<=+50%", -0.5, -0.25, 50, true, true},
		{"waves==+0", 3, 3, 0, true, true},
		{"waves!=+0", 3, 3, 0, true, false},
	} {
		d, err := check.ParseDifference(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		v, known := d.Value(tt.base, tt.other)
		if known != tt.known || known && (v != tt.value || d.Holds(v, tt.base, tt.other) != tt.want) {
			t.Errorf("%s of %v and %v: value %v, %v, want %v, %v; holds want %v", tt.text, tt.base, tt.other, v, known, tt.value, tt.known, tt.want)
		}
	}
}

func TestCheckPairs(t *testing.T) {
	gates, err := check.ParseDifferences([]string{"full:waves<=+3", "waves<=+3", "equal:waves<=+3"})
	if err != nil {
		t.Fatal(err)
	}
	if err := check.CheckPairs(gates, []string{"none", "equal", "full"}); err != nil {
		t.Errorf("CheckPairs = %v, want nil", err)
	}
	if err := check.CheckPairs(gates, []string{"full"}); err == nil || !strings.Contains(err.Error(), "strategy equal is not compared, but full") {
		t.Errorf("CheckPairs = %v", err)
	}
	if _, err := check.ParseDifferences([]string{"waves<3", "wavs<=+1"}); err == nil || !strings.Contains(err.Error(), "sign") || !strings.Contains(err.Error(), "wavs") {
		t.Errorf("ParseDifferences: %v does not name every fault", err)
	}
}

func FuzzParseDifference(f *testing.F) {
	for _, bound := range []string{
		"+0", "-0", "+1", "-1", "+0%", "-0%", "+10%", "-100%", "+33.3%", "+1e308%", "-5e-324%", "+0.05", "-0.01", "+2s", "-1m30s", "+9007199254740992ns", "+9007199254740993ns",
		"+10/s", "+1e999", "+Inf%", "+NaN", "+-1", "++1", "+", "-", "", "10%", "0", "+ 2", "+%", "+2s@beyond-noise", "+0%@", "+0%@x@beyond-noise", "\x00", "+\xff", "+µs",
	} {
		for _, metric := range []string{"p99", "success_share", "waves", "periodicity", "full:amplification", "no_such_metric", ""} {
			f.Add(metric + "<=" + bound)
		}
	}
	f.Add("<=!=>+")
	f.Add(strings.Repeat("+", 1<<12) + "<=+1")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := check.ParseDifference(text)
		if err != nil {
			var fault *check.Error
			if !errors.As(err, &fault) || len(fault.Problems) == 0 {
				t.Fatalf("ParseDifference(%q): %v is no *Error with a problem", text, err)
			}
			return
		}
		again, err := check.ParseDifference(d.String())
		if err != nil {
			t.Fatalf("ParseDifference(%q) = %+v, but its String %q does not parse: %v", text, d, d.String(), err)
		}
		again.Text = d.Text
		if again != d {
			t.Fatalf("ParseDifference(%q) = %+v, through String %+v", text, d, again)
		}
	})
}
