package check_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/record"
	"stormtest/report/check"
)

// seedsOf is a run of several seeds from 11 on, whose figure of a metric is each of values; NaN is none.
func seedsOf(metric string, values ...float64) record.Run {
	run := whole()
	spread := record.Spread{}
	for _, v := range values {
		if math.IsNaN(v) {
			spread.Values = append(spread.Values, nil)
			continue
		}
		spread.Values = append(spread.Values, ptr(v))
		spread.Count++
	}
	n := len(values)
	run.Repeats = &record.Repeats{Asked: int64(n), Count: int64(n), Seeds: [2]uint64{11, 11 + uint64(n) - 1}, Figures: map[string]record.Spread{metric: spread}}
	return run
}

// whole is a run to which much happened, and which came to its end.
func whole() record.Run {
	return record.Run{
		Strategy: "full", Whole: true, ArrivalsMeasuredAt: "target", Duration: 30 * time.Second,
		Operations: record.Operations{Started: 100, Succeeded: 90, Unfinished: 10},
		Attempts:   record.Attempts{Sent: 300, First: 100, Retries: 200}, Amplification: ptr(3.0),
		Books: record.Books{Arrivals: 300, Balanced: true},
	}
}

func gate(t *testing.T, text string) check.Gate {
	t.Helper()
	g, err := check.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var none = math.NaN()

func TestEvaluateOverSeeds(t *testing.T) {
	for _, tt := range []struct {
		name, gate string
		values     []float64
		want       record.Gate
	}{
		{"every seed holds", "convoy_index<0.1", []float64{0.05, 0.08, 0.01}, record.Gate{Value: ptr(0.08), OK: true, Reason: "convoy_index is at worst 0.08 in 3 seeds (seed 12)"}},
		{"said", "convoy_index<0.1 @worst", []float64{0.05, 0.08, 0.01}, record.Gate{Value: ptr(0.08), OK: true, Reason: "convoy_index is at worst 0.08 in 3 seeds (seed 12)"}},
		{"one does not", "convoy_index<0.1", []float64{0.05, 0.08, 0.31}, record.Gate{Value: ptr(0.31), Reason: "seed 13: convoy_index is 0.31, want < 0.1; 1 of 3 seeds fail"}},
		{"worst from below", "success_share>=0.9", []float64{0.95, 0.91, 0.99}, record.Gate{Value: ptr(0.91), OK: true, Reason: "success_share is at worst 0.91 in 3 seeds (seed 12)"}},
		{"too low", "success_share>=0.9", []float64{0.95, 0.5, 0.89}, record.Gate{Value: ptr(0.5), Reason: "seed 12: success_share is 0.5, want >= 0.9; 2 of 3 seeds fail"}},
		{"equal in all", "operations_unfinished==0", []float64{0, 0}, record.Gate{Value: ptr(0.0), OK: true, Reason: "operations_unfinished is at worst 0 in 2 seeds (seed 11)"}},
		{"equal not in all", "operations_unfinished==3", []float64{3, 5, 0}, record.Gate{Value: ptr(0.0), Reason: "seed 13: operations_unfinished is 0, want == 3; 2 of 3 seeds fail"}},
		{"unequal in all", "waves!=0", []float64{3, 2, 9}, record.Gate{Value: ptr(2.0), OK: true, Reason: "waves is at worst 2 in 3 seeds (seed 12)"}},
		{"unequal not in all", "waves!=0", []float64{3, 0, 9}, record.Gate{Value: ptr(0.0), Reason: "seed 12: waves is 0, want != 0; 1 of 3 seeds fail"}},
		{"one without a value", "completion<30s", []float64{1e9, none, 9e9}, record.Gate{Reason: "seed 12: no data: not every operation succeeded; 1 of 3 seeds fail"}},
		{"the first without a value", "completion<30s", []float64{none, 2e9}, record.Gate{Reason: "seed 11: no data: not every operation succeeded: 90 of 100 did; 1 of 2 seeds fail"}},
		{"perhaps beyond its histogram", "operation_latency_p99>1s", []float64{2e9, none}, record.Gate{
			Reason: "seed 12: no data: no operation succeeded, or it is beyond the histogram, which ends at 1h6m40s; 1 of 2 seeds fail"}},
		{"all without", "completion<30s", []float64{none, none}, record.Gate{Reason: "seed 11: no data: not every operation succeeded: 90 of 100 did; 2 of 2 seeds fail"}},
		{"one seed", "waves<3", []float64{2}, record.Gate{Value: ptr(2.0), OK: true, Reason: "seed 11: waves is 2"}},
		{"one seed fails", "waves<3", []float64{3}, record.Gate{Value: ptr(3.0), Reason: "seed 11: waves is 3, want < 3"}},

		{"mean", "convoy_index<0.1 @mean", []float64{0.25, 0, 0}, record.Gate{Value: ptr(0.25 / 3), OK: true, Reason: "convoy_index is 0.08333 on average of 3 seeds"}},
		{"mean too high", "completion<2s @mean", []float64{1e9, 4e9, 2e9}, record.Gate{Value: ptr(7e9 / 3.0), Reason: "completion is 2.333s on average of 3 seeds, want < 2s; the worst is seed 12"}},
		{"mean of less than all", "completion<30s @mean", []float64{1e9, none, none}, record.Gate{
			Reason: "no mean, because 2 of 3 seeds have no value; seed 12: no data: not every operation succeeded"}},
		{"mean at the limit", "convoy_index<0.1 @mean", []float64{0.1, 0.1}, record.Gate{Value: ptr(0.1), Reason: "convoy_index is 0.1 on average of 2 seeds, want < 0.1; the worst is seed 11"}},
		{"mean of one", "waves<3 @mean", []float64{2}, record.Gate{Value: ptr(2.0), OK: true, Reason: "waves is 2 on average of 1 seed"}},
		{"mean of none", "completion<3s @mean", []float64{none}, record.Gate{Reason: "seed 11: no data: not every operation succeeded: 90 of 100 did"}},

		{"share holds", "waves<3 @50%", []float64{2, 4}, record.Gate{Value: ptr(0.5), OK: true, Reason: "1 of 2 seeds hold, 50 %"}},
		{"share fails", "waves<3 @60%", []float64{2, 4, 9, none}, record.Gate{Value: ptr(0.25), Reason: "1 of 4 seeds hold, 25 %, want 60 %; the worst is seed 14: no data: nobody knows the target's capacity, or nothing arrived"}},
		{"exactly the share", "waves<3 @66.6666%", []float64{2, 2, 4}, record.Gate{Value: ptr(2.0 / 3), OK: true, Reason: "2 of 3 seeds hold, 66.67 %"}},
		{"a little more than is", "waves<3 @66.6667%", []float64{2, 2, 4}, record.Gate{Value: ptr(2.0 / 3), Reason: "2 of 3 seeds hold, 66.66667 %, want 66.6667 %; the worst is seed 13: waves is 4, want < 3"}},
		{"all but one of many", "waves<3 @100%", append(slices.Repeat([]float64{1}, 40_000), 7), record.Gate{Value: ptr(40_000.0 / 40_001), Reason: "40000 of 40001 seeds hold, 99.998 %, want 100 %; the worst is seed 40011: waves is 7, want < 3"}},
		{"share of one", "waves<3 @95%", []float64{2}, record.Gate{Value: ptr(1.0), OK: true, Reason: "seed 11: waves is 2"}},

		{"words", "verdict!=CONVOY", []float64{4, 2, 4}, record.Gate{Value: ptr(2.0), OK: true, Reason: "verdict is at worst OVERLOAD in 3 seeds (seed 12)"}},
		{"a bad word", "verdict==CLEAR", []float64{4, 2, 0, 4}, record.Gate{Value: ptr(0.0), Reason: "seed 13: verdict is CONVOY, want == CLEAR; 2 of 4 seeds fail"}},
		{"a bad word that is wanted", "verdict==CONVOY", []float64{0, 4, 2}, record.Gate{Value: ptr(2.0), Reason: "seed 13: verdict is OVERLOAD, want == CONVOY; 2 of 3 seeds fail"}},
		{"words by share", "verdict==CLEAR @60%", []float64{4, 4, none}, record.Gate{Value: ptr(2.0 / 3), OK: true, Reason: "2 of 3 seeds hold, 66.67 %"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := gate(t, tt.gate)
			run := seedsOf(g.Metric, tt.values...)
			tt.want.Gate = tt.gate
			equalRows(t, check.Evaluate([]check.Gate{g}, &record.Result{Runs: []record.Run{run}}), []record.Gate{tt.want})
		})
	}
}

// TestEvaluateFirst: @first is of the run that is shown.
func TestEvaluateFirst(t *testing.T) {
	run := seedsOf("amplification", 3, 9)
	equalRows(t, check.Evaluate([]check.Gate{gate(t, "amplification<4 @first"), gate(t, "amplification<3@first"), gate(t, "completion<4s @first")}, &record.Result{Runs: []record.Run{run}}), []record.Gate{
		{Gate: "amplification<4 @first", Value: ptr(3.0), OK: true, Reason: "seed 11, the first: amplification is 3"},
		{Gate: "amplification<3@first", Value: ptr(3.0), Reason: "seed 11, the first: amplification is 3, want < 3"},
		{Gate: "completion<4s @first", Reason: "seed 11, the first: no data: not every operation succeeded: 90 of 100 did"},
	})
	run.Repeats = nil
	for _, over := range []string{"", "@worst", "@mean", "@first", "@95%"} { // one run is judged alike by all of them
		rows := check.Evaluate([]check.Gate{gate(t, "amplification<4"+over)}, &record.Result{Runs: []record.Run{run}})
		equalRows(t, rows, []record.Gate{{Gate: "amplification<4" + over, Value: ptr(3.0), OK: true, Reason: "amplification is 3"}})
	}
}

// TestEvaluateWhatWasCut: a run, or seeds, that did not come to their end are no pass, whatever the figures.
func TestEvaluateWhatWasCut(t *testing.T) {
	cut := whole()
	cut.Whole, cut.Duration = false, 712345678
	none := whole()
	none.Strategy = "none"
	some := seedsOf("amplification", 3, 3)
	some.Repeats.Asked = 50
	noSeed := cut
	noSeed.Repeats = &record.Repeats{Asked: 50, Seeds: [2]uint64{11, 11}, Figures: map[string]record.Spread{}}
	old := seedsOf("amplification", 3, 3)
	old.Repeats.Asked = 0 // as files of old have it, without the values
	old.Repeats.Figures["amplification"] = record.Spread{Mean: ptr(3.0), P5: ptr(3.0), P95: ptr(3.0), Count: 2}
	for _, tt := range []struct {
		name, gate, plan string
		interrupted      bool
		runs             []record.Run
		want             []record.Gate
	}{
		{"one run", "amplification<4", `{"strategy":"full"}`, true, []record.Run{cut}, []record.Gate{
			{Gate: "amplification<4", Value: ptr(3.0), Reason: "the run was cut after 712ms, which is no pass: amplification is 3"}}},
		{"the second of two", "amplification<4", `{"strategy":"none,full"}`, true, []record.Run{none, cut}, []record.Gate{
			{Gate: "none: amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"},
			{Gate: "full: amplification<4", Value: ptr(3.0), Reason: "the run was cut after 712ms, which is no pass: amplification is 3"}}},
		{"a file of old that does not say which", "amplification<4", `{"strategy":"full,full"}`, true, []record.Run{cut, cut}, []record.Gate{
			{Gate: "full: amplification<4", Value: ptr(3.0), Reason: "not every run came to its end, which is no pass: amplification is 3"},
			{Gate: "full: amplification<4", Value: ptr(3.0), Reason: "not every run came to its end, which is no pass: amplification is 3"}}},
		{"one of two did not begin", "amplification<4", `{"strategy":"none,full"}`, true, []record.Run{none}, []record.Gate{
			{Gate: "none: amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"},
			{Gate: "full: amplification<4", Reason: "no data: strategy full did not run"}}},
		{"a gate on the other", "none:amplification<4", `{"strategy":"none,full"}`, true, []record.Run{none}, []record.Gate{
			{Gate: "none:amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"}}},
		{"a gate on what did not begin", "full:amplification<4", `{"strategy":"none,full"}`, true, []record.Run{none}, []record.Gate{
			{Gate: "full:amplification<4", Reason: "no data: strategy full did not run"}}},
		{"nothing began", "amplification<4", `{"strategy":"none,full"}`, true, nil, []record.Gate{{Gate: "amplification<4", Reason: "no data: nothing ran"}}},
		{"some seeds", "amplification<4", `{"strategy":"full"}`, true, []record.Run{some}, []record.Gate{
			{Gate: "amplification<4", Value: ptr(3.0), Reason: "2 of 50 seeds ran, which is no pass: amplification is at worst 3 in 2 seeds (seed 11)"}}},
		{"a share of some seeds", "amplification<4 @1%", `{"strategy":"full"}`, true, []record.Run{some}, []record.Gate{
			{Gate: "amplification<4 @1%", Value: ptr(1.0), Reason: "2 of 50 seeds ran, which is no pass: 2 of 2 seeds hold, 100 %"}}},
		{"the first of some seeds", "amplification<4 @first", `{"strategy":"full"}`, true, []record.Run{some}, []record.Gate{
			{Gate: "amplification<4 @first", Value: ptr(3.0), OK: true, Reason: "seed 11, the first: amplification is 3"}}},
		{"no seed", "amplification<4", `{"strategy":"full"}`, true, []record.Run{noSeed}, []record.Gate{
			{Gate: "amplification<4", Value: ptr(3.0), Reason: "the run was cut after 712ms, which is no pass: amplification is 3"}}},
		{"no seed, not said to be interrupted", "amplification<4 @first", `{"strategy":"full"}`, false, []record.Run{noSeed}, []record.Gate{
			{Gate: "amplification<4 @first", Value: ptr(3.0), Reason: "the run was cut after 712ms, which is no pass: amplification is 3"}}},
		{"a file of old", "amplification<4", `{"strategy":"full"}`, false, []record.Run{old}, []record.Gate{
			{Gate: "amplification<4", Reason: "no data: the result does not hold this figure of every seed, as one of an older version; @first is judged"}}},
		{"the first in a file of old", "amplification<4@first", `{"strategy":"full"}`, false, []record.Run{old}, []record.Gate{
			{Gate: "amplification<4@first", Value: ptr(3.0), OK: true, Reason: "seed 11, the first: amplification is 3"}}},
		{"a whole run of a file of old", "amplification<4", `{"strategy":"full"}`, false, []record.Run{cut}, []record.Gate{
			{Gate: "amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"}}},
		{"a plan that is none", "amplification<4", `[1]`, false, []record.Run{none}, []record.Gate{{Gate: "amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"}}},
		{"all, as a file may say it", "amplification<4", `{"strategy":"all"}`, false, []record.Run{none}, []record.Gate{{Gate: "amplification<4", Value: ptr(3.0), OK: true, Reason: "amplification is 3"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &record.Result{Plan: []byte(tt.plan), Interrupted: tt.interrupted, Runs: tt.runs}
			equalRows(t, check.Evaluate([]check.Gate{gate(t, tt.gate)}, r), tt.want)
		})
	}
}

// TestReasonsAreLegible: four digits, unless they would hide why.
func TestReasonsAreLegible(t *testing.T) {
	for _, tt := range []struct {
		gate  string
		value float64
		want  string
	}{
		{"amplification<4", 3.14159265, "amplification is 3.142"},
		{"amplification<3.142", 3.14159265, "amplification is 3.1416"},
		{"amplification<=3", 3.0000000001, "amplification is 3.0000000001, want <= 3"},
		{"amplification<0.3", math.Nextafter(0.3, 1), "amplification is 0.30000000000000004, want < 0.3"},
		{"attempts_sent<1e7", 1234567, "attempts_sent is 1234567"},
		{"completion<1s", 1_000_000_001, "completion is 1.000000001s, want < 1s"},
		{"completion<2s", 1_234_567_890, "completion is 1.235s"},
		{"goodput>100/s", 99.99999, "goodput is 99.99999/s, want > 100/s"},
		{"success_share>0.5", 1, "success_share is 1"},
	} {
		g := gate(t, tt.gate)
		run := seedsOf(g.Metric, tt.value)
		rows := check.Evaluate([]check.Gate{g}, &record.Result{Runs: []record.Run{run}})
		if got := strings.TrimPrefix(rows[0].Reason, "seed 11: "); got != tt.want {
			t.Errorf("%s of %v: %q, want %q", tt.gate, tt.value, got, tt.want)
		}
	}
}

// For any values: worst holds only if every seed does, a share only if so many do, and what holds in every seed holds by
// the worst, any share and, where it is no "!=", the mean.
func TestOversAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, 2.5, 3, 1e300, none}), 1, 9).Draw(t, "values")
		op := rapid.SampledFrom([]string{"<", "<=", ">", ">=", "==", "!="}).Draw(t, "op")
		limit := rapid.SampledFrom([]string{"0", "1", "2", "2.5"}).Draw(t, "limit")
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		ok := map[string]bool{}
		held := 0
		for _, over := range []string{"", "@worst", "@mean", fmt.Sprintf("@%d%%", percent)} {
			g, err := check.Parse("amplification" + op + limit + over)
			if err != nil {
				t.Fatal(err)
			}
			held = 0
			for _, v := range values {
				if g.Op.Holds(v, g.Value) {
					held++
				}
			}
			row := check.Evaluate([]check.Gate{g}, &record.Result{Runs: []record.Run{seedsOf("amplification", values...)}})[0]
			if strings.HasPrefix(over, "@") && over[1] >= '0' && over[1] <= '9' {
				over = "@share"
			}
			if ok[over] = row.OK; row.OK && row.Value == nil || row.Reason == "" {
				t.Fatalf("%s: %+v", g.Text, row)
			}
		}
		all := held == len(values)
		if ok[""] != all || ok["@worst"] != all || ok["@share"] != (100*held >= percent*len(values)) || all && !ok["@mean"] && op != "!=" {
			t.Fatalf("%d of %d hold: %v", held, len(values), ok)
		}
	})
}

// TestEvaluateTheProbe: it is one row whatever ran.
func TestEvaluateTheProbe(t *testing.T) {
	a, b := whole(), seedsOf("amplification", 3, 4)
	a.Strategy = "none"
	gates := []check.Gate{gate(t, "probe_capacity>=500/s"), gate(t, "probe_latency_p99<50ms @mean"), gate(t, "probe_errors==0")}
	probe := &record.Probe{Requests: 900, CapacityPerSecond: ptr(480.0), Latency: record.Distribution{Count: 3, P99: ptr(int64(7e6))}}
	equalRows(t, check.Evaluate(gates, &record.Result{Probe: probe, Runs: []record.Run{a, b}}), []record.Gate{
		{Gate: "probe_capacity>=500/s", Value: ptr(480.0), Reason: "probe_capacity is 480/s, want >= 500/s"},
		{Gate: "probe_latency_p99<50ms @mean", Value: ptr(7e6), OK: true, Reason: "probe_latency_p99 is 7ms"},
		{Gate: "probe_errors==0", Value: ptr(0.0), OK: true, Reason: "probe_errors is 0"},
	})
	equalRows(t, check.Evaluate(gates, &record.Result{Runs: []record.Run{a, b}}), []record.Gate{
		{Gate: "probe_capacity>=500/s", Reason: "no data: the target was not probed, or something else ended the search for its capacity"},
		{Gate: "probe_latency_p99<50ms @mean", Reason: "no data: the target was not probed, or no answer was good"},
		{Gate: "probe_errors==0", Reason: "no data: the target was not probed, or nothing was sent"},
	})
}
