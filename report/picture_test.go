package report_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/picture"
)

// An svgText is a text of a picture.
type svgText struct {
	X         float64 `xml:"x,attr"`
	Y         float64 `xml:"y,attr"`
	Size      float64 `xml:"font-size,attr"`
	Weight    string  `xml:"font-weight,attr"`
	Anchor    string  `xml:"text-anchor,attr"`
	Transform string  `xml:"transform,attr"`
	Text      string  `xml:",chardata"`
}

// box is where the text stands in the font of the PNG.
func (s svgText) box() picture.Box {
	width := picture.New(0).Measure(picture.Font{Size: s.Size, Bold: s.Weight == "bold"}, s.Text)
	left := s.X
	switch s.Anchor {
	case "middle":
		left -= width / 2
	case "end":
		left -= width
	}
	return picture.Box{X: left, Y: s.Y - s.Size*0.7, W: width, H: s.Size * 0.75}
}

// An svgPicture is what a test looks at in a picture.
type svgPicture struct {
	Width  float64   `xml:"width,attr"`
	Height float64   `xml:"height,attr"`
	Title  string    `xml:"title"`
	Desc   string    `xml:"desc"`
	Texts  []svgText `xml:"text"`
	Paths  []struct {
		Fill string `xml:"fill,attr"`
		D    string `xml:"d,attr"`
	} `xml:"path"`
	Rects []struct {
		X    float64 `xml:"x,attr"`
		W    float64 `xml:"width,attr"`
		Fill string  `xml:"fill,attr"`
	} `xml:"rect"`
}

func svgOf(t *testing.T, r *record.Result) svgPicture {
	t.Helper()
	var b bytes.Buffer
	if err := report.SVG(&b, r); err != nil {
		t.Fatal(err)
	}
	var p svgPicture
	if err := xml.Unmarshal(b.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// words are all texts of a picture, line after line.
func (p svgPicture) words() string {
	var b strings.Builder
	for _, s := range p.Texts {
		b.WriteString(strings.ReplaceAll(s.Text, "\u00a0", " ") + " ")
	}
	return b.String()
}

// crowd is n runs, each of so many buckets in which anything may have arrived, done at any time or never.
func crowd(n, buckets int) *record.Result {
	draw := rand.New(rand.NewPCG(1, 2))
	r := resultOf(guidePlan)
	like := guideStorm("full")
	for i := range n {
		run := like
		run.Strategy = fmt.Sprintf("strategy-%02d", i)
		run.Duration, run.Buckets = time.Duration(buckets)*run.Bucket, nil
		if run.Completion = nil; i%5 != 0 {
			run.Completion = ptr(draw.Int64N(int64(run.Duration)))
		}
		run.Convoy.Flags = []string{record.FlagPeriodic, record.FlagSharedSeed, record.FlagMetastable}[:i%4]
		for k := range buckets {
			arrivals := draw.Int64N(1000)
			run.Buckets = append(run.Buckets, record.Bucket{
				At: time.Duration(k) * run.Bucket, Arrivals: arrivals, Rejected: draw.Int64N(arrivals + 1), Served: 100, Wasted: draw.Int64N(101),
			})
		}
		r.Runs = append(r.Runs, run)
	}
	return r
}

// metastable is a target that works for clients that have gone.
func metastable() *record.Result {
	run := guideStorm("full")
	run.Buckets = slices.Clone(run.Buckets)
	for i := range run.Buckets {
		b := &run.Buckets[i]
		b.Arrivals, b.Rejected, b.Served, b.Wasted = 80, 0, 80, 0
		if i >= 50 {
			b.Arrivals, b.Rejected, b.Served, b.Wasted = 300, 200, 100, 100
		}
	}
	run.Completion, run.Convoy.Flags = nil, []string{record.FlagMetastable}
	return resultOf(`{"clients":2000,"rate":"800/s","capacity":"1000/s","outage":["4s..5s"]}`, run)
}

func TestPictureGoldens(t *testing.T) {
	all := results()
	all["metastable"] = metastable()
	for _, name := range []string{"four", "metastable", "invalid", "empty", "url", "log", "nothing", "fleet", "chain"} {
		var b bytes.Buffer
		if err := report.SVG(&b, all[name]); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"-svg", b.Bytes())
	}
}

// pictured are results that fill a picture in all ways.
func pictured() map[string]*record.Result {
	list := edges()
	for _, n := range []int{2, 3, 9, 22, 40} {
		list[strconv.Itoa(n)+" strategies"] = crowd(n, 300)
	}
	calm := resultOf(guidePlan, guideStorm("full"), guideStorm("full")) // the line is at the top, and the end at the right
	for i := range calm.Runs {
		run := &calm.Runs[i]
		run.Buckets = slices.Clone(run.Buckets)
		for k := range run.Buckets {
			run.Buckets[k].Arrivals, run.Buckets[k].Rejected = int64(40+30*i), 0
		}
		run.Completion = ptr(int64(run.Duration - time.Millisecond))
	}
	list["calm"] = calm
	list["hostile"], list["metastable"] = hostileResult(), metastable()
	return list
}

// Method: every text's box, in the font of the PNG, lies in the picture, and no two lie over each other. Marks
// that stand for a moment may come near each other, so that a fifth of the lower text's height is allowed.
func TestPictureTextsAreApart(t *testing.T) {
	for name, r := range pictured() {
		p := svgOf(t, r)
		var boxes []picture.Box
		for i, s := range p.Texts {
			b := s.box()
			if s.Transform != "" {
				b = picture.Box{X: s.X - s.Size, Y: s.Y - b.W/2, W: s.Size, H: b.W}
			}
			if b.X < 0 || b.X+b.W > p.Width || b.Y < 0 || b.Y+b.H > p.Height {
				t.Errorf("%s: %q at %v is outside of %v x %v", name, s.Text, b, p.Width, p.Height)
			}
			for k, other := range boxes {
				if b.X < other.X+other.W && other.X < b.X+b.W && b.Y+b.H*0.2 < other.Y+other.H && other.Y+other.H*0.2 < b.Y+b.H {
					t.Errorf("%s: %q lies over %q", name, p.Texts[i].Text, p.Texts[k].Text)
				}
			}
			boxes = append(boxes, b)
		}
	}
}

// A picture is no larger than a page can bear, whatever the result: 72,000 buckets, and more panels than there are.
func TestPictureIsSmall(t *testing.T) {
	for name, r := range map[string]*record.Result{"72,000 buckets": longResult(), "22 strategies": crowd(22, 2000), "40 strategies": crowd(40, 300), "four": crowd(4, 72_000)} {
		for flag, most := range map[string]int{"svg": 500_000, "png": 310_000} { // noise is the worst that there is
			f, _ := report.Lookup(flag)
			document, _ := written(t, f, r)
			if len(document) > most {
				t.Errorf("%s: --%s has %d bytes, want %d at most", name, flag, len(document), most)
			}
			if !bytes.Equal(document, func() []byte { again, _ := written(t, f, r); return again }()) {
				t.Errorf("%s: --%s has other bytes the second time", name, flag)
			}
		}
	}
}

// Method: the bars of a colour are one path. The highest of them is as high as the root scale says, and one of the
// axis' own numbers beside it.
func TestPicturePeakSurvives(t *testing.T) {
	p := svgOf(t, longResult())
	if want := "peak 350"; !strings.Contains(p.words(), want) {
		t.Errorf("no %q in %s", want, p.words())
	}
	at := map[string]float64{}
	for _, s := range p.Texts {
		if s.Anchor == "end" {
			at[s.Text] = s.Y - 4
		}
	}
	ground, line := at["0"], at["100"]
	if ground == 0 || line == 0 {
		t.Fatalf("no labels at 0 and the capacity: %v", at)
	}
	want := ground - (ground-line)*3.5 // linear: 350 is 3.5 times the capacity
	highest := math.Inf(1)
	for _, path := range p.Paths {
		for _, m := range regexp.MustCompile(`V([\d.]+)`).FindAllStringSubmatch(path.D, -1) {
			y, _ := strconv.ParseFloat(m[1], 64)
			highest = min(highest, y)
		}
	}
	if math.Abs(highest-want) > 0.75 {
		t.Errorf("the highest bar ends at %v, want %v", highest, want)
	}
}

// A drawnBar is a bar of a picture.
type drawnBar struct{ from, to, top float64 }

// drawnBars reads the bars off the outline of one colour.
func drawnBars(t *testing.T, outline string) (list []drawnBar, ground float64) {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var x, y float64
	for _, m := range regexp.MustCompile(`([MVHz])([\d.]*)(?: ([\d.]+))?`).FindAllStringSubmatch(outline, -1) {
		switch m[1] {
		case "M":
			x, ground = number(m[2]), number(m[3])
		case "V":
			y = number(m[2])
		case "H":
			list = append(list, drawnBar{x, number(m[2]), y})
			x = number(m[2])
		}
	}
	return list, ground
}

// Method: the bars are read off the outlines of both colours, and their heights turned back into numbers by the place of
// the capacity line. A unit is less than an arrival high and edges are on halves, so a bar may be off by half a unit.
func TestPictureBarsAreTheBuckets(t *testing.T) {
	const accepted, all, width, buckets = "#12456b", "#e8832e", 760.0, 20
	for name, most := range map[string]int64{"linear": 300, "square root": 4000} {
		draw := rand.New(rand.NewPCG(3, 4))
		r := resultOf(guidePlan, guideStorm("full"))
		run := &r.Runs[0]
		run.Completion, run.Duration, run.Buckets = nil, buckets*run.Bucket, nil
		for i := range buckets {
			n := 1 + draw.Int64N(most)
			run.Buckets = append(run.Buckets, record.Bucket{At: time.Duration(i) * run.Bucket, Arrivals: n, Rejected: draw.Int64N(n)})
		}
		run.Buckets[7].Arrivals, run.Buckets[9].Arrivals = 0, most
		p := svgOf(t, r)
		line := math.NaN()
		for _, s := range p.Texts {
			if s.Text == "100" && s.Weight == "bold" {
				line = s.Y - 4
			}
		}
		for _, path := range p.Paths {
			bars, ground := drawnBars(t, path.D)
			i := 0
			for _, b := range run.Buckets {
				want := float64(b.Arrivals)
				if path.Fill == accepted {
					want -= float64(b.Rejected)
				}
				if b.Arrivals == 0 {
					continue
				}
				height := (ground - bars[i].top) / (ground - line)
				of := func(v float64) float64 { return v / 100 }
				if name == "square root" {
					of = func(v float64) float64 { return math.Sqrt(v / 100) }
				}
				if math.Abs(height-of(want)) > 0.8/(ground-line) || path.Fill != accepted && path.Fill != all {
					t.Errorf("%s, %s: bucket at %v is %.4g lines high, want %.4g for %v", name, path.Fill, b.At, height, of(want), want)
				}
				if at := float64(b.At/run.Bucket) / buckets; math.Abs((bars[i].from-bars[0].from)/(bars[len(bars)-1].to+1-bars[0].from)-at) > 1/width {
					t.Errorf("%s, %s: bucket at %v begins at %v of %v", name, path.Fill, b.At, bars[i].from, bars)
				}
				i++
			}
			if i != len(bars) {
				t.Errorf("%s, %s: %d bars for %d buckets", name, path.Fill, len(bars), i)
			}
		}
		if len(p.Paths) != 2 {
			t.Errorf("%s: %d colours of bars", name, len(p.Paths))
		}
	}
}

// Outages and the end stand where the axis of time says.
func TestPictureMarksAreOnTheAxis(t *testing.T) {
	r := resultOf(`{"clients":2000,"capacity":"1000/s","outage":["5s..10s","25s..99h"]}`, guideStorm("full"))
	r.Runs[0].Completion, r.Runs[0].Duration = ptr(int64(20*time.Second)), 30*time.Second
	r.Runs[0].Buckets[299].Arrivals = 500
	p := svgOf(t, r)
	at := map[string]float64{}
	for _, s := range p.Texts {
		if s.Anchor == "middle" {
			at[s.Text] = s.X
		}
	}
	type span struct{ from, to float64 }
	spans := map[string][]span{}
	for _, b := range p.Rects[1:] {
		if b.W > 100 || b.Fill == "#1a7f37" {
			spans[b.Fill] = append(spans[b.Fill], span{b.X, b.X + b.W})
		}
	}
	outages, done := spans["#ddd9ee"], spans["#1a7f37"]
	if len(outages) != 2 || len(done) != 2 { // the first is the legend's
		t.Fatalf("%d outages, %d ends", len(outages), len(done))
	}
	for name, pair := range map[string][2]float64{
		"the outage begins": {outages[0].from, at["5"]}, "the outage ends": {outages[0].to, at["10"]},
		"the second outage begins": {outages[1].from, at["25"]}, "the second outage ends with the run": {outages[1].to, at["30"]}, "all done": {done[1].from, at["20"]},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.5 {
			t.Errorf("%s at %v, want %v", name, pair[0], pair[1])
		}
	}
}

// A told is a result and what its picture says of it.
type told struct {
	r    *record.Result
	text string
}

// partial are results of which a picture does not show everything.
func partial() map[string]told {
	tail := resultOf(guidePlan, guideStorm("full"), guideStorm("decorrelated"))
	for i := range tail.Runs {
		run := &tail.Runs[i]
		run.Completion, run.Duration, run.Buckets = nil, time.Minute, slices.Clone(run.Buckets[:100])
		for k := range run.Buckets {
			b := &run.Buckets[k]
			b.Arrivals, b.Rejected = 500, 400
			if k >= 20 {
				b.Arrivals, b.Rejected = int64(k%4), 0 // at most 3, which is under 1 % of 500
			}
		}
	}
	quiet := resultOf(guidePlan, guideStorm("full"))
	quiet.Runs[0].Buckets, quiet.Runs[0].Completion = quiet.Runs[0].Buckets[:5], nil
	lost := emptyResult()
	lost.Runs[0].Operations = record.Operations{Started: 5, Unfinished: 5}
	lost.Runs[0].Books.Lost = map[string]int64{"refused": 20}
	unheard := emptyResult()
	unheard.Runs[0].Operations = record.Operations{Started: 5, Unfinished: 5}
	outside := emptyResult()
	outside.Runs[0].Outside = &record.Outside{}
	few := resultOf(guidePlan, storm{strategy: "full", clients: 3, service: 1000, length: 1_000_000, delay: strategies["full"]}.run())
	down := resultOf(guidePlan, guideStorm("full"), guideStorm("full"))
	down.Runs[1].Strategy = "slow"
	down.Runs[0].Recovery = record.Recovery{GoodputBefore: ptr(800.0), GoodputLast: ptr(0.0), Watched: 22 * time.Second}
	down.Runs[1].Recovery = down.Runs[0].Recovery
	wider := resultOf(guidePlan, guideStorm("full"), guideStorm("full"))
	wider.Runs[1].Bucket, wider.Runs[1].Strategy = time.Second, "slow"
	return map[string]told{
		"tail":          {tail, "From 2.2 s to the end at 60 s no bucket held more than 3; what arrived then is counted as “later”."},
		"tail, a panel": {tail, "+119 later"}, // from bucket 22 on 2 + 3, and then 19 times 0 + 1 + 2 + 3
		"nothing later": {quiet, "Nothing arrived from 550 ms to the end at 30 s."},
		"lost":          {lost, "no arrivals: all 20 attempts lost (20 refused)"},
		"unheard":       {unheard, "no arrivals in 30 s"},
		"outside":       {outside, "no arrivals in 30 s"},
		"above":         {few, "The capacity, 100 in a bucket, is above the picture."},
		"seeds":         {seedsResult(), "Drawn is seed 42, the first of 400."},
		"not recovered": {down, "The target has not recovered from the outage with “full” and “slow”."},
		"wider":         {wider, "The buckets of “slow” are wider: 1 s."},
	}
}

// What a picture leaves out it tells, and of what it cannot draw it says why.
func TestPictureSaysWhatItDoesNotShow(t *testing.T) {
	list := partial()
	maps.Copy(list, map[string]told{
		"empty":          {emptyResult(), "no arrivals: no operation was started"},
		"nothing":        {resultOf("null"), "No strategy ran There is nothing to show."},
		"no capacity":    {urlResult(), "There is no capacity line: nobody knows the capacity."},
		"OCC":            {occResult(), "There is no capacity line: this target has no capacity."},
		"zero":           {zeroCapacity(), "There is no capacity line: the target serves nothing."},
		"merged":         {longResult(), "A bar is the fullest of"},
		"too many":       {crowd(40, 50), "16 more strategies are not drawn."},
		"root":           {results()["four"], "The height is the square root of the arrivals, so that the fullest bucket and the capacity can both be read."},
		"clients":        {urlResult(), "Arrivals are taken where the clients sent them"},
		"invalid":        {invalidResult(), "INVALID"},
		"interrupted":    {results()["interrupted"], "INTERRUPTED"},
		"log":            {logResult(), "RECOVERED"},
		"wasted":         {metastable(), "answered in time, mean of 500 ms"},
		"metastable":     {metastable(), "METASTABLE: the outage is over and the target has not recovered."},
		"outage":         {metastable(), "outage (status)"},
		"virtual time":   {results()["virtual"], "stormtest 1.0.0 · virtual time · clients 1000"},
		"real time":      {results()["four"], "stormtest 1.0.0 · real time, over sockets · clients 2000"},
		"the answer":     {results()["four"], "“decorrelated” did best here. It got all 2,000 operations done after 8.94 s with 9,341 attempts."},
		"the verdicts":   {results()["four"], "Retries came back together with “none”; partly together with “equal”"},
		"the convoy":     {results()["four"], "Convoy index: of the retries from 1 s to 10 s; 0 is as if by chance, 1 all together."},
		"how many clear": {metastable(), "Retry storm: operations at 800/s against a target that serves 1,000/s"},
	})
	for name, want := range list {
		if words := svgOf(t, want.r).words(); !strings.Contains(words, want.text) {
			t.Errorf("%s: no %q in\n%s", name, want.text, words)
		}
	}
}

// The figures of a panel are those of the result, and the description has them for those who do not see it.
func TestPictureFigures(t *testing.T) {
	p := svgOf(t, results()["four"])
	for _, want := range []string{
		"none CONVOY: convoy index 1.00, peak / capacity 20.0x, attempts/operation 8.98, done in 30 s 0.4 %; 17,964 arrivals, at most 2,000 in a bucket.",
		"equal CLUMPED: convoy index 0.11, peak / capacity 40.0x, attempts/operation 5.61, all done after 20.6 s;",
	} {
		if !strings.Contains(p.Desc, want) {
			t.Errorf("no %q in %s", want, p.Desc)
		}
	}
	if p.Title != "Retry storm: 2,000 clients against a target that serves 1,000/s" {
		t.Errorf("the title is %q", p.Title)
	}
}
