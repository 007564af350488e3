package report

import (
	"math"
	"strconv"

	"stormtest/load/record"
)

// retrySwitch chooses before which retry the delays are shown.
const retrySwitch = "retry"

// delayBarsMost bounds the bars of a distribution.
const delayBarsMost = 40

// delaysSection compares what each strategy drew with what its formula says.
func delaysSection(r *record.Result) htmlSection {
	s := htmlSection{ID: "delays", Title: "Delays against theory", Short: "Delays"}
	views, axes := delayViews(r)
	figures := &htmlFigures{Class: "pair"}
	if len(r.Runs) == 1 {
		figures.Class = "wide"
	}
	for i := range r.Runs {
		figures.Charts = append(figures.Charts, delaysChart(r, i, views, axes))
	}
	s.Blocks = append(s.Blocks, htmlBlock{Words: "Bars are what the clients drew, the dashed line is what the strategy's formula says. The axis along is the same for all strategies, the height is each one's own."})
	if len(views) > 0 {
		s.Blocks = append(s.Blocks, htmlBlock{Switch: &htmlSwitch{Name: retrySwitch, Legend: "Delay before", Views: views}})
	}
	s.Blocks = append(s.Blocks, htmlBlock{Figures: figures})
	return s
}

// delayViews are the retries before which some strategy drew a delay, and for each the axis on which all fit.
func delayViews(r *record.Result) ([]htmlView, map[string]htmlAxis) {
	var views []htmlView
	axes := map[string]htmlAxis{}
	for retry := range record.DrawColumns {
		key, label := strconv.Itoa(retry), "retry "+strconv.Itoa(retry+1)
		var most int64
		for i := range r.Runs {
			if d := drawsOf(&r.Runs[i], retry); d != nil {
				most = max(most, endOf(d.Bins.From))
				if d.Theory != nil {
					most = max(most, endOf(d.Theory.From))
				}
				if d.Beyond {
					label = "all later"
				}
			}
		}
		if most > 0 {
			views = append(views, htmlView{key, label})
			axes[key] = htmlAxis{Unit: "length", Label: "delay", Max: float64(most)}
		}
	}
	return views, axes
}

// drawsOf are the draws before one retry; nil where there are none.
func drawsOf(run *record.Run, retry int) *record.Draws {
	if run.Detail == nil {
		return nil
	}
	for i := range run.Detail.Draws {
		if d := &run.Detail.Draws[i]; d.Retry == int64(retry) && d.Count > 0 && len(d.Bins.From) > 0 {
			return d
		}
	}
	return nil
}

// endOf is where the last of the bins ends; 0 for none.
func endOf(from []int64) int64 {
	if len(from) == 0 {
		return 0
	}
	return record.BinEnd(from[len(from)-1])
}

// onlyClients stands in place of a picture.
const onlyClients = "Only the clients know it, and they were not ours, so there is no picture."

func delaysChart(r *record.Result, i int, views []htmlView, axes map[string]htmlAxis) *htmlChart {
	run := &r.Runs[i]
	chart := &htmlChart{
		ID: "delays-" + strconv.Itoa(i), Title: runName(run), Name: "Delays, " + runName(run), Run: &htmlRun{i, runName(run)}, Switch: retrySwitch, Order: views,
		Views: map[string]*htmlPicture{}, Height: 200, Y: htmlAxis{Unit: "share", Label: "share of the delays", Max: 1},
	}
	for _, view := range views {
		retry, _ := strconv.Atoi(view.Key)
		axis := axes[view.Key]
		if d := drawsOf(run, retry); d != nil {
			chart.Views[view.Key] = delayPicture(d, axis)
		} else {
			chart.Views[view.Key] = &htmlPicture{Empty: "No delay was drawn before " + view.Label + "."}
		}
	}
	switch {
	case run.Outside != nil:
		chart.Empty = onlyClients
	case run.Detail == nil:
		chart.Empty = "This result holds no delays" + whyNoDetail(r) + ", so there is no picture."
	case len(run.Detail.Draws) == 0 && run.Delay.Count > 0:
		chart.Empty = "This result does not hold the delays by retry, so there is no picture."
	case len(run.Detail.Draws) == 0 || len(views) == 0:
		chart.Empty = "No delay was drawn, so there is no picture."
	}
	return chart
}

// delayPicture shows one distribution in bars of equal width, so that their heights compare.
func delayPicture(d *record.Draws, axis htmlAxis) *htmlPicture {
	width := delayBarWidth(int64(axis.Max))
	axis.Max = math.Ceil(axis.Max/float64(width)) * float64(width)
	n := int(axis.Max / float64(width))
	measured, drawn := make([]float64, n), 0.0
	for k, from := range d.Bins.From {
		if at := from / width; from >= 0 && at < int64(n) && k < len(d.Bins.Count) {
			measured[at] += float64(d.Bins.Count[k])
			drawn += float64(d.Bins.Count[k])
		}
	}
	for k := range measured {
		measured[k] /= math.Max(1, drawn)
	}
	picture := &htmlPicture{X: &axis, Y: &htmlAxis{Unit: "share", Label: "share of the delays"}, Series: []htmlSeries{
		{Name: "measured", Role: "measured", Style: "bar", Width: float64(width), Y: rounded(measured)},
	}}
	picture.Note = htmlText(plural(d.Count, "delay") + " drawn; a bar is " + length(float64(width)) + " wide.")
	top := maxOf(measured)
	if d.Theory == nil {
		why := "the result holds no theory of them"
		if d.Beyond {
			why = "they are of several retries together"
		}
		picture.Note += htmlText(" There is no line, as " + why + ".")
	} else {
		theory := make([]float64, n)
		for k, from := range d.Theory.From {
			if at := from / width; from >= 0 && at < int64(n) && k < len(d.Theory.Share) {
				theory[at] += d.Theory.Share[k]
			}
		}
		top = math.Max(top, maxOf(theory))
		picture.Series = append(picture.Series, htmlSeries{Name: "theory", Role: "theory", Style: "step", Width: float64(width), Y: withoutTails(rounded(theory))})
		picture.Note += " " + gapWords(d)
	}
	picture.Y.Max = math.Max(1e-6, top*1.08)
	return picture
}

// gapConfidence is how often chance alone stays below the bound of gapWords.
const gapConfidence = 0.99

// gapDrawsLeast is of how many draws a gap is told: chance alone makes a third of fewer differ.
const gapDrawsLeast = 30

// gapWords hold the largest distance between the two distributions against what chance does to so many independent draws.
// Source: Dvoretzky, Kiefer and Wolfowitz 1956 with the constant of Massart 1990.
//
// Where delays are chained those who draw are no fair sample of all, so that a larger gap is no fault.
func gapWords(d *record.Draws) htmlText {
	gap, drawn := theoryGap(d)
	if drawn < gapDrawsLeast {
		return "They are too few to be held against theory."
	}
	bound := math.Sqrt(math.Log(2/(1-gapConfidence)) / (2 * drawn))
	text := "Largest gap to theory: " + percent(&gap) + " of the delays; "
	chance := "chance alone makes up to " + percent(&bound) + ", 99 times in 100."
	if gap <= bound {
		return htmlText(text + chance)
	}
	if d.Theory.Chained {
		return htmlText(text + chance + " That is no fault: this formula goes by the delays before, and the line is of clients that all come so far, the bars only of those that did: nobody served them before, and the run had not ended.")
	}
	return htmlText(text + styled(markYellow, "more than chance makes") + ": " + chance)
}

// theoryGap is the largest distance between what was drawn and the theory, as shares of what is below some value, and how
// many were drawn. It is taken at the edges of the bins, which do not go by what else is on the page. Where the first bin of
// the theory is that of 0 it holds the shortest too, so that below the second nothing is known.
func theoryGap(d *record.Draws) (gap, drawn float64) {
	for _, n := range d.Bins.Count {
		drawn += float64(max(0, n))
	}
	var all float64
	for _, share := range d.Theory.Share {
		all += share
	}
	bins, shares := min(len(d.Bins.From), len(d.Bins.Count)), min(len(d.Theory.From), len(d.Theory.Share))
	if drawn <= 0 || all <= 0 || shares == 0 {
		return 0, drawn
	}
	known := d.Theory.From[0]
	if known == 0 && shares > 1 {
		known = d.Theory.From[1]
	}
	var below, expected float64
	for i, k := 0, 0; i < bins || k < shares; {
		at := int64(math.MaxInt64)
		if i < bins {
			at = d.Bins.From[i]
		}
		if k < shares {
			at = min(at, d.Theory.From[k])
		}
		if at >= known {
			gap = math.Max(gap, math.Abs(below/drawn-expected/all))
		}
		for ; i < bins && d.Bins.From[i] <= at; i++ {
			below += float64(max(0, d.Bins.Count[i]))
		}
		for ; k < shares && d.Theory.From[k] <= at; k++ {
			expected += d.Theory.Share[k]
		}
	}
	if gap < 1e-9 { // of rounding
		gap = 0
	}
	return gap, drawn
}

// delayBarWidth is the least width, 1, 2 or 5 times a power of ten, of which few bars reach end, and whose edges
// are edges of bins all along.
func delayBarWidth(end int64) int64 {
	widest := int64(1)
	for (end-1)/widest >= 100 {
		widest *= 10
	}
	for width := widest; ; width *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			if (end-1)/(width*digit) < delayBarsMost {
				return width * digit
			}
		}
		if width > math.MaxInt64/100 {
			return width
		}
	}
}

// rounded points to the values, to six decimals.
func rounded(values []float64) []*float64 {
	list := make([]*float64, len(values))
	for i, v := range values {
		v = math.Round(v*1e6) / 1e6
		list[i] = &v
	}
	return list
}

// withoutTails leaves out the zeros before and behind the values, but for one on each side.
func withoutTails(values []*float64) []*float64 {
	some := func(i int) bool { return i >= 0 && i < len(values) && *values[i] > 0 }
	list := make([]*float64, len(values))
	inside := false
	last := len(values)
	for last > 0 && !some(last-1) {
		last--
	}
	for i, v := range values {
		inside = inside || some(i+1) || some(i)
		if inside && i <= last {
			list[i] = v
		}
	}
	return list
}

func maxOf(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = math.Max(most, v)
	}
	return most
}
