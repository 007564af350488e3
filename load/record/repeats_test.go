package record_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"stormtest/load/record"
)

// rowsOf returns a row of figures for each value, which is that of attempts_sent.
func rowsOf(values ...float64) [][]float64 {
	at := slices.IndexFunc(record.Metrics(), func(m record.Metric) bool { return m.Name == "attempts_sent" })
	var rows [][]float64
	for _, v := range values {
		row := slices.Repeat([]float64{math.NaN()}, len(record.Metrics()))
		row[at] = v
		rows = append(rows, row)
	}
	return rows
}

// upTo returns n, n-1, ... 1: in no order that sorting would not have to change.
func upTo(n int) []float64 {
	var values []float64
	for i := range n {
		values = append(values, float64(n-i))
	}
	return values
}

func TestRepeated(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name          string
		values        []float64
		mean, p5, p95 float64
		count         int64
	}{
		{"one", []float64{7}, 7, 7, 7, 1},
		{"two", []float64{9, 7}, 8, 7, 9, 2},
		{"nineteen", upTo(19), 10, 1, 19, 19},
		{"twenty", upTo(20), 10.5, 1, 19, 20},
		{"twenty-one", upTo(21), 11, 2, 20, 21},
		{"a hundred", upTo(100), 50.5, 5, 95, 100},
		{"two hundred", upTo(200), 100.5, 10, 190, 200},
		{"some without", []float64{nan, 3, nan, 1, nan}, 2, 1, 3, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := record.Repeated(1, rowsOf(tt.values...))
			s := got.Figures["attempts_sent"]
			if s.Mean == nil || *s.Mean != tt.mean || *s.P5 != tt.p5 || *s.P95 != tt.p95 || s.Count != tt.count {
				t.Errorf("attempts_sent = %+v, want mean %v, %v to %v of %d", s, tt.mean, tt.p5, tt.p95, tt.count)
			}
			if want := [2]uint64{1, uint64(len(tt.values))}; got.Count != int64(len(tt.values)) || got.Seeds != want {
				t.Errorf("%d seeds %v, want %v", got.Count, got.Seeds, want)
			}
			for i, v := range tt.values {
				if got := s.Values[i]; len(s.Values) != len(tt.values) || (got == nil) != math.IsNaN(v) || got != nil && *got != v {
					t.Errorf("the value of seed %d is %v, want %v", i, got, v)
				}
			}
			if none := got.Figures["waves"]; !reflect.DeepEqual(none, record.Spread{Values: make([]*float64, len(tt.values))}) || len(got.Figures) != len(record.Metrics()) {
				t.Errorf("waves = %+v in %d figures, want nothing in all %d", none, len(got.Figures), len(record.Metrics()))
			}
		})
	}
	if got := record.Repeated(1, nil); got != nil {
		t.Errorf("Repeated of nothing = %+v, want nil", got)
	}
	if got := record.Repeated(math.MaxUint64, rowsOf(1, 2)).Seeds; got != [2]uint64{math.MaxUint64, 0} {
		t.Errorf("seeds %v: the largest is followed by 0", got)
	}
}

// TestRepeatedIsTheSameBits: the sum goes by the rows, of which nothing is changed.
func TestRepeatedIsTheSameBits(t *testing.T) {
	rows := rowsOf(1e16, 1, -1e16, 0.1, 3)
	before := rowsOf(1e16, 1, -1e16, 0.1, 3)
	first := record.Repeated(9, rows)
	if second := record.Repeated(9, rows); !reflect.DeepEqual(first, second) {
		t.Errorf("once %+v, then %+v", first, second)
	}
	for i := range rows {
		for k := range rows[i] {
			if math.Float64bits(rows[i][k]) != math.Float64bits(before[i][k]) {
				t.Fatalf("row %d, figure %d was %v and is %v", i, k, before[i][k], rows[i][k])
			}
		}
	}
}

// TestRepeatsOf: verdicts are counted by their headline, and what was asked for stays where nothing ended.
func TestRepeatsOf(t *testing.T) {
	low := 0.01
	seedOf := func(v record.Verdict, index *float64) record.Seed {
		run := record.Run{Convoy: record.Convoy{Verdict: v, ConvoyIndex: index}}
		run.Operations.Started, run.Operations.Succeeded = 1, 1
		return record.SeedOf(&run)
	}
	seeds := []record.Seed{seedOf(record.VerdictOverload, &low), seedOf(record.VerdictClear, &low), seedOf(record.VerdictClear, &low), seedOf(record.VerdictClear, nil)}
	r := record.RepeatsOf(5, 9, seeds)
	want := map[record.Verdict]int64{record.VerdictOverload: 1, record.VerdictClear: 2, record.VerdictUnjudged: 1}
	if r.Asked != 9 || r.Count != 4 || r.Seeds != [2]uint64{5, 8} || !reflect.DeepEqual(r.Verdicts, want) {
		t.Errorf("%+v, want 4 of 9 seeds with %v", r, want)
	}
	if r := record.RepeatsOf(5, 9, nil); r.Asked != 9 || r.Count != 0 || r.Seeds != [2]uint64{5, 5} || len(r.Verdicts) != 0 {
		t.Errorf("%+v, want none of 9 seeds", r)
	}
}

// TestFigures: they are those that a gate on each metric is held against.
func TestFigures(t *testing.T) {
	completed := int64(1_500_000_000)
	run := record.Run{Strategy: "full", Completion: &completed}
	run.Operations = record.Operations{Started: 4, Succeeded: 4}
	run.Attempts.Sent = 9
	values := record.Figures(&run)
	for i, m := range record.Metrics() {
		want := m.Value(&run)
		if (want == nil) != math.IsNaN(values[i]) || want != nil && *want != values[i] {
			t.Errorf("%s = %v, want %v", m.Name, values[i], want)
		}
	}
	run.OperationLatency = record.Distribution{Count: 100, Clamped: 5, P50: &completed, P99: &completed, Max: &completed}
	values = record.Figures(&run)
	want := map[string]bool{"operation_latency_p50": true, "operation_latency_p99": false, "operation_latency_max": true}
	for i, m := range record.Metrics() {
		if known, named := want[m.Name]; named && known == math.IsNaN(values[i]) {
			t.Errorf("%s = %v with 5 %% beyond the histogram", m.Name, values[i])
		}
	}
	if m, ok := record.MetricNamed("success_rate"); !ok || m.Name != "success_share" || *m.Value(&run) != 1 {
		t.Errorf("success_rate is %+v", m)
	}
}

// TestRepeatsCountByKey: what some seed counted is a figure of all, 0 in the others, and what none counted is 0 in all; but
// not where it may be among the outcomes that are not named.
func TestRepeatsCountByKey(t *testing.T) {
	seedOf := func(started int64, outcomes map[string]int64) record.Seed {
		run := record.Run{Operations: record.Operations{Started: started, GaveUp: map[string]int64{"max_retries": 2, "max_elapsed": 0}}}
		run.Attempts = record.Attempts{Sent: 9, ByOutcome: outcomes}
		return record.SeedOf(&run)
	}
	r := record.RepeatsOf(1, 5, []record.Seed{
		seedOf(1, map[string]int64{"503": 5, "weird": 3}), seedOf(1, map[string]int64{"timeout": 2}), seedOf(1, map[string]int64{"other": 1, "503": 4}), seedOf(0, nil), seedOf(1, nil),
	})
	nan := math.NaN()
	for name, want := range map[string][]float64{
		"outcome_503": {5, 0, 4, nan, 0}, "outcome_timeout": {0, 2, nan, nan, 0}, "outcome_other": {0, 0, 1, nan, 0}, "outcome_reset": {0, 0, nan, nan, 0},
		"gave_up_max_retries": {2, 2, 2, nan, 2}, "gave_up_max_elapsed": {0, 0, 0, nan, 0}, "lost_refused": {0, 0, 0, nan, 0}, "answer_503": {nan, nan, nan, nan, nan},
		"attempts_sent": {9, 9, 9, nan, 9},
	} {
		m, ok := record.MetricNamed(name)
		if !ok {
			t.Fatal(name)
		}
		var got []float64
		for _, v := range r.Values(m) {
			if got = append(got, nan); v != nil {
				got[len(got)-1] = *v
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if s := r.Figures["outcome_503"]; *s.Mean != 2.25 || s.Count != 4 {
		t.Errorf("outcome_503 = %+v", s)
	}
	if _, stands := r.Figures["outcome_reset"]; stands || len(r.Figures) != len(record.Metrics())+4 {
		t.Errorf("%d figures, want those that occurred alone", len(r.Figures))
	}
	old := record.Repeats{Count: 5, Figures: map[string]record.Spread{"attempts_sent": {Count: 5}}}
	if m, _ := record.MetricNamed("outcome_503"); old.Values(m) != nil {
		t.Error("a file without values has some")
	}
}

// TestRepeatsOfWords: there is no mean of words.
func TestRepeatsOfWords(t *testing.T) {
	low := 0.01
	run := record.Run{Convoy: record.Convoy{Verdict: record.VerdictOverload, ConvoyIndex: &low}}
	run.Operations.Started = 1
	r := record.RepeatsOf(1, 2, []record.Seed{record.SeedOf(&run), record.SeedOf(&run)})
	if s := r.Figures["verdict"]; s.Mean != nil || s.P5 != nil || s.P95 != nil || s.Count != 2 || *s.Values[1] != 2 {
		t.Errorf("verdict = %+v", s)
	}
}
