package check_test

import (
	"slices"
	"testing"

	"stormtest/load/record"
	"stormtest/report/check"
)

// TestEvaluateLayers checks that a gate that begins with a layer's name is on that service in every run, and that with a
// repeat only one on the first seed can pass.
func TestEvaluateLayers(t *testing.T) {
	run := func(strategy string, amplification float64) record.Run {
		r := closedPort(strategy)
		inside := closedPort(strategy)
		inside.Amplification = &amplification
		r.Whole = true
		r.Layers = []record.Layer{{Name: "db", EndToEnd: ptr(4 * amplification), Run: &inside}, {Name: "old"}}
		return r
	}
	repeated := run("full", 2)
	repeated.Repeats = &record.Repeats{Asked: 2, Count: 2, Seeds: [2]uint64{1, 2}}
	for _, tt := range []struct {
		name string
		runs []record.Run
		gate string
		want []record.Gate
	}{
		{"holds", []record.Run{run("full", 2)}, "db:amplification<3", []record.Gate{{Gate: "db:amplification<3", Value: ptr(2.0), OK: true, Reason: "amplification is 2"}}},
		{"end to end", []record.Run{run("full", 2)}, "db:amplification_end_to_end<3",
			[]record.Gate{{Gate: "db:amplification_end_to_end<3", Value: ptr(8.0), Reason: "amplification_end_to_end is 8, want < 3"}}},
		{"in every run", []record.Run{run("full", 2), run("none", 4)}, "db:amplification<3", []record.Gate{
			{Gate: "full: db:amplification<3", Value: ptr(2.0), OK: true, Reason: "amplification is 2"},
			{Gate: "none: db:amplification<3", Value: ptr(4.0), Reason: "amplification is 4, want < 3"}}},
		{"without a run", []record.Run{run("full", 2)}, "old:amplification<3", []record.Gate{{Gate: "old:amplification<3", Reason: "no data: strategy old did not run"}}},
		{"over seeds", []record.Run{repeated}, "db:amplification<3", []record.Gate{{Gate: "db:amplification<3", Value: ptr(2.0),
			Reason: "of the first seed alone, which is no pass of a repeat unless the gate ends in @first: amplification is 2"}}},
		{"of the first seed", []record.Run{repeated}, "db:amplification<3@first", []record.Gate{{Gate: "db:amplification<3@first", Value: ptr(2.0), OK: true, Reason: "amplification is 2"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := check.Parse(tt.gate)
			if err != nil {
				t.Fatal(err)
			}
			got := check.Evaluate([]check.Gate{g}, &record.Result{Runs: tt.runs})
			equal := slices.EqualFunc(got, tt.want, func(a, b record.Gate) bool {
				return a.Gate == b.Gate && a.OK == b.OK && a.Reason == b.Reason && (a.Value == nil) == (b.Value == nil) && (a.Value == nil || *a.Value == *b.Value)
			})
			if !equal {
				t.Errorf("Evaluate(%s) = %+v, want %+v", tt.gate, got, tt.want)
			}
		})
	}
	if got, want := check.Strategies(&record.Result{Runs: []record.Run{run("full", 2)}}), []string{"full", "db", "old"}; !slices.Equal(got, want) {
		t.Errorf("Strategies = %q, want %q", got, want)
	}
}
