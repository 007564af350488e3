package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// A drawn is what the page's scripts draw.
type drawn struct {
	Charts map[string]struct {
		Views map[string]struct {
			Series []struct {
				Name  string     `json:"name"`
				Width float64    `json:"width"`
				X     []float64  `json:"x"`
				Y     []*float64 `json:"y"`
			} `json:"series"`
			Empty string `json:"empty"`
		} `json:"views"`
		Waves   [][2]int64 `json:"waves"`
		Buckets *struct {
			Merged     int64
			At, Total  []int64
			Sum        []float64
			Capacity   *float64
			WidthNanos int64 `json:"width"`
		} `json:"buckets"`
	} `json:"charts"`
}

func pageOf(t *testing.T, r *record.Result) (string, drawn) {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(b.String(), `<script type="application/json" id="data">`)
	text, _, ended := strings.Cut(rest, "</script>")
	var d drawn
	if err := json.Unmarshal([]byte(text), &d); err != nil || !found || !ended {
		t.Fatalf("the page's data: %v", err)
	}
	return b.String(), d
}

// TestThePolicyNamesWhatIsThere: the content security policy allows the page's own scripts and styles by their hashes,
// and nothing else; the licence of the chart library is in the page.
func TestThePolicyNamesWhatIsThere(t *testing.T) {
	page, _ := pageOf(t, resultOf(guidePlan, guideStorm("none")))
	policy := html.UnescapeString(regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(page)[1])
	for _, element := range []string{"script", "style"} {
		var want []string
		for _, m := range regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(m[1]))
			want = append(want, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		if line := element + "-src " + strings.Join(want, " ") + ";"; len(want) == 0 || !strings.Contains(policy, line) {
			t.Errorf("the policy has no %s\n%s", line, policy)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	if !strings.Contains(page, "Copyright (c) 2022 Leon Sorokin") || !strings.Contains(page, "The MIT License (MIT)") {
		t.Error("the page has no licence of uPlot")
	}
}

// TestThinningKeepsPeaks: each bar of a long run is the fullest of its buckets, with its moment, and what was left out is in
// the sums (case D-18).
func TestThinningKeepsPeaks(t *testing.T) {
	r := longResult()
	page, d := pageOf(t, r)
	b := d.Charts["arrivals-0"].Buckets
	if b == nil || len(b.Total) > 1200 || len(b.Total) != len(b.At) || len(b.Total) != len(b.Sum) {
		t.Fatalf("the bars are %+v", b)
	}
	i := slices.Index(b.Total, 350)
	if i < 0 || b.At[i] != int64(36_001*100*time.Millisecond) || slices.Max(b.Total) != 350 {
		t.Errorf("the highest bar is %d, the bucket of 350 is bar %d", slices.Max(b.Total), i)
	}
	var all, sum float64
	for _, x := range r.Runs[0].Buckets {
		all += float64(x.Arrivals)
	}
	for k, x := range b.Sum {
		sum += x
		if most := float64(b.Total[k]); x < most || x > most*float64(b.Merged) {
			t.Errorf("bar %d: the fullest of %d buckets has %v, all have %v", k, b.Merged, most, x)
		}
	}
	if sum != all {
		t.Errorf("all bars together have %v arrivals, the run has %v", sum, all)
	}
	text := strings.ReplaceAll(page, "\u00a0", " ")
	for _, want := range []string{"most in one bucket 350 at 1h0m0.1s (3.50x capacity)", "Each bar is the highest of 60 buckets of 100 ms, so no peak is hidden."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestWhichStrategyIsChosen: the answer follows the rule that the page tells, and there is none where there can be none.
func TestWhichStrategyIsChosen(t *testing.T) {
	run := func(name string, done, attempts, completed int64, verdict record.Verdict, flags ...string) record.Run {
		run := record.Run{Strategy: name, Engine: record.EngineVirtual, Bucket: time.Second, Duration: time.Minute}
		run.Operations = record.Operations{Started: 1000, Succeeded: done, Unfinished: 1000 - done}
		run.Attempts = record.Attempts{Sent: attempts, First: 1000, Retries: attempts - 1000}
		run.Convoy.Verdict, run.Convoy.Flags, run.Convoy.ConvoyIndex = verdict, flags, ptr(0.05)
		run.Books.Balanced = true
		if completed > 0 {
			run.Completion = ptr(completed * int64(time.Second))
		}
		return run
	}
	lost := func(run record.Run) record.Run {
		run.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(3.0), Watched: time.Minute}
		return run
	}
	const clear, overload, clumped, convoy = record.VerdictClear, record.VerdictOverload, record.VerdictClumped, record.VerdictConvoy
	for _, tt := range []struct {
		name string
		runs []record.Run
		want string // of headline and reason together
	}{
		{"most done", []record.Run{run("a", 980, 2000, 0, clear), run("b", 1000, 9000, 30, convoy)}, "“b” did best here. It got all 1,000 operations done after 30.0 s with 9,000 attempts. Left behind: “a” (980 of 1,000 done)."},
		{"metastable before convoy", []record.Run{run("a", 1000, 2000, 9, clear, record.FlagMetastable), run("b", 1000, 3000, 9, convoy)}, "“b” did best here. It got all 1,000 operations done after 9.00 s with 3,000 attempts. Left behind: “a” (METASTABLE)."},
		{"not a convoy", []record.Run{run("a", 1000, 2000, 9, convoy), run("b", 991, 3000, 0, overload), run("c", 1000, 2500, 9, clumped)}, "“b” did best here. It got 991 of 1,000 operations done with 3,000 attempts. Left behind: “c” (CLUMPED), “a” (CONVOY). Its own verdict is OVERLOAD."},
		{"all convoys", []record.Run{run("a", 1000, 2000, 9, convoy), run("b", 1000, 3000, 9, convoy)}, "“a” did best here. It got all 1,000 operations done after 9.00 s with 2,000 attempts. Left behind: “b” (3,000 attempts)."},
		{"earliest", []record.Run{run("a", 1000, 2000, 9, clear), run("b", 1000, 2090, 8, clear)}, "“b” did best here. It got all 1,000 operations done after 8.00 s with 2,090 attempts. Left behind: “a” (all done only after 9.00 s)."},
		{"a tie", []record.Run{run("a", 1000, 2000, 10, clear), run("b", 1000, 2090, 10, clear), run("c", 10, 10, 0, clear)}, "“a” and “b” did best here; by these figures they cannot be told apart. “a” got all 1,000 operations done after 10.0 s with 2,000 attempts; “b” got all"},
		{"nothing to choose", []record.Run{run("a", 1000, 2000, 10, clear), run("b", 1000, 2000, 10, clear)}, "By these figures the strategies cannot be told apart here. They got 1,000 of 1,000 operations done with 2,000 attempts."},
		{"nothing done", []record.Run{run("a", 0, 2000, 0, clear), run("b", 0, 9000, 0, clear)}, "No strategy is chosen: not one operation succeeded."},
		{"none recovered", []record.Run{lost(run("a", 100, 2000, 0, clear)), lost(run("b", 50, 2000, 0, clear))}, "With none of these strategies did the target recover. Goodput was 500/s before the outage and 3.00/s at the end. “a” did best here. It got 100 of"},
		{"one recovered", []record.Run{lost(run("a", 100, 2000, 0, clear)), run("b", 99, 2000, 0, convoy)}, "“b” did best here. It got 99 of 1,000 operations done with 2,000 attempts. Left behind: “a” (the target did not recover). Its own verdict is CONVOY."},
		{"one strategy", []record.Run{run("a", 100, 2000, 0, clear)}, ""},
		{"none", nil, "No strategy ran, so there is nothing to report."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := resultOf(guidePlan, tt.runs...)
			if got := answerOf(t, r); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
			if len(tt.runs) < 2 {
				return
			}
			r.Interrupted = true
			if got := answerOf(t, r); got != "No strategy is chosen: the run was cut." {
				t.Errorf("of a run that was cut the answer is %q", got)
			}
			r.Valid = false
			if got := answerOf(t, r); !strings.HasPrefix(got, "No strategy is chosen: this run is not valid.") {
				t.Errorf("of a run that is not valid the answer is %q", got)
			}
		})
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// answerOf is the page's headline with the sentence after it; empty where it has none.
func answerOf(t *testing.T, r *record.Result) string {
	t.Helper()
	page, _ := pageOf(t, r)
	_, rest, found := strings.Cut(page, `<div class="answer">`)
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(rest, `</div>`)
	text, _, _ = strings.Cut(text, `<p class="foot">`)
	text = html.UnescapeString(tags.ReplaceAllString(strings.ReplaceAll(text, "</p><p>", " "), ""))
	return strings.ReplaceAll(strings.TrimSpace(text), "\u00a0", " ")
}

// TestLatencyByPercentile: a line goes from the least to the greatest value, through the points at which the histogram says how
// many values lie below, and never back.
func TestLatencyByPercentile(t *testing.T) {
	run := guideStorm("full")
	run.Detail = &record.Detail{OperationLatency: &record.Bins{From: []int64{0, 50, 120, 1_000_000}, Count: []int64{50, 25, 20, 5}}}
	run.OperationLatency = record.Distribution{Count: 100, Min: ptr(int64(0)), Max: ptr(int64(1_044_000))}
	_, d := pageOf(t, resultOf(guidePlan, run))
	line := d.Charts["operation-latency"].Views[""].Series[0]
	type point struct{ q, v float64 } // the share below v
	want := []point{{0, 0}, {0.5, 1}, {0.5, 50}, {0.75, 51}, {0.75, 120}, {0.95, 130}, {0.95, 1_000_000}, {0.99, 1_044_000}}
	if len(line.X) != len(want) {
		t.Fatalf("%d points, want %d: %v", len(line.X), len(want), line.X)
	}
	for i, w := range want {
		if q := 1 - 1/line.X[i]; math.Abs(q-w.q) > 1e-5 || *line.Y[i] != w.v {
			t.Errorf("point %d is %v at %v, want %v at %v", i, *line.Y[i], q, w.v, w.q)
		}
		if i > 0 && line.X[i] <= line.X[i-1] {
			t.Errorf("point %d is not right of the one before", i)
		}
	}
}

// TestDelaysAgainstTheory: bars of one width hold every delay and every share of the theory, and the words below them tell
// a formula that was followed from one that was not.
func TestDelaysAgainstTheory(t *testing.T) {
	uniform := &record.Theory{}
	drawn := record.Bins{}
	for from := range int64(100) { // even below 100 ns
		uniform.From, uniform.Share = append(uniform.From, from), append(uniform.Share, 0.01)
		drawn.From, drawn.Count = append(drawn.From, from), append(drawn.Count, 100)
	}
	half := record.Bins{From: drawn.From[50:], Count: drawn.Count[50:]}
	run := guideStorm("full")
	run.Detail = &record.Detail{Draws: []record.Draws{
		{Retry: 0, Count: 10_000, Bins: drawn, Theory: uniform}, {Retry: 1, Count: 5_000, Bins: half, Theory: uniform}, {Retry: 2, Count: 5_000, Bins: half},
	}}
	page, d := pageOf(t, resultOf(guidePlan, run, guideStorm("none")))
	views := d.Charts["delays-0"].Views
	for key, bars := range map[string]int{"0": 20, "1": 20, "2": 20} {
		measured := views[key].Series[0]
		var sum float64
		for _, y := range measured.Y {
			sum += *y
		}
		if len(measured.Y) != bars || measured.Width != 5 || math.Abs(sum-1) > 1e-9 {
			t.Errorf("retry %s: %d bars of %v ns, together %v; want %d of 5, together 1", key, len(measured.Y), measured.Width, sum, bars)
		}
	}
	if n := len(views["2"].Series); n != 1 {
		t.Errorf("without a theory there are %d series", n)
	}
	text := strings.ReplaceAll(html.UnescapeString(tags.ReplaceAllString(page, "")), "\u00a0", " ")
	for _, want := range []string{
		"10,000 delays drawn; a bar is 5 ns wide. Largest gap to theory: 0 % of the delays; chance alone makes up to 1.6 %, 99 times in 100.",
		"Largest gap to theory: 50 % of the delays; more than chance makes: chance alone makes up to 2.3 %, 99 times in 100.",
		"There is no line, as the result holds no theory of them.",
		"This result holds no delays", // of the other strategy
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestTheGapIsOfEachStrategyAlone: what else is on the page makes the bars broader, and not the gap smaller; of a few draws none is told.
func TestTheGapIsOfEachStrategyAlone(t *testing.T) {
	even := record.Theory{From: []int64{0, 10, 20, 30}, Share: []float64{0.25, 0.25, 0.25, 0.25}}
	draws := func(factor int64, counts ...int64) record.Run {
		run, d := guideStorm("full"), record.Draws{Theory: &record.Theory{Share: even.Share}}
		for i, n := range counts {
			d.Count, d.Bins.Count, d.Bins.From = d.Count+n, append(d.Bins.Count, n), append(d.Bins.From, even.From[i]*factor)
			d.Theory.From = append(d.Theory.From, even.From[i]*factor)
		}
		run.Detail = &record.Detail{Draws: []record.Draws{d}}
		return run
	}
	long, skewed := draws(1e6, 250, 250, 250, 250), draws(1, 400, 400, 100, 100)
	long.Strategy = "long"
	for _, runs := range [][]record.Run{{skewed}, {skewed, long}} {
		page, _ := pageOf(t, resultOf(guidePlan, runs...))
		if text := strings.ReplaceAll(tags.ReplaceAllString(page, ""), "\u00a0", " "); !strings.Contains(text, "Largest gap to theory: 30 % of the delays; more than chance makes") {
			t.Errorf("of %d strategies the gap of 30 %% is not told", len(runs))
		}
	}
	page, _ := pageOf(t, resultOf(guidePlan, draws(1, 1, 0, 0, 0)))
	if !strings.Contains(page, "They are too few to be held against theory.") || strings.Contains(page, "Largest gap") {
		t.Error("of one delay a gap is told")
	}
}

// TestGoodputHoldsEveryAnswer: each step is the mean over a whole window, and no answer is outside all, that at the run's end included;
// a window in which a run was cut has no step.
func TestGoodputHoldsEveryAnswer(t *testing.T) {
	run := record.Run{Strategy: "none", Engine: record.EngineVirtual, Bucket: 100 * time.Millisecond, Duration: 401 * time.Millisecond}
	for i, n := range []int64{0, 1, 1, 2, 1} {
		run.Buckets = append(run.Buckets, record.Bucket{At: time.Duration(i) * run.Bucket, Arrivals: 1, First: 1, Served: n})
	}
	for _, tt := range []struct {
		name       string
		length     time.Duration
		unfinished int64
		want       []float64 // -1 for none
	}{
		{"ends in a window", 401 * time.Millisecond, 0, []float64{0, 10, 10, 20, 10}}, {"ends with an answer", 400 * time.Millisecond, 0, []float64{0, 10, 10, 20, 10}},
		{"is cut", 401 * time.Millisecond, 1, []float64{0, 10, 10, 20, -1}},
	} {
		run.Duration, run.Operations = tt.length, record.Operations{Started: 5 + tt.unfinished, Succeeded: 5, Unfinished: tt.unfinished}
		page, d := pageOf(t, resultOf(guidePlan, run))
		var got []float64
		for _, y := range d.Charts["goodput"].Views[""].Series[0].Y {
			if y == nil {
				y = ptr(-1.0)
			}
			got = append(got, *y)
		}
		if !slices.Equal(got, tt.want) || strings.Contains(page, "A last step in which the run was cut is left out.") != (tt.unfinished > 0) {
			t.Errorf("%s: the steps are %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestOneValueIsSaid: a line of latencies that would be a point is a sentence.
func TestOneValueIsSaid(t *testing.T) {
	run := guideStorm("full")
	run.Detail = &record.Detail{Latency: &record.Bins{From: []int64{1_000_000}, Count: []int64{1}}}
	run.Latency = record.Distribution{Count: 1, Min: ptr(int64(1_000_000)), Max: ptr(int64(1_000_000))}
	page, d := pageOf(t, resultOf(guidePlan, run))
	if _, drawn := d.Charts["latency"]; drawn || !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), "One value makes no line, so there is no picture: 1.00 ms for the only one.") {
		t.Error("one latency is a picture")
	}
}

// TestWavesAreMarked: the waves of the picture are those that the figures count; of very many, neighbours are joined.
func TestWavesAreMarked(t *testing.T) {
	run := guideStorm("none")
	_, d := pageOf(t, resultOf(guidePlan, run))
	if got := d.Charts["arrivals-0"].Waves; int64(len(got)) != *run.Convoy.Waves || got[0] != [2]int64{0, int64(200 * time.Millisecond)} {
		t.Errorf("waves %v, the figure is %d", got, *run.Convoy.Waves)
	}
	many := longResult()
	for i := 0; i < len(many.Runs[0].Buckets); i += 2 {
		many.Runs[0].Buckets[i].Arrivals = 200
	}
	page, d := pageOf(t, many)
	if got := d.Charts["arrivals-0"].Waves; len(got) == 0 || len(got) > 1200 || !strings.Contains(page, "Above the picture waves less than") {
		t.Errorf("%d marks of 36,000 waves", len(got))
	}
}

// TestClientsThatAreNotOurs: what only they know is a dash in the table, and a sentence in place of a picture.
func TestClientsThatAreNotOurs(t *testing.T) {
	run := guideStorm("full")
	run.Strategy, run.Outside = "outside", &record.Outside{Answers: map[string]int64{"200": 7}, Unknown: 3}
	run.Operations, run.Attempts = record.Operations{}, record.Attempts{}
	page, _ := pageOf(t, resultOf(guidePlan, run))
	for figure, want := range map[string]string{"operations_succeeded": "–", "attempts_sent": "–", "amplification": "–", "completion": "–", "waves": "1"} {
		cell := regexp.MustCompile(`<td data-figure="outside\.` + figure + `" data-value="([^"]*)">([^<]*)</td>`).FindStringSubmatch(page)
		if cell == nil || cell[2] != want || (cell[1] == "") != (want == "–") {
			t.Errorf("%s reads %q, want %q", figure, cell, want)
		}
	}
	if n := strings.Count(page, "Only the clients know it, and they were not ours, so there is no picture."); n != 3 {
		t.Errorf("%d pictures say that only the clients know, want 3", n)
	}
}

// TestEveryGateHasItsNumber: also from the thousandth on, without the comma of a count.
func TestEveryGateHasItsNumber(t *testing.T) {
	r := resultOf(guidePlan, guideStorm("full"))
	for range 1001 {
		r.Gates = append(r.Gates, record.Gate{Gate: "waves<3", Reason: "no data"})
	}
	var b bytes.Buffer
	if err := report.HTML(&b, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if page := b.String(); !strings.Contains(page, `"gate.1000"`) || strings.Contains(page, `"gate.1,000"`) {
		t.Error("the gate of index 1000 is not named gate.1000")
	}
}
