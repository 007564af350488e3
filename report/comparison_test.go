package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/check"
	"stormtest/report/compare"
	"stormtest/report/strict"
)

// planFieldsKnown are fields with their defaults, as the command knows them.
var planFieldsKnown = []compare.Field{{Name: "clients", Default: "2000"}, {Name: "base", Default: "100ms"}, {Name: "capacity", Default: "1000/s"}, {Name: "workers", Default: "1"}}

// comparisonOf compares results under names of files, with gates.
func comparisonOf(t testing.TB, gates []string, inputs ...compare.Input) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare(inputs, compare.Options{Version: "1.0.0", Fields: planFieldsKnown})
	if err != nil {
		t.Fatal(err)
	}
	list, err := check.ParseDifferences(gates)
	if err != nil {
		t.Fatal(err)
	}
	c.Gates = compare.Evaluate(list, c)
	return c
}

// seedsOf gives a run n seeds, whose figures differ from those of the run by up to a share.
func seedsOf(run record.Run, first uint64, n int, share float64) record.Run {
	list := make([]record.Seed, n)
	for i := range list {
		list[i] = record.SeedOf(&run)
		for k := range list[i].Figures {
			list[i].Figures[k] *= 1 + share*float64((7*i+3*k)%n-n/2)/float64(n)
		}
	}
	run.Repeats = record.RepeatsOf(first, n, list)
	return run
}

// slowPlan is guidePlan with twice the base delay.
const slowPlan = `{"clients":2000,"strategy":["none","equal","full","decorrelated"],"base":"200ms","capacity":"1000/s","workers":1,"queue":0,` +
	`"model":"slots","service":"fixed","abandoned":"process","send-retry-after":"none","outage":[]}`

// slowStorm is the storm of twice the base delay.
func slowStorm(strategy string) record.Run {
	twice := func(r *rand.Rand, retry int, last int64) int64 { return 2 * strategies[strategy](r, retry, last/2) }
	return storm{strategy: strategy, clients: 2000, service: 1000, length: 30_000_000, delay: twice}.run()
}

// comparisons are what goldens and properties are made of, made once. Nobody changes them.
func comparisons(t testing.TB) map[string]*compare.Comparison {
	t.Helper()
	comparisonsOnce.Do(func() { comparisonsMade = makeComparisons(t) })
	return comparisonsMade
}

var (
	comparisonsOnce sync.Once
	comparisonsMade map[string]*compare.Comparison
)

func makeComparisons(t testing.TB) map[string]*compare.Comparison {
	t.Helper()
	in := func(name string, r *record.Result) compare.Input { return compare.Input{Name: name, Result: r} }
	virtualOf := func(plan string, seed uint64, runs ...record.Run) *record.Result {
		r := resultOf(plan, runs...)
		r.Seed = seed
		return r
	}
	base := virtualOf(guidePlan, 1, seedsOf(inVirtualTime(guideStorm("full")), 1, 20, 0.01))
	slow := virtualOf(slowPlan, 1, seedsOf(inVirtualTime(slowStorm("full")), 1, 20, 0.01))
	moved := seedsOf(inVirtualTime(slowStorm("full")), 1, 20, 0.01)
	moved.Convoy.WindowFrom, moved.Convoy.WindowTo = 2*time.Second, 18_715_978_772
	for i := range moved.Repeats.Figures["metastable"].Values { // that of a flag is the first of its words
		moved.Repeats.Figures["metastable"].Values[i] = new(float64)
	}
	invalid := invalidResult()
	other := resultOf(slowPlan, slowStorm("full"))
	other.Tool.Version, other.Addresses = "1.1.0", []string{"192.0.2.1:80"}
	four := func() *record.Result {
		return resultOf(guidePlan, guideStorm("none"), guideStorm("equal"), guideStorm("full"), guideStorm("decorrelated"))
	}
	old, again := hostileResult(), hostileResult()
	for _, r := range []*record.Result{old, again} {
		r.Runs[1].Strategy = "\x1b[1m" + r.Runs[1].Strategy
	}
	again.Plan = json.RawMessage(`{"url\u001b[2J":"<b>"}`)
	whole := logResult()
	whole.Interrupted = false
	return map[string]*compare.Comparison{
		"seeds":   comparisonOf(t, []string{"amplification<=+10%", "completion<=+2s", "convoy_index<=+0.05@beyond-noise"}, in("base.json", base), in("slow.json", slow)),
		"moved":   comparisonOf(t, []string{"window_arrivals<=+10%"}, in("base.json", base), in("slow.json", virtualOf(slowPlan, 1, moved))),
		"noise":   comparisonOf(t, nil, in("base.json", base), in("again.json", virtualOf(guidePlan, 101, seedsOf(inVirtualTime(guideStorm("full")), 101, 20, 0.0101)))),
		"single":  comparisonOf(t, []string{"latency_p99<=+10%"}, in("base.json", resultOf(guidePlan, guideStorm("full"))), in("new.json", other)),
		"range":   comparisonOf(t, nil, in("base.json", base), in("one.json", virtualOf(slowPlan, 9, inVirtualTime(slowStorm("full"))))),
		"same":    comparisonOf(t, nil, in("base.json", base), in("base.json", base)),
		"inside":  comparisonOf(t, []string{"full:attempts_sent<=-50%"}, in("all.json", four())),
		"three":   comparisonOf(t, nil, in("a.json", four()), in("b.json", four()), in("c.json", resultOf(slowPlan, slowStorm("full"), guideStorm("none")))),
		"invalid": comparisonOf(t, []string{"amplification<=+1%"}, in("base.json", resultOf(guidePlan, guideStorm("full"))), in("invalid.json", invalid)),
		"hostile": comparisonOf(t, nil, in("old`|<b>.json", old), in("new\x1b[31m|<script>`.json", again)),
		"empty":   comparisonOf(t, []string{"waves<=+1"}, in("base.json", emptyResult()), in("new.json", oneArrival())),
		"logs":    comparisonOf(t, nil, in("a.hlog", whole), in("b.hlog", whole)),
		"long":    comparisonOf(t, nil, in("a.json", longResult()), in("b.json", longResult())),
	}
}

func renderComparison(t testing.TB, c *compare.Comparison, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.ComparisonTerminal(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestComparisonGoldens(t *testing.T) {
	all := comparisons(t)
	for _, tt := range []struct {
		name string
		of   string
		o    report.Options
	}{
		{"seeds-80", "seeds", report.Options{Width: 80}}, {"seeds-120-all", "seeds", report.Options{Width: 120, All: true}}, {"seeds-40-ascii", "seeds", report.Options{Width: 40, ASCII: true}},
		{"seeds-80-color", "seeds", report.Options{Width: 80, Color: true}},
		{"moved-80", "moved", report.Options{Width: 80}}, {"noise-80", "noise", report.Options{Width: 80}}, {"single-80", "single", report.Options{Width: 80}}, {"single-20-ascii", "single", report.Options{Width: 20, ASCII: true}},
		{"range-80", "range", report.Options{Width: 80}}, {"same-80", "same", report.Options{Width: 80}}, {"inside-80", "inside", report.Options{Width: 80}}, {"three-200", "three", report.Options{Width: 200}},
		{"invalid-80", "invalid", report.Options{Width: 80}}, {"hostile-80", "hostile", report.Options{Width: 80}}, {"empty-80", "empty", report.Options{Width: 80}}, {"logs-80", "logs", report.Options{Width: 80}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			golden(t, "comparison-"+tt.name, []byte(renderComparison(t, all[tt.of], tt.o)))
		})
	}
}

// Whatever is compared fits into any width, in the characters that were asked for, and steers no terminal.
func TestComparisonFits(t *testing.T) {
	for name, c := range comparisons(t) {
		for _, width := range []int{1, 2, 7, 15, 20, 27, 33, 39, 40, 41, 60, 79, 80, 100, 119, 200, 500} {
			checkDrawn(t, name, width, func(o report.Options) string {
				o.All = width%2 == 1
				return renderComparison(t, c, o)
			})
		}
	}
}

// Every figure that has a value stands in the JSON with the one that the terminal shows with --all.
func TestComparisonOfAllFigures(t *testing.T) {
	c := comparisons(t)["seeds"]
	text := renderComparison(t, c, report.Options{Width: 200, All: true})
	var b bytes.Buffer
	if err := report.ComparisonJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	var back compare.Comparison
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range back.Others[0].Pairs[0].Figures {
		if f.Base.Value == nil && f.Other.Value == nil {
			continue
		}
		n++
		if !strings.Contains(text, "\n"+f.Metric+" ") {
			t.Errorf("--all does not show %s", f.Metric)
		}
	}
	if n < 50 {
		t.Errorf("%d figures have a value", n)
	}
}

// What holds for every format of a comparison: it is written of everything, a strict reader reads it, and no figure
// without a value is a word.
func TestEveryComparisonFormat(t *testing.T) {
	for name, c := range comparisons(t) {
		for _, f := range report.ComparisonFormats() {
			t.Run(f.Name+" of "+name, func(t *testing.T) {
				content := readComparison(t, f, c)
				if bad := noFigure.FindString(content.Text + content.Data); bad != "" {
					t.Errorf("it holds %q", bad)
				}
			})
		}
	}
}

// noFigure is a figure that is none. A difference can be -1.
var noFigure = regexp.MustCompile(`(?i)\b(NaN|Inf|Infinity|undefined)\b`)

func readComparison(t *testing.T, f report.ComparisonFormat, c *compare.Comparison) strict.Content {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, c, report.Options{}); err != nil {
		t.Fatal(err)
	}
	content, err := strict.Read(f.Flag, b.Bytes())
	if err != nil {
		t.Error(err)
	}
	if f.Flag == "markdown" && b.Len() > 60_000 {
		t.Errorf("%d bytes of Markdown", b.Len())
	}
	return content
}

func TestComparisonFormatGoldens(t *testing.T) {
	c := comparisons(t)["seeds"]
	for _, f := range report.ComparisonFormats() {
		var b bytes.Buffer
		if err := f.Write(&b, c, report.Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "comparison-"+f.Name, withoutAssets(b.Bytes()))
	}
}

// The page has every figure with the value that the JSON has, and says of each pair what the terminal says.
func TestComparisonPageIsTheComparison(t *testing.T) {
	c := comparisons(t)["three"]
	var page bytes.Buffer
	if err := report.ComparisonHTML(&page, c, report.Options{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`data-figure="([^"]*)" data-value="([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
		got[m[1]] = strings.ReplaceAll(m[2], "&#43;", "+")
	}
	for i, o := range c.Others {
		for _, p := range o.Pairs {
			for _, f := range p.Figures {
				if f.Base.Value == nil && f.Other.Value == nil {
					continue
				}
				for name, v := range map[string]*float64{"base": f.Base.Value, "other": f.Other.Value, "difference": f.Difference, "p": f.P} {
					want := ""
					if v != nil {
						want = strconv.FormatFloat(*v, 'g', -1, 64)
					}
					key := fmt.Sprintf("%d.%s.%s.%s", i, p.OtherStrategy, f.Metric, name)
					if value, ok := got[key]; !ok || value != want {
						t.Errorf("the page has %q for %s, %v, want %q", value, key, ok, want)
					}
				}
			}
		}
	}
}

// Figures that no run has, at the ends of what a number can be, are compared and written without a word for none.
func TestComparisonOfHostileFigures(t *testing.T) {
	base := resultOf(guidePlan, seedsOf(guideStorm("full"), 1, 6, 0.01))
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, -1e300, 0} {
		other := resultOf(slowPlan, seedsOf(guideStorm("full"), 1, 6, 0.01))
		figures := map[string]record.Spread{}
		for name := range other.Runs[0].Repeats.Figures {
			y := -x
			figures[name] = record.Spread{Mean: &x, P5: &y, P95: &x, Count: 6, Values: []*float64{&x, &x, &x, &y, &x, &x}}
		}
		other.Runs[0].Repeats.Figures = figures
		single := resultOf(slowPlan, guideStorm("full"))
		single.Runs[0].Amplification, single.Runs[0].Latency.Mean = &x, &x
		gates := []string{"amplification<=+10%", "latency_mean<=+1s", "success_share>=-0.01@beyond-noise"}
		for _, r := range []*record.Result{other, single} {
			c := comparisonOf(t, gates, compare.Input{Name: "a", Result: base}, compare.Input{Name: "b", Result: r})
			back := comparisonOf(t, gates, compare.Input{Name: "a", Result: r}, compare.Input{Name: "b", Result: base})
			for _, f := range report.ComparisonFormats() {
				for _, one := range []*compare.Comparison{c, back} {
					content := readComparison(t, f, one)
					if bad := noFigure.FindString(content.Text + content.Data); bad != "" {
						t.Errorf("%s of %v holds %q", f.Name, x, bad)
					}
				}
			}
		}
	}
}
