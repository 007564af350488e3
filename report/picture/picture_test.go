package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"stormtest/report/picture"
)

var (
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	black = color.NRGBA{0, 0, 0, 0xff}
	blue  = color.NRGBA{0x12, 0x45, 0x6b, 0xff}
)

// drawing is one of each shape.
func drawing() *picture.Drawing {
	d := picture.New(200)
	d.Height, d.Background, d.Title, d.Description = 100, white, "t<", "d&"
	d.Fill(picture.Box{X: 10, Y: 10, W: 20.2, H: 10}, 0, blue)
	d.Fill(picture.Box{X: 40, Y: 10, W: 20, H: 10}, 5, blue)
	d.Fill(picture.Box{X: 70, Y: 10, W: 20, H: 10}, 0, color.NRGBA{0, 0, 0, 0x80})
	d.Skyline(picture.Skyline{Ground: 60, Edges: []float64{10, 20, 30, 40, 50}, Tops: []float64{30, 50, 60, 40}, Thin: 12, Color: blue})
	d.Steps(picture.Steps{Edges: []float64{100, 120, 140}, Levels: []float64{30, 50}, Width: 2, Color: black})
	d.Write(picture.Text{X: 150, Y: 60, Anchor: picture.Middle, Font: picture.Font{Size: 12, Bold: true}, Color: black, Text: "<b>&"})
	d.Write(picture.Text{X: 195, Y: 90, Up: true, Font: picture.Font{Size: 12}, Color: black, Text: "up"})
	return d
}

func pixels(t *testing.T, d *picture.Drawing) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := d.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// Method: what the SVG says of a shape is read off the pixels of the PNG, which has two for each unit.
func TestBothFormsShowTheSame(t *testing.T) {
	d := drawing()
	var out bytes.Buffer
	if err := d.SVG(&out); err != nil {
		t.Fatal(err)
	}
	svg, img := out.String(), pixels(t, d)
	if got := img.Bounds().Size(); got != (image.Point{400, 200}) {
		t.Errorf("the PNG is %v, want 400 x 200", got)
	}
	for _, want := range []string{
		`width="200" height="100" viewBox="0 0 200 100" role="img" aria-labelledby="stormtest-title stormtest-desc" font-family="sans-serif">`,
		`<title id="stormtest-title">t&lt;</title>`, `<desc id="stormtest-desc">d&amp;</desc>`,
		`<rect x="10" y="10" width="20" height="10" fill="#12456b"/>`, `rx="5"`, `fill="#000000" fill-opacity="0.5"`,
		`d="M10 60V30H20V50H32V60zM40 60V40H50V60z"`, // the second bar is thin, and has room at its right
		`<path fill="none" stroke-width="2" stroke="#000000" d="M100 30H120V50H140"/>`,
		`text-anchor="middle" fill="#000000">&lt;b&gt;&amp;</text>`, `transform="rotate(-90 195 90)"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for _, p := range []struct {
		x, y int
		want color.NRGBA
	}{
		{0, 0, white},
		{20, 20, blue}, {59, 39, blue}, {60, 39, white}, {59, 40, white}, // a box, and its edge
		{80, 20, white}, {90, 30, blue}, // a rounded corner
		{20, 60, blue}, {20, 59, white}, {39, 100, blue}, {40, 99, white}, {40, 100, blue}, {63, 110, blue}, {64, 110, white}, {85, 80, blue}, // bars
		{200, 59, black}, {239, 60, black}, {239, 80, black}, {240, 80, black}, {250, 100, black}, {250, 60, white}, // a line
	} {
		if got := color.NRGBAModel.Convert(img.At(p.x, p.y)); got != p.want {
			t.Errorf("pixel %d,%d = %v, want %v", p.x, p.y, got, p.want)
		}
	}
	dark := func(box image.Rectangle) (n int) {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
					n++
				}
			}
		}
		return n
	}
	if dark(image.Rect(280, 100, 320, 122)) < 50 || dark(image.Rect(370, 140, 392, 182)) < 30 {
		t.Error("a text is not where it was written")
	}
	if n := dark(image.Rect(0, 130, 360, 200)); n > 0 {
		t.Errorf("%d dark pixels where nothing was drawn", n)
	}
}

func TestTheSameBytesEachTime(t *testing.T) {
	for name, write := range map[string]func(*picture.Drawing, io.Writer) error{"svg": (*picture.Drawing).SVG, "png": (*picture.Drawing).PNG} {
		var a, b bytes.Buffer
		if err := errors.Join(write(drawing(), &a), write(drawing(), &b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two files of one drawing differ; %v", name, err)
		}
	}
}

// A text is read back as it was, whatever it holds; what XML does not have is U+FFFD.
func TestTextsAreText(t *testing.T) {
	for _, text := range []string{`</text><script>x</script>`, `"'&amp;]]>`, "\u202e\u6f22 \U0001f642", "\x1b\x00\xff", " a  b "} {
		d := picture.New(100)
		d.Height, d.Title = 100, text
		d.Write(picture.Text{Font: picture.Font{Size: 12}, Text: text})
		var out bytes.Buffer
		if err := d.SVG(&out); err != nil {
			t.Fatal(err)
		}
		var read struct {
			Title string   `xml:"title"`
			Text  []string `xml:"text"`
			Other []struct {
				XMLName xml.Name
			} `xml:",any"`
		}
		want := strings.Map(func(r rune) rune {
			if r < ' ' {
				return '\ufffd'
			}
			return r
		}, strings.ToValidUTF8(text, "\ufffd"))
		if err := xml.Unmarshal(out.Bytes(), &read); err != nil || len(read.Text) != 1 || read.Text[0] != want || read.Title != want || len(read.Other) != 2 {
			t.Errorf("%q: %+v, %v", text, read, err)
		}
		pixels(t, d)
	}
}

// Characters without a letter in the fonts are told apart.
func TestUnknownCharactersAreSpelled(t *testing.T) {
	d := picture.New(100)
	f := picture.Font{Size: 12}
	for text, spelled := range map[string]string{"\u6f22": `\u6f22`, "\U0001f642": `\U0001f642`, "a\u00a0b": "a b", "x\ufffd": `x\ufffd`} {
		if got, want := d.Measure(f, text), d.Measure(f, spelled); got != want {
			t.Errorf("Measure(%q) = %v, want that of %q, %v", text, got, spelled, want)
		}
	}
}

func TestWrapAndClip(t *testing.T) {
	d := picture.New(100)
	f := picture.Font{Size: 10}
	const width = 60
	for _, text := range []string{"", "a", "one two three four five six seven", strings.Repeat("m", 100), "a " + strings.Repeat("\u6f22", 30) + " b", "\xff\xfe", strings.Repeat("x ", 400)} {
		lines := d.Wrap(f, text, width, 0)
		if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(text, " ", ""); got != want {
			t.Errorf("Wrap(%q) lost something: %q", text, lines)
		}
		for _, line := range append(lines, d.Clip(f, text, width)) {
			if d.Measure(f, line) > width && len([]rune(line)) > 1 {
				t.Errorf("Wrap or Clip of %q: %q is wider than %d", text, line, width)
			}
		}
		if two := d.Wrap(f, text, width, 2); len(two) > 2 || len(lines) > 2 && !strings.HasSuffix(two[1], "…") {
			t.Errorf("Wrap(%q) in two lines = %q", text, two)
		}
	}
}

// A palette has room for 256 colours; more than those of letters' edges make no file wrong, only large.
func TestManyColours(t *testing.T) {
	d := picture.New(300)
	d.Height, d.Background = 1, white
	for i := range 300 {
		d.Fill(picture.Box{X: float64(i), W: 1, H: 1}, 0, color.NRGBA{uint8(i), uint8(i >> 1), 7, 0xff}) //nolint:gosec // any colour
	}
	img := pixels(t, d)
	if got := color.NRGBAModel.Convert(img.At(2*299, 0)); got != (color.NRGBA{43, 149, 7, 0xff}) {
		t.Errorf("the last colour is %v", got)
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriter(t *testing.T) {
	if err := drawing().SVG(full{}); !errors.Is(err, errFull) {
		t.Errorf("SVG: %v", err)
	}
	if err := drawing().PNG(full{}); !errors.Is(err, errFull) {
		t.Errorf("PNG: %v", err)
	}
}
