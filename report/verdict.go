package report

import (
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// plainUint writes a number as a flag takes it, without separators.
func plainUint(n uint64) string { return strconv.FormatUint(n, 10) }

// verdictColours never stand alone: the word is beside them.
var verdictColours = map[record.Verdict]rune{
	record.VerdictConvoy: markRed, record.VerdictClumped: markYellow, record.VerdictOverload: markYellow, record.VerdictClear: markGreen,
	record.VerdictUnjudged: markYellow, record.VerdictUnserved: markRed,
}

// flagMeanings are the sentences behind the flags.
var flagMeanings = map[string]string{
	record.FlagPeriodic:   "the same bursts come back at the interval of the cap",
	record.FlagSharedSeed: "most first retries chose one and the same delay, as clients do that share a random seed",
	record.FlagMetastable: "the outage or surge is over and the target has not recovered",
}

// flagMeaning is the sentence behind a flag of a run.
func flagMeaning(flag string, run *record.Run) (meaning string, known bool) {
	meaning, known = flagMeanings[flag]
	return strings.ReplaceAll(meaning, "outage or surge", trigger(run)), known
}

// strategyCells bounds the name of a strategy in a list of them. That of a preset is in full; of a mixed fleet its heading has
// all.
const strategyCells = 20

// writeVerdicts writes one sentence for each strategy.
func writeVerdicts(p *page, r *record.Result, plan planFields) {
	if len(r.Runs) == 0 {
		p.para("", 0, "No strategy ran, so there is nothing to report.")
		return
	}
	names := 8
	for i := range r.Runs {
		if n := cells(clean(r.Runs[i].Strategy)); n <= strategyCells {
			names = max(names, n)
		}
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		name := clean(run.Strategy)
		if cells(name) > strategyCells { // such as a mixed fleet, whose shares are at the end
			p.para("", 0, clip(name, 4*p.width))
			name = ""
		}
		head := padRight(name, names) + " " + padRight(verdictWord(run), 8)
		p.para(head, names+12, verdictSentence(run, plan))
	}
	p.blank()
}

// verdictMark is the colour of a run's verdict. CLEAR speaks of the retries alone, and is not green over a target that did
// not come back.
func verdictMark(run *record.Run) (mark rune, known bool) {
	mark, known = verdictColours[run.Headline()]
	if mark == markGreen && notRecovered.most(run) {
		mark = markYellow
	}
	return mark, known
}

// verdictWord is the verdict in its colour, or none where nothing was tried.
func verdictWord(run *record.Run) string {
	v := run.Headline()
	mark, known := verdictMark(run)
	switch {
	case v == "" || idle(run):
		return none
	case !known:
		return clip(clean(string(v)), 10)
	}
	return styled(mark, string(v))
}

// idle says that nothing was tried.
func idle(run *record.Run) bool {
	if run.Outside != nil {
		return run.Books.Arrivals == 0
	}
	return run.Operations.Started == 0
}

// verdictSentence says what the clients did, with the figures that the verdict rests on, and how far
// they got.
func verdictSentence(run *record.Run, plan planFields) string {
	if run.FromLog != nil {
		return logSentence(run)
	}
	sentences := []string{finding(run, plan) + verdictSeeds(run) + "; " + progress(run)}
	recovery := recoverySentence(run)
	if recovery != "" {
		sentences = append(sentences, upperFirst(recovery))
	}
	for _, text := range []string{reopenedSentence(run), partsSentence(run), layersSentence(run)} {
		if text != "" {
			sentences = append(sentences, upperFirst(text))
		}
	}
	for _, flag := range run.Convoy.Flags {
		if flag == record.FlagMetastable && strings.Contains(recovery, flag) {
			continue
		}
		sentence := clean(flag)
		if meaning, known := flagMeaning(flag, run); known {
			sentence += ": " + meaning
		}
		sentences = append(sentences, sentence)
	}
	return strings.Join(sentences, ". ") + "."
}

// finding is the verdict in words.
func finding(run *record.Run, plan planFields) string {
	c := &run.Convoy
	figures := "convoy index " + index(c.ConvoyIndex)
	who := "the clients"
	if n, err := strconv.ParseInt(plan.text("clients"), 10, 64); err == nil {
		who = plural(n, "client")
	}
	figures += windowPeak(run)
	switch {
	case !finite(c.ConvoyIndex):
		return unjudged(run, plan)
	case c.Verdict == record.VerdictConvoy:
		return who + " came back together: " + figures
	case c.Verdict == record.VerdictClumped && *c.ConvoyIndex >= record.ThresholdConvoy:
		return who + " came back together, though within capacity: " + figures
	case c.Verdict == record.VerdictClumped:
		return who + " came back partly together: " + figures
	case c.Verdict == record.VerdictOverload:
		return "too many retries for the target, though not together: " + figures
	default:
		return "retries came back spread out: " + figures
	}
}

// unjudged says what is known of retries that are too few, or too short a time, for an index.
func unjudged(run *record.Run, plan planFields) string {
	if run.Outside == nil && run.Books.Arrivals == 0 && len(named(run.Books.Lost)) > 0 {
		return whyEmpty(run)
	}
	if retriesOf(run) == 0 {
		return "no retries, so nothing to judge"
	}
	peak := windowPeak(run)
	if run.Convoy.WindowArrivals == 0 {
		peak = "" // of first attempts
	}
	return "not known whether retries came together: " + whyUnjudged(run, plan) + peak
}

// retriesOf is how many retries were sent, or as far as a target knows that.
func retriesOf(run *record.Run) int64 {
	if run.Outside == nil {
		return run.Attempts.Retries
	}
	var n int64
	for i := range run.Buckets {
		n += run.Buckets[i].Retries
	}
	return n
}

// whyUnjudged names what an index lacks: the window, retries in it, or retries near each other.
func whyUnjudged(run *record.Run, plan planFields) string {
	c := &run.Convoy
	window := c.WindowTo - c.WindowFrom
	had := plural(c.WindowArrivals, "retry") + judged(c)
	short := window < record.ConvoyWindowMin
	switch {
	case window <= 0:
		return "the run ended before retries are judged, which is from " + count(windowFromBase) + " times base after the failure on"
	case c.WindowArrivals == 0:
		return "none of its " + plural(retriesOf(run), "retry") + " arrived" + judged(c) + ", where they are judged"
	case short && c.WindowArrivals < record.ConvoyArrivalsMin:
		return had + ", and it takes " + count(record.ConvoyArrivalsMin) + " in " + moment(record.ConvoyWindowMin) + " or more; " + whyShort(plan)
	case short:
		return had + ", and it takes a window of " + moment(record.ConvoyWindowMin) + " or more; " + whyShort(plan)
	case c.WindowArrivals < record.ConvoyArrivalsMin:
		return had + ", and it takes " + count(record.ConvoyArrivalsMin)
	}
	return had + ", of which no two are within " + moment(record.ConvoyWindowMin)
}

// The window goes from windowFromBase to windowToBase times the base: plan.ConvoyWindow.
const (
	windowFromBase = 10
	windowToBase   = 100
)

// whyShort says why a window is too short for an index, and what would make it longer.
func whyShort(plan planFields) string {
	base, err := time.ParseDuration(plan.text("base"))
	least := (record.ConvoyWindowMin/(windowToBase-windowFromBase) + time.Millisecond).Truncate(time.Millisecond)
	if err != nil || base >= least {
		return "the run was over too soon for that"
	}
	return "the window is " + count(windowFromBase) + " to " + count(windowToBase) + " times base, so that it takes a base of " + moment(least) + " or more"
}

// windowPeak is the harm that the verdict speaks of: the fullest bucket of retries in the window. Only what is
// above capacity is a wave.
func windowPeak(run *record.Run) string {
	peak := run.Convoy.WindowPeakOverCapacity
	if !finite(peak) {
		peak = run.Convoy.PeakOverCapacity
	}
	switch {
	case !finite(peak):
		return ""
	case *peak > 1:
		return ", waves up to " + times(peak) + " capacity"
	default:
		return ", fullest bucket " + times(peak) + " capacity"
	}
}

// judged names the window of the convoy index.
func judged(c *record.Convoy) string {
	if c.WindowTo <= c.WindowFrom {
		return ""
	}
	return " from " + moment(c.WindowFrom) + " to " + moment(c.WindowTo)
}

// progress says how many operations were done, and when.
func progress(run *record.Run) string {
	o := &run.Operations
	switch {
	case run.Outside != nil:
		return progressOutside(run)
	case o.Started == 0:
		return "no operation was started"
	case o.Started == 1 && o.Succeeded == 1 && run.Completion != nil:
		return "its one operation done after " + length(float64(*run.Completion))
	case o.Succeeded == o.Started && run.Completion != nil:
		return "all " + plural(o.Started, "operation") + " done after " + length(float64(*run.Completion))
	default:
		return count(o.Succeeded) + " of " + plural(o.Started, "operation") + " succeeded in " + span(run.Duration)
	}
}

// span writes the length of a run: as it was asked, or rounded where a signal set it.
func span(d time.Duration) string {
	if d%(10*time.Millisecond) == 0 {
		return moment(d)
	}
	return length(float64(d))
}
