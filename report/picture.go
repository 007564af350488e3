package report

import (
	"image/color"
	"io"
	"math"

	"stormtest/load/record"
	"stormtest/report/picture"
)

// SVG writes the arrivals of every strategy side by side as one picture, see drawPicture. The error is the
// writer's.
func SVG(w io.Writer, r *record.Result) error { return drawPicture(r).SVG(w) }

// PNG writes the picture that SVG writes, with two pixels for each of its units.
func PNG(w io.Writer, r *record.Result) error { return drawPicture(r).PNG(w) }

// Sizes of a picture, in its units.
const (
	pictureWidth  = 900
	pictureMargin = 24
	panelGap      = 26
	panelsMost    = 24 // what is over is told in words
)

// Colours. Accepted is far darker than rejected, whatever colours a reader can tell apart; verdicts are words.
var (
	paper         = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink           = color.NRGBA{0x1b, 0x1f, 0x24, 0xff}
	inkFaint      = color.NRGBA{0x57, 0x60, 0x6a, 0xff}
	gridColour    = color.NRGBA{0xe4, 0xe7, 0xeb, 0xff}
	axisColour    = color.NRGBA{0x8c, 0x95, 0x9f, 0xff}
	acceptColour  = color.NRGBA{0x12, 0x45, 0x6b, 0xff}
	rejectColour  = color.NRGBA{0xe8, 0x83, 0x2e, 0xff}
	outageColour  = color.NRGBA{0xdd, 0xd9, 0xee, 0xff}
	inTimeColour  = color.NRGBA{0xc2, 0x18, 0x5b, 0xff}
	doneColour    = color.NRGBA{0x1a, 0x7f, 0x37, 0xff}
	alarmColour   = color.NRGBA{0xb3, 0x26, 0x1e, 0xff}
	warningColour = color.NRGBA{0x8a, 0x5a, 0x00, 0xff}
	haloColour    = color.NRGBA{0xff, 0xff, 0xff, 0xd8}
)

// troubleGrounds are what troubles are written on, by their mark.
var troubleGrounds = map[rune]color.NRGBA{markRed: alarmColour, markYellow: warningColour}

var (
	titleFont    = picture.Font{Size: 22, Bold: true}
	sentenceFont = picture.Font{Size: 14}
	legendFont   = picture.Font{Size: 12}
	labelFont    = picture.Font{Size: 11}
	labelBold    = picture.Font{Size: 11, Bold: true}
)

// A sketch is a picture that is being drawn from the top down.
type sketch struct {
	*picture.Drawing
	result  *record.Result
	plan    planFields
	runs    []record.Run // those that are drawn, parts and services after the run that they are in
	outages [][]outage   // of each of them: a service of a chain has its own
	hidden  int          // runs that are not drawn
	y       float64      // where what comes next begins
	grid    grid
	time    timeline
	scale   rootAxis
	// wasteful says that the answers which reached somebody are drawn.
	wasteful bool
}

// drawPicture draws a panel for each strategy and for each part of a mixed fleet and service of a chain, all with the same axes: its arrivals by bucket, of which the target
// rejected the light part, the capacity, the outages, its verdict and the figures that matter most.
//
// Accepted and rejected tell the story better than first attempts and retries do: what is accepted ends at the
// capacity, in every strategy alike, and what is above it was work for nothing; and between the waves of a
// convoy nothing is accepted either. Which were retries hardly differs, because from the second bucket on nearly all are.
func drawPicture(r *record.Result) *picture.Drawing {
	s := sketch{Drawing: picture.New(pictureWidth), result: r, plan: readPlan(r), y: pictureMargin - 10}
	s.Background = paper
	all := withInner(r.Runs)
	s.hidden = max(0, len(all)-panelsMost)
	for _, one := range all[:len(all)-s.hidden] {
		s.runs, s.outages = append(s.runs, one.run), append(s.outages, one.outages(s.plan))
	}
	s.Title = s.plan.titled(s.headline())
	s.Description = s.inWords()
	s.troubles()
	s.paragraph(titleFont, ink, s.Title, 2)
	s.y += 4
	s.paragraph(sentenceFont, ink, s.story(), 5)
	if len(s.runs) > 0 {
		s.layOut()
		s.legend()
		s.panels()
		s.paragraph(labelFont, inkFaint, s.howToRead(), 5)
		s.y += 4
	}
	s.paragraph(labelFont, inkFaint, s.origin(), 4)
	s.Height = math.Ceil(s.y + pictureMargin - 8)
	return s.Drawing
}

// inner is the width between the margins.
const inner = pictureWidth - 2*pictureMargin

// paragraph writes running text over the whole width, in so many lines at most; an empty one takes no room.
func (s *sketch) paragraph(f picture.Font, c color.NRGBA, text string, lines int) {
	if text == "" {
		return
	}
	for _, line := range s.Wrap(f, text, inner, lines) {
		s.y += f.Size * 1.3
		s.Write(picture.Text{X: pictureMargin, Y: s.y, Font: f, Color: c, Text: line})
	}
	s.y += f.Size * 0.4
}

// troubles writes, above all else and in white on a dark ground, what makes the figures say something else than
// they seem to.
func (s *sketch) troubles() {
	for _, t := range troubles(s.result, s.plan) {
		const pad = 12
		head := picture.Font{Size: 15, Bold: true}
		indent := s.Measure(head, t.word)*1.15 + 2*pad
		lines := s.Wrap(legendFont, troubleText(t), inner-indent-pad, 3)
		height := float64(len(lines))*16 + pad
		s.Fill(picture.Box{X: pictureMargin, Y: s.y, W: inner, H: height}, 4, troubleGrounds[t.mark])
		s.Write(picture.Text{X: pictureMargin + pad, Y: s.y + 20, Font: head, Color: paper, Text: t.word})
		for i, line := range lines {
			s.Write(picture.Text{X: pictureMargin + indent, Y: s.y + 19 + float64(i)*16, Font: legendFont, Color: paper, Text: line})
		}
		s.y += height + 8
	}
}

// layOut decides on panels and axes.
func (s *sketch) layOut() {
	s.grid, s.wasteful = newGrid(len(s.runs)), wasteful(s.runs)
	// The labels are as wide as the numbers, which need no columns.
	s.time = newTimeline(s.runs, s.plan, 1)
	s.scale = newRootAxis(s.runs, s.grid.plot)
	widest := 0.0
	for _, t := range s.scale.ticks() {
		widest = max(widest, s.Measure(labelBold, axisNumber(t)))
	}
	s.grid.fit(widest*1.15 + 26)
	s.time = newTimeline(s.runs, s.plan, int(s.grid.width))
}

// A grid says where panels stand: columns of them, all of one size.
type grid struct {
	columns int
	small   bool
	gutter  float64 // left of the first column, for the labels of the axis
	width   float64 // of a plot
	plot    float64 // height of a plot
}

// newGrid chooses for so many panels: two beside each other, and above eight three smaller ones.
func newGrid(panels int) grid {
	switch {
	case panels <= 1:
		return grid{columns: 1, plot: 240}
	case panels <= 2:
		return grid{columns: 2, plot: 190}
	case panels <= 8:
		return grid{columns: 2, plot: 168}
	default:
		return grid{columns: 3, plot: 92, small: true}
	}
}

// fit sets the width of plots beside a gutter. It is a whole number, so that columns of one width have whole pixels.
func (g *grid) fit(gutter float64) {
	g.gutter = gutter
	n := float64(g.columns)
	g.width = float64(int((inner - gutter - (n-1)*panelGap) / n))
}

// left is where the plots of a column begin.
func (g *grid) left(column int) float64 {
	return math.Round(pictureMargin+g.gutter) + float64(column)*(g.width+panelGap)
}
