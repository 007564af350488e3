package browsertest_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report/browsertest"
)

// A figure is a number as the page has it.
type figure struct {
	Name, Value, Low, High, Text string
}

// figuresEqualTheJSON: every figure on the page is that of the result's JSON, reads as that number, and every figure of
// the result is on the page.
func figuresEqualTheJSON(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	fromJSON := copied(t, r)
	list := eval[[]figure](t, tab, `[...document.querySelectorAll("[data-figure]")].map(e => {
		const text = e.cloneNode(true);
		for (const mark of text.querySelectorAll(".best, .sr")) mark.remove();
		return {name: e.dataset.figure, value: e.dataset.value, low: e.dataset.p5 ?? "", high: e.dataset.p95 ?? "", text: text.textContent.replaceAll("\u00a0", " ").trim()};
	})`)
	seen := map[string]bool{}
	for _, f := range list {
		seen[f.Name] = true
		want, metric := wantedFigure(t, fromJSON, f.Name)
		for i, part := range []struct{ got, text string }{{f.Value, f.Text}, {f.Low, ""}, {f.High, ""}} {
			if got, ok := number(part.got); ok != (want[i] != nil) || ok && got != *want[i] {
				t.Errorf("%s holds %q, and the JSON %s", f.Name, part.got, pointed(want[i]))
			}
		}
		if fault := misread(f.Text, want[0], metric); fault != "" {
			t.Errorf("%s: %s", f.Name, fault)
		}
	}
	for i := range fromJSON.Runs {
		run := &fromJSON.Runs[i]
		for _, m := range record.Metrics() {
			if m.Value(run) != nil && !seen[run.Strategy+"."+m.Name] {
				t.Errorf("%s of %s is not on the page", m.Name, run.Strategy)
			}
		}
	}
}

// wantedFigure finds a figure of the page in the result: its value, and where it is one of seeds their 5th and 95th percentile.
func wantedFigure(t *testing.T, r *record.Result, name string) (want [3]*float64, metric record.Metric) {
	t.Helper()
	if rest, ok := strings.CutPrefix(name, "gate."); ok {
		i, err := strconv.Atoi(rest)
		if err != nil || i >= len(r.Gates) {
			t.Errorf("%s is no gate of the result", name)
			return want, metric
		}
		return [3]*float64{r.Gates[i].Value}, metric
	}
	for i := range r.Runs {
		rest, ok := strings.CutPrefix(name, r.Runs[i].Strategy+".")
		if !ok {
			continue
		}
		name, ofSeeds := strings.CutSuffix(rest, ".mean")
		m, known := record.MetricNamed(name)
		if !known {
			break
		}
		if !ofSeeds {
			return [3]*float64{m.Value(&r.Runs[i])}, m
		}
		s := r.Runs[i].Repeats.Figures[name]
		return [3]*float64{s.Mean, s.P5, s.P95}, m
	}
	t.Errorf("%s is no figure of the result", name)
	return want, metric
}

func number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

func pointed(v *float64) string {
	if v == nil {
		return "null"
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// written is a number of the page: a sign that it is only bounded, digits, and a unit. A mean is followed by its percentiles.
var written = regexp.MustCompile(`^([<>]?)\s*(-?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)(?: \[[^\]]*\])?\s*(x|%|/s|h|min|s|ms|µs|ns)?(?: in [\d,]+)?$`)

// units are how many of a figure's own unit each written unit is.
var units = map[string]float64{"": 1, "x": 1, "/s": 1, "%": 0.01, "h": 3600e9, "min": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}

// misread says how a figure's text is not its value, rounded in its last digit; a figure without a value is a dash. It is empty
// where all is well.
func misread(text string, want *float64, m record.Metric) string {
	unit := m.Unit
	if unit == "" {
		return "" // a gate's reason
	}
	if want == nil {
		if text != "–" {
			return fmt.Sprintf("no value reads %q", text)
		}
		return ""
	}
	if unit == record.UnitWord {
		if at := slices.Index(m.Words, text); float64(at) != *want {
			return fmt.Sprintf("%v of %v reads %q", *want, m.Words, text)
		}
		return ""
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 119*time.Second {
		if unit != record.UnitDuration || math.Abs(float64(d)-*want) > 0.5*float64(time.Second) {
			return fmt.Sprintf("%v (%s) reads %q", *want, unit, text)
		}
		return ""
	}
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Sprintf("%v reads %q, which is no number", *want, text)
	}
	digits := strings.ReplaceAll(parts[2], ",", "")
	v, _ := number(digits)
	got, half := v*units[parts[3]], 0.5*lastDigit(digits)*units[parts[3]]*(1+1e-9)
	isLength := slices.Contains([]string{"h", "min", "s", "ms", "µs", "ns"}, parts[3])
	rightUnit := isLength == (unit == record.UnitDuration) && (parts[3] == "/s") == (unit == record.UnitRate)
	switch {
	case rightUnit && parts[1] == "<" && *want < got:
	case rightUnit && parts[1] == ">" && *want > got:
	case rightUnit && parts[1] == "" && math.Abs(got-*want) <= half:
	default:
		return fmt.Sprintf("%v (%s) reads %q", *want, unit, text)
	}
	return ""
}

// lastDigit is what the last digit of a decimal number counts.
func lastDigit(digits string) float64 {
	mantissa, exponent, _ := strings.Cut(digits, "e")
	e, _ := strconv.Atoi(exponent)
	_, decimals, _ := strings.Cut(mantissa, ".")
	return math.Pow10(e - len(decimals))
}

// TestMisread: the test's own eyes.
func TestMisread(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
		unit record.Unit
		ok   bool
	}{
		{"CLUMPED", 1, record.UnitWord, true}, {"1.00", 1, record.UnitWord, false}, {"9.45/s", 9.45, record.UnitRate, true}, {"9.45", 9.45, record.UnitRate, false},
		{"8,244", 8244, record.UnitCount, true}, {"8,245", 8244, record.UnitCount, false}, {"8.24", 8.244, record.UnitRatio, true},
		{"8.25", 8.244, record.UnitRatio, false}, {"19.8x", 19.79, record.UnitRatio, true}, {"761 ms", 7.61266e8, record.UnitDuration, true},
		{"761 s", 7.61266e8, record.UnitDuration, false}, {"761", 761, record.UnitDuration, false}, {"18.9 %", 0.189, record.UnitShare, true},
		{">99.9 %", 0.9995, record.UnitShare, true}, {">99.9 %", 0.99, record.UnitShare, false}, {"<0.1 %", 0.0004, record.UnitShare, true},
		{"4.84 [4.81-4.87]", 4.841, record.UnitRatio, true}, {"8.30 [5.90-11.5] s in 387", 8.3e9, record.UnitDuration, true}, {"–", 1, record.UnitCount, false},
		{"16m42s", 1002.4e9, record.UnitDuration, true}, {"16m42s", 1003e9, record.UnitDuration, false}, {"1.20e-05x", 0.000012, record.UnitRatio, true}, {"NaN", 1, record.UnitRatio, false},
	} {
		if fault := misread(tt.text, &tt.want, record.Metric{Unit: tt.unit, Words: []string{"CONVOY", "CLUMPED"}}); (fault == "") != tt.ok {
			t.Errorf("%q for %v (%s): %q", tt.text, tt.want, tt.unit, fault)
		}
	}
}

// theVerdictComesFirst: the first section says in words what came of it, before any picture, and a gate that failed is named.
func theVerdictComesFirst(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	text := eval[string](t, tab, `document.querySelector("main").innerText.replaceAll("\u00a0", " ")`)
	last := 0
	for i := range r.Runs {
		word := eval[string](t, tab, `document.querySelector("[data-role=verdict][data-run='`+strconv.Itoa(i)+`'] [data-role=verdict-word]").textContent`)
		at := strings.Index(text, word)
		if headline := string(r.Runs[i].Headline()); word != headline || at < 0 {
			t.Errorf("the verdict of %s reads %q, want %q", r.Runs[i].Strategy, word, headline)
		}
		last = max(last, at)
	}
	if figure := eval[int](t, tab, `[...document.querySelectorAll("main *")].findIndex(e => e.matches("figure"))`); figure < 0 {
		t.Error("there is no picture")
	}
	for _, word := range []string{"p99<1ms", "no data", "FAILED"} {
		if !strings.Contains(text, word) {
			t.Errorf("the page does not say %q of the gate that failed", word)
		}
	}
	alarm := eval[struct {
		Text string
		Top  float64
	}](t, tab, `(() => { const e = document.querySelector("[data-role=alarm]"); return {text: e.innerText, top: e.getBoundingClientRect().top + scrollY}; })()`)
	if !strings.Contains(alarm.Text, "p99<1ms") || alarm.Top > 200 {
		t.Errorf("at %v stands %q, want the gate that failed at the top", alarm.Top, alarm.Text)
	}
	if at := strings.Index(text, "Arrivals over time"); at < last {
		t.Errorf("a picture stands at %d, before the verdict at %d", at, last)
	}
}

// picturesAddUp: what the page's pictures are drawn from adds up to the result's own counts.
func picturesAddUp(t *testing.T, tab *browsertest.Tab, r *record.Result) {
	for i := range r.Runs {
		var arrivals float64
		for _, b := range r.Runs[i].Buckets {
			arrivals += float64(b.Arrivals)
		}
		for _, view := range []string{"attempts", "outcome"} {
			sum := eval[float64](t, tab, fmt.Sprintf(`test.data().charts["arrivals-%d"].views[%q].series.flatMap(s => s.y).reduce((a, b) => a + (b || 0), 0)`, i, view))
			if sum != arrivals {
				t.Errorf("%s by %s adds up to %v, want %v arrivals", r.Runs[i].Strategy, view, sum, arrivals)
			}
		}
	}
	for _, s := range eval[[]series](t, tab, `test.data().charts.goodput.views[""].series`) {
		run := &r.Runs[s.Run]
		served := make([]float64, len(s.Y)) // in each step
		for _, b := range run.Buckets {
			served[int(float64(b.At)/s.Width)] += float64(b.Served - b.Wasted)
		}
		for i, rate := range s.Y {
			width, cut := s.Width/1e9, run.Operations.Unfinished > 0 && float64(i+1)*s.Width > float64(run.Duration)
			if rate == nil != cut || rate != nil && math.Abs(*rate*width-served[i]) > 0.001 {
				t.Errorf("%s: step %d of %d of the goodput is %s/s over %v s, and %v were served", run.Strategy, i, len(s.Y), pointed(rate), width, served[i])
			}
		}
	}
}
