package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"
)

// SVG writes the drawing. Texts stay texts in the reader's own sans serif font, and nothing outside
// the file is referred to, so that it shows in an <img>. Every text is shown literally; characters that XML
// does not have become U+FFFD. The error is the writer's.
func (d *Drawing) SVG(out io.Writer) error {
	var w svgWriter
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%[2]s" viewBox="0 0 %[1]s %[2]s"`, number(d.Width), number(d.Height))
	w.WriteString(` role="img" aria-labelledby="stormtest-title stormtest-desc" font-family="sans-serif">` + "\n")
	w.element("title", "stormtest-title", d.Title)
	w.element("desc", "stormtest-desc", d.Description)
	filled{Box{0, 0, d.Width, d.Height}, 0, d.Background}.svg(&w)
	for _, s := range d.shapes {
		s.svg(&w)
	}
	w.WriteString("</svg>\n")
	_, err := out.Write(w.Bytes())
	return err
}

// An svgWriter gathers the text of a file.
type svgWriter struct{ bytes.Buffer }

func (w *svgWriter) element(name, id, text string) {
	fmt.Fprintf(w, `<%s id="%s">`, name, id)
	w.text(text)
	fmt.Fprintf(w, "</%s>\n", name)
}

// text writes s so that it is nothing but text.
func (w *svgWriter) text(s string) {
	_ = xml.EscapeText(&w.Buffer, []byte(s)) // a bytes.Buffer has no errors
}

// number writes a coordinate with two decimals at most.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// paint writes a colour's attributes, as that of a fill or a stroke.
func (w *svgWriter) paint(what string, c color.NRGBA) {
	fmt.Fprintf(w, ` %s="#%02x%02x%02x"`, what, c.R, c.G, c.B)
	if c.A < 255 {
		fmt.Fprintf(w, ` %s-opacity="%s"`, what, number(float64(c.A)/255))
	}
}

func (f filled) svg(w *svgWriter) {
	fmt.Fprintf(w, `<rect x="%s" y="%s" width="%s" height="%s"`, number(f.X), number(f.Y), number(f.W), number(f.H))
	if f.radius > 0 {
		fmt.Fprintf(w, ` rx="%s"`, number(f.radius))
	}
	w.paint("fill", f.color)
	w.WriteString("/>\n")
}

// svg writes bars as one outline, which is a third of as many boxes.
func (s skyline) svg(w *svgWriter) {
	w.WriteString("<path")
	w.paint("fill", s.color)
	w.WriteString(` d="`)
	for i, b := range s.bars {
		ground := number(b.Y + b.H)
		if i == 0 || s.bars[i-1].X+s.bars[i-1].W != b.X {
			fmt.Fprintf(w, "M%s %s", number(b.X), ground)
		}
		fmt.Fprintf(w, "V%sH%s", number(b.Y), number(b.X+b.W))
		if i == len(s.bars)-1 || s.bars[i+1].X != b.X+b.W {
			fmt.Fprintf(w, "V%sz", ground)
		}
	}
	w.WriteString("\"/>\n")
}

func (s Steps) svg(w *svgWriter) {
	fmt.Fprintf(w, `<path fill="none" stroke-width="%s"`, number(s.Width))
	w.paint("stroke", s.Color)
	fmt.Fprintf(w, ` d="M%s %s`, number(snap(s.Edges[0])), number(s.Levels[0]))
	for i, level := range s.Levels {
		if i > 0 {
			fmt.Fprintf(w, "V%s", number(level))
		}
		fmt.Fprintf(w, "H%s", number(snap(s.Edges[i+1])))
	}
	w.WriteString("\"/>\n")
}

func (t Text) svg(w *svgWriter) {
	fmt.Fprintf(w, `<text x="%s" y="%s" font-size="%s"`, number(t.X), number(t.Y), number(t.Font.Size))
	if t.Font.Bold {
		w.WriteString(` font-weight="bold"`)
	}
	if t.Anchor != Start {
		w.WriteString(` text-anchor="` + map[Anchor]string{Middle: "middle", End: "end"}[t.Anchor] + `"`)
	}
	if t.Up {
		fmt.Fprintf(w, ` transform="rotate(-90 %s %s)"`, number(t.X), number(t.Y))
	}
	w.paint("fill", t.Color)
	w.WriteString(">")
	w.text(t.Text)
	w.WriteString("</text>\n")
}
