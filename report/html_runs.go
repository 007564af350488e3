package report

import (
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
		if run.FromLog == nil {
			blocks = append(blocks, htmlBlock{Fold: &htmlFold{Title: "Every figure of " + runName(run) + " by the name that a gate knows it by", Blocks: []htmlBlock{{Table: figuresTable(run)}}}})
		}
		s.Blocks = append(s.Blocks, htmlBlock{Fold: &htmlFold{Title: runHeading(run), Open: len(r.Runs) == 1, Blocks: blocks}})
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

// figuresTable has every figure of the run.
func figuresTable(run *record.Run) *htmlTable {
	table := &htmlTable{Role: "figures", Caption: "Figures of " + runName(run), Head: textRow("figure", "value", "meaning")}
	table.Head[2].Class = "text"
	for _, m := range record.Metrics() {
		v := m.Value(run)
		table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{
			{Text: htmlText(m.Name)}, {Text: htmlText(metricText(m, v)), Figure: figureName(run, m.Name), Value: htmlValue(v)}, {Text: htmlText(m.Meaning), Class: "long"},
		}})
	}
	return table
}

// metricText writes a figure as the other tables do.
func metricText(m record.Metric, v *float64) string {
	switch {
	case !finite(v):
		return none
	case m.Name == "convoy_index":
		return index(v)
	case m.Unit == record.UnitDuration:
		return length(*v)
	case m.Unit == record.UnitShare:
		return percent(v)
	case m.Unit == record.UnitCount:
		return significantCount(*v)
	}
	return number(v)
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
	s.Blocks = append(s.Blocks, htmlBlock{Facts: facts})
	for i := range r.Runs {
		if run := &r.Runs[i]; !virtual(run) && run.FromLog == nil && run.Outside == nil {
			s.Blocks = append(s.Blocks, htmlBlock{Words: "Lateness is how long after it was due a send left. A run is valid where at p99 it is at most a tenth of a bucket, and the first wave spreads over at most half of one."})
			break
		}
	}
	return s
}
