package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

func tipPoint(value string, load float64, recovered int64) record.TipPoint {
	worst, both, alone := 3.0, load*3, 5*time.Second
	p := record.TipPoint{
		Value: value, Load: &load, Worst: &worst, LoadWorst: &both, Seeds: 10, Recovered: recovered, Watched: 2 * time.Minute,
		Alone: &alone, AloneWatched: 45 * time.Second, Amplification: ptr(2.3), Before: ptr(0.99),
	}
	p.ShareLow, p.ShareHigh = record.Wilson(recovered, 10)
	if recovered > 0 {
		p.After = spreadOf(94.9e9, 73e9, 115e9, recovered)
	}
	return p
}

// tipped is one that found something, with runs in real time.
func tipped() *record.Tip {
	yes, no, after := true, false, 70*time.Second
	t := &record.Tip{
		Schema: record.TipSchema, Plan: []byte(`{}`), Seed: 1, Seeds: 10, Vary: "rate", From: "100/s", To: "900/s", Precision: "8/s",
		Outcome: record.TipFound, Runs: 143, Notes: []string{"with \x1b[31m kept"},
		Points: []record.TipPoint{tipPoint("316/s", 0.316, 10), tipPoint("324/s", 0.324, 7), tipPoint("332/s", 0.332, 0), tipPoint("900/s", 0.9, 1)},
		RealTime: []record.TipConfirmed{
			{Value: "316/s", Predicted: true, Seed: 1, Recovered: &after, Watched: 2 * time.Minute, Agrees: &yes},
			{Value: "332/s", Seed: 1, Recovered: &after, Watched: 2 * time.Minute, Agrees: &no},
			{Value: "332/s", Seed: 1, Watched: time.Second, Reasons: []string{"the generator was late"}},
		},
	}
	t.All, t.Recovers, t.Stays, t.None = &t.Points[0], &t.Points[1], &t.Points[2], &t.Points[2]
	return t
}

func TestTip(t *testing.T) {
	with := func(change func(*record.Tip)) *record.Tip {
		x := tipped()
		change(x)
		return x
	}
	ends := func(outcome string) *record.Tip {
		return with(func(x *record.Tip) {
			x.Outcome, x.Recovers, x.Stays, x.All, x.None, x.RealTime = outcome, nil, nil, nil, nil, nil
		})
	}
	for name, tt := range map[string]struct {
		tip  *record.Tip
		want []string
	}{
		"found": {tipped(), []string{
			"TIPS", "rate between 324/s, where the service recovers, and 332/s, where it does not.",
			"Seeds disagree between 316/s, where all recover, and 332/s, the first where none does; beyond it some do again.",
			"at 324/s: 7 of 10 seeds recover (95 %: 39.7 % to 89.2 %), 94.9 [73.0-115] s after the outage",
			"at 332/s: 0 of 10 seeds recover (95 %: 0 % to 27.8 %), of 2m that each was watched; 2.30 attempts for each operation in the last minute",
			"0.972 and 0.996: 0.324 and 0.332 of the capacity, times at most 3.00 attempts",
			"4 values with 10 seeds from 1 on, 143 runs in virtual time",
			"AGREES", "it recovered 70.0 s after the outage", "DISAGREES", "NOT TOLD", "* the generator was late",
		}},
		"sharp":        {with(func(x *record.Tip) { x.Recovers = x.All }), []string{"On either side all seeds agree."}},
		"no end above": {with(func(x *record.Tip) { x.Stays, x.None = &x.Points[3], nil }), []string{"Seeds disagree from 316/s on, where all recover; there is no value at which none does."}},
		"no end below": {with(func(x *record.Tip) { x.All = nil }), []string{"Seeds disagree up to 332/s, where none recovers; there is no value at which all do."}},
		"unsteady":     {with(func(x *record.Tip) { x.Outcome, x.Returns = record.TipUnsteady, true }), []string{"UNSTEADY", "at both 100/s and 900/s it is the same", "NOT MONOTONE"}},
		"cut":          {with(func(x *record.Tip) { x.Interrupted = true }), []string{"TIPS", "CUT", "not as close as 8/s"}},
		"recovers":     {ends(record.TipRecovers), []string{"RECOVERS", "the service recovers at every value that was tried"}},
		"stays":        {ends(record.TipStays), []string{"STAYS DOWN", "the service recovers at no value that was tried"}},
		"unknown":      {with(func(x *record.Tip) { *x = *ends(record.TipUnknown); x.Points, x.Interrupted = nil, true }), []string{"NOT KNOWN", "CUT"}},
		"no worst":     {with(func(x *record.Tip) { x.Stays.LoadWorst, x.Stays.Alone, x.Stays.Worst = nil, nil, nil }), []string{"no fixed number of attempts", "> 45 s"}},
	} {
		for _, width := range []int{0, 30, 80, 200} {
			for _, ascii := range []bool{false, true} {
				var out bytes.Buffer
				if err := report.Tip(&out, tt.tip, report.Options{Width: width, ASCII: ascii}); err != nil {
					t.Fatal(err)
				}
				said := strings.Join(strings.Fields(out.String()), " ")
				for _, want := range tt.want {
					if !strings.Contains(said, want) && width != 30 {
						t.Errorf("%s, width %d: no %q in\n%s", name, width, want, out.String())
					}
				}
				if strings.ContainsAny(out.String(), "\x1b") || strings.Contains(said, "NaN") || strings.Contains(said, "<nil>") {
					t.Errorf("%s, width %d:\n%s", name, width, out.String())
				}
			}
		}
	}
}

// What was found reads back from JSON, with null where a figure has no value.
func TestTipJSON(t *testing.T) {
	want := tipped()
	want.Points[0].Amplification = ptr(math.NaN())
	var out bytes.Buffer
	if err := report.TipJSON(&out, want); err != nil {
		t.Fatal(err)
	}
	var got record.Tip
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != want.Outcome || got.Stays.Value != "332/s" || len(got.Points) != 4 || got.Points[0].Amplification != nil || len(got.RealTime) != 3 || got.RealTime[2].Agrees != nil {
		t.Errorf("%+v", got)
	}
}
