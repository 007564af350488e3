package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"stormtest/load/record"
	"stormtest/report"
)

func render(t testing.TB, r *record.Result, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Terminal(&b, r, o); err != nil {
		t.Fatalf("Terminal: %v", err)
	}
	return b.String()
}

// results are what the goldens and the properties are made of, made once: the table is the caller's, and nobody
// changes what stands in it.
func results() map[string]*record.Result { return maps.Clone(resultsMade()) }

var resultsMade = sync.OnceValue(makeResults)

func makeResults() map[string]*record.Result {
	interrupted := resultOf(guidePlan, storm{strategy: "full", clients: 300, service: 1000, length: 700_000, delay: strategies["full"]}.run())
	interrupted.Interrupted = true
	interrupted.Runs[0].Duration = 712_345_678

	return map[string]*record.Result{
		"one":  resultOf(guidePlan, guideStorm("none")),
		"four": resultOf(guidePlan, guideStorm("none"), guideStorm("equal"), guideStorm("full"), guideStorm("decorrelated")),
		"open": openLoop(), "empty": emptyResult(), "arrival": oneArrival(), "interrupted": interrupted,
		"invalid": invalidResult(), "long": longResult(), "nothing": resultOf("null"), "url": urlResult(), "zero": zeroCapacity(), "idle": idleTarget(),
		"hostile": hostileResult(), "log": logResult(), "probed": probedResult(),
		"virtual": resultOf(virtualPlan, inVirtualTime(guideStorm("full"))), "occ": occResult(), "seeds": seedsResult(),
		"whole": wholeResult(), "fleet": fleetResult(), "chain": chainResult(),
	}
}

// seedsResult is four strategies of 400 seeds in virtual time, with a gate.
func seedsResult() *record.Result {
	var runs []record.Run
	for _, strategy := range []string{"none", "equal", "full", "decorrelated"} {
		runs = append(runs, repeated(inVirtualTime(guideStorm(strategy))))
	}
	r := resultOf(virtualPlan, runs...)
	r.Gates = []record.Gate{{Gate: "full: amplification<6", Value: ptr(5.59), OK: true, Reason: "amplification is at worst 5.59 in 400 seeds (seed 77)"}}
	return r
}

// emptyResult is a run that sent nothing: a signal came first.
func emptyResult() *record.Result {
	return resultOf(guidePlan, record.Run{
		Strategy: "full", Engine: "real", ArrivalsMeasuredAt: "target", Duration: 30 * time.Second, Bucket: 100 * time.Millisecond,
		CapacityPerSecond: ptr(1000.0), Books: record.Books{Balanced: true}, Generator: record.Generator{KeptUp: true},
		Convoy: record.Convoy{WindowFrom: time.Second, WindowTo: 10 * time.Second, Insufficient: true, Waves: ptr(int64(0)), Verdict: record.VerdictClear},
	})
}

func oneArrival() *record.Result {
	return resultOf(guidePlan, storm{strategy: "full", clients: 1, service: 1000, length: 1_000_000, delay: strategies["full"]}.run())
}

func invalidResult() *record.Result {
	run := guideStorm("full")
	run.Engine = "real"
	run.Generator.KeptUp = false
	run.Books = record.Books{AttemptsSent: 11185, Arrivals: 11100, Lost: map[string]int64{"refused": 60, "reset": 20}, Faults: []string{"5 attempts were sent and neither arrived nor were lost"}}
	run.Convoy.Flags = []string{record.FlagPeriodic, record.FlagMetastable}
	run.Hints = record.Hints{Seen: 12, Obeyed: 10, Early: 2}
	run.Delay.Clamped, run.Lateness.Faults = 3, 1
	run.Recovery = record.Recovery{GoodputBefore: ptr(700.0), GoodputLast: ptr(3.5), Watched: 15 * time.Second}
	run.Operations.GaveUp = map[string]int64{"max_retries": 12, "max_elapsed": 3}
	r := resultOf(guidePlan, run)
	r.Valid = false
	r.InvalidReasons = []string{
		"This machine sent attempts 41 ms late at p99; a tenth of a bucket, 10 ms, is the most that can be believed.",
		"At most about 800 clients fit, or --transport memory.",
	}
	r.Gates = []record.Gate{
		{Gate: "amplification<6", Value: ptr(5.59), OK: true, Reason: "amplification is 5.59"},
		{Gate: "p99<1s", Value: ptr(1.25e9), Reason: "latency_p99 is 1.25s, want < 1s"},
		{Gate: "sync_index<0.5", Reason: "no data"},
	}
	return r
}

// longResult is two hours of 72,000 buckets with one peak in the middle.
func longResult() *record.Result {
	run := emptyResult().Runs[0]
	run.Duration = 2 * time.Hour
	run.Buckets = make([]record.Bucket, 72_000)
	for i := range run.Buckets {
		n := int64(40 + i%7)
		run.Buckets[i] = record.Bucket{At: time.Duration(i) * run.Bucket, Arrivals: n, First: n - 10, Retries: 10, Served: n}
	}
	run.Buckets[36_001] = record.Bucket{At: 36_001 * run.Bucket, Arrivals: 350, Retries: 350, Served: 100, Rejected: 250}
	run.Convoy.PeakArrivals, run.Convoy.PeakSlidingArrivals = 350, 360
	run.Convoy.PeakOverCapacity, run.Convoy.Waves, run.Convoy.WavePeaks = ptr(3.5), ptr(int64(1)), []int64{350}
	return resultOf(guidePlan, run)
}

// urlResult is a target that is not ours: its capacity is unknown and arrivals are taken at the clients.
func urlResult() *record.Result {
	run := guideStorm("full")
	run.Engine, run.ArrivalsMeasuredAt, run.CapacityPerSecond = "real", "client", nil
	c := &run.Convoy
	c.PeakOverCapacity, c.WindowPeakOverCapacity, c.Waves, c.WavePeaks, c.Verdict = nil, nil, nil, nil, record.VerdictClear
	run.Attempts.ByOutcome = map[string]int64{"200": 2000, "503": 9000, "timeout": 100, "connect_failed": 85}
	run.Attempts.InFlightAtEnd = 4
	g := &run.Generator
	g.Replayed, g.ConnectionWait = 3, record.Distribution{
		Count: 85, Min: ptr(int64(90_000)), Mean: ptr(150_000.0), P50: ptr(int64(140_000)), P90: ptr(int64(200_000)), P99: ptr(int64(310_000)), P999: ptr(int64(310_000)), Max: ptr(int64(310_000)),
	}
	r := resultOf(`{"url":"http://service.localhost:8080/","clients":2000,"model":"slots","capacity":"1000/s","workers":1,"method":"PUT","http":"auto","keepalive":true,"unix-socket":"none","insecure":true}`, run)
	r.Addresses = []string{"127.0.0.1:8080", "[::1]:8080"}
	return r
}

func zeroCapacity() *record.Result {
	run := guideStorm("none")
	run.CapacityPerSecond = ptr(0.0)
	run.Convoy.PeakOverCapacity, run.Convoy.WindowPeakOverCapacity = nil, nil
	return resultOf(`{"clients":2000,"capacity":"0","workers":1,"queue":0}`, run)
}

// idleTarget can serve far more than comes.
func idleTarget() *record.Result {
	run := oneArrival().Runs[0]
	run.CapacityPerSecond = ptr(50_000.0)
	run.Convoy.PeakOverCapacity = ptr(0.0002)
	return resultOf(guidePlan, run)
}

const hostileText = "\x1b[2J\x1b]0;owned\a\r\n\u202egnp.exe\u0000\x9b31m\xff日本語\ue001 \u200b"

// hostileResult has in every text what a terminal would obey, and figures that make no sense.
func hostileResult() *record.Result {
	run := guideStorm("none")
	run.Strategy, run.Engine, run.Convoy.Verdict = hostileText, hostileText, hostileText
	run.Attempts.ByOutcome = map[string]int64{hostileText: -5, "200": math.MinInt64}
	run.Operations.GaveUp = map[string]int64{hostileText: 1}
	run.Books = record.Books{Lost: map[string]int64{hostileText: math.MaxInt64}, Faults: []string{hostileText}}
	run.Notes, run.Generator.TimerSource, run.Convoy.Flags = []string{hostileText, strings.Repeat("x", 5000)}, hostileText, []string{hostileText}
	run.Buckets[0].At, run.Buckets[1].Arrivals, run.Buckets[2].First = -1, math.MaxInt64, math.MinInt64
	run.Amplification, run.Latency.Mean, run.CapacityPerSecond = ptr(math.NaN()), ptr(math.Inf(1)), ptr(math.SmallestNonzeroFloat64)
	run.Latency.P50, run.Latency.Max = ptr(int64(math.MinInt64)), ptr(int64(math.MaxInt64))
	run.Repeats = &record.Repeats{Figures: map[string]record.Spread{
		hostileText: {}, "completion": spread(math.NaN(), 1, 2, 5), "waves": spread(1, 2, math.Inf(1), 5), "amplification": spread(math.MaxFloat64, -math.MaxFloat64, 5e-324, -9),
		"attempts_sent": spread(math.MaxFloat64, -math.MaxFloat64, 0, math.MaxInt64), "operation_latency_p50": spread(-math.MaxFloat64, 5e-324, math.MaxFloat64, 0),
	}}
	second := run
	second.Bucket, second.Duration = 1, math.MaxInt64
	second.Buckets = []record.Bucket{{At: math.MaxInt64, Arrivals: 1}, {At: 5, Arrivals: 3, First: 9}}
	plan, _ := json.Marshal(map[string]any{"clients": hostileText, "capacity": hostileText, "outage": []string{"1s..2s=" + hostileText, "..", "9s..1s"}})
	r := resultOf(string(plan), run, second)
	r.Tool.Version, r.PlanHash, r.InvalidReasons, r.Valid = hostileText, hostileText, []string{hostileText}, false
	r.Gates = []record.Gate{{Gate: hostileText, Reason: hostileText}}
	r.Probe = &record.Probe{
		Limit: hostileText, CapacityPerSecond: ptr(math.NaN()), ByStatus: map[string]int64{hostileText: 3}, Errors: map[string]int64{hostileText: -1},
		Steps: []record.ProbeStep{{Mode: hostileText, Good: ptr(math.Inf(1))}},
	}
	return r
}

func TestTerminalGoldens(t *testing.T) {
	all := results()
	for _, tt := range []struct {
		name string
		o    report.Options
	}{
		{"one", report.Options{Width: 80}}, {"one", report.Options{Width: 20}}, {"one", report.Options{Width: 40}},
		{"one", report.Options{Width: 120}}, {"one", report.Options{Width: 80, ASCII: true}}, {"one", report.Options{Width: 20, ASCII: true}},
		{"four", report.Options{Width: 80}}, {"four", report.Options{Width: 20}}, {"four", report.Options{Width: 40}},
		{"four", report.Options{Width: 120}}, {"four", report.Options{Width: 80, Color: true}}, {"four", report.Options{Width: 120, ASCII: true}},
		{"open", report.Options{Width: 80}}, {"open", report.Options{Width: 120}}, {"open", report.Options{Width: 39}}, {"open", report.Options{Width: 80, ASCII: true}},
		{"empty", report.Options{Width: 80}}, {"arrival", report.Options{Width: 80}}, {"interrupted", report.Options{Width: 80}},
		{"invalid", report.Options{Width: 80}}, {"invalid", report.Options{Width: 80, Color: true}}, {"invalid", report.Options{Width: 20, ASCII: true}},
		{"virtual", report.Options{Width: 80}}, {"occ", report.Options{Width: 80}}, {"occ", report.Options{Width: 40}}, {"occ", report.Options{Width: 20, ASCII: true}},
		{"seeds", report.Options{Width: 80}}, {"seeds", report.Options{Width: 40}}, {"seeds", report.Options{Width: 200}}, {"seeds", report.Options{Width: 120, ASCII: true}},
		{"log", report.Options{Width: 80}}, {"log", report.Options{Width: 40, ASCII: true}},
		{"long", report.Options{Width: 80}}, {"nothing", report.Options{Width: 80}}, {"url", report.Options{Width: 80}},
		{"probed", report.Options{Width: 80}}, {"zero", report.Options{Width: 80}}, {"whole", report.Options{Width: 80}}, {"whole", report.Options{Width: 40, ASCII: true}},
		{"fleet", report.Options{Width: 80}}, {"fleet", report.Options{Width: 120}}, {"chain", report.Options{Width: 80}}, {"chain", report.Options{Width: 39, ASCII: true}}, {"idle", report.Options{Width: 80}}, {"hostile", report.Options{Width: 80, ASCII: true}},
	} {
		name := fmt.Sprintf("%s-%d", tt.name, tt.o.Width)
		if tt.o.ASCII {
			name += "-ascii"
		}
		if tt.o.Color {
			name += "-color"
		}
		t.Run(name, func(t *testing.T) {
			golden(t, name, []byte(render(t, all[tt.name], tt.o)))
		})
	}
}

func TestUnknownWidthIs80(t *testing.T) {
	for name, r := range results() {
		for _, width := range []int{0, -1, math.MinInt} {
			if render(t, r, report.Options{Width: width}) != render(t, r, report.Options{Width: 80}) {
				t.Errorf("%s at width %d is not as at 80", name, width)
			}
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9]+m")

// displayCells counts as a terminal does the characters that the fixtures hold.
func displayCells(line string) int {
	n := utf8.RuneCountInString(line)
	for _, wide := range "日本語" {
		n += strings.Count(line, string(wide))
	}
	return n
}

// TestNoLineIsLonger: at every width up to 45 and at some beyond, in every mode, no line has more
// cells than the width, nothing but the asked characters is written, and colour adds only colour.
func TestNoLineIsLonger(t *testing.T) {
	for name, r := range results() {
		for width := 1; width <= 500; width++ {
			if (name == "long" || width > 45) && width%41 != 0 {
				continue
			}
			checkDrawn(t, name, width, func(o report.Options) string { return render(t, r, o) })
		}
	}
}

// checkDrawn draws a report of a width in every mode.
func checkDrawn(t *testing.T, name string, width int, draw func(report.Options) string) {
	t.Helper()
	plain, ascii := draw(report.Options{Width: width}), draw(report.Options{Width: width, ASCII: true})
	for _, text := range []string{plain, ascii} {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if n := displayCells(line); n > width {
				t.Fatalf("%s at width %d: %d cells: %q", name, width, n, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Fatalf("%s at width %d: blanks at the end of %q", name, width, line)
			}
		}
		if at := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa1 || r >= 0xe000 && r < 0xf900 || r == '\u202e' || r == '\u200b')
		}); at >= 0 {
			t.Fatalf("%s at width %d: control character %q", name, width, text[at:at+4])
		}
	}
	if at := strings.IndexFunc(ascii, func(r rune) bool { return r > '~' }); at >= 0 {
		t.Fatalf("%s at width %d: not ASCII: %q", name, width, ascii[at:at+3])
	}
	colored := draw(report.Options{Width: width, Color: true})
	if stripped := sgr.ReplaceAllString(colored, ""); stripped != plain {
		t.Fatalf("%s at width %d: colour changes the text", name, width)
	}
}

// cellOf renders one latency p50 and returns how it reads.
func cellOf(t *testing.T, ns int64) string {
	t.Helper()
	r := emptyResult()
	r.Runs[0].Latency = record.Distribution{Count: 1, P50: &ns}
	for line := range strings.Lines(render(t, r, report.Options{Width: 120})) {
		if rest, ok := strings.CutPrefix(line, "latency"); ok {
			return strings.TrimSpace(strings.Split(rest, "–")[0])
		}
	}
	t.Fatal("no row for the latency")
	return ""
}

func TestLengthsHaveThreeDigits(t *testing.T) {
	for _, tt := range []struct {
		ns   int64
		want string
	}{
		{0, "0 s"}, {1, "1 ns"}, {999, "999 ns"}, {1000, "1.00 µs"}, {12_345, "12.3 µs"}, {999_499, "999 µs"}, {999_500, "1.00 ms"},
		{9_994_999, "9.99 ms"}, {9_995_000, "10.0 ms"}, {99_949_999, "99.9 ms"}, {99_950_000, "100 ms"}, {999_500_000, "1.00 s"},
		{1_250_000_000, "1.25 s"}, {119_400_000_000, "119 s"}, {120_000_000_000, "2m"}, {7_190_000_000_000, "1h59m50s"}, {3_600_100_000_000, "1h"},
		{7_200_000_000_000, "2h"}, {math.MaxInt64, "2500000h"}, {-1_500_000, "-1.50 ms"}, {math.MinInt64, "-2500000h"},
	} {
		if got := cellOf(t, tt.ns); got != tt.want {
			t.Errorf("%d ns reads %q, want %q", tt.ns, got, tt.want)
		}
	}
}

// TestIndexIsNotRoundedOverAThreshold: what is no convoy never reads as one.
func TestIndexIsNotRoundedOverAThreshold(t *testing.T) {
	for _, tt := range []struct {
		index float64
		want  string
	}{
		{0, "0.00"}, {0.094, "0.09"}, {0.0996, "0.0996"}, {0.09999, "0.09999"}, {0.1, "0.10"}, {0.2461, "0.246"}, {0.24996, "0.24996"}, {0.25, "0.25"},
		{0.98, "0.98"}, {0.999, "1.00"}, {1, "1.00"},
	} {
		r := resultOf(guidePlan, guideStorm("none"))
		r.Runs[0].Convoy.ConvoyIndex = &tt.index
		if text := render(t, r, report.Options{}); !strings.Contains(text, "Convoy index  "+tt.want+" over") {
			t.Errorf("an index of %v does not read %q", tt.index, tt.want)
		}
	}
}

func TestRatiosNearCapacity(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		want  string
	}{
		{0.5, "0.500x"}, {0.996, "0.996x"}, {1, "1.00x"}, {1.0004, "1.0004x"}, {1.01, "1.01x"}, {20, "20.0x"}, {1234.5, "1,235x"}, {0.0412, "0.0412x"}, {0.09996, "0.100x"}, {0.00099951, "0.00100x"}, {0.000012, "1.20e-05x"}, {123456, "123,456x"},
	} {
		r := resultOf(guidePlan, guideStorm("none"))
		r.Runs[0].Convoy.PeakOverCapacity = &tt.ratio
		if text := render(t, r, report.Options{}); !strings.Contains(text, "in a bucket ("+tt.want+" capacity") {
			t.Errorf("a ratio of %v does not read %q", tt.ratio, tt.want)
		}
	}
}

// unjudged leaves a run without an index: so many retries in its window, which begins at from where that is not 0.
func unjudged(retries int64, from time.Duration) func(*record.Run) {
	return func(r *record.Run) {
		r.Convoy.Verdict, r.Convoy.ConvoyIndex, r.Convoy.Insufficient, r.Convoy.WindowArrivals = record.VerdictClear, nil, true, retries
		if from != 0 {
			r.Convoy.WindowFrom = from
		}
	}
}

// TestVerdictSentences: one sentence a verdict, with the figures it rests on.
func TestVerdictSentences(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*record.Run)
		want   string
	}{
		{"convoy", func(*record.Run) {}, "none CONVOY 2,000 clients came back together: convoy index 1.00, waves up to 20.0x capacity; 9 of 2,000 operations succeeded in 30 s."},
		{"clumped", func(r *record.Run) { r.Convoy.Verdict, r.Convoy.ConvoyIndex = record.VerdictClumped, ptr(0.2) }, "CLUMPED 2,000 clients came back partly together: convoy index 0.20"},
		{"within capacity", func(r *record.Run) { r.Convoy.Verdict = record.VerdictClumped }, "came back together, though within capacity: convoy index 1.00"},
		{"overload", func(r *record.Run) { r.Convoy.Verdict, r.Convoy.ConvoyIndex = record.VerdictOverload, ptr(0.01) }, "OVERLOAD too many retries for the target, though not together: convoy index 0.01"},
		{"clear", func(r *record.Run) { r.Convoy.Verdict, r.Convoy.ConvoyIndex = record.VerdictClear, ptr(0.01) }, "CLEAR retries came back spread out: convoy index 0.01"},
		{"unserved", func(r *record.Run) {
			r.Convoy.Verdict, r.Convoy.ConvoyIndex, r.Operations.Succeeded = record.VerdictClear, ptr(0.01), 0
		}, "UNSERVED retries came back spread out: convoy index 0.01"},
		{"below capacity", func(r *record.Run) {
			r.Convoy.Verdict, r.Convoy.ConvoyIndex, r.Convoy.WindowPeakOverCapacity = record.VerdictClear, ptr(0.01), ptr(0.02)
		}, "convoy index 0.01, fullest bucket 0.0200x capacity; 9 of"},
		{"few", unjudged(12, 0), "UNJUDGED not known whether retries came together: 12 retries from 1 s to 10 s, and it takes 100, waves"},
		{"one", unjudged(1, 0), ": 1 retry from 1 s"},
		{"too short", unjudged(489, 9500*time.Millisecond), ": 489 retries from 9.5 s to 10 s, and it takes a window of 1 s or more; the run was over too soon for that"},
		{"few and short", unjudged(9, 9500*time.Millisecond), ": 9 retries from 9.5 s to 10 s, and it takes 100 in 1 s or more; the run"},
		{"far apart", unjudged(100, 0), ": 100 retries from 1 s to 10 s, of which no two are within 1 s"},
		{"none in the window", unjudged(0, 0), "UNJUDGED not known whether retries came together: none of its 15,964 retries arrived from 1 s to 10 s, where they are judged; 9 of"},
		{"no window", unjudged(0, 10*time.Second), "UNJUDGED not known whether retries came together: the run ended before retries are judged, which is from 10 times base after the failure on; 9 of"},
		{"overload of a few", func(r *record.Run) {
			unjudged(12, 0)(r)
			r.Convoy.Verdict = record.VerdictOverload
		}, "OVERLOAD not known whether retries came together: 12 retries"},
		{"no retries", func(r *record.Run) {
			unjudged(0, 0)(r)
			r.Attempts.Retries = 0
		}, "UNJUDGED no retries, so nothing to judge; 9 of"},
		{"all done", func(r *record.Run) { r.Operations.Succeeded, r.Completion = 2000, ptr(int64(8.31e9)) }, "all 2,000 operations done after 8.31 s."},
		{"nothing started", func(r *record.Run) { r.Operations.Started = 0 }, "no operation was started."},
		{"odd length", func(r *record.Run) { r.Duration = 3_141_592_653 }, "succeeded in 3.14 s."},
		{"flag", func(r *record.Run) { r.Convoy.Flags = []string{record.FlagMetastable} }, "METASTABLE: the outage is over and the target has not recovered."},
		{"unknown flag", func(r *record.Run) { r.Convoy.Flags = []string{"NEW"} }, "in 30 s. NEW."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := resultOf(guidePlan, guideStorm("none"))
			tt.change(&r.Runs[0])
			text, _, _ := strings.Cut(render(t, r, report.Options{Width: 100}), "──")
			if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, tt.want) {
				t.Errorf("the verdict is %q, want %q in it", got, tt.want)
			}
		})
	}
}

// TestShortWindowNamesBase: a window that is too short because of the base says which base makes it long enough.
func TestShortWindowNamesBase(t *testing.T) {
	r := resultOf(`{"fleet":{"base":"5ms"}}`, guideStorm("full"))
	run := &r.Runs[0]
	unjudged(489, 0)(run)
	run.Convoy.WindowFrom, run.Convoy.WindowTo = 50*time.Millisecond, 500*time.Millisecond
	const want = "489 retries from 50 ms to 500 ms, and it takes a window of 1 s or more; the window is 10 to 100 times base, so that it takes a base of 12 ms or more"
	if text := words(t, r, 100); strings.Count(text, want) != 2 {
		t.Errorf("headline and convoy index of %.400q are not both: %q", text, want)
	}
}

// TestTroublesComeFirst: what makes the figures worthless is read before any figure.
func TestTroublesComeFirst(t *testing.T) {
	text := render(t, invalidResult(), report.Options{})
	if !strings.HasPrefix(text, "INVALID") || strings.Index(text, "At most about 800 clients fit") > strings.Index(text, "OVERLOAD") {
		t.Error("an invalid result does not begin with why")
	}
	if text := render(t, results()["interrupted"], report.Options{}); !strings.HasPrefix(text, "INTERRUPTED") {
		t.Error("an interrupted result does not begin with that")
	}
}

// compared renders runs side by side and returns the row of each criterion.
func compared(t *testing.T, runs ...record.Run) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range strings.Lines(render(t, resultOf(guidePlan, runs...), report.Options{Width: 79})) {
		for _, head := range []string{"succeeded ", "attempts ", "all done ", "peak / capacity", "convoy index", "waves "} {
			if rest, ok := strings.CutPrefix(line, head); ok {
				rows[strings.TrimSpace(head)] = strings.Join(strings.Fields(rest), " ")
			}
		}
	}
	return rows
}

// TestBestIsMarked: the best is marked where there is a difference, the few attempts of a strategy
// that got nothing done are no merit, and equal figures share the mark.
func TestBestIsMarked(t *testing.T) {
	lazy, good, worse := guideStorm("full"), guideStorm("decorrelated"), guideStorm("equal")
	lazy.Operations.Succeeded, lazy.Attempts.Sent, lazy.Completion = 100, 2000, nil
	rows := compared(t, lazy, good, worse)
	for head, want := range map[string]string{
		"succeeded": "100 2,000* 2,000*", "attempts": "2,000 9,341* 11,226", "all done": "– 8.94 s* 20.6 s", "waves": "1 1 4",
	} {
		if rows[head] != want {
			t.Errorf("%s: %q, want %q", head, rows[head], want)
		}
	}
	if same := compared(t, good, good, good); strings.Contains(strings.Join([]string{same["waves"], same["attempts"]}, ""), "*") {
		t.Errorf("all alike, yet one is best: %v", same)
	}
}

// TestBestOfNothing: what reads alike is marked alike, and where nobody was served or nothing is known nothing is best
// and no order is said to hold.
func TestBestOfNothing(t *testing.T) {
	a, b, c := guideStorm("full"), guideStorm("decorrelated"), guideStorm("equal")
	a.Convoy.ConvoyIndex, b.Convoy.ConvoyIndex, c.Convoy.ConvoyIndex = ptr(0.081), ptr(0.079), ptr(0.3)
	if got, want := compared(t, a, b, c)["convoy index"], "0.08* 0.08* 0.30"; got != want {
		t.Errorf("convoy index: %q, want %q", got, want)
	}
	b.Convoy.ConvoyIndex, c.Convoy.ConvoyIndex = nil, nil
	if got, want := compared(t, a, b, c)["convoy index"], "0.08 – –"; got != want {
		t.Errorf("convoy index: %q, want %q: an unknown one is no worse", got, want)
	}
	cut := resultOf(guidePlan, a, guideStorm("equal"))
	cut.Interrupted = true
	if text := words(t, cut, 79); strings.Contains(text, "*") || strings.Contains(text, "ranking") {
		t.Errorf("one run was cut, and there is a best: %.1500q", text)
	}
	a.Operations.Succeeded, b.Operations.Succeeded, c.Operations.Succeeded = 0, 0, 0
	text := words(t, resultOf(guidePlan, a, b, c), 79)
	if strings.Contains(text, "*") || strings.Contains(text, "ranking") || !strings.Contains(text, "Target model slots") {
		t.Errorf("nobody was served, and there is a best: %.1500q", text)
	}
}

// TestInterruptedNamesWhatIsMissing: and only where something is; a gate that was held against a run that was cut
// has not passed.
func TestInterruptedNamesWhatIsMissing(t *testing.T) {
	ended := func(run record.Run, n int64) record.Run {
		run.Repeats = &record.Repeats{Asked: 3000, Count: n, Seeds: [2]uint64{42, 42 + uint64(max(n, 1)) - 1}}
		return run
	}
	full, none := guideStorm("full"), guideStorm("none")
	for _, tt := range []struct {
		name, plan string
		runs       []record.Run
		want       []string
		not        string
	}{
		{"the only one", `{"strategy":"full"}`, []record.Run{full}, []string{"counts as unfinished.", "Gates CUT SHORT: 1 of 1 hold; they were held against what there was"}, "missing"},
		{"one of two", `{"strategy":"full,none"}`, []record.Run{full}, []string{"what had not begun is missing: none.", "Gates CUT SHORT"}, "passed"},
		{"both", `{"strategy":"full,none"}`, []record.Run{full, none}, []string{"counts as unfinished.", "Gates CUT SHORT"}, "missing"},
		{"some seeds", `{"strategy":"full"}`, []record.Run{ended(full, 68)}, []string{
			"68 of the 3,000 that were asked for came to their end, from 42 on.", "Gates passed: 1 of 1 hold ok", "--seed 42 --repeat 3000", "42, the first of 3,000",
		}, "CUT"},
		{"other seeds", `{"strategy":"full,none"}`, []record.Run{ended(full, 68), ended(none, 67)}, []string{"from 67 to 68 of the 3,000", "Gates passed"}, "CUT"},
		{"no seed", `{"strategy":"full,none"}`, []record.Run{ended(full, 0)}, []string{
			"none of the 3,000 that were asked for came to its end. Verdicts, charts and figures are of what there is of the first one, 42.", "missing: none.", "Gates CUT SHORT", "--seed 42 --repeat 3000",
		}, "All seeds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := resultOf(tt.plan, tt.runs...)
			r.Interrupted, r.Gates = true, []record.Gate{{Gate: "waves<5", OK: true, Reason: "waves is 3"}}
			text := words(t, r, 200)
			for _, part := range tt.want {
				if !strings.Contains(text, part) {
					t.Errorf("the report does not say %q: %.600q", part, text)
				}
			}
			if strings.Contains(text, tt.not) {
				t.Errorf("the report says %q: %.600q", tt.not, text)
			}
		})
	}
}

// TestTargetSaysWhatMatters: fields without effect are left out, and a target without sockets is named.
func TestTargetSaysWhatMatters(t *testing.T) {
	for _, tt := range []struct{ name, plan, want string }{
		{"slots", `{"capacity":"60/m","workers":4,"queue":9,"model":"slots","burst":1,"transport":"tcp","send-retry-after":"none","outage":[]}`,
			"Target model slots, capacity 60/m, workers 4, queue 9 Made by"},
		{"token bucket", `{"model":"token-bucket","burst":5,"transport":"memory","send-retry-after":"auto","outage":["1s..2s","3s..4s=slow:2"]}`,
			"Target transport memory, model token-bucket, burst 5, Retry-After sent auto, outage 1s..2s, 3s..4s=slow:2 Made by"},
		{"in groups", `{"target":{"capacity":"5/s"}}`, "Target capacity 5/s Made by"},
		{"none", `[]`, "══"},
	} {
		text := strings.Join(strings.Fields(render(t, resultOf(tt.plan), report.Options{})), " ")
		if has := strings.Contains(text, tt.want); has != (tt.name != "none") || tt.name == "none" && strings.Contains(text, "Target") {
			t.Errorf("%s: %q, want %q in it", tt.name, text, tt.want)
		}
	}
}

// TestRankingNamesItsModel: domain 6.3 asks for the target model beside every ranking.
func TestRankingNamesItsModel(t *testing.T) {
	text := strings.Join(strings.Fields(render(t, results()["four"], report.Options{})), " ")
	for _, part := range []string{"model slots", "capacity 1000/s", "workers 1", "queue 0", "abandoned process", "the order can be another"} {
		if !strings.Contains(text, part) {
			t.Errorf("the ranking does not say %q", part)
		}
	}
}

// A run that ended before one could say whether the target came back says neither that it did nor that it did not.
func TestRecoveryOfAShortWatch(t *testing.T) {
	r := openLoop()
	r.Runs[0].Recovery = record.Recovery{GoodputBefore: ptr(500.0), Watched: 3 * time.Second, WatchNeeded: 2 * time.Minute}
	text := strings.Join(strings.Fields(render(t, r, report.Options{})), " ")
	if want := "Recovered not known: it was not watched long enough to say (3 s of the 120 s)"; !strings.Contains(text, want) || strings.Contains(text, "NOT within") {
		t.Errorf("the report lacks %q, or has NOT within:\n%s", want, text)
	}
}

// The breaker's line tells hedges that it refused apart, which the line of the attempts does not count.
func TestHedgesThatABreakerRefused(t *testing.T) {
	r := openLoop()
	run := &r.Runs[0]
	run.Attempts.ShortCircuited = 190
	run.Hedging = &record.Hedging{Sent: 5, Withheld: 300}
	run.Breaker = &record.Breaker{Kind: "consecutive", Breakers: 1, ShortCircuited: 490}
	run.Budget = nil
	text := strings.Join(strings.Fields(render(t, r, report.Options{})), " ")
	for _, want := range []string{"190 first attempts and retries were due and not sent", "490 attempts were not sent, 300 of them hedges, 0 were let through"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// What the whole of a mixed fleet has none of, its parts' budgets and breakers, has a line for each part, and that breakers
// opened again is said at first.
func TestPoliciesOfParts(t *testing.T) {
	r := openLoop()
	full, bare := r.Runs[0], r.Runs[0]
	full.Budget = &record.Budget{Kind: "grpc", Parameters: "tokens=10,ratio=0.1", Taken: 7, Refused: 3}
	bare.Budget = nil
	bare.Breaker = &record.Breaker{Kind: "polly", Breakers: 2, Opened: 1, Reopened: 4, Closed: 1, ShortCircuited: 1, Probes: 5}
	r.Runs[0].Budget = nil
	r.Runs[0].Parts = []record.Part{{Name: "full", Share: 0.7, Run: &full}, {Name: "none", Share: 0.3, Run: &bare}}
	text := strings.Join(strings.Fields(render(t, r, report.Options{})), " ")
	for _, want := range []string{
		"Breakers opened again 4 times, as probes came and failed.",
		"Budget of full grpc (tokens=10, ratio=0.1): 7 retries allowed, 3 refused",
		"Breaker of none 2 breakers of polly: opened once, reopened 4 times after a probe, closed once; 1 attempt was not sent, 5 were let through as probes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}
