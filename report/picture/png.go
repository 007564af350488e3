package picture

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// PNG writes the drawing with Scale pixels a unit. Characters that the fonts do not have are spelled as their
// number. The error is the writer's.
//
// The best compression would make files 7 % smaller and take ten times as long.
func (d *Drawing) PNG(out io.Writer) error {
	c := canvas{image.NewRGBA(image.Rect(0, 0, pixels(d.Width), pixels(d.Height))), d.fonts, map[color.RGBA]bool{}}
	c.fill(c.image.Bounds(), d.Background)
	for _, s := range d.shapes {
		s.png(&c)
	}
	return png.Encode(out, c.indexed())
}

// indexed returns the image with a palette, which makes the file a third as large. Colours that were given
// stay as they are; those on the edges of letters, which lie between two, are rounded to 16 levels, and where these
// are too many for a palette to 6, of which there are 216. Where the given ones are too many the image stays as it is.
func (c *canvas) indexed() image.Image {
	for _, step := range []int{255 / 15, 255 / 5} {
		if to, ok := c.rounded(step); ok {
			return to
		}
	}
	return c.image
}

// rounded is the image with a palette of colours whose parts are multiples of step, and of the given ones; false where
// these are too many.
func (c *canvas) rounded(step int) (*image.Paletted, bool) {
	const colours = 256
	to := image.NewPaletted(c.image.Rect, nil)
	index := map[color.RGBA]uint8{}
	level := func(v uint8) uint8 { return uint8((int(v) + step/2) / step * step) } //nolint:gosec // 255 is a multiple
	var last [4]uint8
	var at uint8
	for i := range to.Pix {
		pixel := [4]uint8(c.image.Pix[4*i : 4*i+4])
		if pixel != last || i == 0 { // most are as the one before
			last = pixel
			ink := color.RGBA{pixel[0], pixel[1], pixel[2], pixel[3]}
			if !c.given[ink] {
				ink = color.RGBA{level(ink.R), level(ink.G), level(ink.B), ink.A}
			}
			var known bool
			if at, known = index[ink]; !known {
				if len(to.Palette) == colours {
					return nil, false
				}
				at = uint8(len(to.Palette)) //nolint:gosec // below colours
				index[ink] = at
				to.Palette = append(to.Palette, ink)
			}
		}
		to.Pix[i] = at
	}
	return to, true
}

// A canvas is the pixels of a drawing.
type canvas struct {
	image *image.RGBA
	fonts *fonts
	given map[color.RGBA]bool // colours of shapes, as far as nothing shines through them
}

func pixels(v float64) int { return int(math.Round(v * Scale)) }

func (b Box) pixels() image.Rectangle {
	return image.Rect(pixels(b.X), pixels(b.Y), pixels(b.X+b.W), pixels(b.Y+b.H))
}

// fill paints a rectangle exactly: no pixel is half in it.
func (c *canvas) fill(r image.Rectangle, ink color.NRGBA) {
	draw.Draw(c.image, r, c.uniform(ink), image.Point{}, draw.Over)
}

// uniform is a colour as the source of drawing.
func (c *canvas) uniform(ink color.NRGBA) *image.Uniform {
	if ink.A == 255 {
		c.given[color.RGBA(ink)] = true
	}
	return image.NewUniform(ink)
}

func (f filled) png(c *canvas) {
	if f.radius <= 0 {
		c.fill(f.pixels(), f.color)
		return
	}
	// A corner is a quarter of a circle, which a cubic curve is within 0.03 % with its handles at kappa.
	const kappa = 0.5522847
	r := f.pixels()
	w, h := float32(r.Dx()), float32(r.Dy())
	q := min(float32(f.radius*Scale), w/2, h/2)
	k := q * (1 - kappa)
	z := vector.NewRasterizer(r.Dx(), r.Dy())
	z.MoveTo(q, 0)
	z.LineTo(w-q, 0)
	z.CubeTo(w-k, 0, w, k, w, q)
	z.LineTo(w, h-q)
	z.CubeTo(w, h-k, w-k, h, w-q, h)
	z.LineTo(q, h)
	z.CubeTo(k, h, 0, h-k, 0, h-q)
	z.LineTo(0, q)
	z.CubeTo(0, k, k, 0, q, 0)
	z.ClosePath()
	z.Draw(c.image, r, c.uniform(f.color), image.Point{})
}

func (s skyline) png(c *canvas) {
	for _, b := range s.bars {
		c.fill(b.pixels(), s.color)
	}
}

func (s Steps) png(c *canvas) {
	half := s.Width / 2
	for i, level := range s.Levels {
		left := snap(s.Edges[i])
		c.fill(Box{left, level - half, snap(s.Edges[i+1]) - left, s.Width}.snapped().pixels(), s.Color)
		if i > 0 {
			up, down := min(level, s.Levels[i-1]), max(level, s.Levels[i-1])
			c.fill(Box{left - half, up - half, s.Width, down - up + s.Width}.snapped().pixels(), s.Color)
		}
	}
}

func (t Text) png(c *canvas) {
	text := c.fonts.spell(t.Font, t.Text)
	face := c.fonts.face(t.Font)
	var before fixed.Int26_6
	switch width := font.MeasureString(face, text); t.Anchor {
	case Middle:
		before = width / 2
	case End:
		before = width
	}
	if t.Up {
		c.writeUp(t, text, before)
		return
	}
	drawer := font.Drawer{Dst: c.image, Src: c.uniform(t.Color), Face: face}
	drawer.Dot = fixed.Point26_6{X: fixed.Int26_6(math.Round(t.X*Scale*64)) - before, Y: fixed.Int26_6(math.Round(t.Y * Scale * 64))}
	drawer.DrawString(text)
}

// writeUp draws a text that runs upwards: level into a mask, which is then turned.
func (c *canvas) writeUp(t Text, text string, before fixed.Int26_6) {
	face := c.fonts.face(t.Font)
	ascent, height := face.Metrics().Ascent.Ceil(), face.Metrics().Height.Ceil()
	level := image.NewAlpha(image.Rect(0, 0, font.MeasureString(face, text).Ceil()+1, height))
	drawer := font.Drawer{Dst: level, Src: image.Opaque, Face: face, Dot: fixed.P(0, ascent)}
	drawer.DrawString(text)
	turned := image.NewAlpha(image.Rect(0, 0, level.Rect.Dy(), level.Rect.Dx()))
	for y := range level.Rect.Dy() {
		for x := range level.Rect.Dx() {
			turned.SetAlpha(y, turned.Rect.Dy()-1-x, level.AlphaAt(x, y))
		}
	}
	corner := image.Pt(pixels(t.X)-ascent, pixels(t.Y)+before.Round()-turned.Rect.Dy())
	draw.DrawMask(c.image, turned.Rect.Add(corner), c.uniform(t.Color), image.Point{}, turned, image.Point{}, draw.Over)
}
