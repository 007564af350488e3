package report

import (
	"math"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// A repeated figure is one row of the table of all seeds. text writes a value without its unit,
// which stands once, behind the range.
type repeatedFigure struct {
	metric, short, long string
	write               func(s *record.Spread) string
}

var repeatedFigures = []repeatedFigure{
	{"attempts_sent", "attempts", "attempts sent", spreadIn(wholeNumber, "")},
	{"completion", "all done", "all done after", spreadOfLength},
	{"success_share", "succeeded", "operations done", spreadIn(percentDigits, string(nbsp)+"%")},
	{"amplification", "amplif.", "amplification", spreadIn(significant, "")},
	{"peak_over_capacity", "peak", "peak / capacity", spreadIn(timesDigits, "x")},
	{"convoy_index", "convoy", "convoy index", spreadIn(indexDigits, "")},
	{"operation_latency_p50", "oper. p50", "operation p50", spreadOfLength},
	{"operation_latency_p99", "oper. p99", "operation p99", spreadOfLength},
}

func wholeNumber(v float64) string {
	return count(int64(math.Round(min(max(v, -math.MaxInt64/2), math.MaxInt64/2))))
}
func timesDigits(v float64) string { return strings.TrimSuffix(times(&v), "x") }
func indexDigits(v float64) string { return index(&v) }

// spreadIn writes mean [5-95 %] and the unit.
func spreadIn(digits func(float64) string, unit string) func(*record.Spread) string {
	return func(s *record.Spread) string {
		return digits(*s.Mean) + string(nbsp) + "[" + digits(*s.P5) + "-" + digits(*s.P95) + "]" + unit
	}
}

// spreadOfLength writes lengths of time, all in the unit of their mean.
func spreadOfLength(s *record.Spread) string {
	u := unitOf(math.Abs(*s.Mean))
	return spreadIn(func(ns float64) string { return lengthDigits(ns / u.ns) }, string(nbsp)+u.name)(s)
}

// inSeeds stands before the number of seeds that had a value, where others had none.
const inSeeds = " in" + string(nbsp)

// spreadText is one cell of the table.
func (f repeatedFigure) spreadText(r *record.Repeats) string {
	s := r.Figures[f.metric]
	if !finite(s.Mean) || !finite(s.P5) || !finite(s.P95) {
		return none
	}
	text := f.write(&s)
	if s.Count != r.Count {
		text += inSeeds + count(s.Count)
	}
	return text
}

// seedsOf returns the repeats of the first run that has some; nil where no run has.
func seedsOf(r *record.Result) *record.Repeats {
	for i := range r.Runs {
		if s := r.Runs[i].Repeats; s != nil {
			return s
		}
	}
	return nil
}

// seedsText names the seeds: 200 seeds from 1 to 200.
func seedsText(s *record.Repeats) string {
	if s.Count == 1 {
		return "one seed," + string(nbsp) + plainUint(s.Seeds[0]) + ","
	}
	return plural(s.Count, "seed") + " from" + string(nbsp) + plainUint(s.Seeds[0]) + " to" + string(nbsp) + plainUint(s.Seeds[1])
}

// writeRepeats writes the figures over all seeds, a column for each strategy, or lists where
// no column fits.
func writeRepeats(p *page, r *record.Result) {
	if seedsOf(r) == nil {
		return
	}
	title, indent := "All seeds", factIndent
	if len(r.Runs) < 2 {
		p.heading(title)
		title, indent = "", 0
	}
	labels := []string{"", "seeds"}
	for _, f := range repeatedFigures {
		label := f.long
		if p.width < 2*factIndent+len("operations done") {
			label = f.short
		}
		labels = append(labels, label)
	}
	var columns [][]string
	odd := false
	for i := range r.Runs {
		run := &r.Runs[i]
		column := []string{clip(clean(run.Strategy), 16), none}
		if run.Repeats != nil {
			column[1] = count(run.Repeats.Count)
		}
		for _, f := range repeatedFigures {
			text := none
			if run.Repeats != nil {
				text = f.spreadText(run.Repeats)
				odd = odd || strings.Contains(text, inSeeds)
			}
			column = append(column, text)
		}
		columns = append(columns, column)
	}
	p.para(title, indent, "mean"+string(nbsp)+"[5-95"+string(nbsp)+"%]: the mean, and the 5th and 95th percentile of the seeds")
	p.blank()
	writeColumns(p, labels, columns)
	p.blank()
	if odd {
		p.para("in n", factIndent, "so many seeds had a value: the others are in no figure of that row (all done after, for one, has none where an operation failed)")
	}
}

// writeColumns writes columns beside their labels, as many in a row as fit, or as lists where none does.
func writeColumns(p *page, labels []string, columns [][]string) {
	block := [][]string{labels}
	flush := func() {
		if len(block) > 1 {
			rows := transpose(block)
			for _, line := range layTable(rows, tableWidths(rows)) {
				p.line(line)
			}
		}
		block = block[:1]
	}
	for _, column := range columns {
		if tableCells(transpose([][]string{labels, column})) > p.width {
			flush()
			writeList(p, labels, column)
			continue
		}
		if len(block) > 1 && tableCells(transpose(append(block, column))) > p.width {
			flush()
			p.blank()
		}
		block = append(block, column)
	}
	flush()
}

// writeList writes one column as a list; its first element is the title.
func writeList(p *page, labels, column []string) {
	p.blank()
	p.para("", 0, styled(markBold, column[0]))
	for i := 1; i < len(column); i++ {
		p.para(labels[i]+":", 2, column[i])
	}
}

// repeatFlags is how the run, or all its seeds, are had again.
func repeatFlags(r *record.Result) string {
	text := "--seed" + string(nbsp) + plainUint(r.Seed)
	if s := seedsOf(r); s != nil {
		text += " --repeat" + string(nbsp) + strconv.FormatInt(s.Count, 10)
	}
	return text
}
