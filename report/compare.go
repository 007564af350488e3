package report

import (
	"strings"

	"stormtest/load/record"
)

// A criterion is one column of the comparison.
type criterion struct {
	short, long string // heads of the table with strategies as rows, and as columns
	text        func(*record.Run) string
	// figure is what the best is chosen by, the lowest unless highest; nil where there is no best.
	figure  func(*record.Run) *float64
	highest bool
	// effort is a price that a strategy also saves by not doing its work: only the strategies that
	// succeeded most often are compared by it.
	effort bool
	// ofArrivals says that a run from a log has it too.
	ofArrivals bool
}

// bestMark stands behind the best figure of a column.
const bestMark = "*"

var criteria = []criterion{
	{short: "succeeded", long: "operations done", highest: true,
		text:   func(r *record.Run) string { return count(r.Operations.Succeeded) },
		figure: func(r *record.Run) *float64 { return floatOf(r.Operations.Succeeded) }},
	{short: "attempts", long: "attempts sent", effort: true,
		text:   func(r *record.Run) string { return count(r.Attempts.Sent) },
		figure: func(r *record.Run) *float64 { return floatOf(r.Attempts.Sent) }},
	{short: "amplif.", long: "amplification", effort: true,
		text:   func(r *record.Run) string { return number(r.Amplification) },
		figure: func(r *record.Run) *float64 { return r.Amplification }},
	{short: "all done", long: "all done after",
		text:   func(r *record.Run) string { return lengthOr(r.Completion) },
		figure: func(r *record.Run) *float64 { return floatOrNil(r.Completion) }},
	{short: "peak", long: "peak / capacity", ofArrivals: true,
		text:   func(r *record.Run) string { return times(r.Convoy.PeakOverCapacity) },
		figure: func(r *record.Run) *float64 { return r.Convoy.PeakOverCapacity }},
	{short: "convoy", long: "convoy index",
		text:   func(r *record.Run) string { return index(r.Convoy.ConvoyIndex) },
		figure: func(r *record.Run) *float64 { return r.Convoy.ConvoyIndex }},
	{short: "waves", long: "waves", ofArrivals: true,
		text:   func(r *record.Run) string { return countOr(r.Convoy.Waves) },
		figure: func(r *record.Run) *float64 { return floatOrNil(r.Convoy.Waves) }},
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

// writeComparison writes several strategies side by side, and with them the target that the order holds for.
func writeComparison(p *page, r *record.Result, plan planFields) {
	p.heading("Side by side")
	if rows := comparisonRows(r); tableCells(rows) <= p.width {
		writeComparisonRows(p, r, rows)
	} else {
		writeComparisonBlocks(p, r)
	}
	p.blank()
	p.para(bestMark, factIndent, "best of its kind; attempts and amplification are compared only between strategies that got (within 1"+string(nbsp)+"%) most done.")
	writeRepeats(p, r)
	model := targetModel(r, plan)
	if model == "" {
		model = "unknown, as the result holds no plan"
	}
	p.para("Target", factIndent, "the ranking holds for this target model: "+model+". Against another kind of target the order can be another.")
}

// figureWithMark is the text of a criterion with its mark, or a blank in its place.
func (c criterion) figureWithMark(r *record.Result, run *record.Run) string {
	if c.isBest(r, run) {
		return c.known(run) + styled(markGreen, bestMark)
	}
	return c.known(run) + string(nbsp)
}

// isBest says whether no other run has a better figure. Where all have the same, none is best.
func (c criterion) isBest(r *record.Result, run *record.Run) bool {
	mine := c.best(run)
	if !finite(mine) || c.effort && !amongMostDone(r, run) {
		return false
	}
	better := false
	for i := range r.Runs {
		other := c.best(&r.Runs[i])
		if !finite(other) || c.effort && !amongMostDone(r, &r.Runs[i]) {
			better = better || &r.Runs[i] != run
			continue
		}
		if *other != *mine {
			better = true
			if (*other > *mine) == c.highest {
				return false
			}
		}
	}
	return better
}

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

// comparisonRows is the table with a row for each strategy.
func comparisonRows(r *record.Result) [][]string {
	head := []string{"strategy"}
	for _, c := range criteria {
		head = append(head, c.short+string(nbsp))
	}
	rows := [][]string{append(head, padRight("verdict", verdictCells))}
	for i := range r.Runs {
		run := &r.Runs[i]
		row := []string{clip(clean(run.Strategy), 16)}
		for _, c := range criteria {
			row = append(row, c.figureWithMark(r, run))
		}
		rows = append(rows, append(row, padRight(verdictWord(run), verdictCells)))
	}
	return rows
}

func writeComparisonRows(p *page, r *record.Result, rows [][]string) {
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

// writeComparisonBlocks writes criteria as rows and as many strategies as fit beside each other.
func writeComparisonBlocks(p *page, r *record.Result) {
	labels := []string{""}
	for _, c := range criteria {
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
		column := []string{clip(clean(run.Strategy), 16) + string(nbsp)}
		for _, c := range criteria {
			column = append(column, c.figureWithMark(r, run))
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
func flagList(run *record.Run) string {
	var flags []string
	for _, flag := range run.Convoy.Flags {
		flags = append(flags, clip(clean(flag), 16))
	}
	return strings.Join(flags, " ")
}
