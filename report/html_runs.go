package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// runsSection tells of each strategy what the terminal report tells, and every figure by its name.
func runsSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "runs", Title: "Each strategy in figures", Short: "All figures"}
	for i := range r.Runs {
		run := &r.Runs[i]
		var blocks []htmlBlock
		facts := htmlFacts(func(p *page) { writeRunFacts(p, run, plan) })
		blocks = append(blocks, htmlBlock{Facts: facts})
		if run.FromLog == nil && run.Outside == nil {
			blocks = append(blocks, htmlBlock{Table: percentilesTable(run)})
			for _, fact := range htmlFacts(func(p *page) { writeOutOfRanges(p, run) }) {
				blocks = append(blocks, htmlBlock{Small: fact.Text})
			}
		}
		s.Blocks = append(s.Blocks, htmlBlock{Fold: &htmlFold{Title: runHeading(run), Open: len(r.Runs) == 1, Blocks: blocks}})
	}
	if tables := figuresTables(r); len(tables) > 0 {
		s.Blocks = append(s.Blocks, htmlBlock{Fold: &htmlFold{Title: "Every figure, by the name that a gate knows it by", Screen: true, Blocks: tables}})
	}
	return s
}

// percentilesTable has a row for each histogram.
func percentilesTable(run *record.Run) *htmlTable {
	rows := distributionRows(run, statistics)
	table := &htmlTable{Role: "percentiles", Caption: "Distributions of " + runName(run), Head: textRow(rows[0]...)}
	for _, texts := range rows[1:] {
		row := htmlRow{Cells: textRow(texts...)}
		for k := 1; k < len(texts); k++ {
			name := strings.ReplaceAll(texts[0], " ", "_") + "_" + strings.ReplaceAll(rows[0][k], ".", "")
			if m, known := record.MetricNamed(name); known {
				row.Cells[k].Figure, row.Cells[k].Value = figureName(run, name), htmlValue(m.Value(run))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// figureColumns is the most strategies in one table of every figure.
const figureColumns = 6

// figuresTables have every figure of every run, so many runs in a table.
func figuresTables(r *record.Result) []htmlBlock {
	var blocks []htmlBlock
	var runs []*record.Run
	for i := range r.Runs {
		if r.Runs[i].FromLog == nil {
			runs = append(runs, &r.Runs[i])
		}
	}
	for part := range slices.Chunk(runs, figureColumns) {
		blocks = append(blocks, htmlBlock{Table: figuresTable(part)})
	}
	return blocks
}

func figuresTable(runs []*record.Run) *htmlTable {
	table := &htmlTable{Role: "figures", Caption: "Every figure", Quiet: true, Head: textRow("figure")}
	for _, run := range runs {
		table.Head = append(table.Head, htmlCell{Text: htmlText(runName(run))})
	}
	table.Head = append(table.Head, htmlCell{Text: "meaning", Class: "text"})
	group := ""
	for _, m := range record.Metrics() {
		if m.Group != group {
			group = m.Group
			table.Rows = append(table.Rows, htmlRow{Group: group, Columns: len(table.Head)})
		}
		row := htmlRow{Cells: textRow(m.Name)}
		some := true
		for _, run := range runs {
			v := m.Value(run)
			some = some && v != nil
			row.Cells = append(row.Cells, htmlCell{Text: htmlText(metricText(m, v)), Figure: figureName(run, m.Name), Value: htmlValue(v)})
		}
		meaning := m.Meaning
		if !some && m.Absent != "" {
			meaning += " (" + none + ": " + m.Absent + ")"
		}
		table.Rows = append(table.Rows, htmlRow{Cells: append(row.Cells, htmlCell{Text: htmlText(meaning), Class: "long"})})
	}
	return table
}

// metricText writes a figure as the other tables do.
func metricText(m record.Metric, v *float64) string {
	if !finite(v) {
		return none
	}
	if i := int(*v); m.Unit == record.UnitWord && i >= 0 && i < len(m.Words) {
		return m.Words[i]
	}
	return figureText(m.Name, m.Unit, *v)
}

// generatorSection says how far the measuring side can be believed.
func generatorSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "generator", Title: "The generator’s health", Short: "Generator"}
	var facts []htmlFact
	for i := range r.Runs {
		run := &r.Runs[i]
		var text htmlText
		switch {
		case run.FromLog != nil:
			text = "a log does not tell"
		case run.Outside != nil:
			text = "the clients were not ours: how late they sent, only they know"
		default:
			write := writeGenerator
			if virtual(run) {
				write = writeClock
			}
			for _, fact := range htmlFacts(func(p *page) { write(p, run) }) {
				text += fact.Text
			}
		}
		facts = append(facts, htmlFact{Head: htmlText(runName(run)), Text: text})
	}
	if len(facts) > 1 && !slices.ContainsFunc(facts, func(f htmlFact) bool { return f.Text != facts[0].Text }) {
		facts = []htmlFact{{Head: "All strategies", Text: facts[0].Text}}
	}
	s.Blocks = append(s.Blocks, htmlBlock{Facts: facts})
	for i := range r.Runs {
		if run := &r.Runs[i]; !virtual(run) && run.FromLog == nil && run.Outside == nil {
			s.Blocks = append(s.Blocks, htmlBlock{Words: "Lateness is how long after it was due a send left. A run is valid where at p99 it is at most a tenth of a bucket, and the first wave spreads over at most half of one."})
			break
		}
	}
	return s
}
