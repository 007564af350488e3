package load

import (
	"slices"
	"testing"

	"stormtest/load/fleet"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/sim"
)

// The keys of a result's tables of counters are those that its metrics know: package record lists them, and those who
// count name them.
func TestEveryKeyHasAMetric(t *testing.T) {
	var reasons, kinds []string
	for r := range retry.ReasonCount {
		if r != retry.Retrying && r != retry.Succeeded {
			reasons = append(reasons, r.String())
		}
	}
	for k := range retry.KindCount {
		if k != retry.Responded && k != retry.ShortCircuited { // of which nothing was sent
			kinds = append(kinds, k.String())
		}
	}
	losses := slices.Concat(fleet.LostNames, sim.LostNames)
	want := map[string][]string{
		"gave_up_": reasons, "outcome_": append(kinds, "other"), "lost_": losses, "answer_": {answerReset, answerGone},
	}
	for _, f := range record.Families() {
		keys := slices.Compact(slices.Sorted(slices.Values(want[f.Prefix])))
		if got := slices.Sorted(slices.Values(f.Keys)); !slices.Equal(got, keys) || len(keys) == 0 {
			t.Errorf("%s: %q, want %q", f.Prefix, got, keys)
		}
		delete(want, f.Prefix)
	}
	if len(want) > 0 {
		t.Errorf("no family has %v", want)
	}
}
