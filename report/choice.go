package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"stormtest/load/record"
)

// A choice is the answer to the question which of several strategies to take, the same in every report. Only what a run
// measured is in it, by a rule that choiceRule tells; where several seeds ran it is of all of them.
type choice struct {
	best  []int  // indexes of the runs that nothing tells apart; nil where none is chosen
	head  string // in one sentence
	why   string // what speaks for it, or why there is none; may be empty
	price string // of why, without those that were left behind
}

// choiceRule says how a strategy is chosen.
//
// OVERLOAD is no fault that decides: nearly every storm of which all is done has it for a moment, and a strategy avoids
// it by leaving its work undone for minutes. What is bad about it are the attempts, which are counted, and between
// strategies with as many attempts the fullest bucket of retries.
const choiceRule = "Chosen by, one after the other: most operations done (within 1" + string(nbsp) + "% is equal), no METASTABLE, recovered, no CONVOY, no CLUMPED, " +
	"fewest attempts, all done earliest, lowest peak of the retries (within 5" + string(nbsp) + "% is equal)."

// How near to the best a figure counts as equal. What is done is counted as in the side by side; the others differ by some
// per cent from seed to seed.
const (
	doneWithin   = 0.01
	effortWithin = 0.05
)

// choose says which strategy did best. Of one there is no choice: its verdict is the answer, but where it says nothing
// of the worst that can be.
func choose(r *record.Result) choice {
	switch {
	case len(r.Runs) == 0:
		return choice{head: "No strategy ran, so there is nothing to report."}
	case fromLog(r) && len(r.Runs) == 1:
		return choice{}
	case fromLog(r):
		return choice{head: "No strategy is chosen: a log of arrivals does not say how far the clients got."}
	case unreached(r) != "":
		return choice{head: "No attempt reached the target.", why: unreached(r)}
	case len(r.Runs) == 1:
		return aloneChoice(r)
	case !r.Valid:
		return choice{head: "No strategy is chosen: this run is not valid.", why: "What is below says what was measured, not which policy is better."}
	case r.Interrupted:
		return choice{head: "No strategy is chosen: the run was cut."}
	case outside(r):
		return choice{head: "No strategy is chosen: the clients were not ours, and only they know how far they got."}
	case !slices.ContainsFunc(r.Runs, func(run record.Run) bool { return done(&run) > 0 }):
		return choice{head: "No strategy is chosen: not one operation succeeded."}
	}
	return chosen(r)
}

// aloneChoice is what has to be said before the verdict of the only strategy.
func aloneChoice(r *record.Result) choice {
	run := &r.Runs[0]
	if r.Interrupted || !notRecovered.most(run) {
		return choice{}
	}
	return choice{head: "The target did not recover" + notRecovered.seeds(run) + ".", why: goodputs(run)}
}

// chosen leaves of all strategies those behind that are worse by a chooser, one chooser after the other.
func chosen(r *record.Result) choice {
	left := make([]int, len(r.Runs))
	for i := range left {
		left[i] = i
	}
	var lost []string // by what each was left behind, those that came nearest first
	for _, c := range choosers {
		kept := c.keep(r, left)
		var here []string
		for _, i := range left {
			if !slices.Contains(kept, i) {
				here = append(here, quoted(&r.Runs[i])+" ("+c.lost(&r.Runs[i])+")")
			}
		}
		left, lost = kept, append(here, lost...)
	}
	c := choice{best: left, head: choiceHead(r, left), price: choicePrice(r, left)}
	c.why = c.price + leftBehind(lost) + choiceFlaw(r, left)
	if len(left) == len(r.Runs) {
		c.head, c.price = "By these figures the strategies cannot be told apart here.", allAlike(r)
		c.why = c.price
	}
	if !slices.ContainsFunc(r.Runs, func(run record.Run) bool { return !notRecovered.most(&run) }) {
		lead := goodputs(&r.Runs[left[0]]) + " " + c.head + " "
		c.why, c.price = lead+c.why, lead+c.price
		c.head = "With none of these strategies did the target recover" + notRecovered.seeds(&r.Runs[left[0]]) + "."
	}
	return c
}

// goodputs are those before and after an outage or a surge.
func goodputs(run *record.Run) string {
	before, last := figureOf(run, "goodput_before"), figureOf(run, "goodput_last")
	return "Goodput was " + number(before) + "/s before the " + trigger(run) + " and " + number(last) + "/s at the end" + onAverage(run) + "."
}

// unreached says what became of the attempts where not one reached the target; empty where one did, or none was sent.
func unreached(r *record.Result) string {
	var sent int64
	lost := map[string]int64{}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Outside != nil || run.Books.Arrivals > 0 || severalSeeds(run) && meanOr0(run, "arrivals") > 0 {
			return ""
		}
		for kind, n := range run.Books.Lost {
			lost[kind] += n
			sent += n
		}
	}
	if sent <= 0 {
		return ""
	}
	return "All " + plural(sent, "attempt") + " were lost" + inBrackets(named(lost)) + "."
}

// allAlike says what all strategies got done, and at which price.
func allAlike(r *record.Result) string {
	between := func(metric string) string {
		var least, most float64
		for i := range r.Runs {
			v := meanOr0(&r.Runs[i], metric)
			if i == 0 {
				least, most = v, v
			}
			least, most = min(least, v), max(most, v)
		}
		if wholeNumber(least) == wholeNumber(most) {
			return wholeNumber(most)
		}
		return wholeNumber(least) + " to " + wholeNumber(most)
	}
	text := "They got " + between("operations_succeeded") + " of " + between("operations_started") + " operations done with " + between("attempts_sent") + " attempts"
	return text + onAverage(&r.Runs[0]) + "."
}

// A chooser keeps those of the runs that are the best by one rule, and says of another by what it lost.
type chooser struct {
	keep func(r *record.Result, left []int) []int
	lost func(*record.Run) string
}

// choosers are choiceRule.
var choosers = []chooser{
	{byFigure("success_share", "operations_succeeded", doneWithin), func(run *record.Run) string {
		if severalSeeds(run) {
			return percent(figureOf(run, "success_share")) + " done"
		}
		return count(run.Operations.Succeeded) + " of " + count(run.Operations.Started) + " done"
	}},
	without(metastable), without(notRecovered), without(verdictFault(record.VerdictConvoy)), without(verdictFault(record.VerdictClumped)),
	{byFigure("attempts_sent", "", -effortWithin), attemptsOf},
	{byFigure("completion", "", -effortWithin), func(run *record.Run) string {
		switch v := figureOf(run, "completion"); {
		case finite(v):
			return "all done only after " + length(*v)
		case severalSeeds(run):
			return "not all done in every seed"
		}
		return "not all done"
	}},
	{byFigure("window_peak_over_capacity", "", -effortWithin), func(run *record.Run) string {
		if v := figureOf(run, "window_peak_over_capacity"); finite(v) {
			return "retries up to " + times(v) + " capacity"
		}
		return "peak of the retries not known"
	}},
}

// byFigure keeps the runs whose figure is near the highest or, where near is negative, near the lowest.
func byFigure(metric, ofOneSeed string, near float64) func(*record.Result, []int) []int {
	return func(r *record.Result, left []int) []int {
		figure := func(i int) *float64 {
			run := &r.Runs[i]
			if severalSeeds(run) {
				return figureOf(run, metric)
			}
			return figureOf(run, cmp.Or(ofOneSeed, metric))
		}
		alike := func(i, k int) bool { return byChance(&r.Runs[i], &r.Runs[k], metric) }
		return within(left, near, figure, alike)
	}
}

// without keeps the runs that do not have a fault, or all where every one has it.
func without(f fault) chooser {
	return chooser{
		keep: func(r *record.Result, left []int) []int {
			free := slices.DeleteFunc(slices.Clone(left), func(i int) bool { return f.most(&r.Runs[i]) })
			if len(free) == 0 {
				return left
			}
			return free
		},
		lost: func(run *record.Run) string { return f.name + f.seeds(run) },
	}
}

// within keeps those of list whose figure is near the best, as byFigure says, or differs from it by no more than chance
// makes; all where none has one.
func within(list []int, near float64, figure func(int) *float64, alike func(i, k int) bool) []int {
	first := -1
	for _, i := range list {
		if v := figure(i); finite(v) && (first < 0 || (*v > *figure(first)) == (near > 0) && *v != *figure(first)) {
			first = i
		}
	}
	if first < 0 {
		return list
	}
	best := *figure(first)
	far := math.Abs(best * near)
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		v := figure(i)
		switch {
		case i == first: // whatever it is, something is left
			return false
		case !finite(v):
			return true
		case alike(i, first):
			return false
		case near > 0:
			return *v < best-far
		}
		return *v > best+far
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
	return someOf(names) + " did best here; by these figures they cannot be told apart."
}

// choicePrice says what the best got done and at which price.
func choicePrice(r *record.Result, best []int) string {
	var parts []string
	for _, i := range best {
		run := &r.Runs[i]
		who := quoted(run)
		if len(best) == 1 {
			who = "it"
		}
		parts = append(parts, who+" "+gotDone(run))
	}
	text := listed(parts, "; ") + "."
	if n := seedsEnded(r); n > 1 {
		return "On average of " + plural(n, "seed") + " " + text
	}
	if len(best) == 1 {
		return upperFirst(text)
	}
	return text
}

// gotDone says what a strategy got done, when and with how many attempts.
func gotDone(run *record.Run) string {
	begun := run.Operations.Started
	if v := figureOf(run, "operations_started"); finite(v) {
		begun = int64(*v + 0.5)
	}
	started := plural(begun, "operation")
	share, completed := figureOf(run, "success_share"), figureOf(run, "completion")
	switch {
	case finite(completed):
		return "got all " + started + " done after " + length(*completed) + " with " + attemptsOf(run)
	case severalSeeds(run):
		return "got " + percent(share) + " of " + started + " done with " + attemptsOf(run)
	}
	return "got " + count(run.Operations.Succeeded) + " of " + started + " done with " + attemptsOf(run)
}

func attemptsOf(run *record.Run) string {
	return plural(int64(meanOr0(run, "attempts_sent")+0.5), "attempt")
}

// leftBehind lists by what the others were left behind.
func leftBehind(lost []string) string {
	if lost == nil {
		return ""
	}
	return " Left behind: " + listed(lost, ", ") + "."
}

// choiceFlaw says what is wrong with the best nevertheless; empty where nothing is, or where there are several.
func choiceFlaw(r *record.Result, best []int) string {
	if len(best) != 1 {
		return ""
	}
	run := &r.Runs[best[0]]
	for _, v := range []record.Verdict{record.VerdictConvoy, record.VerdictClumped, record.VerdictOverload} {
		if f := verdictFault(v); f.most(run) {
			peak := ""
			if over := figureOf(run, "window_peak_over_capacity"); finite(over) && *over > 1 {
				peak = ": retries up to " + times(over) + " capacity"
			}
			return " Its own verdict is " + f.name + f.seeds(run) + peak + "."
		}
	}
	return ""
}

// listed joins the first few and counts the rest.
func listed(parts []string, separator string) string {
	const shown = 5
	if n := len(parts); n > shown {
		parts = append(slices.Clone(parts[:shown]), count(int64(n-shown))+" more")
	}
	return strings.Join(parts, separator)
}

// choiceDoubt says what the seeds that ran cannot tell, or how several of them are taken together.
func choiceDoubt(r *record.Result) string {
	switch n := seedsEnded(r); {
	case len(r.Runs) < 2:
		return ""
	case n >= chanceSeeds:
		return "Figures are the means of the seeds, of which what chance makes (three standard errors) is equal; a verdict counts where most seeds have it."
	case n > 1:
		return "Figures are the means of " + plural(n, "seed") + ", a verdict counts where most of them have it; with so few a difference of a few per cent can be chance."
	}
	return "One seed ran: a difference of a few per cent can be chance, and --repeat tells."
}

// recoveryWatched is the least time after an outage of which can be said that the target did not recover.
const recoveryWatched = record.RecoverySeconds * time.Second

// neverRecovered says that the target had a healthy phase, then an outage, and was not well again when the run ended.
func neverRecovered(run *record.Run) bool {
	return finite(run.Recovery.GoodputBefore) && run.Recovery.RecoveredAt == nil && run.Recovery.Watched >= recoveryWatched
}
