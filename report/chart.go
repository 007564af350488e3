package report

import (
	"math"
	"strings"
	"time"

	"stormtest/load/record"
)

// glyphs are the characters of a chart.
type glyphs struct {
	blocks                       []string // of 1/8 .. 8/8 of a cell
	first, rule                  string
	side, tick, lineTick, corner string // left edge: plain, with a label, of the line, of the axis
	axis, axisTick               string
	outage, left, right          string // marks under the axis
}

var unicodeGlyphs = glyphs{
	blocks: strings.Split("▁▂▃▄▅▆▇█", ""), first: "▒", rule: "─",
	side: "│", tick: "┤", lineTick: "┼", corner: "└", axis: "─", axisTick: "┴", outage: "━", left: "├", right: "┤",
}

var asciiGlyphs = glyphs{
	blocks: strings.Split("...#####", ""), first: "o", rule: "-",
	side: "|", tick: "+", lineTick: "+", corner: "+", axis: "-", axisTick: "+", outage: "=", left: "|", right: "|",
}

// A chart is the arrivals of one run over time with the capacity as a line.
type chart struct {
	*page
	glyphs
	series
	scale   axis
	fromLog bool // nobody knows which arrivals were first attempts
	gutter  int  // cells left of the plot, its edge included; 0 in the narrow form
}

// Sizes of a chart.
const (
	chartRows       = 11
	chartRowsNarrow = 6
	chartColsMost   = 240
	gutterLeast     = 8 // "outage" and the edge
)

// drawChart writes the chart of a run with its caption and legend.
func drawChart(p *page, run *record.Run, plan planFields) {
	c := chart{page: p, glyphs: unicodeGlyphs, fromLog: run.FromLog != nil}
	if p.ascii {
		c.glyphs = asciiGlyphs
	}
	// The gutter depends on the labels, the labels on the peak, which needs no columns.
	probe, ok := newSeries(run, 1)
	if !ok {
		p.para("Arrivals", factIndent, whyEmpty(run)+", so there is no chart")
		return
	}
	rows := chartRows
	if p.narrow() {
		rows = chartRowsNarrow
	}
	c.scale = newAxis(probe.peak, probe.capacity, rows)
	if !p.narrow() {
		c.gutter = max(gutterLeast, c.labelCells()+2)
	}
	c.series, _ = newSeries(run, max(1, min(chartColsMost, p.width-c.gutter-1)))
	c.caption(run)
	c.plot()
	c.timeAxis()
	c.windows(run, plan)
	c.legend(plan)
}

// caption says in words what the picture shows, for those who do not see it.
func (c *chart) caption(run *record.Run) {
	c.para("Arrivals", factIndent, c.words(run))
	c.blank()
}

// words say how many arrived and how many in the fullest bucket.
func (s *series) words(run *record.Run) string {
	text := "most in one bucket " + count(s.peak) + " at" + string(nbsp) + moment(s.peakAt)
	if s.capacity > 0 {
		ratio := float64(s.peak) / s.capacity
		text += " (" + times(&ratio) + " capacity)"
	}
	if s.capacity >= 0 {
		text += "; above capacity in " + count(s.above) + " of " + plural(s.total, "bucket")
	}
	if run.ArrivalsMeasuredAt == "client" {
		text += "; taken where the clients sent them, as the target is not ours"
	}
	return count(s.arrivals) + " in buckets of " + moment(s.bucket) + ": " + text
}

// labelCells is the width of the longest label.
func (c *chart) labelCells() int {
	longest := cells(axisNumber(c.scale.line))
	for row := range c.scale.rows() {
		if v, ok := c.scale.label(row); ok {
			longest = max(longest, cells(axisNumber(v)))
		}
	}
	return longest
}

// axisNumber writes a label of the axis: whole and short.
func axisNumber(v float64) string {
	if v >= 1 && v < 1e7 && math.Abs(v-math.Round(v)) < 1e-6*v {
		return count(int64(math.Round(v)))
	}
	return significant(v)
}

// plot writes the rows from the top down, with the capacity line between those above and below it.
func (c *chart) plot() {
	for row := c.scale.rows() - 1; row >= 0; row-- {
		if row == c.scale.below-1 && c.scale.line > 0 {
			c.lineRow()
		}
		edge, label := c.side, ""
		if v, ok := c.scale.label(row); ok {
			edge, label = c.tick, axisNumber(v)
		}
		var cellsOfRow []cell
		for _, col := range c.columns {
			cellsOfRow = append(cellsOfRow, c.cellAt(col, row))
		}
		c.row(label, edge, cellsOfRow)
	}
}

// A cell is one character of the plot with its colour, 0 for none.
type cell struct {
	text string
	mark rune
}

// cellAt is what a column shows in a row. A bar over the capacity shows at least an eighth above
// the line, and any arrival at all at least an eighth at the bottom.
func (c *chart) cellAt(col column, row int) cell {
	if col.arrivals <= 0 {
		return cell{" ", 0}
	}
	height := c.scale.height(float64(col.arrivals))
	eighths := int(math.Round(max(0, min(1, height-float64(row))) * 8))
	over := c.scale.line > 0 && row >= c.scale.below
	if row == 0 || over && row == c.scale.below && c.crosses(col) {
		eighths = max(1, eighths)
	}
	if eighths == 0 {
		return cell{" ", 0}
	}
	if float64(row)+0.5 <= c.scale.height(float64(col.first)) || col.first == col.arrivals {
		if eighths < 4 && row > 0 { // there are no eighths of this shade: the nearest whole cell
			return cell{" ", 0}
		}
		return cell{c.first, markFaint}
	}
	if over {
		return cell{c.blocks[eighths-1], markRed}
	}
	return cell{c.blocks[eighths-1], markBlue}
}

// crosses reports whether a bar goes above the line; one that only reaches it does not.
func (c *chart) crosses(col column) bool {
	return c.scale.line > 0 && float64(col.arrivals) > c.scale.line
}

// lineRow writes the capacity line. It has no height: bars above capacity go through it, all others
// end under it, which makes it exact whatever the rows are rounded to.
func (c *chart) lineRow() {
	row := make([]cell, len(c.columns))
	for i, col := range c.columns {
		switch {
		case !c.crosses(col):
			row[i] = cell{c.rule, markYellow}
		case float64(col.first) > c.scale.line:
			row[i] = cell{c.first, markFaint}
		default:
			row[i] = cell{c.blocks[7], markRed}
		}
	}
	c.nameLine(row)
	c.row(axisNumber(c.scale.line), c.lineTick, row)
}

// nameLine writes "capacity" into the last stretch of the line that has room for it.
func (c *chart) nameLine(row []cell) {
	const name = " capacity "
	free := 0
	for i := len(row) - 1; i >= 0; i-- {
		if row[i].text != c.rule {
			free = 0
			continue
		}
		if free++; free == len(name)+3 {
			for j := range name {
				row[i+1+j].text = name[j : j+1]
			}
			return
		}
	}
}

// row writes one row of the plot.
func (c *chart) row(label, edge string, row []cell) {
	var b strings.Builder
	if c.gutter > 0 {
		b.WriteString(padLeft(label, c.gutter-2) + " " + edge)
	}
	var mark rune
	for _, cell := range row {
		if cell.mark != mark {
			if mark != 0 {
				b.WriteRune(markPlain)
			}
			if cell.mark != 0 {
				b.WriteRune(cell.mark)
			}
			mark = cell.mark
		}
		b.WriteString(cell.text)
	}
	if mark != 0 {
		b.WriteRune(markPlain)
	}
	c.emit(b.String())
}

// timeAxis writes the axis with its ticks and, under it, their labels in seconds.
func (c *chart) timeAxis() {
	const labelGap = 3
	ticks := strings.Split(strings.Repeat(c.axis, len(c.columns)+1), "")
	if len(ticks) > c.width-c.gutter {
		ticks = ticks[:c.width-c.gutter]
	}
	labels := strings.Repeat(" ", c.gutter)
	step := c.tickStep()
	total := time.Duration(min(1<<62, float64(c.bucket)*float64(c.total)))
	for at := time.Duration(0); at <= total && at >= 0; at += step {
		pos := int(float64(at)/c.columnTime() + 1e-9)
		if pos >= len(ticks) {
			break
		}
		number := seconds(at)
		text := number
		switch {
		case total >= axisClock && at > 0:
			number, text = clock(at), clock(at)
		case at > total-step:
			text += " s"
		}
		start := max(0, c.gutter+pos-(cells(number)-1)/2)
		start = min(start, c.width-cells(text))
		if at > 0 && start < cells(labels)+labelGap-1 {
			continue
		}
		if at > 0 {
			ticks[pos] = c.axisTick
		}
		labels = padRight(labels, start) + text
	}
	if c.gutter > 0 {
		c.emit(padLeft("0", c.gutter-2) + " " + c.corner + strings.Join(ticks, ""))
	} else {
		c.emit(strings.Join(ticks, ""))
	}
	c.emit(labels)
}

// axisClock is the length from which on the labels are those of a clock.
const axisClock = 10 * time.Minute

// clockSteps are round on a clock; a day and more is as round in powers of ten of it.
var clockSteps = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

// tickStep is the time between labels that gives each about 9 cells: 1, 2 or 5 times a power of ten, or what is round
// on a clock.
func (c *chart) tickStep() time.Duration {
	const cellsPerTick = 9
	least := c.columnTime() * cellsPerTick
	for _, step := range clockSteps {
		if float64(c.bucket)*float64(c.total) >= float64(axisClock) && float64(step) >= least {
			return step
		}
	}
	for power := int64(time.Microsecond); power < math.MaxInt64/10; power *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			if float64(power*digit) >= least {
				return time.Duration(power * digit)
			}
		}
	}
	return math.MaxInt64
}

// windows marks what happened when, under the axis: outages, and the window that is judged.
func (c *chart) windows(run *record.Run, plan planFields) {
	for _, o := range plan.outages() {
		c.window("outage", o.mode, []string{c.outage, c.outage, c.outage}, o.from, o.to)
	}
	for _, l := range plan.layers() { // which have no chart of their own here
		for _, o := range readOutages(l.outages) {
			c.window("outage", clip(l.name, 30)+": "+o.mode, []string{c.outage, c.outage, c.outage}, o.from, o.to)
		}
	}
	for _, s := range plan.surges() {
		c.window("surge", clip(clean(s.factor), 8), []string{c.left, c.rule, c.right}, s.from, s.to)
	}
	if from, to := run.Convoy.WindowFrom, run.Convoy.WindowTo; from >= 0 && to > from && c.gutter > 0 {
		c.window("judged", "convoy index", []string{c.left, c.rule, c.right}, from, to)
	}
}

// window writes one bar from its start, middle and end characters, with its name inside or, where
// that is too narrow, behind it.
func (c *chart) window(label, name string, bar []string, from, to time.Duration) {
	first, end := c.span(from, to)
	if first >= end {
		return
	}
	marks := make([]string, end-first)
	for i := range marks {
		marks[i] = bar[1]
	}
	marks[len(marks)-1] = bar[2]
	marks[0] = bar[0]
	before := padRight("", c.gutter+first)
	if c.gutter > 0 {
		before = padRight(label, c.gutter+first)
	}
	name = " " + c.spell(clean(name)) + " "
	switch free := len(marks) - 2 - cells(name); {
	case free >= 2:
		at := 1 + free/2
		c.emit(before + strings.Join(marks[:at], "") + name + strings.Join(marks[at+cells(name):], ""))
	case cells(before)+len(marks)+cells(name) <= c.width:
		c.emit(before + strings.Join(marks, "") + name)
	default:
		c.emit(before + strings.Join(marks, ""))
	}
}

// legend explains the characters, the merging and the axis.
func (c *chart) legend(plan planFields) {
	parts := c.barWords()
	if c.ascii {
		parts = append(parts, ". under half a row")
	}
	switch {
	case c.scale.line > 0:
		parts = append(parts, c.rule+" capacity, "+significant(c.capacity)+" in a bucket")
	case c.capacity > 0:
		parts = append(parts, "the capacity, "+significant(c.capacity)+" in a bucket, is above the picture")
	default:
		parts = append(parts, c.noLine(plan))
	}
	if c.gutter == 0 && len(plan.everyOutage()) > 0 {
		parts = append(parts, c.outage+" outage")
	}
	text := strings.Join(parts, ", ") + "."
	if c.merged > 1 {
		text += " A column is the fullest of " + count(c.merged) + " buckets (" + moment(time.Duration(c.merged)*c.bucket) + "), so no peak is hidden."
	}
	if c.scale.factor > 0 {
		text += " Bent axis: " + c.bend() + "."
	}
	c.para("", c.gutter, text)
}

// noLine says why there is no capacity to draw.
func (s *series) noLine(plan planFields) string {
	switch {
	case s.capacity == 0:
		return "no capacity line: the target serves nothing"
	case plan.text("model") == modelOCC:
		return "no capacity line: this target has no capacity"
	}
	return "no capacity line: nobody knows the capacity"
}

// bend says how the axis goes on above the line.
func (c *chart) bend() string {
	switch {
	case c.gutter == 0:
		return "linear up to the line, logarithmic above it"
	case c.scale.factor == 2:
		return "even steps up to the line, above it each label doubles"
	default:
		return "even steps up to the line, above it each label is " + axisNumber(c.scale.factor) + " times the last"
	}
}
