// Package picture holds flat drawings of boxes, bars and text, and writes them as SVG or as PNG.
//
// One drawing gives both, so that they show the same. It knows nothing of what is drawn. It is our own
// because what libraries write did not do: those of gonum/plot, tdewolff/canvas and go-analyze/charts set
// every text by its left edge, as wide as a font of theirs is, so that labels slide where the reader has
// another; none of them writes a title, a description or a role; and they weigh 2 to 6 MB and up to 96 modules. What
// they stand on, golang.org/x/image, is what draws the letters here, with the Go fonts that it brings.
package picture

import (
	"image/color"
	"math"
)

// Scale is how many pixels of a PNG a unit is: twice, for screens that have them.
const Scale = 2

// A Drawing is a list of shapes; later ones lie above earlier ones. Units are pixels of a screen without
// zoom, and y grows downwards. Edges of boxes and bars are moved to the next half, which is a whole pixel of
// the PNG, so that none is blurred. Not safe for concurrent use.
type Drawing struct {
	Width, Height float64
	Background    color.NRGBA
	Title         string // what it shows, in a line
	Description   string // what is to be seen, for those who do not see it
	shapes        []shape
	fonts         *fonts
}

// New returns an empty drawing; its height may be set later.
func New(width float64) *Drawing { return &Drawing{Width: width, fonts: newFonts()} }

// A shape can be written in both forms.
type shape interface {
	svg(*svgWriter)
	png(*canvas)
}

// A Box is a rectangle.
type Box struct{ X, Y, W, H float64 }

// snapped moves the edges to halves; what had an extent keeps one.
func (b Box) snapped() Box {
	x, y := snap(b.X), snap(b.Y)
	return Box{x, y, max(1.0/Scale, snap(b.X+b.W)-x), max(1.0/Scale, snap(b.Y+b.H)-y)}
}

func snap(v float64) float64 { return math.Round(v*Scale) / Scale }

// Fill draws a box. A radius above 0 rounds its corners.
func (d *Drawing) Fill(b Box, radius float64, c color.NRGBA) {
	d.shapes = append(d.shapes, filled{b.snapped(), radius, c})
}

type filled struct {
	Box
	radius float64
	color  color.NRGBA
}

// A Skyline is bars of one colour on one ground: bar i goes from Edges[i] to Edges[i+1] and from Tops[i] down to
// Ground. One that has no height is not drawn.
type Skyline struct {
	Ground float64
	Edges  []float64 // ascending, one more than bars
	Tops   []float64
	Gap    float64 // left free at the right of every bar
	Thin   float64 // how narrow a bar may be that has room at its right
	Color  color.NRGBA
}

// Skyline draws bars.
func (d *Drawing) Skyline(s Skyline) {
	s.Ground = snap(s.Ground)
	bars := make([]Box, 0, len(s.Tops))
	for i, top := range s.Tops {
		left, right := snap(s.Edges[i]), snap(s.Edges[i+1]-s.Gap)
		if i+2 < len(s.Edges) && snap(s.Tops[i+1]) >= s.Ground {
			right = max(right, min(left+s.Thin, snap(s.Edges[i+2])))
		}
		if top = snap(top); top < s.Ground && right > left {
			bars = append(bars, Box{left, top, right - left, s.Ground - top})
		}
	}
	if len(bars) > 0 {
		d.shapes = append(d.shapes, skyline{bars, s.Color})
	}
}

// A skyline is bars that stand on one ground, from left to right.
type skyline struct {
	bars  []Box
	color color.NRGBA
}

// Steps is a line that goes level at Levels[i] from Edges[i] to Edges[i+1], and up or down between.
type Steps struct {
	Edges  []float64 // ascending, one more than levels
	Levels []float64
	Width  float64
	Color  color.NRGBA
}

// Steps draws a line; one without a level is nothing.
func (d *Drawing) Steps(s Steps) {
	if len(s.Levels) > 0 {
		d.shapes = append(d.shapes, s)
	}
}

// An Anchor says which part of a text stands at its place.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// A Font is a size in units and a weight.
type Font struct {
	Size float64
	Bold bool
}

// A Text is one line; Y is its baseline.
type Text struct {
	X, Y   float64
	Anchor Anchor
	Up     bool // it runs upwards; the anchor is along it
	Font   Font
	Color  color.NRGBA
	Text   string
}

// Write draws a text; an empty one is nothing.
func (d *Drawing) Write(t Text) {
	if t.Text != "" {
		d.shapes = append(d.shapes, t)
	}
}
