package report

import (
	"math"
	"strings"

	"stormtest/load/record"
)

// An overlay is the arrivals of two runs in one picture: what both have in a column as a full bar, and what one of
// them has more on top of it, in a shade of its own.
type overlay struct {
	chart
	other series
	base1 string // the base has more
	new1  string // the new one has more
}

// The shades of an overlay: both, base alone, new alone.
var (
	overlayUnicode = [3]string{"█", "░", "▒"}
	overlayASCII   = [3]string{"#", ".", "o"}
)

// drawOverlay writes the arrivals of a pair over each other, on one axis.
func drawOverlay(p *page, pair *comparedPair, outages []outage) {
	base, other := pair.Base, pair.Other
	o := overlay{chart: chart{page: p, glyphs: unicodeGlyphs}}
	shades := overlayUnicode
	if p.ascii {
		o.glyphs, shades = asciiGlyphs, overlayASCII
	}
	o.blocks, o.base1, o.new1 = []string{shades[0]}, shades[1], shades[2]
	x, hasBase := newSeries(base, 1)
	y, hasOther := newSeries(other, 1)
	switch {
	case !hasBase && !hasOther:
		p.para("Arrivals", factIndent, "none on either side, so there is no chart")
		return
	case base.Bucket != other.Bucket && hasBase && hasOther:
		return // refused before
	}
	rows := chartRows
	if p.narrow() {
		rows = chartRowsNarrow
	}
	capacity := x.capacity
	if y.capacity != x.capacity {
		capacity = -1 // two lines would be in each other's way
	}
	o.scale = newAxis(max(x.peak, y.peak), capacity, rows)
	if !p.narrow() {
		o.gutter = max(gutterLeast, o.labelCells()+2)
	}
	width := max(1, min(chartColsMost, p.width-o.gutter-1))
	o.series, o.other = newSeriesOfTwo(base, other, width)
	o.capacity = capacity
	o.para("Arrivals", factIndent, overlayWords(x, y))
	o.blank()
	o.plotBoth()
	o.timeAxis()
	for _, one := range outages {
		o.window("outage", one.mode, []string{o.outage, o.outage, o.outage}, one.from, one.to)
	}
	o.explain(pair)
}

// newSeriesOfTwo makes series with columns of the same time, and as many of them: the buckets are counted here, since the
// end of a bucket late in all time is no time.
func newSeriesOfTwo(a, b *record.Run, width int) (series, series) {
	both := [2]record.Run{*a, *b}
	var out [2]series
	var total int64
	for i := range both {
		run := &both[i]
		if _, drawn := newSeries(run, 1); !drawn {
			run.Bucket = both[1-i].Bucket
		}
		out[i].bucket = run.Bucket
		total = max(total, int64(run.Duration/run.Bucket))
		for k := range run.Buckets {
			total = max(total, out[i].indexOf(run.Buckets[k].At)+1)
		}
	}
	for i := range both {
		s, ok := newSeriesOf(&both[i], width, total)
		if !ok {
			s.merged, s.repeat = 1, 1
		}
		out[i] = s
	}
	for i := range out {
		if out[i].columns == nil { // nothing arrived there
			twin := &out[1-i]
			out[i].total, out[i].merged, out[i].repeat, out[i].columns = twin.total, twin.merged, twin.repeat, make([]column, len(twin.columns))
		}
	}
	return out[0], out[1]
}

// overlayWords tells in words what the picture shows, for those who do not see it.
func overlayWords(base, other series) string {
	one := func(s series) string {
		if s.peak == 0 {
			return "none"
		}
		text := count(s.arrivals) + ", most in one bucket " + count(s.peak) + " at" + string(nbsp) + moment(s.peakAt)
		if s.capacity > 0 {
			ratio := float64(s.peak) / s.capacity
			text += " (" + times(&ratio) + " capacity)"
		}
		return text
	}
	return "in buckets of " + moment(max(base.bucket, other.bucket)) + ". Base: " + one(base) + ". New: " + one(other) + "."
}

// plotBoth writes the rows from the top down.
func (o *overlay) plotBoth() {
	for row := o.scale.rows() - 1; row >= 0; row-- {
		if row == o.scale.below-1 && o.scale.line > 0 {
			o.lineOfBoth()
		}
		edge, label := o.side, ""
		if v, ok := o.scale.label(row); ok {
			edge, label = o.tick, axisNumber(v)
		}
		cellsOfRow := make([]cell, len(o.columns))
		for i := range o.columns {
			cellsOfRow[i] = o.shade(i, func(n int64) bool { return o.fills(n, row) })
		}
		o.row(label, edge, cellsOfRow)
	}
}

// fills says that so many arrivals reach into at least half of a row; any at all into the lowest, and what is
// above the line into the first above it.
func (o *overlay) fills(n int64, row int) bool {
	if n <= 0 {
		return false
	}
	if row == 0 || o.scale.line > 0 && row == o.scale.below && float64(n) > o.scale.line {
		return true
	}
	return math.Round(o.scale.height(float64(n))) > float64(row)
}

// shade is the cell of a column where the arrivals of a side are there.
func (o *overlay) shade(i int, there func(int64) bool) cell {
	base, other := there(o.columns[i].arrivals), there(o.other.columns[i].arrivals)
	switch {
	case base && other:
		return cell{o.blocks[0], markFaint}
	case base:
		return cell{o.base1, markBlue}
	case other:
		return cell{o.new1, markYellow}
	}
	return cell{" ", 0}
}

// lineOfBoth writes the capacity line, with what goes through it.
func (o *overlay) lineOfBoth() {
	row := make([]cell, len(o.columns))
	for i := range row {
		row[i] = o.shade(i, func(n int64) bool { return float64(n) > o.scale.line })
		if row[i].text == " " {
			row[i] = cell{o.rule, 0}
		}
	}
	o.nameLine(row)
	o.row(axisNumber(o.scale.line), o.lineTick, row)
}

// explain says what the characters are.
func (o *overlay) explain(pair *comparedPair) {
	parts := []string{o.blocks[0] + " both", o.base1 + " more in the base", o.new1 + " more in the new"}
	switch {
	case o.scale.line > 0:
		parts = append(parts, o.rule+" capacity, "+significant(o.capacity)+" in a bucket")
	case o.capacity > 0:
		parts = append(parts, "the capacity, "+significant(o.capacity)+" in a bucket, is above the picture")
	}
	text := strings.Join(parts, ", ") + "."
	if o.merged > 1 {
		text += " A column is the fullest of " + count(o.merged) + " buckets of each, so no peak is hidden."
	}
	if o.scale.factor > 0 {
		text += " Bent axis: " + o.bend() + "."
	}
	if pair.seedsMost() > 1 {
		text += " Of the first seed of each."
	}
	o.para("", o.gutter, text)
}
