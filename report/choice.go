package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// A choice is the answer to the question which of several strategies to take. Only what a run measured is in it,
// by a rule that choiceRule tells.
type choice struct {
	best []int  // indexes of the runs that nothing tells apart; nil where none is chosen
	head string // in one sentence
	why  string // what speaks for it, or why there is none; may be empty
}

// choiceRule says how a strategy is chosen.
const choiceRule = "Chosen by, in this order: most operations done (within 1" + string(nbsp) + "%), no METASTABLE, no CONVOY, no CLUMPED, fewest attempts (within 1" +
	string(nbsp) + "%), all done earliest (within 1" + string(nbsp) + "%)."

// choose says which strategy did best. Of one there is no choice: its verdict is the answer.
func choose(r *record.Result) choice {
	switch {
	case len(r.Runs) == 0:
		return choice{head: "No strategy ran, so there is nothing to report."}
	case fromLog(r):
		return choice{head: "Made from a log of arrivals: no strategy is judged."}
	case len(r.Runs) == 1:
		return choice{}
	case !r.Valid:
		return choice{head: "No strategy is chosen: this run is not valid.", why: "What is below says what was measured, not which policy is better."}
	case r.Interrupted:
		return choice{head: "No strategy is chosen: the run was cut."}
	case slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }):
		return choice{head: "No strategy is chosen: the clients were not ours, and only they know how far they got."}
	}
	left := make([]int, len(r.Runs))
	for i := range left {
		left[i] = i
	}
	left = within(left, func(i int) *float64 { return chosenFigure(&r.Runs[i], "success_share", "operations_succeeded") }, true)
	if done := r.Runs[left[0]].Operations; done.Succeeded == 0 {
		return choice{head: "No strategy is chosen: not one operation succeeded."}
	}
	for _, fault := range []func(*record.Run) bool{
		func(run *record.Run) bool { return slices.Contains(run.Convoy.Flags, record.FlagMetastable) },
		func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictConvoy },
		func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictClumped },
	} {
		if free := slices.DeleteFunc(slices.Clone(left), func(i int) bool { return fault(&r.Runs[i]) }); len(free) > 0 {
			left = free
		}
	}
	left = within(left, func(i int) *float64 { return chosenFigure(&r.Runs[i], "attempts_sent", "") }, false)
	left = within(left, func(i int) *float64 { return chosenFigure(&r.Runs[i], "completion", "") }, false)
	if len(left) == len(r.Runs) {
		return choice{head: "By these figures the strategies cannot be told apart here.", best: left}
	}
	return choice{best: left, head: choiceHead(r, left), why: choiceWhy(r, left)}
}

// chosenFigure is a figure's mean over the seeds, where there are several and all have it, or of the one run.
func chosenFigure(run *record.Run, metric, otherwise string) *float64 {
	if s := run.Repeats; s != nil && s.Count > 1 {
		if spread := s.Figures[metric]; spread.Count == s.Count {
			return spread.Mean
		}
		return nil
	}
	if otherwise != "" {
		metric = otherwise
	}
	m, _ := record.MetricNamed(metric)
	return m.Value(run)
}

// within keeps those of list whose figure is within 1 % of the best; all where none has one.
func within(list []int, figure func(int) *float64, highest bool) []int {
	var best *float64
	for _, i := range list {
		if v := figure(i); finite(v) && (best == nil || *v > *best == highest && *v != *best) {
			best = v
		}
	}
	if best == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		v := figure(i)
		if !finite(v) {
			return true
		}
		if highest {
			return *v < 0.99**best
		}
		return *v > 1.01**best
	})
}

func choiceHead(r *record.Result, best []int) string {
	var names []string
	for _, i := range best {
		names = append(names, runName(&r.Runs[i]))
	}
	if len(names) == 1 {
		return names[0] + " did best here."
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " did best here; by these figures they cannot be told apart."
}

// choiceWhy says what the best got done and at which price, and what the others paid.
func choiceWhy(r *record.Result, best []int) string {
	run := &r.Runs[best[0]]
	o := &run.Operations
	it := "It"
	if seedsEnded(r) > 1 {
		it = "On the first seed it"
	}
	text := it + " got " + count(o.Succeeded) + " of " + plural(o.Started, "operation") + " done with " + plural(run.Attempts.Sent, "attempt")
	if o.Succeeded == o.Started && run.Completion != nil {
		text = it + " got all " + plural(o.Started, "operation") + " done after " + length(float64(*run.Completion)) + ", with " + plural(run.Attempts.Sent, "attempt")
	}
	var others []string
	for i := range r.Runs {
		other := &r.Runs[i]
		if slices.Contains(best, i) {
			continue
		}
		parts := count(other.Operations.Succeeded) + " done, " + count(other.Attempts.Sent) + " attempts"
		if v := other.Convoy.Verdict; v == record.VerdictConvoy || v == record.VerdictClumped {
			parts += ", " + string(v)
		}
		if slices.Contains(other.Convoy.Flags, record.FlagMetastable) {
			parts += ", " + record.FlagMetastable
		}
		others = append(others, runName(other)+" ("+parts+")")
	}
	const shown = 5
	if n := len(others); n > shown {
		others = append(others[:shown], count(int64(n-shown))+" more")
	}
	return text + ". The others: " + strings.Join(others, ", ") + "."
}

// choiceDoubt says what one seed cannot tell; empty where several ran.
func choiceDoubt(r *record.Result) string {
	if seedsEnded(r) > 1 || len(r.Runs) < 2 {
		return ""
	}
	return "This is one seed: a difference of a few per cent can be chance, and --repeat tells."
}
