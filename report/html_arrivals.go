package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// barsMost bounds the bars of a picture: about one a pixel. All pictures of a page together have at most barsOfAll, but each
// barsLeast, so that the page stays small.
const (
	barsMost  = 1200
	barsLeast = 240
	barsOfAll = 8 * barsMost
)

// The switch of what the bars of arrivals are made of.
const stackSwitch = "stack"

var stackViews = []htmlView{{"attempts", "first or retry"}, {"outcome", "outcome"}}

// bentWords say how a scale runs that is bent at the capacity.
const bentWords = "The scale is bent: even up to the capacity line, and above it every step up is by the same factor."

// timeLink joins the cursors of all pictures over time.
const timeLink = "time"

// arrivalsSection shows the arrivals of each strategy on the same axes.
func arrivalsSection(r *record.Result, plan planFields) htmlSection {
	s := htmlSection{ID: "arrivals", Title: "Arrivals over time", Short: "Arrivals"}
	figures := &htmlFigures{Class: "wide"}
	shown := *r // with what is in the runs
	inside := withInner(r.Runs)
	shown.Runs = make([]record.Run, len(inside))
	for i := range inside {
		shown.Runs[i] = inside[i].run
	}
	axis, end := arrivalsAxis(&shown), longest(r)
	height := 300
	if len(inside) > 1 {
		height = 190
	}
	for i, one := range inside {
		chart := arrivalsChart(&shown, i, plan)
		chart.ID, chart.Run = "arrivals-"+strconv.Itoa(one.outer), &htmlRun{one.outer, runName(&r.Runs[one.outer])}
		if one.number > 0 {
			chart.ID += "-" + strconv.Itoa(one.number)
		}
		if one.service { // it has outages of its own, and none of the first one's
			chart.Windows = windowsOf(one.outages(plan), end)
		}
		chart.X, chart.Y, chart.Height = timeAxis(end), axis, height
		figures.Charts = append(figures.Charts, chart)
	}
	sameRoom(figures.Charts)
	marks := arrivalMarks(figures.Charts)
	for _, chart := range figures.Charts {
		if chart.Empty == "" && figures.Legend == nil {
			figures.Legend, figures.Marks = chart, marks
		}
		chart.Bare = true
	}
	var words []string
	switch {
	case hasInner(r):
		words = append(words, "Strategies, and the parts and services in them, are on the same axes.")
	case len(r.Runs) > 1:
		words = append(words, "All strategies are on the same axes.")
	}
	if axis.Bend > 0 {
		words = append(words, bentWords)
	}
	if words != nil {
		s.Blocks = append(s.Blocks, htmlBlock{Words: htmlText(strings.Join(words, " "))})
	}
	if figures.Legend != nil {
		s.Blocks = append(s.Blocks, htmlBlock{Hint: pointerWords})
	}
	s.Blocks = append(s.Blocks, htmlBlock{Figures: figures})
	return s
}

// pointerWords say how the pictures are used.
const pointerWords = "Point at a picture, or move through it with the arrow keys: the cursor goes along in all pictures over time. " +
	"Drag over a stretch, or press + and -, to look closer; 0 shows the whole run."

// arrivalMarks are those that some of the pictures have.
func arrivalMarks(charts []*htmlChart) []htmlMark {
	has := func(of func(*htmlChart) bool) bool { return slices.ContainsFunc(charts, of) }
	shade := ""
	if has(func(c *htmlChart) bool { return windowed(c, "outage") }) {
		shade = "outage, with its mode"
	}
	if has(func(c *htmlChart) bool { return windowed(c, "surge") }) {
		shade = strings.TrimPrefix(shade+"; surge of the rate, with its factor", "; ")
	}
	var marks []htmlMark
	for _, m := range []struct {
		some bool
		mark htmlMark
	}{
		{has(func(c *htmlChart) bool { return len(c.Lines) > 0 }), htmlMark{"capacity", "line", "capacity"}},
		{has(func(c *htmlChart) bool { return len(c.Waves) > 0 }), htmlMark{"wave", "strip", "waves, where more arrives than the target serves"}},
		{has(func(c *htmlChart) bool { return len(c.Judged) > 0 }), htmlMark{"judged", "bracket", "where the convoy index is judged"}},
		{shade != "", htmlMark{"outage", "shade", shade}},
	} {
		if m.some {
			marks = append(marks, m.mark)
		}
	}
	return marks
}

// windowed says that a picture has windows of a kind.
func windowed(c *htmlChart, kind string) bool {
	return slices.ContainsFunc(c.Windows, func(w htmlWindow) bool { return strings.HasPrefix(w.Label, kind+":") })
}

// timeAxis is the time of all runs.
func timeAxis(end time.Duration) htmlAxis {
	return htmlAxis{Unit: "time", Label: "time since the run began", Max: math.Max(1, float64(end))}
}

// arrivalsAxis is the axis on which the arrivals of all runs fit, and their capacity line.
func arrivalsAxis(r *record.Result) htmlAxis {
	axis := htmlAxis{Unit: "count", Label: "arrivals in a bucket", Max: 1}
	capacity := 0.0
	for i := range r.Runs {
		s, ok := newSeries(&r.Runs[i], 1)
		if !ok {
			continue
		}
		axis.Max = math.Max(axis.Max, float64(s.peak))
		capacity = math.Max(capacity, s.capacity)
	}
	top := axis.Max
	if capacity > 0 && top/capacity > bendFrom && top/capacity < 1e12 {
		axis.Bend = capacity
	}
	if capacity > 0 && top/capacity >= 0.25 { // else the line would press the bars flat
		axis.Max = math.Max(axis.Max, capacity)
	}
	axis.Max *= 1.08
	return axis
}

// arrivalsChart is the picture of one run, without its axes.
func arrivalsChart(r *record.Result, i int, plan planFields) *htmlChart {
	run := &r.Runs[i]
	chart := &htmlChart{ID: "arrivals-" + strconv.Itoa(i), Title: runName(run), Name: "Arrivals, " + runName(run), Run: &htmlRun{i, runName(run)}, Link: timeLink}
	s, ok := newBars(run, max(barsLeast, min(barsMost, barsOfAll/len(r.Runs))))
	if !ok {
		chart.Empty = "No arrivals, so there is no picture."
		return chart
	}
	chart.Caption = htmlText(upperFirst(s.words(run)) + ".")
	if s.merged > 1 {
		chart.Caption += htmlText(" Each bar is the highest of " + count(s.merged) + " buckets of " + moment(s.bucket) + ", so no peak is hidden.")
	}
	chart.Windows = outageWindows(plan, longest(r))
	chart.Peak = &htmlPeak{At: int64(s.peakAt), Value: s.peak, Label: count(s.peak) + " at " + moment(s.peakAt)}
	if c := &run.Convoy; c.WindowFrom >= 0 && c.WindowTo > c.WindowFrom && run.FromLog == nil {
		chart.Judged = []int64{int64(c.WindowFrom), int64(c.WindowTo)}
	}
	buckets := &htmlBuckets{Width: int64(s.bucket), Merged: s.merged}
	if s.capacity > 0 {
		buckets.Capacity = &s.capacity
		chart.Lines = []htmlLine{{Value: s.capacity, Label: "capacity, " + significant(s.capacity) + " in a bucket", Role: "capacity"}}
		if axis := arrivalsAxis(r); s.capacity > axis.Max {
			chart.Caption += htmlText(" The capacity, " + significant(s.capacity) + " in a bucket, is above the picture.")
		}
	} else {
		chart.Caption += htmlText(" " + upperFirst(s.noLine(plan)) + ".")
	}
	var joined time.Duration
	if chart.Waves, joined = waveMarks(run); joined > 0 {
		chart.Caption += htmlText(" Above the picture waves less than " + length(float64(joined)) + " apart are marked as one.")
	}
	for _, c := range s.columns {
		buckets.Total = append(buckets.Total, c.arrivals)
		if s.merged > 1 {
			buckets.At = append(buckets.At, int64(c.at))
			buckets.Sum = append(buckets.Sum, c.sum)
		}
	}
	chart.Buckets = buckets
	arrivalViews(chart, run, &s, plan)
	return chart
}

// arrivalViews fills the views of the bars.
func arrivalViews(chart *htmlChart, run *record.Run, s *series, plan planFields) {
	width := float64(s.bucket) * float64(s.merged)
	part := func(role, label string, of func(column) int64) htmlSeries {
		values := make([]*float64, len(s.columns))
		for i, c := range s.columns {
			values[i] = floatOf(of(c))
		}
		name, _, _ := strings.Cut(label, ":")
		return htmlSeries{Name: name, Label: label, Role: role, Style: "bar", Width: width, Y: values}
	}
	if run.FromLog != nil {
		chart.Views = map[string]*htmlPicture{"": {Series: []htmlSeries{part("arrivals", "arrivals", func(c column) int64 { return c.arrivals })}}}
		return
	}
	first, retries, supposed := "first attempts", "retries", htmlText("")
	if run.Outside != nil && run.Outside.Unknown > 0 {
		supposed = htmlText("Nothing told whether " + count(run.Outside.Unknown) + " arrivals were first attempts or retries: they are what was supposed (see the note).")
	}
	away, in := "rejected: over capacity or by the outage", "accepted: served, waiting or left hanging"
	switch {
	case run.ArrivalsMeasuredAt == "client":
		away, in = "failed: answered with a failure", "others: succeeded, or not answered"
	case strings.Join(plan.texts("layer"), "") != "":
		away = "rejected: over capacity, by an outage, or failed behind"
	case plan.text("model") == modelOCC:
		away, in = "rejected: another was first", "written"
	}
	chart.Switch, chart.Order = stackSwitch, stackViews
	chart.Views = map[string]*htmlPicture{
		"attempts": {Note: supposed, Series: []htmlSeries{
			part("first", first, func(c column) int64 { return c.first }),
			part("retries", retries, func(c column) int64 { return c.arrivals - c.first }),
		}},
		"outcome": {Series: []htmlSeries{
			part("in", in, func(c column) int64 { return c.arrivals - c.rejected }),
			part("away", away, func(c column) int64 { return c.rejected }),
		}},
	}
}

// newBars merges the run's buckets into at most most columns, a bucket in one at least.
func newBars(run *record.Run, most int) (series, bool) {
	s, ok := newSeries(run, most)
	if ok && s.repeat > 1 {
		columns := s.columns
		s.columns = nil
		for i := 0; i < len(columns); i += s.repeat {
			s.columns = append(s.columns, columns[i])
		}
		s.repeat = 1
	}
	return s, ok
}

// wavesMost bounds the waves that are marked: of more, those that are near each other are joined.
const wavesMost = 600

// waveMarks are where the waves of a run are, none where nobody knows the capacity; those that are no more than near apart
// are joined.
func waveMarks(run *record.Run) (list [][2]int64, near time.Duration) {
	if run.Bucket <= 0 || len(run.Buckets) == 0 {
		return nil, 0
	}
	waves := record.WavesOf(run)
	if len(waves) > wavesMost {
		near = longestOf(run) / wavesMost
	}
	for _, w := range waves {
		if n := len(list); n > 0 && near > 0 && int64(w.From)-list[n-1][1] <= int64(near) {
			list[n-1][1] = int64(w.To)
			continue
		}
		list = append(list, [2]int64{int64(w.From), int64(w.To)})
	}
	return list, near
}

// longestOf is how far the buckets of a run go.
func longestOf(run *record.Run) time.Duration {
	return max(run.Duration, run.Buckets[len(run.Buckets)-1].At)
}

// An htmlSpark is the arrivals of a run in the size of a word.
type htmlSpark struct {
	Width, Height int
	Label         string
	Path, Over    string // bars up to the capacity, and what is above
	Line          string // where the capacity is; empty for nowhere
}

// spark draws a run on the axis of all.
func spark(run *record.Run, axis htmlAxis, end time.Duration) *htmlSpark {
	const width, height = 160, 30
	out := &htmlSpark{Width: width, Height: height, Label: "no arrivals"}
	s, ok := newBars(run, width/2)
	if !ok {
		return out
	}
	out.Label = "arrivals over time, " + count(s.peak) + " in the fullest bucket"
	place := func(v float64) float64 {
		if axis.Bend > 0 && v > axis.Bend {
			v = 1 + math.Log2(v/axis.Bend)
		} else if axis.Bend > 0 {
			v /= axis.Bend
		}
		top := axis.Max
		if axis.Bend > 0 {
			top = 1 + math.Log2(axis.Max/axis.Bend)
		}
		return height * (1 - math.Min(1, v/top))
	}
	coordinate := func(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
	step := float64(s.bucket) * float64(s.merged) / math.Max(1, float64(end)) * width
	line := float64(height)
	if s.capacity > 0 && s.capacity <= axis.Max {
		line = place(s.capacity)
		out.Line = coordinate(line)
	}
	var bars, over strings.Builder
	for i, c := range s.columns {
		if c.arrivals <= 0 {
			continue
		}
		top := math.Min(place(float64(c.arrivals)), height-1)
		left, wide := float64(i)*step, math.Max(step, 0.8)
		box := func(b *strings.Builder, from, to float64) {
			b.WriteString("M" + coordinate(left) + " " + coordinate(from) + "h" + coordinate(wide) + "V" + coordinate(to) + "h-" + coordinate(wide) + "z")
		}
		if out.Line != "" && top < line {
			box(&over, top, line)
			top = line
		}
		box(&bars, top, height)
	}
	out.Path, out.Over = bars.String(), over.String()
	return out
}
