package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// figureName is a figure's full name: the run's name and the flat name of the metric.
func figureName(run *record.Run, metric string) string { return runName(run) + "." + metric }

// bestText takes the terminal's mark of the best, or the blank in its place, off a text.
func bestText(text string) (htmlText, bool) {
	if rest, found := strings.CutSuffix(text, styled(markGreen, bestMark)); found {
		return htmlText(rest), true
	}
	return htmlText(strings.TrimSuffix(text, string(nbsp))), false
}

// compareSection puts the strategies side by side.
func compareSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "compare", Title: "Side by side"}
	if len(r.Runs) == 0 {
		return s
	}
	if len(r.Runs) == 1 {
		s.Title = "In figures"
	}
	seeds := seedsEnded(r) > 1
	table := &htmlTable{Role: "compare", Caption: "The strategies side by side", Head: textRow("strategy")}
	table.Quiet = true
	if seeds {
		table.Caption, table.Quiet = table.Caption+", the first seed", false
	}
	compared := criteriaOf(r)
	marks := make([][]string, len(compared))
	ranked := false
	for k, c := range compared {
		table.Head = append(table.Head, htmlCell{Text: htmlText(c.long)})
		marks[k] = c.marked(r)
	}
	table.Head = append(table.Head, htmlCell{Text: "verdict", Class: "text"}, htmlCell{Text: "arrivals over time", Class: "text"})
	axis, chosen := arrivalsAxis(r), chosenRuns(r)
	for i := range r.Runs {
		run := &r.Runs[i]
		row := htmlRow{Run: &htmlRun{i, runName(run)}, Chosen: slices.Contains(chosen, i), Cells: textRow(runName(run))}
		for k, c := range compared {
			text, best := bestText(marks[k][i])
			best = best && !seeds
			ranked = ranked || best
			cell := htmlCell{Text: text, Best: best, Figure: figureName(run, c.metric)}
			if string(text) != none {
				cell.Value = htmlValue(c.figure(run))
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Cells = append(row.Cells, htmlCell{Text: htmlText(verdictWord(run)), Chip: verdictClass(run), Class: "text", After: htmlText(flagList(run))},
			htmlCell{Spark: spark(run, axis, longest(r)), Class: "text"})
		table.Rows = append(table.Rows, row)
	}
	if ranked {
		table.Foot = append(table.Foot, htmlText("★ "+bestLegend+"."))
	}
	model := targetModel(r, plan)
	if model != "" && len(r.Runs) > 1 {
		table.Foot = append(table.Foot, htmlText("The ranking holds for this target model: "+model+". Against another kind of target the order can be another."))
	}
	s.Blocks = append(append(s.Blocks, htmlBlock{Table: table}), notesBlocks(r)...)
	return s
}

// seedsSection is the table over all seeds, with ranges.
func seedsSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "seeds", Title: "All seeds"}
	if seedsEnded(r) < 1 {
		return s
	}
	table := &htmlTable{Role: "seeds", Caption: "Mean [5–95 %]: the mean, and the 5th and 95th percentile of the seeds", Head: textRow("figure")}
	for i := range r.Runs {
		table.Head = append(table.Head, htmlCell{Text: htmlText(runName(&r.Runs[i]))})
	}
	seeds := htmlRow{Cells: textRow("seeds")}
	for i := range r.Runs {
		text := none
		if s := r.Runs[i].Repeats; s != nil {
			text = count(s.Count)
		}
		seeds.Cells = append(seeds.Cells, htmlCell{Text: htmlText(text)})
	}
	table.Rows = append(table.Rows, seeds)
	ranked, odd := false, false
	for _, f := range repeatedFigures {
		row := htmlRow{Cells: textRow(f.long)}
		for i, text := range f.marked(r) {
			run := &r.Runs[i]
			shown, best := bestText(text)
			ranked, odd = ranked || best, odd || strings.Contains(text, inSeeds)
			cell := htmlCell{Text: shown, Best: best, Figure: figureName(run, f.metric) + ".mean"}
			if run.Repeats != nil && string(shown) != none {
				spread := run.Repeats.Figures[f.metric]
				cell.Value, cell.Low, cell.High = htmlValue(spread.Mean), htmlValue(spread.P5), htmlValue(spread.P95)
			}
			row.Cells = append(row.Cells, cell)
		}
		table.Rows = append(table.Rows, row)
	}
	table.Rows = append(table.Rows, seedVerdicts(r)...)
	if ranked && len(r.Runs) > 1 {
		table.Foot = append(table.Foot, htmlText("★ "+bestLegend+"; means only where every seed has the figure."))
	}
	if odd {
		table.Foot = append(table.Foot, "in n: so many seeds had a value: the others are in no figure of that row (all done, for one, has none where an operation failed).")
	}
	s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText(upperFirst(seedsText(r)))}, htmlBlock{Table: table})
	return s
}

// seedVerdicts are rows with how many seeds had which verdict.
func seedVerdicts(r *record.Result) []htmlRow {
	var rows []htmlRow
	for _, v := range verdicts {
		row, some := htmlRow{Cells: textRow("seeds with " + string(v))}, false
		for i := range r.Runs {
			text := none
			if s := r.Runs[i].Repeats; s != nil && len(s.Verdicts) > 0 {
				text = count(s.Verdicts[v])
				some = some || s.Verdicts[v] != 0
			}
			row.Cells = append(row.Cells, htmlCell{Text: htmlText(text)})
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}
