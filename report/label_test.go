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
	"stormtest/report/strict"
)

// TestTheLabelIsInEveryReport: it stands there as it was given, and a run without one has no word of it. That a hostile
// one is shown and does nothing is in TestHostileTextsAreShown, which plants it.
func TestTheLabelIsInEveryReport(t *testing.T) {
	const label = "nightly <b>real</b>"
	without := []string{"png", "csv", "json"} // dots, rows of figures, and the plan itself
	labelled := func(text string) *record.Result {
		small := storm{strategy: "full", clients: 60, service: 10_000, length: 2_000_000, delay: strategies["full"]}.run()
		return resultOf(strings.Replace(guidePlan, "{", fmt.Sprintf(`{"label":%q,`, text), 1), small)
	}
	for _, f := range report.Formats() {
		if slices.Contains(without, f.Name) {
			continue
		}
		document, _ := written(t, f, labelled(label))
		if c := read(t, f, document); !strings.Contains(spaced(c.Text+" "+c.Data), label) {
			t.Errorf("%s does not show the label", f.Name)
		}
		none, _ := written(t, f, labelled("none"))
		if unlabelled, _ := written(t, f, resultOf(guidePlan, labelled("none").Runs...)); f.Name != "junit" && f.Name != "html" && f.Name != "markdown" && !bytes.Equal(none, unlabelled) {
			t.Errorf("%s shows a label where there is none", f.Name)
		}
	}
	c, err := compare.Compare([]compare.Input{{Name: "a", Result: labelled(label)}, {Name: "b", Result: labelled("other")}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Others[0].PlanChanges) > 0 {
		t.Errorf("a label is told as a change of the plan: %+v", c.Others[0].PlanChanges)
	}
	for _, f := range report.ComparisonFormats() {
		var b bytes.Buffer
		if err := f.Write(&b, c, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if f.Flag == "json" {
			continue // which has the plans' hashes, and no words
		}
		read, err := strict.Read(f.Flag, b.Bytes())
		if text := spaced(read.Text + " " + read.Data); err != nil || !strings.Contains(text, label) || !strings.Contains(text, "other") {
			t.Errorf("%s of a comparison does not show the labels (%v)", f.Name, err)
		}
	}
}
