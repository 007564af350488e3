package report_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/hostile"
	"stormtest/report/strict"
)

// What holds for every format of the table: a new row is tested here without a new test.

// written is a result in a format. A format that has no form for it says so in a sentence, and then written
// returns false.
func written(t *testing.T, f report.Format, r *record.Result) ([]byte, bool) {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, r, report.Options{}); err != nil {
		if text := err.Error(); !strings.HasPrefix(text, "report: ") || !isPrintable(text) {
			t.Errorf("%s: %q is no sentence of this package", f.Name, text)
		}
		return nil, false
	}
	return b.Bytes(), true
}

func isPrintable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) || r == '\ufffd' }) < 0
}

// read reads a document with the strict reader of its format.
func read(t *testing.T, f report.Format, document []byte) strict.Content {
	t.Helper()
	c, err := strict.Read(f.Flag, document)
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
	}
	return c
}

// edges are results of next to nothing, and of very much, made once as results are.
func edges() map[string]*record.Result { return maps.Clone(edgesMade()) }

var edgesMade = sync.OnceValue(makeEdges)

func makeEdges() map[string]*record.Result {
	all := results()
	small := func() record.Run {
		return storm{strategy: "full", clients: 40, service: 10_000, length: 1_000_000, delay: strategies["full"]}.run()
	}
	oneBucket := small()
	oneBucket.Duration, oneBucket.Buckets = 100*time.Millisecond, oneBucket.Buckets[:1]
	without := small()
	without.Detail = nil
	unanswered := emptyResult()
	unanswered.Interrupted = true
	unanswered.Runs[0].Duration = 1_234_567
	unanswered.Runs[0].Buckets = []record.Bucket{{Arrivals: 5, First: 5}}
	unanswered.Runs[0].Operations = record.Operations{Started: 5, Unfinished: 5}
	unanswered.Runs[0].Attempts = record.Attempts{Sent: 5, First: 5, InFlightAtEnd: 5}
	bare := resultOf("{}", record.Run{}, record.Run{})
	bare.Gates, bare.Runs[1].Detail = []record.Gate{{}}, &record.Detail{}
	list := map[string]*record.Result{
		"one client":                    resultOf(guidePlan, storm{strategy: "full", clients: 1, service: 1000, length: 1_000_000, outage: [2]int64{0, 500_000}, delay: strategies["full"]}.run()),
		"one bucket":                    resultOf(guidePlan, oneBucket),
		"no detail":                     resultOf(guidePlan, without),
		"cut before an answer":          unanswered,
		"the zero of everything":        bare,
		"no runs, a gate, and no plan":  {Gates: []record.Gate{{Gate: "waves<3", Reason: "no data"}}},
		"many parts":                    manyParts(30),
		"parts without runs":            resultOf(openPlan, record.Run{Strategy: "full", Parts: []record.Part{{}, {}}, Layers: []record.Layer{{}, {}}, Phases: []record.Phase{{}}}),
		"four and one of them is empty": resultOf(guidePlan, small(), emptyResult().Runs[0], small(), small()),
	}
	for _, name := range []string{"empty", "arrival", "interrupted", "invalid", "long", "nothing", "url", "zero", "idle", "log", "probed", "virtual", "occ", "seeds", "open", "four", "whole", "fleet", "chain"} {
		list[name] = all[name]
	}
	return list
}

// TestEveryFormatOfEveryEdge: whatever a run measured, or did not, every format is written, a strict reader reads
// it, and a figure without a value is no word and no -1 (cases D-17 and D-18).
func TestEveryFormatOfEveryEdge(t *testing.T) {
	for name, r := range edges() {
		for _, f := range report.Formats() {
			t.Run(f.Name+" of "+name, func(t *testing.T) {
				document, ok := written(t, f, r)
				if !ok {
					t.Fatalf("%s has no form for it", f.Name)
				}
				if bad := read(t, f, document).NoNumber(); bad != "" {
					t.Errorf("it holds %q", bad)
				}
			})
		}
	}
}

// TestAPageOfTwoHoursIsSmall: of 72,000 buckets a page is under 2 MB and says how high the highest is (case D-18 (b)).
func TestAPageOfTwoHoursIsSmall(t *testing.T) {
	f, ok := report.Lookup("html")
	if !ok {
		t.Fatal("there is no page")
	}
	page, _ := written(t, f, longResult())
	if len(page) > 2_000_000 {
		t.Errorf("%d bytes, want 2 MB at most", len(page))
	}
	if c := read(t, f, page); !strings.Contains(c.Text, "350") {
		t.Error("the text does not say that the highest bucket has 350 arrivals")
	}
}

// TestEveryFormatHasAReaderAndAGolden: nobody adds a format that no test reads, or leaves the golden of one that has gone.
func TestEveryFormatHasAReaderAndAGolden(t *testing.T) {
	flags, want := map[string]string{}, map[string]bool{} // flags by the golden
	for _, f := range report.Formats() {
		flags["format-"+f.Name] = f.Flag
		want[filepath.Join("testdata", "format-"+f.Name+".golden")] = true
	}
	for _, f := range report.ComparisonFormats() {
		flags["comparison-"+f.Name] = f.Flag
	}
	for name, flag := range flags {
		if !strict.Knows(flag) {
			t.Errorf("%s: report/strict has no reader for --%s", name, flag)
		}
		if _, err := os.Stat(filepath.Join("testdata", name+".golden")); err != nil {
			t.Error(err)
		}
	}
	got, err := filepath.Glob(filepath.Join("testdata", "format-*.golden"))
	if err != nil || !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("the goldens are %v, want %v; %v", got, slices.Sorted(maps.Keys(want)), err)
	}
}

// planted is a copy of r that has the text in every place that holds one.
func planted(t *testing.T, r *record.Result, text string) *record.Result {
	t.Helper()
	dup, err := report.ReadJSON(bytes.NewReader(encode(t, r)))
	if err == nil {
		err = hostile.Plant(dup, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dup
}

// hosts are the results in which hostile texts are planted: between them they show every part of a report.
func hosts() map[string]*record.Result {
	small := storm{strategy: "full", clients: 60, service: 10_000, length: 2_000_000, outage: [2]int64{200_000, 700_000}, delay: strategies["full"]}.run()
	url, probe, virtual := small, small, repeated(inVirtualTime(small))
	url.Engine, url.ArrivalsMeasuredAt, url.CapacityPerSecond = record.EngineReal, "client", nil
	withProbe := resultOf(guidePlan, probe)
	withProbe.Probe = probed()
	virtual.Budget = &record.Budget{Kind: "x", Parameters: "x"}
	return map[string]*record.Result{
		"real": resultOf(guidePlan, small, small), "url": resultOf(guidePlan, url), "probed": withProbe,
		"virtual": resultOf(virtualPlan, virtual, virtual), "log": logResult(), "whole": resultOf(openPlan, everything()),
	}
}

// whole are the flags of the formats that show a text without cutting it or breaking it into lines.
var whole = []string{"csv", "html", "markdown", "junit"}

// spaced is text with one blank between its words.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// everywhere are the hostile texts that are planted in every host: what markup, tables and grammars are made of.
// The others are for what is done with a text, which does not depend on where it stands: one host has them.
var everywhere = []string{"markup", "attribute", "markdown", "label", "controls"}

// TestHostileTextsAreShown: a text of a result is shown literally wherever it stands, and changes nothing of what a
// document is made of.
func TestHostileTextsAreShown(t *testing.T) {
	for host, r := range hosts() {
		tame := map[string]strict.Content{}
		for _, f := range report.Formats() {
			if document, ok := written(t, f, planted(t, r, "a tame text")); ok {
				tame[f.Name] = read(t, f, document)
			}
		}
		for name, text := range hostile.Texts() {
			if host != "real" && !slices.Contains(everywhere, name) {
				continue
			}
			bad := planted(t, r, text)
			for _, f := range report.Formats() {
				if f.Name == "png" && host != "real" {
					continue // a picture without texts, which takes its time
				}
				t.Run(fmt.Sprintf("%s of %s with %s", f.Name, host, name), func(t *testing.T) {
					document, ok := written(t, f, bad)
					if !ok {
						t.Fatal("no form for it")
					}
					c := read(t, f, document)
					for _, element := range c.Structure {
						if !slices.Contains(tame[f.Name].Structure, element) && !slices.Contains(isolating[f.Name], element) {
							t.Errorf("the text made an element <%s>", element)
						}
					}
					if shown := c.Text + c.Data; shown != "" && !strings.Contains(shown, hostile.Mark(text)) {
						t.Errorf("%s is not shown", hostile.Mark(text))
					}
					if slices.Contains(whole, f.Flag) && isPrintable(text) && !strings.Contains(spaced(c.Text), spaced(text)) {
						t.Errorf("%q is not shown as it is", text)
					}
				})
			}
		}
	}
}

// isolating are the elements in which a format puts a single character, so that nothing is made of it and its neighbours.
var isolating = map[string][]string{"markdown": {"span", "code"}}

// TestHostileFigures: figures that make no sense are written by every format, in its grammar.
func TestHostileFigures(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1e300, 5e-324} {
		r := hosts()["virtual"]
		r.Gates = []record.Gate{{Gate: "waves<3", Value: &x}}
		fill(reflect.ValueOf(r).Elem(), x)
		for _, run := range r.Runs {
			run.Repeats.Figures = maps.Clone(run.Repeats.Figures)
			for metric := range run.Repeats.Figures {
				run.Repeats.Figures[metric] = record.Spread{Mean: &x, P5: &x, P95: &x, Count: 3, Values: []*float64{&x}}
			}
		}
		for _, f := range report.Formats() {
			t.Run(fmt.Sprintf("%s of %v", f.Name, x), func(t *testing.T) {
				document, ok := written(t, f, r)
				if !ok {
					t.Fatal("no form for it")
				}
				if bad := read(t, f, document).NoNumber(); bad != "" {
					t.Errorf("it holds %q", bad)
				}
			})
		}
	}
	for _, f := range report.Formats() { // with figures that contradict each other too
		document, ok := written(t, f, hostileResult())
		if !ok {
			t.Errorf("%s has no form for the hostile result", f.Name)
			continue
		}
		if bad := read(t, f, document).NoWord(); bad != "" {
			t.Errorf("%s of the hostile result holds %q", f.Name, bad)
		}
	}
}
