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
const choiceRule = "Chosen by, one after the other: most operations done (within 1" + string(nbsp) + "% is equal), no METASTABLE, no CONVOY, no CLUMPED, " +
	"fewest attempts, all done earliest (within 5" + string(nbsp) + "% is equal)."

// How near to the best a figure counts as equal. What is done is counted as in the side by side; the others differ by some
// per cent from seed to seed.
const (
	doneWithin   = 0.01
	effortWithin = 0.05
)

// choose says which strategy did best. Of one there is no choice: its verdict is the answer.
func choose(r *record.Result) choice {
	switch {
	case len(r.Runs) == 0:
		return choice{head: "No strategy ran, so there is nothing to report."}
	case len(r.Runs) == 1:
		return choice{}
	case fromLog(r):
		return choice{head: "No strategy is chosen: a log of arrivals does not say how far the clients got."}
	case !r.Valid:
		return choice{head: "No strategy is chosen: this run is not valid.", why: "What is below says what was measured, not which policy is better."}
	case r.Interrupted:
		return choice{head: "No strategy is chosen: the run was cut."}
	case slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Outside != nil }):
		return choice{head: "No strategy is chosen: the clients were not ours, and only they know how far they got."}
	case !slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.Operations.Succeeded > 0 }):
		return choice{head: "No strategy is chosen: not one operation succeeded."}
	}
	left := make([]int, len(r.Runs))
	for i := range left {
		left[i] = i
	}
	lost := make([]string, len(r.Runs)) // by what each was left behind
	for _, c := range choosers {
		kept := c.keep(r, left)
		for _, i := range left {
			if !slices.Contains(kept, i) {
				lost[i] = c.lost(&r.Runs[i])
			}
		}
		left = kept
	}
	c := choice{best: left, head: choiceHead(r, left), why: choiceWhy(r, left, lost)}
	if len(left) == len(r.Runs) {
		c.head, c.why = "By these figures the strategies cannot be told apart here.", allAlike(r)
	}
	if !slices.ContainsFunc(r.Runs, func(run record.Run) bool { return !neverRecovered(&run) }) {
		recovery := &r.Runs[left[0]].Recovery
		c.why = "Goodput was " + number(recovery.GoodputBefore) + "/s before the outage and " + number(recovery.GoodputLast) + "/s at the end. " + c.head + " " + c.why
		c.head = "With none of these strategies did the target recover."
	}
	return c
}

// allAlike says what all strategies got done, and at which price.
func allAlike(r *record.Result) string {
	between := func(of func(*record.Run) int64) string {
		least, most := of(&r.Runs[0]), of(&r.Runs[0])
		for i := range r.Runs {
			least, most = min(least, of(&r.Runs[i])), max(most, of(&r.Runs[i]))
		}
		if least == most {
			return count(most)
		}
		return count(least) + " to " + count(most)
	}
	return "They got " + between(func(run *record.Run) int64 { return run.Operations.Succeeded }) + " of " + between(func(run *record.Run) int64 { return run.Operations.Started }) +
		" operations done with " + between(func(run *record.Run) int64 { return run.Attempts.Sent }) + " attempts."
}

// neverRecovered says that the target had a healthy phase, then an outage, and was not well again when the run ended.
func neverRecovered(run *record.Run) bool {
	return finite(run.Recovery.GoodputBefore) && run.Recovery.RecoveredAt == nil
}

// A chooser keeps those of the runs that are the best by one rule, and says of another by what it lost.
type chooser struct {
	keep func(r *record.Result, left []int) []int
	lost func(*record.Run) string
}

// choosers are choiceRule.
var choosers = []chooser{
	{byFigure("success_share", "operations_succeeded", doneWithin), func(run *record.Run) string {
		return count(run.Operations.Succeeded) + " of " + count(run.Operations.Started) + " done"
	}},
	without(func(run *record.Run) bool { return slices.Contains(run.Convoy.Flags, record.FlagMetastable) }, record.FlagMetastable),
	without(func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictConvoy }, string(record.VerdictConvoy)),
	without(func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictClumped }, string(record.VerdictClumped)),
	{byFigure("attempts_sent", "", -effortWithin), func(run *record.Run) string { return plural(run.Attempts.Sent, "attempt") }},
	{byFigure("completion", "", -effortWithin), func(run *record.Run) string {
		if run.Completion == nil {
			return "not all done"
		}
		return "all done only after " + length(float64(*run.Completion))
	}},
}

// byFigure keeps the runs whose figure is near the highest or, where near is negative, near the lowest.
func byFigure(metric, ofOneSeed string, near float64) func(*record.Result, []int) []int {
	return func(r *record.Result, left []int) []int {
		return within(left, func(i int) *float64 { return chosenFigure(&r.Runs[i], metric, ofOneSeed) }, near)
	}
}

// without keeps the runs that do not have a fault, or all where every one has it.
func without(fault func(*record.Run) bool, name string) chooser {
	return chooser{
		keep: func(r *record.Result, left []int) []int {
			free := slices.DeleteFunc(slices.Clone(left), func(i int) bool { return fault(&r.Runs[i]) })
			if len(free) == 0 {
				return left
			}
			return free
		},
		lost: func(*record.Run) string { return name },
	}
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

// within keeps those of list whose figure is near the best, as byFigure says; all where none has one.
func within(list []int, figure func(int) *float64, near float64) []int {
	var best *float64
	for _, i := range list {
		if v := figure(i); finite(v) && (best == nil || (*v > *best) == (near > 0) && *v != *best) {
			best = v
		}
	}
	if best == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		v := figure(i)
		switch {
		case !finite(v):
			return true
		case near > 0:
			return *v < *best*(1-near)
		}
		return *v > *best*(1-near)
	})
}

func choiceHead(r *record.Result, best []int) string {
	var names []string
	for _, i := range best {
		names = append(names, quoted(&r.Runs[i]))
	}
	if len(names) == 1 {
		return names[0] + " did best here."
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " did best here; by these figures they cannot be told apart."
}

// choiceWhy says what the best got done and at which price, and by what the others were left behind.
func choiceWhy(r *record.Result, best []int, lost []string) string {
	var parts []string
	for _, i := range best {
		run := &r.Runs[i]
		o := &run.Operations
		text := "got " + count(o.Succeeded) + " of " + plural(o.Started, "operation") + " done with " + plural(run.Attempts.Sent, "attempt")
		if o.Succeeded == o.Started && run.Completion != nil {
			text = "got all " + plural(o.Started, "operation") + " done after " + length(float64(*run.Completion)) + " with " + plural(run.Attempts.Sent, "attempt")
		}
		who := quoted(run)
		if len(best) == 1 {
			who = "it"
		}
		parts = append(parts, who+" "+text)
	}
	text := listed(parts, "; ") + "."
	if seedsEnded(r) > 1 {
		text = "On the first seed " + text
	} else if len(best) == 1 {
		text = upperFirst(text)
	}
	parts = nil
	for i, reason := range lost {
		if reason != "" {
			parts = append(parts, quoted(&r.Runs[i])+" ("+reason+")")
		}
	}
	if parts == nil {
		return text
	}
	return text + " Left behind: " + listed(parts, ", ") + "."
}

// listed joins the first few and counts the rest.
func listed(parts []string, separator string) string {
	const shown = 5
	if n := len(parts); n > shown {
		parts = append(slices.Clone(parts[:shown]), count(int64(n-shown))+" more")
	}
	return strings.Join(parts, separator)
}

// choiceDoubt says what one seed cannot tell; empty where several ran.
func choiceDoubt(r *record.Result) string {
	if seedsEnded(r) > 1 || len(r.Runs) < 2 {
		return ""
	}
	return "One seed ran: a difference of a few per cent can be chance, and --repeat tells."
}
