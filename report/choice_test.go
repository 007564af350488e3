package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// seedRun is a strategy of several seeds, of which the first is CLEAR and has 2,000 attempts.
func seedRun(name string, attempts []float64, verdicts map[record.Verdict]int64) record.Run {
	run := guideStorm("full")
	run.Strategy, run.Attempts.Sent, run.Convoy.Verdict = name, 2000, record.VerdictClear
	n := int64(len(attempts))
	values, ones, started := make([]*float64, n), make([]*float64, n), make([]*float64, n)
	var sum float64
	for i := range attempts {
		values[i], ones[i], started[i] = &attempts[i], ptr(1.0), ptr(2000.0)
		sum += attempts[i]
	}
	run.Repeats = &record.Repeats{Asked: n, Count: n, Seeds: [2]uint64{1, uint64(n)}, Verdicts: verdicts, Figures: map[string]record.Spread{
		"attempts_sent":      {Mean: ptr(sum / float64(n)), P5: &attempts[0], P95: &attempts[n-1], Count: n, Values: values},
		"success_share":      {Mean: ptr(1.0), P5: ptr(1.0), P95: ptr(1.0), Count: n, Values: ones},
		"operations_started": {Mean: ptr(2000.0), Count: n, Values: started}, "operations_succeeded": {Mean: ptr(2000.0), Count: n, Values: started},
	}}
	return run
}

// unrecovered gives seeds without a recovery.
func unrecovered(run record.Run, seeds int64) record.Run {
	run.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(480.0), RecoveredAt: ptr(time.Second), Watched: time.Minute}
	n := run.Repeats.Count
	run.Repeats.Figures["goodput_before"] = spread(500, 500, 500, n)
	run.Repeats.Figures["goodput_last"] = spread(3, 0, 480, n)
	run.Repeats.Figures["recovered_after"] = record.Spread{Count: n - seeds}
	return run
}

// TestSeveralSeedsChoose: means and most of the seeds decide, not the seed that happens to be the first; and what chance
// makes is no difference.
func TestSeveralSeedsChoose(t *testing.T) {
	clear := map[record.Verdict]int64{record.VerdictClear: 6}
	few := []float64{2500, 2500, 2500, 2500, 2500, 2500}
	wide := []float64{2000, 3600, 2100, 3500, 2200, 3400}
	for _, tt := range []struct {
		name string
		runs []record.Run
		want string
	}{
		{"most seeds are clumped", []record.Run{
			seedRun("a", few, map[record.Verdict]int64{record.VerdictClumped: 4, record.VerdictClear: 2}), seedRun("b", wide, clear),
		}, "“b” did best here. On average of 6 seeds it got 100 % of 2,000 operations done with 2,800 attempts. Left behind: “a” (CLUMPED in 4 of 6 seeds)."},
		{"few seeds are clumped", []record.Run{
			seedRun("a", few, map[record.Verdict]int64{record.VerdictClumped: 2, record.VerdictClear: 4}), seedRun("b", []float64{2800, 2800, 2800, 2800, 2800, 2800}, clear),
		}, "“a” did best here. On average of 6 seeds it got 100 % of 2,000 operations done with 2,500 attempts. Left behind: “b” (2,800 attempts)."},
		{"within chance", []record.Run{seedRun("a", few, clear), seedRun("b", wide, clear)},
			"By these figures the strategies cannot be told apart here. They got 2,000 of 2,000 operations done with 2,500 to 2,800 attempts on average of 6 seeds."},
		{"not recovered with most", []record.Run{unrecovered(seedRun("a", few, clear), 4), unrecovered(seedRun("b", wide, clear), 1)},
			"“b” did best here. On average of 6 seeds it got 100 % of 2,000 operations done with 2,800 attempts. Left behind: “a” (the target did not recover in 4 of 6 seeds)."},
		{"not recovered with any", []record.Run{unrecovered(seedRun("a", few, clear), 4)},
			"The target did not recover in 4 of 6 seeds. Goodput was 500/s before the outage and 3.00/s at the end on average of 6 seeds."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := answerOf(t, resultOf(guidePlan, tt.runs...)); got != tt.want {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEveryReportHasTheSameAnswer: page, terminal, Markdown and picture begin with one sentence.
func TestEveryReportHasTheSameAnswer(t *testing.T) {
	refused := guideStorm("none")
	refused.Books = record.Books{AttemptsSent: 5, Lost: map[string]int64{"refused": 5}, Balanced: true}
	refused.Operations, refused.Attempts = record.Operations{Started: 5, GaveUp: map[string]int64{"max_retries": 5}}, record.Attempts{Sent: 5, First: 5}
	refused.Buckets, refused.Completion, refused.Convoy = nil, nil, record.Convoy{Verdict: record.VerdictClear}
	alone := guideStorm("full")
	alone.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(3.0), Watched: time.Minute}
	for _, tt := range []struct {
		name string
		r    *record.Result
		want string
	}{
		{"four", results()["four"], "“decorrelated” did best here."},
		{"every attempt refused", resultOf(guidePlan, refused), "No attempt reached the target."},
		{"refused with each", resultOf(guidePlan, refused, refused), "No attempt reached the target."},
		{"not recovered", resultOf(guidePlan, alone), "The target did not recover."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var terminal bytes.Buffer
			if err := report.Terminal(&terminal, tt.r, report.Options{Width: 120}); err != nil {
				t.Fatal(err)
			}
			md := markdown(t, tt.r)
			for format, text := range map[string]string{
				"page": answerOf(t, tt.r), "terminal": terminal.String(), "Markdown": md, "picture": svgOf(t, tt.r).words(),
			} {
				head, _, _ := strings.Cut(text, "Side by side")
				if !strings.Contains(head, tt.want) {
					t.Errorf("the %s does not begin with %q:\n%.600s", format, tt.want, head)
				}
			}
			if strings.Index(md, tt.want) > 400 {
				t.Errorf("the answer is far down in Markdown:\n%.600s", md)
			}
		})
	}
}

// TestNoStarForWhatIsNoMerit: fewer waves can be longer ones, the first wave is everybody's, and who never let the target
// recover is the best at nothing.
func TestNoStarForWhatIsNoMerit(t *testing.T) {
	lost, good := guideStorm("decorrelated"), guideStorm("equal")
	lost.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(3.0), Watched: time.Minute}
	rows := compared(t, lost, good)
	for head, want := range map[string]string{"attempts": "9,341 11,226*", "all done": "8.94 s 20.6 s*", "peak / capacity": "20.0x 40.0x", "waves": "1 4", "convoy index": "0.01 0.11*"} {
		if rows[head] != want {
			t.Errorf("%s: %q, want %q", head, rows[head], want)
		}
	}
}

// TestMeansLieInTheirRange: a mean that differs from all its equal values in the last digit is rounded as they are.
func TestMeansLieInTheirRange(t *testing.T) {
	run := seedRun("a", []float64{2500, 2500}, map[record.Verdict]int64{record.VerdictClear: 2})
	run.Repeats.Figures["success_share"] = record.Spread{Mean: ptr(0.0045000000000000005), P5: ptr(0.0045), P95: ptr(0.0045), Count: 2}
	var out bytes.Buffer
	if err := report.Terminal(&out, resultOf(guidePlan, run), report.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if want := "0.4 [0.4-0.4] %"; !strings.Contains(strings.ReplaceAll(out.String(), "\u00a0", " "), want) {
		t.Errorf("the report has no %s:\n%s", want, out.String())
	}
}

// TestSomethingIsLeftToChoose: a figure below 0, which none should be, does not leave the list of the best empty.
func TestSomethingIsLeftToChoose(t *testing.T) {
	for _, completion := range []int64{-5, -1 << 62, 0} {
		a, b := guideStorm("decorrelated"), guideStorm("decorrelated")
		b.Strategy = "other"
		a.Completion, b.Completion = &completion, ptr(completion+1<<61)
		for _, f := range report.Formats() {
			if err := f.Write(io.Discard, resultOf(guidePlan, a, b), report.Options{}); err != nil {
				t.Errorf("%d ns, %s: %v", completion, f.Name, err)
			}
		}
	}
}
