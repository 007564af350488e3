package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// A criterion is one column of the table of strategies side by side.
type criterion struct {
	short, long string // heads of the table with strategies as rows, and as columns
	metric      string // the figure's flat name
	text        func(*record.Run) string
	figure      func(*record.Run) *float64
	// unranked says that there is no best. The fullest bucket is for most strategies the first wave, which is everybody's
	// alike; and the fewest waves has who never falls below capacity again.
	unranked bool
	highest  bool
	// near is how near to the best a figure counts as equal, and below equal all do.
	near, equal float64
	// absenceLoses says that to have no figure is worse than any.
	absenceLoses bool
	// ofArrivals says that a run from a log has it too.
	ofArrivals bool
}

// bestMark stands behind the best figure of a column.
const bestMark = "*"

// bestLegend says what bestMark means.
const bestLegend = "best of its kind, of the strategies that got (within 1" + string(nbsp) + "%) most done and did not leave the target broken. " +
	"What is within 5" + string(nbsp) + "% (of what succeeded, 1" + string(nbsp) + "%) is equal, and so is every convoy index below 0.10. " +
	"Of peak and waves there is no best: the first wave is alike in all, and one wave can last longer than many"

var criteria = []criterion{
	{short: "succeeded", long: "succeeded", metric: "operations_succeeded", highest: true, near: doneWithin,
		text:   func(r *record.Run) string { return count(r.Operations.Succeeded) },
		figure: func(r *record.Run) *float64 { return floatOf(r.Operations.Succeeded) }},
	{short: "attempts", long: "attempts", metric: "attempts_sent", near: effortWithin,
		text:   func(r *record.Run) string { return count(r.Attempts.Sent) },
		figure: func(r *record.Run) *float64 { return floatOf(r.Attempts.Sent) }},
	{short: "amplif.", long: "amplification", metric: "amplification", near: effortWithin,
		text:   func(r *record.Run) string { return number(r.Amplification) },
		figure: func(r *record.Run) *float64 { return r.Amplification }},
	{short: "all done", long: "all done", metric: "completion", near: effortWithin, absenceLoses: true,
		text:   func(r *record.Run) string { return lengthOr(r.Completion) },
		figure: func(r *record.Run) *float64 { return floatOrNil(r.Completion) }},
	{short: "peak", long: "peak / capacity", metric: "peak_over_capacity", unranked: true, ofArrivals: true,
		text:   func(r *record.Run) string { return times(r.Convoy.PeakOverCapacity) },
		figure: func(r *record.Run) *float64 { return r.Convoy.PeakOverCapacity }},
	{short: "convoy", long: "convoy index", metric: "convoy_index", near: effortWithin, equal: record.ThresholdPartial,
		text:   func(r *record.Run) string { return index(r.Convoy.ConvoyIndex) },
		figure: func(r *record.Run) *float64 { return r.Convoy.ConvoyIndex }},
	{short: "waves", long: "waves", metric: "waves", unranked: true, ofArrivals: true,
		text:   func(r *record.Run) string { return countOr(r.Convoy.Waves) },
		figure: func(r *record.Run) *float64 { return floatOrNil(r.Convoy.Waves) }},
}

// recoveredAfter is one criterion more where there was something to recover from.
var recoveredAfter = criterion{short: "recov.", long: "recovered after", metric: "recovered_after", near: effortWithin, absenceLoses: true,
	text: func(r *record.Run) string {
		if r.Recovery.RecoveredAt == nil {
			return none
		}
		return length(float64(*r.Recovery.RecoveredAt))
	},
	figure: func(r *record.Run) *float64 {
		if r.Recovery.RecoveredAt == nil {
			return nil
		}
		return floatOf(int64(*r.Recovery.RecoveredAt))
	}}

// criteriaOf are the criteria of a result.
func criteriaOf(r *record.Result) []criterion {
	if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return finite(run.Recovery.GoodputBefore) }) {
		return append(slices.Clone(criteria), recoveredAfter)
	}
	return criteria
}

func floatOf(n int64) *float64 {
	v := float64(n)
	return &v
}

func floatOrNil(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return floatOf(*n)
}

// writeSideBySide writes several strategies side by side, and with them the target that the order holds for. Where
// several seeds ran it is their means that are compared.
func writeSideBySide(p *page, r *record.Result, plan planFields) {
	p.heading("Side by side")
	seeds := seedsEnded(r) > 0
	var ranked bool
	if seeds {
		ranked = writeRepeats(p, r)
	} else {
		ranked = writeFirstSeeds(p, r)
		p.blank()
	}
	model := targetModel(r, plan)
	if !ranked {
		writeRule(p, r)
		if model != "" {
			p.para("Target", factIndent, model)
		}
		return
	}
	legend := bestLegend
	if seeds {
		legend += "; means only where every seed has the figure"
	}
	p.para(bestMark, factIndent, legend+".")
	writeRule(p, r)
	if model == "" {
		model = "unknown, as the result holds no plan"
	}
	p.para("Target", factIndent, "the ranking holds for this target model: "+model+". Against another kind of target the order can be another.")
}

// writeRule says how the answer at the top was found, where there is one.
func writeRule(p *page, r *record.Result) {
	if choose(r).best != nil {
		p.para("Answer", factIndent, choiceRule+" "+choiceDoubt(r))
	}
}

// writeFirstSeeds compares the runs, and says whether one of them is the best at something.
func writeFirstSeeds(p *page, r *record.Result) (ranked bool) {
	compared := criteriaOf(r)
	texts := make([][]string, len(compared))
	for i, c := range compared {
		texts[i] = c.marked(r)
		ranked = ranked || slices.ContainsFunc(texts[i], hasMark)
	}
	if rows := sideBySideRows(r, texts); tableCells(rows) <= p.width {
		writeSideBySideRows(p, r, rows)
	} else {
		writeSideBySideBlocks(p, r, texts)
	}
	return ranked
}

// hasMark says whether a text has the mark of the best.
func hasMark(text string) bool { return strings.HasSuffix(text, styled(markGreen, bestMark)) }

// A standing is one strategy's place in a row of figures that are compared.
type standing struct {
	value *float64 // nil where it has none
	shown string
	out   bool // its work is not done: it cannot be the best, and who has done it beats it
}

// best says which of the standings are marked: those that none beats as they are shown, and that beat another. alike says
// of two that their difference is chance; nil for never.
func (c criterion) best(all []standing, alike func(i, k int) bool) []bool {
	beats := func(i, k int) bool {
		mine, other := &all[i], &all[k]
		switch {
		case !finite(other.value) || other.out:
			return other.out || c.absenceLoses
		case mine.shown == other.shown || alike != nil && alike(i, k):
			return false
		}
		a, b := *mine.value, *other.value
		if a < c.equal {
			a = 0
		}
		if b < c.equal {
			b = 0
		}
		if c.highest {
			return b < a*(1-c.near)
		}
		return a < b*(1-c.near)
	}
	in := func(i int) bool { return !c.unranked && finite(all[i].value) && !all[i].out }
	marks := make([]bool, len(all))
	for i := range all {
		beatsOne, beaten := false, false
		for k := range all {
			beatsOne = beatsOne || k != i && in(i) && beats(i, k)
			beaten = beaten || k != i && in(k) && beats(k, i)
		}
		marks[i] = beatsOne && !beaten
	}
	return marks
}

// marked returns the texts of a criterion for every run, each with its mark or a blank in its place. A run that was
// cut is not compared with others, and so none is.
func (c criterion) marked(r *record.Result) []string {
	all := make([]standing, len(r.Runs))
	for i := range r.Runs {
		run := &r.Runs[i]
		all[i] = standing{shown: c.known(run), out: !served(run) || !amongMostDone(r, run) || neverRecovered(run)}
		if !r.Interrupted {
			all[i].value = c.value(run)
		}
	}
	return withMarks(all, c.best(all, nil))
}

// withMarks returns the texts with a mark behind the best, and a blank behind the others.
func withMarks(all []standing, marks []bool) []string {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].shown + string(nbsp)
		if marks[i] {
			texts[i] = all[i].shown + styled(markGreen, bestMark)
		}
	}
	return texts
}

// served says that a strategy got something done, without which its figures are no feat. Of a log nobody knows.
func served(run *record.Run) bool { return run.FromLog != nil || run.Operations.Succeeded > 0 }

// amongMostDone says whether the run succeeded at least 0.99 times as often as the best one.
func amongMostDone(r *record.Result, run *record.Run) bool {
	var most int64
	for i := range r.Runs {
		most = max(most, r.Runs[i].Operations.Succeeded)
	}
	return float64(run.Operations.Succeeded) >= 0.99*float64(most)
}

// verdictCells is the width of the longest verdict.
const verdictCells = len(record.VerdictOverload)

// sideBySideRows is the table with a row for each strategy; texts are those of the criteria for each run.
func sideBySideRows(r *record.Result, texts [][]string) [][]string {
	head := []string{"strategy"}
	for _, c := range criteriaOf(r) {
		head = append(head, c.short+string(nbsp))
	}
	rows := [][]string{append(head, padRight("verdict", verdictCells))}
	for i := range r.Runs {
		run := &r.Runs[i]
		row := []string{clip(clean(run.Strategy), strategyCells)}
		for k := range texts {
			row = append(row, texts[k][i])
		}
		rows = append(rows, append(row, padRight(verdictWord(run), verdictCells)))
	}
	return rows
}

func writeSideBySideRows(p *page, r *record.Result, rows [][]string) {
	widths := spread(tableWidths(rows), tableCells(rows), p.width)
	for i, line := range layTable(rows, widths) {
		if i == 0 {
			line = styled(markBold, line)
		}
		p.line(line)
		if i > 0 {
			if flags := flagList(&r.Runs[i-1]); flags != "" {
				p.line(padLeft(flags, tableCells(rows)))
			}
		}
	}
}

// writeSideBySideBlocks writes criteria as rows and as many strategies as fit beside each other.
func writeSideBySideBlocks(p *page, r *record.Result, texts [][]string) {
	labels := []string{""}
	for _, c := range criteriaOf(r) {
		label := c.long
		if p.narrow() {
			label = c.short
		}
		labels = append(labels, label)
	}
	labels = append(labels, "verdict", "flags")
	columns := [][]string{labels}
	flush := func() {
		if len(columns) < 2 {
			return
		}
		rows := transpose(columns)
		for i, line := range layTable(rows, tableWidths(rows)) {
			if i == len(rows)-1 && strings.TrimSpace(strings.TrimPrefix(line, "flags")) == "" {
				continue
			}
			p.line(line)
		}
		columns = columns[:1]
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		column := []string{clip(clean(run.Strategy), strategyCells) + string(nbsp)}
		for k := range texts {
			column = append(column, texts[k][i])
		}
		column = append(column, verdictWord(run)+string(nbsp), flagList(run))
		if len(columns) > 1 && tableCells(transpose(append(columns, column))) > p.width {
			flush()
			p.blank()
		}
		columns = append(columns, column)
	}
	flush()
}

// flagList is the flags of a run, one after the other.
func flagList(run *record.Run) string { return strings.Join(flagsOf(run), " ") }

// flagsOf are the words beside a verdict: the flags and, where the run was not watched for long enough to have that of it, that
// the target did not recover.
func flagsOf(run *record.Run) []string {
	flags := cleanFlags(run)
	if notRecovered.most(run) && !slices.Contains(run.Convoy.Flags, record.FlagMetastable) {
		flags = append(flags, "NOT"+string(nbsp)+"RECOVERED")
	}
	return flags
}

// cleanFlags are the flags of a run, fit to be shown.
func cleanFlags(run *record.Run) []string {
	var flags []string
	for _, flag := range run.Convoy.Flags {
		flags = append(flags, clip(clean(flag), 16))
	}
	return flags
}
