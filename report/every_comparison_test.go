package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
	"stormtest/report/compare"
	"stormtest/report/hostile"
	"stormtest/report/strict"
)

// What holds for every format of a comparison, as every_test.go has it for those of a result.

// writtenComparison writes a comparison in a format and reads it with the strict reader.
func writtenComparison(t *testing.T, f report.ComparisonFormat, c *compare.Comparison) strict.Content {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, c, report.Options{}); err != nil {
		t.Errorf("%s: %v", f.Name, err)
	}
	content, err := strict.Read(f.Flag, b.Bytes())
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
	}
	return content
}

// against compares two results; what cannot be compared is refused in a sentence, and then ok is false.
func against(t *testing.T, base, other compare.Input) (c *compare.Comparison, ok bool) {
	t.Helper()
	c, err := compare.Compare([]compare.Input{base, other}, compare.Options{Version: "1.0.0", Fields: planFieldsKnown})
	if err != nil {
		if text := strings.ReplaceAll(err.Error(), "\n", " "); !isPrintable(text) || len(strings.Fields(text)) < 4 {
			t.Errorf("%q is no sentence", text)
		}
		return nil, false
	}
	return c, true
}

// TestEveryComparisonOfEveryEdge: results of next to nothing, and of very much, against themselves and against a storm.
func TestEveryComparisonOfEveryEdge(t *testing.T) {
	storm := resultOf(guidePlan, guideStorm("full"))
	written := 0
	for name, r := range edges() {
		for _, base := range []*record.Result{r, storm} {
			c, ok := against(t, compare.Input{Name: "base.json", Result: base}, compare.Input{Name: "new.json", Result: r})
			if !ok {
				continue
			}
			for _, f := range report.ComparisonFormats() {
				written++
				if bad := writtenComparison(t, f, c).NoWord(); bad != "" {
					t.Errorf("%s of %s holds %q", f.Name, name, bad)
				}
			}
		}
	}
	if written < 20*len(report.ComparisonFormats()) {
		t.Errorf("only %d comparisons were written: the others were refused", written)
	}
}

// TestHostileTextsAreShownInComparisons: as in the formats of a result, the names of the files among them.
func TestHostileTextsAreShownInComparisons(t *testing.T) {
	host := resultOf(virtualPlan, repeated(inVirtualTime(guideStorm("full"))))
	pair := func(text, name string) *compare.Comparison {
		base, other := planted(t, host, text), planted(t, host, text)
		other.Runs[0].Attempts.Sent += 1000
		other.Plan = []byte(`{"clients":7}`)
		c, ok := against(t, compare.Input{Name: name, Result: base}, compare.Input{Name: name + "2", Result: other})
		if !ok {
			t.Fatalf("%s: refused", name)
		}
		c.Gates = []record.Gate{{Gate: text, OK: true, Reason: text}, {Gate: text, Reason: text}}
		return c
	}
	tame := map[string]strict.Content{}
	for _, f := range report.ComparisonFormats() {
		tame[f.Name] = writtenComparison(t, f, pair("a tame text", "tame"))
	}
	for name, text := range hostile.Texts() {
		bad := pair(text, text)
		for _, f := range report.ComparisonFormats() {
			t.Run(fmt.Sprintf("%s with %s", f.Name, name), func(t *testing.T) {
				c := writtenComparison(t, f, bad)
				for _, element := range c.Structure {
					if !slices.Contains(tame[f.Name].Structure, element) && !slices.Contains(isolating[f.Name], element) {
						t.Errorf("the text made an element <%s>", element)
					}
				}
				if shown := c.Text + c.Data; !strings.Contains(shown, hostile.Mark(text)) {
					t.Errorf("%s is not shown", hostile.Mark(text))
				}
			})
		}
	}
}
