package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// A repeated figure is one row of the table of all seeds. text writes a value without its unit,
// which stands once, behind the range.
type repeatedFigure struct {
	metric, short, long string
	write               func(s *record.Spread) string
	like                string // the criterion by whose rules the means are compared; empty where they are not
}

var repeatedFigures = []repeatedFigure{
	{"success_share", "success", "success share", spreadIn(percentDigits, string(nbsp)+"%"), "succeeded"},
	{"attempts_sent", "attempts", "attempts", spreadIn(wholeNumber, ""), "attempts"},
	{"amplification", "amplif.", "amplification", spreadIn(significant, ""), "amplification"},
	{"completion", "all done", "all done", spreadOfLength, "all done"},
	{"peak_over_capacity", "peak", "peak / capacity", spreadIn(timesDigits, "x"), "peak / capacity"},
	{"convoy_index", "convoy", "convoy index", spreadIn(indexDigits, ""), "convoy index"},
	{"waves", "waves", "waves", spreadIn(significant, ""), "waves"},
	{"operation_latency_p50", "op. p50", "operation latency p50", spreadOfLength, ""},
	{"operation_latency_p99", "op. p99", "operation latency p99", spreadOfLength, ""},
}

func wholeNumber(v float64) string {
	return count(int64(math.Round(min(max(v, -math.MaxInt64/2), math.MaxInt64/2))))
}
func timesDigits(v float64) string { return strings.TrimSuffix(times(&v), "x") }
func indexDigits(v float64) string { return index(&v) }

// spreadIn writes mean [5-95 %] and the unit.
//
// A sum of equal values, divided, can end beside them by the last of its digits, on the other side of a rounding.
func spreadIn(digits func(float64) string, unit string) func(*record.Spread) string {
	return func(s *record.Spread) string {
		mean := *s.Mean
		for _, end := range []float64{*s.P5, *s.P95} {
			if math.Abs(mean-end) <= 1e-9*math.Abs(end) {
				mean = end
			}
		}
		return digits(mean) + string(nbsp) + "[" + digits(*s.P5) + "-" + digits(*s.P95) + "]" + unit
	}
}

// spreadOfLength writes lengths of time, all in the unit of their mean.
func spreadOfLength(s *record.Spread) string {
	if *s.Mean >= clockFrom {
		return spreadIn(length, "")(s)
	}
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

// seedsAsked is how many seeds the plan wanted; files of old do not say.
func seedsAsked(s *record.Repeats) int64 { return max(s.Asked, s.Count) }

// seedsEnded is how many seeds came to their end, of the strategy with most.
func seedsEnded(r *record.Result) int64 {
	var most int64
	for i := range r.Runs {
		if s := r.Runs[i].Repeats; s != nil {
			most = max(most, s.Count)
		}
	}
	return most
}

// seedsText names the seeds: 200 seeds from 1 to 200 ran, or how many of those that were asked for.
func seedsText(r *record.Result) string {
	s, most := seedsOf(r), seedsEnded(r)
	least, asked := most, seedsAsked(s)
	for i := range r.Runs {
		if s := r.Runs[i].Repeats; s != nil {
			least, asked = min(least, s.Count), max(asked, seedsAsked(s))
		}
	}
	switch {
	case most < 1:
		return "none of the " + count(asked) + " that were asked for came to its end. Verdicts, charts and figures are of what there is of the first one," + string(nbsp) + plainUint(s.Seeds[0]) + "."
	case least < most:
		return "from " + count(least) + " to " + count(most) + " of the " + count(asked) + " that were asked for came to their end, by strategy."
	case most < asked:
		return count(most) + " of the " + count(asked) + " that were asked for came to their end, from" + string(nbsp) + plainUint(s.Seeds[0]) + " on."
	case s.Each != nil:
		return plural(most, "seed") + " between" + string(nbsp) + plainUint(s.Seeds[0]) + " and" + string(nbsp) + plainUint(s.Seeds[1]) + " ran."
	case most == 1:
		return "one seed," + string(nbsp) + plainUint(s.Seeds[0]) + ", ran."
	}
	return plural(most, "seed") + " from" + string(nbsp) + plainUint(s.Seeds[0]) + " to" + string(nbsp) + plainUint(s.Seeds[1]) + " ran."
}

// verdictSeeds says behind a verdict in how many seeds the run's headline was each word: the one that stands there is of the first
// alone. Empty where that is no news.
func verdictSeeds(run *record.Run) string {
	s := run.Repeats
	if s == nil || s.Count < 2 {
		return ""
	}
	var parts []string
	for _, v := range verdictsByCount(s) {
		if n := s.Verdicts[v]; n == s.Count {
			return " (so in all " + plural(n, "seed") + ")"
		}
		text := string(v) + " in" + string(nbsp) + count(s.Verdicts[v])
		if len(parts) == 0 {
			text += " of " + plural(s.Count, "seed")
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// verdictsByCount lists the verdicts that some seed had, the most frequent first.
func verdictsByCount(s *record.Repeats) []record.Verdict {
	var list []record.Verdict
	for _, v := range verdicts {
		if s.Verdicts[v] > 0 {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b record.Verdict) int { return cmp.Compare(s.Verdicts[b], s.Verdicts[a]) })
	return list
}

// verdicts are the words of a headline, from bad to good.
var verdicts = []record.Verdict{
	record.VerdictConvoy, record.VerdictClumped, record.VerdictOverload, record.VerdictUnserved, record.VerdictUnjudged, record.VerdictClear,
}

// marked returns the texts of a figure for every run, with marks where the means are compared.
func (f repeatedFigure) marked(r *record.Result) []string {
	at := slices.IndexFunc(criteria, func(c criterion) bool { return c.long == f.like })
	all := make([]standing, len(r.Runs))
	means := make([]standing, len(r.Runs))
	for i := range r.Runs {
		all[i].shown = none
		run := &r.Runs[i]
		s := run.Repeats
		if s == nil {
			continue
		}
		all[i].shown = f.spreadText(s)
		spread := s.Figures[f.metric]
		mean, range5to95, _ := strings.Cut(all[i].shown, "[")
		_, unit, _ := strings.Cut(range5to95, "]")
		means[i] = standing{shown: mean + unit, out: !mostDoneOnAverage(r, s) || notRecovered.most(run)}
		if spread.Count == s.Count {
			means[i].value = spread.Mean
		}
	}
	if at < 0 || len(r.Runs) < 2 {
		return withMarks(all, make([]bool, len(all)))
	}
	alike := func(i, k int) bool { return byChance(&r.Runs[i], &r.Runs[k], f.metric) }
	return withMarks(all, criteria[at].best(means, alike))
}

// mostDoneOnAverage says whether a strategy got something done, and at least 0.99 times as large a share as the one with
// most.
func mostDoneOnAverage(r *record.Result, s *record.Repeats) bool {
	share := func(s *record.Repeats) float64 {
		if s == nil || !finite(s.Figures["success_share"].Mean) {
			return 0
		}
		return *s.Figures["success_share"].Mean
	}
	var most float64
	for i := range r.Runs {
		most = max(most, share(r.Runs[i].Repeats))
	}
	return share(s) > 0 && share(s) >= (1-doneWithin)*most
}

// writeRepeats writes the figures over all seeds, a column for each strategy, or lists where
// no column fits, and says whether one of them is the best at something.
func writeRepeats(p *page, r *record.Result) (ranked bool) {
	if seedsEnded(r) < 1 {
		return false
	}
	title, indent := "All seeds", factIndent
	if len(r.Runs) < 2 {
		p.heading(title)
		title, indent = "", 0
	}
	labels := []string{"", "seeds"}
	columns := make([][]string, len(r.Runs))
	for i := range r.Runs {
		columns[i] = []string{clip(clean(r.Runs[i].Strategy), strategyCells) + string(nbsp), none + string(nbsp)}
		if s := r.Runs[i].Repeats; s != nil {
			columns[i][1] = count(s.Count) + string(nbsp)
		}
	}
	odd := false
	for _, f := range repeatedFigures {
		label := f.long
		if p.width < 2*factIndent+len("operation latency p50") {
			label = f.short
		}
		labels = append(labels, label)
		for i, text := range f.marked(r) {
			odd = odd || strings.Contains(text, inSeeds)
			ranked = ranked || hasMark(text)
			columns[i] = append(columns[i], text)
		}
	}
	for _, v := range verdicts {
		labels = append(labels, string(v))
		some := false
		for i := range r.Runs {
			text := none
			if s := r.Runs[i].Repeats; s != nil && len(s.Verdicts) > 0 {
				text = count(s.Verdicts[v])
				some = some || s.Verdicts[v] != 0
			}
			columns[i] = append(columns[i], text+string(nbsp))
		}
		if !some { // a row of a word that no seed had
			labels = labels[:len(labels)-1]
			for i := range columns {
				columns[i] = columns[i][:len(columns[i])-1]
			}
		}
	}
	p.para(title, indent, "mean"+string(nbsp)+"[5-95"+string(nbsp)+"%]: the mean, and the 5th and 95th percentile of the seeds; then how many seeds had which verdict")
	p.blank()
	writeColumns(p, labels, columns)
	p.blank()
	if odd {
		p.para("in n", factIndent, "so many seeds had a value: the others are in no figure of that row (all done, for one, has none where an operation failed)")
	}
	return ranked
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
	p.para("", 0, styled(markBold, strings.TrimSuffix(column[0], string(nbsp))))
	for i := 1; i < len(column); i++ {
		p.para(labels[i]+":", 2, strings.TrimSuffix(column[i], string(nbsp)))
	}
}

// repeatFlags is how the run, or all its seeds, are had again.
func repeatFlags(r *record.Result) string {
	text := "--seed" + string(nbsp) + plainUint(r.Seed)
	if s := seedsOf(r); s != nil && s.Each == nil {
		text += " --repeat" + string(nbsp) + strconv.FormatInt(seedsAsked(s), 10)
	}
	return text
}
