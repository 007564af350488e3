package report

import (
	"io"
	"strings"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// ComparisonTerminal writes a comparison for people: first what makes figures worthless, then what is compared with what, what
// each strategy comes to, the gates, what was asked differently, and for each strategy its arrivals over those of
// the base and its figures. With Options.All these are all figures, else the main ones and what is beyond noise.
//
// Width, characters and strings are treated as by [Terminal]. The error is the writer's.
func ComparisonTerminal(w io.Writer, c *compare.Comparison, o Options) error {
	p := newPage(w, o)
	for _, t := range comparedTroubles(c) {
		p.para(styled(t.mark, t.word), factIndent, t.text)
		for _, reason := range t.why {
			p.para("", factIndent, "* "+reason)
		}
		p.blank()
	}
	p.para("Base", factIndent, sideText(&c.Base, insideOne(c)))
	pairs := make([][]comparedPair, len(c.Others))
	for i := range c.Others {
		pairs[i] = writeOther(p, c, &c.Others[i])
	}
	writeGates(p, &record.Result{Gates: c.Gates, Valid: true})
	for i := range pairs {
		for k := range pairs[i] {
			title := pairs[i][k].title
			if len(c.Others) > 1 && !insideOne(c) {
				title = clean(c.Others[i].Name) + ": " + title
			}
			p.heading(title)
			drawOverlay(p, &pairs[i][k], outagesOfTwo(&c.Base, &c.Others[i].Side, pairs[i][k].Service))
			p.blank()
			writeFigures(p, &pairs[i][k], o.All)
		}
	}
	if text := methodText(c); text != "" {
		p.heading("Noise")
		p.para("", 0, strings.ToUpper(text[:1])+text[1:])
	}
	return p.flush()
}

// writeOther writes what one result, or strategy, comes to beside the base.
func writeOther(p *page, c *compare.Comparison, o *compare.Other) []comparedPair {
	if len(c.Others) > 1 && !insideOne(c) {
		p.heading(clean(o.Name) + " against " + clean(c.Base.Name))
	}
	p.para("New", factIndent, sideText(&o.Side, insideOne(c)))
	head := "Changed"
	for _, text := range changeTexts(&c.Base, o) {
		p.para(head, factIndent, text)
		head = ""
	}
	for _, note := range o.Notes {
		p.para("Note", factIndent, clean(note)+".")
	}
	if text := unmatchedText(o); text != "" {
		p.para("Not compared", factIndent, text)
	}
	p.blank()
	pairs := make([]comparedPair, len(o.Pairs))
	for i := range o.Pairs {
		pairs[i] = comparedPairOf(&o.Pairs[i])
		writeSummary(p, &pairs[i])
	}
	return pairs
}

// writeSummary says what a pair comes to.
func writeSummary(p *page, pair *comparedPair) {
	word := pair.word()
	names := max(8, cells(p.spell(pair.title)))
	head := padRight(pair.title, names) + " " + styled(pairMarks[word], word)
	if names > 24 { // whose end may be all that tells it from another, as of two parts of one fleet
		p.para("", 0, clip(pair.title, 4*p.width))
		names, head = 0, styled(pairMarks[word], word)
	}
	for _, text := range pair.sentences() {
		p.para(head, names+10, text)
		head = ""
	}
	p.blank()
}

// beyondNoiseHead stands over what is known of a difference.
const beyondNoiseHead = "beyond" + string(nbsp) + "noise?"

// The columns of the figures' table.
func figureHead(ranges bool) []string {
	if ranges {
		return []string{"", "base", "5-95" + string(nbsp) + "%", "new", "5-95" + string(nbsp) + "%", "difference", beyondNoiseHead}
	}
	return []string{"", "base", "new", "difference", beyondNoiseHead}
}

// writeFigures writes the table of a pair.
func writeFigures(p *page, pair *comparedPair, all bool) {
	list := pair.main
	if all {
		list = pair.all
	}
	if len(list) == 0 {
		p.para("", 0, "No figures: neither side has a value.")
		return
	}
	for _, ranges := range []bool{true, false} {
		rows := figureRows(list, ranges)
		if rows == nil {
			continue
		}
		if names, fits := liftedNames(rows, p.width); fits && (names == nil || !ranges) {
			writeFigureRows(p, list, rows, names)
			writeFurther(p, pair, all)
			return
		}
	}
	for i := range list {
		f := &list[i]
		text := f.base + " -> " + f.other
		if finite(f.Difference) && *f.Difference != 0 {
			text += " (" + f.difference + ")"
		}
		p.para(f.label+":", 2, text+", "+toned(f.tone, f.known))
	}
	writeFurther(p, pair, all)
}

// figureRows lays the figures out in columns; nil where there are no ranges to show.
func figureRows(list []comparedFigure, ranges bool) [][]string {
	rows := [][]string{figureHead(ranges)}
	some := false
	for i := range list {
		f := &list[i]
		some = some || f.baseRange != "" || f.otherRange != ""
		row := []string{f.label, f.base, f.other, f.difference, f.known}
		if ranges {
			row = []string{f.label, f.base, f.baseRange, f.other, f.otherRange, f.difference, f.known}
		}
		rows = append(rows, row)
	}
	if ranges && !some {
		return nil
	}
	return rows
}

// nameLeast is the narrowest column of names that is one.
const nameLeast = 16

// liftedNames takes names that have no room beside their figures out of the rows, to stand above them, so that one long name
// leaves all the others a table. It returns them by their rows, nil where all have room, and whether the table fits.
func liftedNames(rows [][]string, width int) (names map[int]string, fits bool) {
	if tableCells(rows) <= width {
		return nil, true
	}
	figures := make([][]string, len(rows))
	for i, row := range rows {
		figures[i] = append([]string{""}, row[1:]...)
	}
	room := width - tableCells(figures) - tableGap // the last column begins with a blank
	if room < nameLeast {
		return nil, false
	}
	names = map[int]string{}
	for i, row := range rows {
		if cells(row[0]) > room {
			names[i], row[0] = row[0], ""
		}
	}
	return names, true
}

func writeFigureRows(p *page, list []comparedFigure, rows [][]string, names map[int]string) {
	widths := spread(tableWidths(rows), tableCells(rows), p.width)
	last := len(rows[0]) - 1
	for i := range rows { // the last column is text, at its left edge
		rows[i][last] = " " + rows[i][last]
		widths[last] = max(widths[last], cells(rows[i][last]))
		rows[i][last] = padRight(rows[i][last], widths[last])
	}
	for i, line := range layTable(rows, widths) {
		if i == 0 {
			line = styled(markBold, line)
		} else if t := list[i-1].tone; t != toneNone {
			known := strings.TrimSpace(rows[i][last])
			line = strings.TrimSuffix(strings.TrimRight(line, " "), known) + toned(t, known)
		}
		if name, lifted := names[i]; lifted {
			p.line(name)
		}
		p.line(line)
	}
}

func toned(t tone, text string) string {
	if mark, ok := toneMarks[t]; ok {
		return styled(mark, text)
	}
	return text
}

// furtherMost bounds the list of what is beyond noise beside the main figures.
const furtherMost = 10

// writeFurther lists what else is beyond noise, and says how to see all.
func writeFurther(p *page, pair *comparedPair, all bool) {
	if text := movedText(pair); text != "" {
		p.para("", 0, text+".")
	}
	if all {
		return
	}
	var more []string
	for i := range pair.all {
		f := &pair.all[i]
		if f.more() && !isMain(f.Metric) {
			more = append(more, f.phrase())
		}
	}
	rest := ""
	if n := len(more) - furtherMost; n > 0 {
		more, rest = more[:furtherMost], " and "+count(int64(n))+" more"
	}
	p.blank()
	if len(more) > 0 {
		p.para("Also differ", factIndent, strings.Join(more, ", ")+rest)
	}
	if n := len(pair.all) - len(pair.main); n > 0 {
		p.para("Further", factIndent, "--all shows "+plural(int64(n), "figure")+" more")
	}
}

func isMain(metric string) bool {
	for _, m := range mainFigures() {
		if m.metric == metric {
			return true
		}
	}
	return false
}
