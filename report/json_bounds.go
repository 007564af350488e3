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
		if err := checkRun(&r.Runs[i], fmt.Sprintf("runs[%d]", i), nestedMost); err != nil {
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

// How many policies a mixed fleet, how many services a chain, and how many phases a run may have, and how many runs lie in each other:
// a fleet's part may call a chain.
const (
	innerMost  = 100
	nestedMost = 2
)

// checkRun returns which list of a run, or of one that is in it, is longer than a report can show. At most so many runs may
// lie in each other below it.
func checkRun(run *record.Run, name string, depth int) error {
	hazards := 0
	if run.Preset != nil {
		hazards = len(run.Preset.Hazards)
	}
	for _, list := range []struct {
		name         string
		length, most int
	}{
		{".notes", len(run.Notes), listedMost}, {".phases", len(run.Phases), listedMost}, {".preset.hazards", hazards, innerMost},
		{".parts", len(run.Parts), innerMost}, {".layers", len(run.Layers), innerMost},
	} {
		if list.length > list.most {
			return fmt.Errorf("%s%s: a list of %d, want at most %d", name, list.name, list.length, list.most)
		}
	}
	return eachInner(run, func(inner *record.Run, place string) error {
		if depth == 0 {
			return fmt.Errorf("%s.%s: a run in %d others, want at most %d", name, place, nestedMost+1, nestedMost)
		}
		return checkRun(inner, name+"."+place, depth-1)
	})
}

// eachInner calls do for every run that is in run, with its place, until one returns an error.
func eachInner(run *record.Run, do func(inner *record.Run, place string) error) error {
	for i := range run.Parts {
		if inner := run.Parts[i].Run; inner != nil {
			if err := do(inner, fmt.Sprintf("parts[%d].run", i)); err != nil {
				return err
			}
		}
	}
	for i := range run.Layers {
		if inner := run.Layers[i].Run; inner != nil {
			if err := do(inner, fmt.Sprintf("layers[%d].run", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkInner returns what of a run, or of one that is in it, contradicts itself or is negative.
func checkInner(run *record.Run, name string) error {
	if err := checkLengths(run); err != nil {
		return fmt.Errorf("%s.%w", name, err)
	}
	if err := run.CheckDetail(); err != nil {
		return fmt.Errorf("%s.%s", name, clean(err.Error()))
	}
	return eachInner(run, func(inner *record.Run, place string) error { return checkInner(inner, name+"."+place) })
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
		{"recovery.watch_needed_ns", (*int64)(&run.Recovery.WatchNeeded)},
		{"generator.start_spread_ns", run.Generator.StartSpread},
		{"budget.delay_total_ns", delayTotal(run)},
	} {
		if length.of != nil && *length.of < 0 {
			return fmt.Errorf("%s = %d, want 0 or more", length.name, *length.of)
		}
	}
	for i := range run.Phases {
		if p := &run.Phases[i]; p.From < 0 || p.To < p.From {
			return fmt.Errorf("phases[%d] = %d..%d, want 0 <= from_ns <= to_ns", i, p.From, p.To)
		}
	}
	return nil
}

// delayTotal is how long a throttle made attempts wait; nil without one.
func delayTotal(run *record.Run) *int64 {
	if run.Budget == nil {
		return nil
	}
	return (*int64)(&run.Budget.DelayTotal)
}
