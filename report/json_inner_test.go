package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
)

// Runs in a run are read as those of a result are, as many and as deep as a report can show.
func TestReadInnerRuns(t *testing.T) {
	deep := func(n int) *record.Run {
		run := &record.Run{Strategy: "full"}
		for i := range n {
			if i%2 == 0 {
				run = &record.Run{Strategy: "full", Parts: []record.Part{{Name: "part", Run: run}}}
			} else {
				run = &record.Run{Strategy: "full", Layers: []record.Layer{{Name: "layer", Run: run}}}
			}
		}
		return run
	}
	for _, tt := range []struct {
		name string
		run  record.Run
		want string // in the error; empty where it is read
	}{
		{"two deep", *deep(2), ""},
		{"three deep", *deep(3), "a run in 3 others, want at most 2"},
		{"a hundred parts", record.Run{Parts: make([]record.Part, 100)}, ""},
		{"too many parts", record.Run{Parts: make([]record.Part, 101)}, "runs[0].parts: a list of 101, want at most 100"},
		{"too many layers", record.Run{Parts: []record.Part{{Run: &record.Run{Layers: make([]record.Layer, 101)}}}}, "runs[0].parts[0].run.layers: a list of 101"},
		{"too many phases", record.Run{Phases: make([]record.Phase, 1001)}, "phases: a list of 1001"},
		{"too many hazards", record.Run{Preset: &record.Preset{Hazards: make([]string, 101)}}, "preset.hazards: a list of 101"},
		{"a phase backwards", record.Run{Phases: []record.Phase{{From: 2, To: 1}}}, "phases[0] = 2..1"},
		{"a negative wait", record.Run{Budget: &record.Budget{DelayTotal: -1}}, "budget.delay_total_ns = -1"},
		{"a negative watch", record.Run{Recovery: record.Recovery{WatchNeeded: -1}}, "recovery.watch_needed_ns = -1"},
		{"a negative length inside", record.Run{Layers: []record.Layer{{Run: &record.Run{Duration: -1}}}}, "runs[0].layers[0].run.duration_ns = -1"},
		{"broken detail inside", record.Run{Parts: []record.Part{{Run: &record.Run{Repeats: &record.Repeats{Count: -1}}}}}, "runs[0].parts[0].run.repeats.count = -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := report.ReadJSON(bytes.NewReader(encode(t, resultOf("{}", tt.run))))
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(got, tt.want)) {
				t.Errorf("error %q, want %q in it", got, tt.want)
			}
		})
	}
	// What only a file can have: runs in each other without end.
	text := `{"schema":"stormtest.result/v1","runs":[` + strings.Repeat(`{"parts":[{"run":`, 3000) + "{}" + strings.Repeat("}]}", 3000) + "]}"
	if _, err := report.ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "a run in 3 others") {
		t.Errorf("3000 runs in each other: %v", err)
	}
}
