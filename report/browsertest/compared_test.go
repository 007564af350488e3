package browsertest_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/browsertest"
	"stormtest/report/compare"
	"stormtest/report/hostile"
)

// needComparisons returns the format of a comparison's page.
func needComparisons(t *testing.T) report.ComparisonFormat {
	t.Helper()
	browser(t)
	list := report.ComparisonFormats()
	i := slices.IndexFunc(list, func(f report.ComparisonFormat) bool { return f.Flag == "html" })
	if i < 0 {
		t.Fatal("there is no page of a comparison")
	}
	return list[i]
}

// comparedPage writes the page of a comparison.
func comparedPage(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := needComparisons(t).Write(&b, c, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return write(t, b.Bytes())
}

// comparison is of two storms that differ in their base delay, with several seeds each.
func comparison(t *testing.T, names [2]string, change func(*record.Result)) *compare.Comparison {
	t.Helper()
	var inputs []compare.Input
	for i, base := range []string{"50ms", "100ms"} {
		r := copied(t, simulated(t, "strategy: full,none\nclients: 300\nduration: 10s\nrepeat: 6\nbase: "+base))
		change(r)
		inputs = append(inputs, compare.Input{Name: names[i], Result: r})
	}
	c, err := compare.Compare(inputs, compare.Options{Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestThePageOfAComparison: its pictures are drawn, its figures are those of the comparison, it says what changed, and it is
// sound and read without fault by axe, in light and in dark and on a telephone.
func TestThePageOfAComparison(t *testing.T) {
	needComparisons(t)
	c := comparison(t, [2]string{"base.json", "new.json"}, func(*record.Result) {})
	file := comparedPage(t, c)
	tab := look(t, file, browsertest.View{})
	drawn, empty := pictures(t, tab)
	if len(drawn) < 2 {
		t.Errorf("drawn are %v, and not %v", drawn, empty)
	}
	for _, id := range drawn {
		if ink := eval[struct{ N, Colours int }](t, tab, `test.ink("`+id+`")`); ink.N < 2000 || ink.Colours < 10 {
			t.Errorf("%s has %d pixels of %d colours", id, ink.N, ink.Colours)
		}
	}
	saysWhy(t, tab, empty)
	text := eval[string](t, tab, `document.body.innerText.replaceAll("\u00a0", " ")`)
	for _, want := range []string{"base.json", "new.json", "50ms", "100ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	comparedFigures(t, tab, c)
	useEverything(t, tab)
	if err := tab.Look(browsertest.View{Dark: true, Width: 390}); err != nil {
		t.Fatal(err)
	}
	settle(t, tab)
	noSideways(t, tab, 390)
	eval[bool](t, tab, `document.querySelectorAll("details").forEach((d, i) => { d.open = i === 0 }), true`)
	for _, fault := range axe(t, tab, ofColours) {
		t.Errorf("dark: %s", fault)
	}
	if err := tab.Look(browsertest.View{Width: 390}); err != nil {
		t.Fatal(err)
	}
	settle(t, tab)
	for _, fault := range axe(t, tab) {
		t.Error(fault)
	}
}

// comparedFigures: the figures of both sides and what lies between them are those of the comparison.
func comparedFigures(t *testing.T, tab *browsertest.Tab, c *compare.Comparison) {
	t.Helper()
	list := eval[[]figure](t, tab, `[...document.querySelectorAll("[data-figure]")].map(e => ({name: e.dataset.figure, value: e.dataset.value}))`)
	found := 0
	for _, f := range list {
		want, ok := comparedFigure(c, f.Name)
		if !ok {
			continue
		}
		found++
		if got, has := number(f.Value); has != (want != nil) || has && got != *want {
			t.Errorf("%s holds %q, and the comparison %s", f.Name, f.Value, pointed(want))
		}
	}
	if least := 4 * 5; found < least {
		t.Errorf("%d figures of the comparison are on the page, want %d at least", found, least)
	}
}

// comparedFigure finds N.STRATEGY.METRIC.SIDE in the comparison.
func comparedFigure(c *compare.Comparison, name string) (*float64, bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 4 {
		return nil, false
	}
	n, err := strconv.Atoi(parts[0])
	if err != nil || n < 0 || n >= len(c.Others) {
		return nil, false
	}
	for _, pair := range c.Others[n].Pairs {
		i := slices.IndexFunc(pair.Figures, func(f compare.Figure) bool { return f.Metric == parts[2] })
		if pair.OtherStrategy != parts[1] || i < 0 {
			continue
		}
		f := pair.Figures[i]
		sides := map[string]*float64{"base": f.Base.Value, "other": f.Other.Value, "difference": f.Difference, "p": f.P}
		v, known := sides[parts[3]]
		return v, known
	}
	return nil, false
}

// TestHostileTextsInAComparison do nothing, the names of the files among them.
func TestHostileTextsInAComparison(t *testing.T) {
	needComparisons(t)
	text := hostile.Texts()["markup"] + " " + hostile.Texts()["attribute"]
	strategies := []string{hostile.Texts()["markup"], hostile.Texts()["attribute"]}
	c := comparison(t, [2]string{text, text + "2"}, func(r *record.Result) {
		if err := hostile.Plant(r, text); err != nil {
			t.Fatal(err)
		}
		for i := range r.Runs {
			r.Runs[i].Strategy = strategies[i]
		}
		r.Plan = []byte(`{"base":` + strconv.Quote(strategies[1]+strconv.FormatInt(r.Runs[0].Attempts.Sent, 10)) + `}`)
	})
	c.Gates = []record.Gate{{Gate: text, Reason: text}}
	tab := look(t, comparedPage(t, c), browsertest.View{Width: 390})
	useEverything(t, tab)
	nothingRan(t, tab)
	if shown := eval[string](t, tab, `document.body.textContent.replace(/\s+/g, " ")`); !strings.Contains(shown, strings.Join(strings.Fields(text), " ")) {
		t.Errorf("%q is not shown as it is", text)
	}
	noSideways(t, tab, 390)
}
