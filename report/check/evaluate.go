package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stormtest/load/record"
)

// Evaluate holds every gate against every run it speaks of: one row for each pair, gates in
// the order given, within a gate runs in the order they ran. No gate stops the others.
//
// A gate on the probe is one row whatever ran. A figure without a value is never OK and its reason begins with "no data" and says why; so is a gate whose runs do
// not exist, or were cut before their end. In a result of several runs each row's Gate begins with the run's strategy.
//
// The row's value is the figure of the run, over several seeds that of the worst of them, the mean or, of a gate on a share of the
// seeds, the share that held. A word is its place in the metric's Words.
func Evaluate(gates []Gate, result *record.Result) []record.Gate {
	rows := make([]record.Gate, 0, len(gates)*len(result.Runs))
	missing := notRun(result)
	several := len(result.Runs)+len(missing) > 1
	for _, g := range gates {
		if m, _ := Lookup(g.Metric); m.OfProbe() {
			rows = append(rows, g.judgeProbe(m, result.Probe))
			continue
		}
		before := len(rows)
		for i := range result.Runs {
			run := &result.Runs[i]
			if g.Strategy == "" || g.Strategy == run.Strategy {
				row := g.judge(result, run)
				row.Gate = g.label(run.Strategy, several)
				rows = append(rows, row)
				continue
			}
			row, known := g.judgeNamed(result, run)
			if !known {
				continue
			}
			if row.Gate = g.Text; several {
				row.Gate = run.Strategy + ": " + g.Text
			}
			rows = append(rows, row)
		}
		for _, strategy := range missing {
			if g.Strategy == "" && len(result.Runs) > 0 {
				rows = append(rows, record.Gate{Gate: g.label(strategy, several), Reason: didNotRun(strategy)})
			}
		}
		if len(rows) == before {
			rows = append(rows, record.Gate{Gate: g.Text, Reason: didNotRun(g.Strategy)})
		}
	}
	return rows
}

// judgeNamed holds the gate against what of a run has its name: a part of a mixed fleet, of which as much is known as of a
// run, or a service behind the first. known is false where there is none.
func (g Gate) judgeNamed(result *record.Result, run *record.Run) (row record.Gate, known bool) {
	for i := range run.Parts {
		part := &run.Parts[i]
		if part.Name != g.Strategy || part.Run == nil {
			continue
		}
		row = g.judge(result, part.Run)
		if row.Value == nil && strings.Contains(row.Reason, "capacity") {
			row.Reason = "no data: the capacity is the whole fleet's, and not one of its parts'"
		}
		return row, true
	}
	if within := inside(run, g.Strategy); within != nil {
		return g.judgeInside(result, run, within), true
	}
	return row, false
}

// Passed reports whether every row is OK. It is true of no rows at all: nothing was asked.
func Passed(rows []record.Gate) bool {
	return !slices.ContainsFunc(rows, func(row record.Gate) bool { return !row.OK })
}

// label is how a row names its gate.
func (g Gate) label(strategy string, several bool) string {
	if several && g.Strategy == "" {
		return strategy + ": " + g.Text
	}
	return g.Text
}

func didNotRun(strategy string) string {
	if strategy == "" {
		return "no data: nothing ran"
	}
	return "no data: strategy " + strategy + " did not run"
}

// Strategies lists the names that a gate on a result may begin with: of the strategies that ran, or of a mixed fleet of its
// parts, of those of its plan that did not run, and of the services behind the first.
func Strategies(result *record.Result) []string {
	var names, within []string
	for i := range result.Runs {
		run := &result.Runs[i]
		if len(run.Parts) == 0 {
			names = append(names, run.Strategy)
		}
		for k := range run.Parts {
			names = append(names, run.Parts[k].Name)
		}
		for _, l := range run.Layers {
			if !slices.Contains(within, l.Name) {
				within = append(within, l.Name)
			}
		}
	}
	return slices.Concat(names, notRun(result), within)
}

// inside returns what of a run has a name of its own: a service behind the first, whose attempts for each of the clients'
// operations are its amplification_end_to_end. nil where there is none of the name.
func inside(run *record.Run, name string) *record.Run {
	for _, l := range run.Layers {
		if l.Name == name && l.Run != nil {
			r := *l.Run
			r.Layers = []record.Layer{{Name: l.Name, EndToEnd: l.EndToEnd}}
			return &r
		}
	}
	return nil
}

// judgeInside holds the gate against what is inside of a run. Of that the first seed alone is kept.
func (g Gate) judgeInside(result *record.Result, run, within *record.Run) record.Gate {
	within.Whole = run.Whole
	if run.Repeats == nil || run.Repeats.Count <= 1 || g.Over.Kind == OverFirst {
		return g.judge(result, within)
	}
	row := g.single(mustLookup(g.Metric), within)
	row.OK = false
	row.Reason = "of the first seed alone, which is no pass of a repeat unless the gate ends in @first: " + row.Reason
	return row
}

func mustLookup(name string) Metric {
	m, ok := Lookup(name)
	if !ok {
		panic("check: BUG: gate on unknown metric " + name)
	}
	return m
}

// notRun lists the strategies of the result's plan that are not among its runs, as after a signal.
func notRun(result *record.Result) []string {
	var plan struct {
		Strategy string `json:"strategy"`
		Preset   string `json:"preset"`
		Fleet    string `json:"fleet"`
	}
	outside := func(r record.Run) bool { return r.Outside != nil }
	if json.Unmarshal(result.Plan, &plan) != nil || slices.ContainsFunc(result.Runs, outside) {
		return nil
	}
	const none = "none" // of presets, or of parts
	if plan.Fleet != "" && plan.Fleet != none {
		return nil // one run, of which nothing is said where it is not there
	}
	names := plan.Strategy
	if plan.Preset != "" && plan.Preset != none {
		names = plan.Preset
	}
	var missing []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		ran := slices.ContainsFunc(result.Runs, func(r record.Run) bool { return r.Strategy == name })
		if !ran && IsName(name) && name != "all" {
			missing = append(missing, name)
		}
	}
	return missing
}

// judge holds the gate against a run. Of the row, Gate is left to the caller.
func (g Gate) judge(result *record.Result, run *record.Run) record.Gate {
	m := mustLookup(g.Metric)
	seeds := run.Repeats
	switch {
	case seeds == nil || seeds.Count < 1:
		row := g.single(m, run)
		if !run.Whole && (result.Interrupted || seeds != nil) {
			row.OK = false
			row.Reason = cutWords(result, run) + ", which is no pass: " + row.Reason
		}
		return row
	case g.Over.Kind == OverFirst:
		row := g.single(m, run)
		row.Reason = fmt.Sprintf("seed %d, the first: %s", seeds.Seeds[0], row.Reason)
		return row
	}
	row := g.overSeeds(m, run)
	if seeds.Asked > seeds.Count {
		row.OK = false
		row.Reason = fmt.Sprintf("%d of %d seeds ran, which is no pass: %s", seeds.Count, seeds.Asked, row.Reason)
	}
	return row
}

// cutWords says that the run was cut, or, of a file from before that was kept, that one of the runs was.
func cutWords(result *record.Result, run *record.Run) string {
	whole := func(r record.Run) bool { return r.Whole }
	if len(result.Runs) > 1 && !slices.ContainsFunc(result.Runs, whole) {
		return "not every run came to its end"
	}
	return "the run was cut after " + record.Short(run.Duration)
}

// judgeProbe holds the gate against what was measured before the storm, which is one for all runs and seeds.
func (g Gate) judgeProbe(m Metric, probe *record.Probe) record.Gate {
	row := g.found(m, m.ProbeValue(probe), func() string { return m.Absent })
	row.Gate = g.Text
	return row
}

// single holds the gate against one run by itself.
func (g Gate) single(m Metric, run *record.Run) record.Gate {
	return g.found(m, m.Value(run), func() string { return m.Why(run) })
}

// found holds the gate against one figure; why says why there is none.
func (g Gate) found(m Metric, v *float64, why func() string) record.Gate {
	row := record.Gate{Value: v}
	if v == nil {
		row.Reason = "no data: " + why()
		return row
	}
	row.OK = g.Op.Holds(*row.Value, g.Value)
	row.Reason = g.Metric + " is " + g.shown(m, *row.Value) + g.wanted(m, row.OK)
	return row
}

// wanted is what a reason ends with where the gate does not hold.
func (g Gate) wanted(m Metric, ok bool) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(", want %s %s", g.Op, FormatValue(g.Value, m))
}

// shownDigits are the digits of a figure in a reason, unless it takes more to see why the gate holds or does not.
const shownDigits = 4

// shown writes a figure for people.
func (g Gate) shown(m Metric, v float64) string {
	if m.Unit == Count && v == float64(int64(v)) {
		return FormatValue(v, m)
	}
	return FormatValue(legible(v, g.Value), m)
}

// legible rounds v, and not so far that it would seem to be on another side of the limit.
func legible(v, limit float64) float64 {
	for digits := shownDigits; digits < 16; digits++ {
		if rounded := roundTo(v, digits); side(rounded, limit) == side(v, limit) {
			return rounded
		}
	}
	return v
}

// side is -1, 0 or 1, as v is below, at or above the limit.
func side(v, limit float64) int {
	switch {
	case v < limit:
		return -1
	case v > limit:
		return 1
	}
	return 0
}
