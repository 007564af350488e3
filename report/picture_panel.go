package report

import (
	"cmp"
	"image/color"
	"math"
	"time"

	"stormtest/load/record"
	"stormtest/report/picture"
)

// A panel is the place of one run.
type panel struct {
	*sketch
	failing []outage // when its target does
	run     *record.Run
	bars    bars
	column  int
	last    bool // nothing stands below it
	x       float64
	top     float64 // of the plot
	ground  float64
}

// Heights of the parts of a panel, above and below its plot.
type panelSizes struct {
	name, value, label picture.Font
	badge              picture.Font
	nameAt, valueAt    float64 // baselines from the panel's top
	labelAt, plotAt    float64
	below              float64
}

var (
	panelLarge = panelSizes{
		name: picture.Font{Size: 16, Bold: true}, value: picture.Font{Size: 15, Bold: true}, label: labelFont, badge: labelBold,
		nameAt: 16, valueAt: 40, labelAt: 54, plotAt: 74, below: 34,
	}
	panelSmall = panelSizes{
		name: picture.Font{Size: 13, Bold: true}, value: picture.Font{Size: 12, Bold: true}, label: picture.Font{Size: 10}, badge: picture.Font{Size: 9, Bold: true},
		nameAt: 13, valueAt: 31, labelAt: 43, plotAt: 62, below: 32,
	}
)

func (g *grid) sizes() panelSizes {
	if g.small {
		return panelSmall
	}
	return panelLarge
}

// panels draws all of them, row by row.
func (s *sketch) panels() {
	sizes := s.grid.sizes()
	for i := range s.runs {
		column := i % s.grid.columns
		p := panel{sketch: s, failing: s.outages[i], run: &s.runs[i], bars: newColumns(&s.runs[i], &s.time), column: column, last: i+s.grid.columns >= len(s.runs)}
		p.x, p.top = s.grid.left(column), math.Round(s.y+sizes.plotAt)
		p.ground = p.top + s.grid.plot
		p.head(sizes)
		p.plot()
		if column == s.grid.columns-1 || i == len(s.runs)-1 {
			s.y = p.ground + sizes.below
		}
	}
}

// head writes name, verdict and figures.
func (p *panel) head(sizes panelSizes) {
	y := p.y
	list := newBadge(p.run)
	widths := make([]float64, len(list))
	room := p.grid.width - sizes.badge.Size
	for i, b := range list {
		widths[i] = p.Measure(sizes.badge, b.word)*1.12 + sizes.badge.Size
		room -= widths[i] + 4
	}
	name := p.Clip(sizes.name, cmp.Or(clean(p.run.Strategy), "unnamed"), max(50, room))
	p.Write(picture.Text{X: p.x, Y: y + sizes.nameAt, Font: sizes.name, Color: ink, Text: name})
	x := p.x + p.Measure(sizes.name, name)*1.12 + sizes.badge.Size
	for i, b := range list {
		if x+widths[i] > p.x+p.grid.width+4 {
			break // the sentences above name the flags too
		}
		height := sizes.badge.Size * 1.55
		p.Fill(picture.Box{X: x, Y: y + sizes.nameAt - sizes.badge.Size*1.18, W: widths[i], H: height}, height/2, b.colour)
		p.Write(picture.Text{X: x + widths[i]/2, Y: y + sizes.nameAt, Anchor: picture.Middle, Font: sizes.badge, Color: paper, Text: b.word})
		x += widths[i] + 4
	}
	at := p.x
	for _, f := range pictureFigures(p.run) {
		cell := f.share * min(p.grid.width, figuresWidth)
		p.Write(picture.Text{X: at, Y: y + sizes.valueAt, Font: sizes.value, Color: ink, Text: p.Clip(sizes.value, f.value, cell)})
		label := f.label
		if p.grid.small {
			label = cmp.Or(f.short, f.label)
		}
		p.Write(picture.Text{X: at, Y: y + sizes.labelAt, Font: sizes.label, Color: inkFaint, Text: p.Clip(sizes.label, label, cell)})
		at += cell
	}
}

// figuresWidth is the most that the figures of a panel are spread over.
const figuresWidth = 520

// A badge is a word on a colour.
type badge struct {
	word   string
	colour color.NRGBA
}

// verdictInks are the grounds of the verdicts' words.
var verdictInks = map[record.Verdict]color.NRGBA{
	record.VerdictConvoy: alarmColour, record.VerdictUnserved: alarmColour, record.VerdictClumped: warningColour,
	record.VerdictOverload: warningColour, record.VerdictClear: doneColour, record.VerdictUnjudged: inkFaint,
}

// newBadge is the verdict, and after it the flags.
func newBadge(run *record.Run) []badge {
	v := run.Headline()
	if run.FromLog != nil || v == "" || idle(run) {
		return nil
	}
	colour, known := verdictInks[v]
	if !known {
		colour = inkFaint
	}
	if mark, _ := verdictMark(run); v == record.VerdictClear && mark != markGreen {
		colour = warningColour
	}
	list := []badge{{clip(clean(string(v)), 12), colour}}
	for _, flag := range flagsOf(run) {
		list = append(list, badge{flag, alarmColour})
	}
	return list
}

// plot draws the axes and what stands on them.
func (p *panel) plot() {
	width := p.grid.width
	p.shades()
	for _, v := range p.scale.ticks() {
		y := p.ground - p.scale.at(v)
		if v > 0 && v != p.scale.line {
			p.Fill(picture.Box{X: p.x, Y: y, W: width, H: 0.5}, 0, gridColour)
		}
		if p.column == 0 {
			font := labelFont
			if v > 0 && v == p.scale.line {
				font = labelBold
			}
			p.Write(picture.Text{X: p.x - 6, Y: y + 4, Anchor: picture.End, Font: font, Color: inkFaint, Text: axisNumber(v)})
		}
	}
	p.drawBars()
	p.capacity()
	p.inTime()
	p.Fill(picture.Box{X: p.x, Y: p.ground, W: width, H: 1}, 0, axisColour)
	p.seconds()
	if p.column == 0 && p.time.bucket > 0 {
		name := "arrivals in " + moment(p.time.bucket)
		if p.scale.degree > 1 && !p.grid.small {
			name += " (root scale)"
		}
		p.Write(picture.Text{X: pictureMargin + 8, Y: (p.top + p.ground) / 2, Anchor: picture.Middle, Up: true, Font: labelFont, Color: inkFaint, Text: name})
	}
	p.done()
	p.words()
}

// shades are the windows in which the target failed.
func (p *panel) shades() {
	for _, o := range p.failing {
		from, to := p.time.at(o.from, p.grid.width), p.time.at(o.to, p.grid.width)
		if p.time.end > 0 && o.from < p.time.end && to > from {
			p.Fill(picture.Box{X: p.x + from, Y: p.top, W: to - from, H: p.grid.plot}, 0, outageColour)
		}
	}
}

// barLeast is how narrow a bar may be that has room at its right: a convoy is one bucket with nothing around it.
const barLeast = 2

// drawBars draws all arrivals in the light colour and over them what was accepted in the dark one.
func (p *panel) drawBars() {
	all := picture.Skyline{Ground: p.ground, Color: rejectColour}
	for _, edge := range p.time.edges(p.grid.width) {
		all.Edges = append(all.Edges, p.x+edge)
	}
	if p.grid.width/float64(max(1, p.time.columns)) >= 6 {
		all.Gap = 1
	}
	accepted := all
	accepted.Color = acceptColour
	if p.run.FromLog != nil {
		all.Color = acceptColour
	}
	for i, n := range p.bars.arrivals {
		top := p.ground - p.scale.at(n)
		if n > 0 {
			top = min(top, p.ground-1) // whatever arrived shows
		}
		all.Tops = append(all.Tops, top)
		accepted.Tops = append(accepted.Tops, p.ground-p.scale.at(p.bars.accepted[i]))
	}
	all.Thin, accepted.Thin = barLeast, barLeast
	p.Skyline(all)
	if p.run.FromLog == nil {
		p.Skyline(accepted)
	}
}

// capacity draws the line and its name.
func (p *panel) capacity() {
	y, ok := p.lineAt()
	if !ok {
		return
	}
	p.Fill(picture.Box{X: p.x, Y: y - 0.5, W: p.grid.width, H: 1}, 0, ink)
	text := "capacity " + axisNumber(bucketCapacity(p.run))
	p.note(picture.Text{X: p.x + p.freeEnd(text, y), Y: y - 4, Anchor: picture.End, Text: text})
}

// lineAt is where the capacity line is; false where there is none in the picture.
func (p *panel) lineAt() (float64, bool) {
	capacity := bucketCapacity(p.run)
	return p.ground - p.scale.at(capacity), capacity > 0 && capacity <= p.scale.top
}

// freeEnd is the right end of the last place above the line where a text covers no bar, or of the plot.
func (p *panel) freeEnd(text string, y float64) float64 {
	width := p.Measure(labelFont, text)*1.12 + 6
	edges := p.time.edges(p.grid.width)
	done, marked := p.doneAt()
	end := p.grid.width
	for i := len(p.bars.arrivals) - 1; i >= 0 && end >= width; i-- {
		inTheWay := marked && edges[i] <= done && done < edges[i+1]
		switch {
		case inTheWay || p.ground-p.scale.at(p.bars.arrivals[i]) < y-1:
			end = edges[i] - 3
		case edges[i] <= end-width:
			return end
		}
	}
	return p.grid.width
}

// note writes a label, and where it lies over bars or the line, a ground under it from which it can be read.
func (p *panel) note(t picture.Text) {
	t.Font, t.Color = labelFont, ink
	width := p.Measure(labelFont, t.Text) * 1.08
	left := t.X - map[picture.Anchor]float64{picture.Middle: width / 2, picture.End: width}[t.Anchor]
	over := false
	edges := p.time.edges(p.grid.width)
	for i, n := range p.bars.arrivals {
		over = over || p.x+edges[i+1] > left && p.x+edges[i] < left+width && p.ground-p.scale.at(n) < t.Y
	}
	if line, ok := p.lineAt(); over || ok && line > t.Y-10 && line < t.Y+2 {
		p.Fill(picture.Box{X: left - 2, Y: t.Y - 9, W: width + 4, H: 11}, 0, haloColour)
	}
	p.Write(t)
}

// inTime draws, where work was done for nobody, the answers that reached somebody as a line. It is none of the parts of
// the bars, because an answer is given in another bucket than its request came in.
func (p *panel) inTime() {
	if !p.wasteful {
		return
	}
	line := picture.Steps{Width: 3.5, Color: paper, Edges: []float64{p.x}}
	for i, n := range inTime(p.run, &p.time) {
		line.Levels = append(line.Levels, p.ground-p.scale.at(n))
		line.Edges = append(line.Edges, p.x+p.time.at(time.Duration(i+1)*p.time.window(), p.grid.width))
	}
	p.Steps(line)
	line.Width, line.Color = 1.5, inTimeColour
	p.Steps(line)
}

// seconds writes the axis of time.
func (p *panel) seconds() {
	if p.time.end <= 0 {
		return
	}
	for _, at := range p.time.ticks(max(3, int(p.grid.width/60))) {
		x := p.x + p.time.at(at, p.grid.width)
		p.Fill(picture.Box{X: x - 0.5, Y: p.ground, W: 1, H: 4}, 0, axisColour)
		p.Write(picture.Text{X: x, Y: p.ground + 15, Anchor: picture.Middle, Font: labelFont, Color: inkFaint, Text: decimal(at, p.time.in().unit)})
	}
	if p.last {
		p.Write(picture.Text{X: p.x + p.grid.width/2, Y: p.ground + 29, Anchor: picture.Middle, Font: labelFont, Color: inkFaint, Text: p.time.in().name + " since the start"})
	}
}

// doneAt is where in the plot the last operation succeeded; false where it did not, or not on the axis.
func (p *panel) doneAt() (float64, bool) {
	if p.run.Completion == nil || p.time.end <= 0 || time.Duration(*p.run.Completion) > p.time.end {
		return 0, false
	}
	return p.time.at(time.Duration(*p.run.Completion), p.grid.width), true
}

// done marks when the last operation succeeded.
func (p *panel) done() {
	at, ok := p.doneAt()
	if !ok {
		return
	}
	p.Fill(picture.Box{X: p.x + at, Y: p.top, W: 1, H: p.grid.plot}, 0, doneColour)
	t := picture.Text{X: p.x + at + 5, Y: p.top + 11, Text: "all done"}
	if at > p.grid.width-70 {
		t.Anchor, t.X = picture.End, p.x+at-4
	}
	if line, ok := p.lineAt(); ok && line < t.Y+14 {
		t.Y = line + 16 // below the line, whose name is above it
	}
	p.note(t)
}

// words say what the plot does not show: how full the fullest bucket is, what is beyond the axis, why it is empty.
func (p *panel) words() {
	if p.bars.peak == 0 {
		p.Write(picture.Text{X: p.x + p.grid.width/2, Y: (p.top + p.ground) / 2, Anchor: picture.Middle, Font: legendFont, Color: ink, Text: whyEmpty(p.run)})
		return
	}
	if p.bars.peakAt < p.time.end {
		text := "peak " + count(p.bars.peak)
		x := p.x + p.time.at(p.bars.peakAt, p.grid.width)
		x = min(x, p.x+p.grid.width-p.Measure(labelFont, text)*1.12)
		y := p.ground - p.scale.at(float64(p.bars.peak)) - 4
		p.note(picture.Text{X: x, Y: y, Text: text})
	}
	if p.bars.later > 0 {
		text := "+" + count(p.bars.later) + " later"
		p.Write(picture.Text{X: p.x + p.grid.width, Y: p.top - 4, Anchor: picture.End, Font: labelFont, Color: inkFaint, Text: text})
	}
}
