package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"stormtest/load/record"
)

// listedMost bounds the lists of a result file that a report shows, or looks through for each element: runs, gates, notes,
// and those of the plan. A plan may ask for a tenth of it. The reasons why a result is not valid have no such bound: a merge
// of many results has those of all.
const listedMost = 1_000

// checkSizes returns which list of r is longer than a report can show.
func checkSizes(r *record.Result) error {
	for _, list := range []struct {
		name   string
		length int
	}{
		{"runs", len(r.Runs)}, {"gates", len(r.Gates)},
	} {
		if err := checkSize(list.name, list.length); err != nil {
			return err
		}
	}
	for i := range r.Runs {
		if err := checkSize(fmt.Sprintf("runs[%d].notes", i), len(r.Runs[i].Notes)); err != nil {
			return err
		}
	}
	if len(r.Plan) == 0 {
		return nil
	}
	var plan any
	decoder := json.NewDecoder(bytes.NewReader(r.Plan))
	decoder.UseNumber() // a number that no float holds hides no list
	if err := decoder.Decode(&plan); err != nil {
		return fmt.Errorf("plan: %s", clean(err.Error()))
	}
	if err := checkPlan(plan); err != nil {
		return fmt.Errorf("plan%s", clean(err.Error()))
	}
	return nil
}

// checkPlan returns which list of a part of the plan is too long, with its name behind that of the part.
func checkPlan(part any) error {
	switch part := part.(type) {
	case []any:
		if err := checkSize("", len(part)); err != nil {
			return err
		}
		for i, inner := range part {
			if err := checkPlan(inner); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if err := checkPlan(part[key]); err != nil {
				return fmt.Errorf(".%s%w", key, err)
			}
		}
	}
	return nil
}

func checkSize(name string, length int) error {
	if length > listedMost {
		return fmt.Errorf("%s: a list of %d, want at most %d", name, length, listedMost)
	}
	return nil
}

// checkLengths returns which length of time in a run is negative.
func checkLengths(run *record.Run) error {
	for _, length := range []struct {
		name string
		of   *int64
	}{
		{"duration_ns", (*int64)(&run.Duration)},
		{"bucket_ns", (*int64)(&run.Bucket)},
		{"completion_ns", run.Completion},
		{"recovery.recovered_after_ns", (*int64)(run.Recovery.RecoveredAt)},
		{"recovery.watched_ns", (*int64)(&run.Recovery.Watched)},
		{"generator.start_spread_ns", run.Generator.StartSpread},
	} {
		if length.of != nil && *length.of < 0 {
			return fmt.Errorf("%s = %d, want 0 or more", length.name, *length.of)
		}
	}
	return nil
}
