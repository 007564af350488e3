package report

import (
	"io"
	"strconv"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// Hooks beside those in html.go: sections verdict, changed, gates, arrivals, figures, reading; table[data-role=changes],
// table[data-role=compared], one for each pair, and table[data-role=all-figures]. [data-figure] is "N.STRATEGY.METRIC.SIDE":
// the number of the other result, the other's strategy, the flat name, and base, other, difference or p. Charts are
// arrivals-N-K, of pair K of other N.

// ComparisonHTML writes a comparison as one page that needs no network, as [HTML] does a result.
func ComparisonHTML(w io.Writer, c *compare.Comparison, _ Options) error {
	p := &htmlPage{Title: comparedPageTitle(c), Alarm: gatesAlarm(c.Gates), Toolbar: comparedToolbar(c)}
	p.Lead = append(p.Lead, htmlText("Base: "+sideText(&c.Base, insideOne(c))))
	const leads = 4
	for i := range c.Others[:min(leads, len(c.Others))] {
		p.Lead = append(p.Lead, htmlText("New: "+sideText(&c.Others[i].Side, insideOne(c))))
	}
	if n := len(c.Others) - leads; n > 0 {
		p.Lead = append(p.Lead, htmlText("and "+plural(int64(n), "result")+" more"))
	}
	p.Summary = appendFilled(nil, comparedChanges(c), comparedVerdicts(c), gatesSection(&record.Result{Gates: c.Gates, Valid: true}))
	p.Sections = append(p.Sections, comparedArrivals(c), comparedFigures(c), comparedReading(c))
	return writeHTML(w, p)
}

func comparedPageTitle(c *compare.Comparison) string {
	base := clip(clean(c.Base.Name), 60)
	switch {
	case insideOne(c):
		return clip(clean(c.Inside), 60) + ": strategies against " + base
	case len(c.Others) == 1:
		return clip(clean(c.Others[0].Name), 60) + " against " + base
	}
	return plural(int64(len(c.Others)), "result") + " against " + base
}

// comparedToolbar has the base and every other.
func comparedToolbar(c *compare.Comparison) *htmlToolbar {
	bar := &htmlToolbar{Legend: "Results", Runs: []htmlRun{{0, "base: " + clip(clean(c.Base.Name), 40)}}}
	if insideOne(c) {
		bar.Legend = "Strategies"
	}
	bend := false
	for i := range c.Others {
		bar.Runs = append(bar.Runs, htmlRun{i + 1, clip(clean(c.Others[i].Name), 40)})
		for k := range c.Others[i].Pairs {
			bend = bend || arrivalsAxis(runsOf(&c.Others[i].Pairs[k])).Bend > 0
		}
	}
	if bend {
		bar.Switches = []*htmlSwitch{{Name: "scale", Legend: "Scale", Views: []htmlView{{"bent", "bent at capacity"}, {"even", "even"}}}}
	}
	return bar
}

// runsOf is a pair as a result of two runs.
func runsOf(p *compare.Pair) *record.Result {
	return &record.Result{Runs: []record.Run{*p.Base, *p.Other}}
}

// comparedVerdicts is the answer: what each pair comes to.
func comparedVerdicts(c *compare.Comparison) htmlSection {
	s := htmlSection{ID: "verdict", Title: "What differs"}
	var list []htmlVerdict
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			v := htmlVerdict{Run: i + 1, Strategy: comparedName(c, i, &pair), Word: htmlText(pair.word()), Class: toneClass(pairMarks[pair.word()])}
			for n, text := range pair.sentences() {
				if n > 0 {
					v.Sentence += " "
				}
				v.Sentence += htmlText(text)
			}
			list = append(list, v)
		}
	}
	s.Blocks = append(s.Blocks, htmlBlock{Verdicts: list})
	if text := methodText(c); text != "" {
		s.Blocks = append(s.Blocks, htmlBlock{Small: htmlText(upperFirst(text))})
	}
	return s
}

// toneClass is the class of a colour.
func toneClass(mark rune) string {
	return map[rune]string{markRed: "bad", markYellow: "warn", markGreen: "good"}[mark]
}

// comparedAlerts are what makes figures worthless.
func comparedAlerts(c *compare.Comparison) []htmlBlock {
	var list []htmlBlock
	for _, t := range comparedTroubles(c) {
		alert := &htmlAlert{Class: "bad", Role: "invalid", Head: htmlText(styled(t.mark, t.word)), Text: htmlText(t.text)}
		for _, why := range t.why {
			alert.Points = append(alert.Points, htmlText(why))
		}
		list = append(list, htmlBlock{Alert: alert})
	}
	return list
}

// comparedChanges is what was asked differently, behind what makes figures worthless.
func comparedChanges(c *compare.Comparison) htmlSection {
	s := htmlSection{ID: "changed", Title: "What changed", Blocks: comparedAlerts(c)}
	for i := range c.Others {
		o := &c.Others[i]
		if len(c.Others) > 1 {
			s.Blocks = append(s.Blocks, htmlBlock{Heading: clip(clean(o.Name), 60)})
		}
		table := &htmlTable{Role: "changes", Caption: "What was asked of " + clip(clean(o.Name), 60) + " otherwise than of " + clip(clean(c.Base.Name), 60), Head: textRow("field", "base", "new")}
		table.Head[1].Class, table.Head[2].Class = "text", "text"
		row := func(change *compare.Change, name string) {
			base, other := changeSides(change)
			table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{{Text: htmlText(name)}, {Text: htmlText(base), Class: "long"}, {Text: htmlText(other), Class: "long"}}})
		}
		for k := range o.PlanChanges {
			row(&o.PlanChanges[k], "--"+clean(o.PlanChanges[k].Name))
		}
		for k := range o.OtherChanges {
			row(&o.OtherChanges[k], clean(o.OtherChanges[k].Name))
		}
		if table.Rows != nil {
			s.Blocks = append(s.Blocks, htmlBlock{Table: table})
		}
		if text := sameText(&c.Base, o); text != "" {
			s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText(upperFirst(text) + ".")})
		}
		if text := unmatchedText(o); text != "" {
			s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText("Not compared: " + text + ".")})
		}
		var notes []htmlText
		for _, note := range o.Notes {
			notes = append(notes, htmlText(upperFirst(clean(note))+"."))
		}
		if notes != nil {
			s.Blocks = append(s.Blocks, htmlBlock{Alert: &htmlAlert{Class: "note", Role: "notes", Head: "Notes", Points: notes}})
		}
	}
	return s
}

// comparedArrivals shows the arrivals of each pair over each other.
func comparedArrivals(c *compare.Comparison) htmlSection {
	s := htmlSection{ID: "arrivals", Title: "Arrivals over time", Short: "Arrivals"}
	figures := &htmlFigures{Class: "wide"}
	bent := false
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			chart := comparedChart(c, i, k, &pair)
			bent = bent || chart.Y.Bend > 0
			figures.Charts = append(figures.Charts, chart)
		}
	}
	text := "The base is the bars, and the new one the outline over them, on the same axes."
	if bent {
		text += " " + bentWords
	}
	s.Blocks = []htmlBlock{{Words: htmlText(text)}, {Figures: figures}}
	return s
}

// comparedChart is the arrivals of one pair.
func comparedChart(c *compare.Comparison, i, k int, pair *comparedPair) *htmlChart {
	r := runsOf(pair.Pair)
	chart := &htmlChart{ID: "arrivals-" + strconv.Itoa(i) + "-" + strconv.Itoa(k), Title: comparedName(c, i, pair), Link: timeLink, Height: 320}
	x, hasBase := newBars(pair.Base, 1)
	y, hasOther := newBars(pair.Other, 1)
	if !hasBase && !hasOther {
		chart.Empty = "Nothing arrived on either side, so there is no picture."
		return chart
	}
	chart.Caption = htmlText(upperFirst(overlayWords(x, y)))
	if pair.seedsMost() > 1 {
		chart.Caption += " Of the first seed of each."
	}
	chart.X, chart.Y = timeAxis(longest(r)), arrivalsAxis(r)
	x, y = newSeriesOfTwo(pair.Base, pair.Other, barsMost)
	if x.merged > 1 {
		chart.Caption += htmlText(" Each step is the highest of " + count(x.merged) + " buckets of " + moment(x.bucket) + ", so no peak is hidden.")
	}
	if x.capacity > 0 && x.capacity == y.capacity && x.capacity <= chart.Y.Max {
		chart.Lines = []htmlLine{{Value: x.capacity, Label: "capacity, " + significant(x.capacity) + " in a bucket", Role: "capacity"}}
	}
	chart.Windows = windowsOf(outagesOfTwo(&c.Base, &c.Others[i].Side, pair.Service), longest(r))
	picture := &htmlPicture{}
	for n, s := range []*series{&x, &y} {
		run := n * (i + 1) // the base is 0
		name, style := "base", "bar"
		if n > 0 {
			name, style = "new", "step"
		}
		line := htmlSeries{Name: name, Role: "run", Style: style, Run: &run, Width: float64(s.bucket) * float64(s.merged)}
		for at := 0; at < len(s.columns); at += s.repeat {
			line.Y = append(line.Y, floatOf(s.columns[at].arrivals))
		}
		picture.Series = append(picture.Series, line)
	}
	chart.Views = map[string]*htmlPicture{"": picture}
	return chart
}

// comparedFigures has the figures of every pair: the main ones, and all where that is asked for.
func comparedFigures(c *compare.Comparison) htmlSection {
	s := htmlSection{ID: "figures", Title: "Figures"}
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			pair := comparedPairOf(&c.Others[i].Pairs[k])
			name := comparedName(c, i, &pair)
			if len(pair.all) == 0 {
				s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText(name + ": neither side has a figure.")})
				continue
			}
			prefix := strconv.Itoa(i) + "." + clip(clean(pair.OtherStrategy), 40)
			main, all := comparedTable("compared", "Main figures of "+name, prefix, pair.main), comparedTable("all-figures", "Every figure of "+name, prefix, pair.all)
			if text := movedText(&pair); text != "" {
				main.Foot, all.Foot = append(main.Foot, htmlText(text+".")), append(all.Foot, htmlText(text+"."))
			}
			s.Blocks = append(s.Blocks, htmlBlock{Heading: name}, htmlBlock{Table: main},
				htmlBlock{Fold: &htmlFold{Title: "Every figure of " + name + " by the name that a gate knows it by", Blocks: []htmlBlock{{Table: all}}}})
		}
	}
	return s
}

// comparedTable has the answer beside the name, where a narrow page shows it.
func comparedTable(role, caption, prefix string, figures []comparedFigure) *htmlTable {
	table := &htmlTable{Role: role, Caption: caption, Head: textRow("figure", "difference", beyondNoiseHead, "base", "new")}
	table.Head[2].Class = "text"
	seeds := false
	for i := range figures {
		f := &figures[i]
		seeds = seeds || f.baseRange != "" || f.otherRange != ""
		side := func(text, seeds, name string, v *compare.Value) htmlCell {
			cell := htmlCell{Text: htmlText(text), Figure: prefix + "." + f.Metric + "." + name, Value: htmlValue(v.Value)}
			if seeds != "" {
				cell.Text += htmlText(" " + styled(markFaint, "["+seeds+"]"))
				cell.Low, cell.High = htmlValue(v.P5), htmlValue(v.P95)
			}
			return cell
		}
		known := htmlCell{Text: htmlText(f.known), Class: "text", Figure: prefix + "." + f.Metric + ".p", Value: htmlValue(f.P)}
		if f.more() {
			known.Chip = toneClass(toneMarks[f.tone])
		}
		table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{
			{Text: htmlText(f.label)}, {Text: htmlText(f.difference), Figure: prefix + "." + f.Metric + ".difference", Value: htmlValue(f.Difference)}, known,
			side(f.base, f.baseRange, "base", &f.Base), side(f.other, f.otherRange, "other", &f.Other),
		}})
	}
	if seeds {
		table.Foot = []htmlText{"In brackets: the 5th to the 95th percentile of the seeds."}
	}
	return table
}

// comparedReading explains the words of the page.
func comparedReading(c *compare.Comparison) htmlSection {
	fact := func(head, text string) htmlFact { return htmlFact{Head: htmlText(head), Text: htmlText(text)} }
	facts := []htmlFact{
		fact("Base and new", "The first result is the base of every other. A difference is new minus base, in percent of the base; of shares it is in points of percent."),
		fact("Beyond noise", "Other seeds of one plan give other figures, too. A figure is beyond noise where shuffling which seed belongs to which side almost never sets any figure as far apart; p is how often. Of the comparisons of a plan with itself at most "+percentText(c.FalsePositiveShare)+" show anything. What is within noise may differ all the same: more seeds would show a smaller difference."),
		fact("Unknown", "With one seed on a side nobody knows what is noise: run both with --repeat."),
		fact("Certain", "In virtual time one plan and seed leave nothing to chance: what differs is the program's doing."),
		fact("Better, worse", "Said only where one way is clearly better, and of counts only where both sides had as much to do. Less work is no feat of the side that got less done."),
		fact("SAME, NOISE, BETTER, WORSE, MIXED, DIFFERS, UNKNOWN", "No figure differs; none beyond noise; some are better, and none worse; the other way round; some of each; some differ and none for better or worse; nobody knows."),
	}
	return htmlSection{ID: "reading", Title: "How to read this", Blocks: []htmlBlock{{Facts: facts}}}
}
