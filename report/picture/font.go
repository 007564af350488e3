package picture

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// fonts are the letters of the PNG, by which texts are measured for the SVG too.
type fonts struct {
	regular, bold *opentype.Font
	faces         map[Font]font.Face
}

func newFonts() *fonts {
	return &fonts{regular: parseFont(goregular.TTF), bold: parseFont(gobold.TTF), faces: map[Font]font.Face{}}
}

func parseFont(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("picture: BUG: a font that is part of the program: %v", err))
	}
	return f
}

// face returns a font in pixels of the PNG.
func (f *fonts) face(key Font) font.Face {
	if face, ok := f.faces[key]; ok {
		return face
	}
	of := f.regular
	if key.Bold {
		of = f.bold
	}
	face, err := opentype.NewFace(of, &opentype.FaceOptions{Size: key.Size * Scale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(fmt.Sprintf("picture: BUG: a face of %v: %v", key, err))
	}
	f.faces[key] = face
	return face
}

// spell writes a character that the fonts do not have as its number, \u6f22, so that it can be told from others. A
// blank that holds words together is drawn as a blank.
func (f *fonts) spell(key Font, s string) string {
	face := f.face(key)
	var b strings.Builder
	for _, r := range s {
		if r == '\u00a0' {
			r = ' '
		}
		switch _, ok := face.GlyphAdvance(r); {
		case ok && r != utf8.RuneError:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Measure is how wide a text is in the PNG. In an SVG, whose font is the reader's, it may be up to a sixth wider.
func (d *Drawing) Measure(f Font, s string) float64 {
	return float64(font.MeasureString(d.fonts.face(f), d.fonts.spell(f, s))) / 64 / Scale
}

// wider is what Wrap and Clip leave free for other fonts than ours.
const wider = 1.12

// Clip cuts a text that may be wider than width, and marks the cut.
func (d *Drawing) Clip(f Font, s string, width float64) string {
	fits := func(s string) bool { return d.Measure(f, s)*wider <= width }
	if fits(s) {
		return s
	}
	return strings.TrimRight(d.head(s, func(s string) bool { return fits(s + "…") }, 0), " ") + "…"
}

// Wrap breaks a text at its blanks into lines that are no wider than width, and a word that is wider
// wherever it must. There are at most lines lines (0 is no limit), the last of which is marked if it is cut.
func (d *Drawing) Wrap(f Font, s string, width float64, lines int) []string {
	var list []string
	line := ""
	fits := func(s string) bool { return d.Measure(f, s)*wider <= width }
	for word := range strings.SplitSeq(s, " ") {
		if line != "" && !fits(line+" "+word) {
			list, line = append(list, line), ""
		}
		for word != "" && line == "" && !fits(word) {
			head := d.head(word, fits, 1)
			list, word = append(list, head), word[len(head):]
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		list = append(list, line)
	}
	if lines > 0 && len(list) > lines {
		rest := strings.Join(list[lines-1:], " ")
		list = append(list[:lines-1], d.Clip(f, rest, width))
	}
	return list
}

// head is as much of a text as fits, but at least so many characters.
func (d *Drawing) head(s string, fits func(string) bool, least int) string {
	var ends []int // of the characters
	for i := range s {
		ends = append(ends, i)
	}
	ends = append(ends, len(s))
	n := sort.Search(len(ends), func(i int) bool { return !fits(s[:ends[i]]) }) - 1
	return s[:ends[min(len(ends)-1, max(n, least))]]
}
