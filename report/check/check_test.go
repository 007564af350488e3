package check_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report/check"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       check.Gate
	}{
		{"share", "success_share>=0.9", check.Gate{Metric: "success_share", Op: ">=", Value: 0.9}},
		{"alias success_rate", "success_rate>=0.9", check.Gate{Metric: "success_share", Op: ">=", Value: 0.9}},
		{"alias p99", "p99<1s", check.Gate{Metric: "latency_p99", Op: "<", Value: 1e9}},
		{"alias sync_index", "sync_index<0.5", check.Gate{Metric: "retry_synchronisation_index", Op: "<", Value: 0.5}},
		{"strategy", "full:convoy_index<0.25", check.Gate{Strategy: "full", Metric: "convoy_index", Op: "<", Value: 0.25}},
		{"strategy with a dash", "fixed-up: waves <= 4", check.Gate{Strategy: "fixed-up", Metric: "waves", Op: "<=", Value: 4}},
		{"blanks", "  delay_p999 \t>  1m30s ", check.Gate{Metric: "delay_p999", Op: ">", Value: 90e9}},
		{"equal", "operations_unfinished == 0", check.Gate{Metric: "operations_unfinished", Op: "==", Value: 0}},
		{"not equal", "waves!=0", check.Gate{Metric: "waves", Op: "!=", Value: 0}},
		{"microseconds", "lateness_p50<250µs", check.Gate{Metric: "lateness_p50", Op: "<", Value: 250e3}},
		{"negative ratio", "periodicity>-0.5", check.Gate{Metric: "periodicity", Op: ">", Value: -0.5}},
		{"exponent", "attempts_sent<1.5e6", check.Gate{Metric: "attempts_sent", Op: "<", Value: 1.5e6}},
		{"share 1", "wasted_share<=1", check.Gate{Metric: "wasted_share", Op: "<=", Value: 1}},
		{"attempt", "attempt_at_success_mean<2.5", check.Gate{Metric: "attempt_at_success_mean", Op: "<", Value: 2.5}},
		{"longest duration", "completion<9007199254740992ns", check.Gate{Metric: "completion", Op: "<", Value: 1 << 53}},
		{"rate", "goodput>=400/s", check.Gate{Metric: "goodput", Op: ">=", Value: 400}},
		{"rate by the minute", "goodput_last >= 90 / m", check.Gate{Metric: "goodput_last", Op: ">=", Value: 1.5}},
		{"word", "verdict!=CONVOY", check.Gate{Metric: "verdict", Op: "!=", Value: 0}},
		{"word of two", "metastable == no", check.Gate{Metric: "metastable", Op: "==", Value: 1}},
		{"key", "outcome_503<10", check.Gate{Metric: "outcome_503", Op: "<", Value: 10}},
		{"worst", "completion<30s @worst", check.Gate{Metric: "completion", Op: "<", Value: 30e9, Over: check.Over{Kind: check.OverWorst}}},
		{"mean", "convoy_index<0.1@mean", check.Gate{Metric: "convoy_index", Op: "<", Value: 0.1, Over: check.Over{Kind: check.OverMean}}},
		{"first", "full:waves<3 @ first", check.Gate{Strategy: "full", Metric: "waves", Op: "<", Value: 3, Over: check.Over{Kind: check.OverFirst}}},
		{"share of the seeds", "completion<30s @95%", check.Gate{Metric: "completion", Op: "<", Value: 30e9, Over: check.Over{Kind: check.OverShare, ShareMillionths: 950_000}}},
		{"decimals", "completion<30s @99.5 %", check.Gate{Metric: "completion", Op: "<", Value: 30e9, Over: check.Over{Kind: check.OverShare, ShareMillionths: 995_000}}},
		{"smallest share", "waves<3@0.0001%", check.Gate{Metric: "waves", Op: "<", Value: 3, Over: check.Over{Kind: check.OverShare, ShareMillionths: 1}}},
		{"largest share", "waves<3@100%", check.Gate{Metric: "waves", Op: "<", Value: 3, Over: check.Over{Kind: check.OverShare, ShareMillionths: 1_000_000}}},
		{"word over seeds", "verdict==CLEAR@90%", check.Gate{Metric: "verdict", Op: "==", Value: 4, Over: check.Over{Kind: check.OverShare, ShareMillionths: 900_000}}},
		{"zero with a unit", "start_spread<=0s", check.Gate{Metric: "start_spread", Op: "<=", Value: 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Text = strings.TrimSpace(tt.text)
			got, err := check.Parse(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("Parse(%q) = %+v, %v, want %+v", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // parts of the message
	}{
		{"empty", "", []string{"no comparison"}},
		{"no comparison", "convoy_index", []string{`"convoy_index": no comparison`}},
		{"operator =<", "p99=<1s", []string{`operator "=<", want one of`}},
		{"operator =", "p99=1s", []string{`operator "="`}},
		{"operator <<", "p99<<1s", []string{`operator "<<"`}},
		{"no metric", "<1", []string{"no metric"}},
		{"no value", "p99<", []string{"no value"}},
		{"unknown metric", "no_such_metric<1", []string{`unknown metric "no_such_metric"`}},
		{"near metric", "convoy_indx<1", []string{"did you mean convoy_index?"}},
		{"histogram", "latency<1s", []string{"latency is a histogram; want one of latency_min latency_p50"}},
		{"near word", "convoi<1", []string{"did you mean convoy_index"}},
		{"a word left out", "success_shar<1", []string{"did you mean success_share"}},
		{"no such key", "outcome_5xx<1", []string{`unknown metric "outcome_5xx"`, "outcome_timeout", "as in outcome_503"}},
		{"near key", "gave_up_budget<1", []string{"want one of", "gave_up_refused_by_budget"}},
		{"upper case", "P99<1s", []string{"did you mean p99"}},
		{"no unit", "p99<1", []string{"latency_p99 needs a unit, as in 1ms or 1s"}},
		{"zero without unit", "p99<0", []string{"needs a unit"}},
		{"bad unit", "p99<1sec", []string{`"1sec"`, "want a duration"}},
		{"negative duration", "p99<-1s", []string{"want 0s or more"}},
		{"duration past exactness", "p99<9007199254740993ns", []string{"want at most"}},
		{"duration overflow", "p99<9223372036854775807s", []string{"want a duration"}},
		{"percent", "success_rate>=90%", []string{"no percent", "write 0.9 for 90%"}},
		{"percent of a count", "waves<5%", []string{"without a unit"}},
		{"share above 1", "success_share>=90", []string{"want a share in 0..1"}},
		{"share below 0", "wasted_share>=-0.1", []string{"want a share in 0..1"}},
		{"negative count", "waves<-1", []string{"want 0 or more"}},
		{"unit on a ratio", "amplification<4x", []string{`"4x"`, "without a unit"}},
		{"thousands separator", "attempts_sent<1,000", []string{`"1,000"`}},
		{"not a number", "convoy_index<NaN", []string{`"NaN"`}},
		{"infinity", "convoy_index<Inf", []string{`"Inf"`}},
		{"hexadecimal", "convoy_index<0x1p-2", []string{`"0x1p-2"`}},
		{"overflow", "amplification<1e999", []string{`"1e999"`}},
		{"two gates", "waves<1 waves<2", []string{`"1 waves<2"`}},
		{"bad strategy", "Full!:waves<1", []string{"operator"}},
		{"empty strategy", ":waves<1", []string{`strategy "" is not a name`}},
		{"rate without unit", "goodput>400", []string{"goodput needs a unit, as in 400/s"}},
		{"rate per day", "goodput>400/d", []string{`goodput = "400/d"`, "want a rate such as 400/s or 60/m"}},
		{"negative rate", "goodput>-1/s", []string{"want 0/s or more"}},
		{"unknown word", "verdict!=convoy", []string{`verdict = "convoy"`, "want one of CONVOY CLUMPED OVERLOAD UNSERVED CLEAR"}},
		{"unjudged is no verdict", "verdict!=UNJUDGED", []string{"want one of CONVOY"}},
		{"number as word", "verdict==4", []string{"want one of CONVOY"}},
		{"order of words", "verdict>=CLUMPED", []string{"verdict is a word: want == or !=, not >="}},
		{"mean of words", "verdict==CLEAR @mean", []string{"verdict is a word, of which there is no mean: want @worst, @first or a share such as @95%"}},
		{"unknown seeds", "waves<3 @best", []string{"@best: want worst, mean, first, or the share of the seeds that must hold, such as 95%"}},
		{"no seeds", "waves<3 @", []string{"@: want worst, mean, first"}},
		{"share without unit", "waves<3 @95", []string{"@95 needs a unit"}},
		{"share of 0", "waves<3 @0%", []string{"@0%: want a share above 0% and up to 100%"}},
		{"share over 100", "waves<3 @100.0001%", []string{"above 0% and up to 100%"}},
		{"negative share", "waves<3 @-5%", []string{"@-5%: want worst"}},
		{"too fine a share", "waves<3 @99.99999%", []string{"want worst, mean, first"}},
		{"long share", "waves<3 @99999999999999999999%", []string{"want worst, mean, first"}},
		{"hexadecimal share", "waves<3 @0x5%", []string{"want worst, mean, first"}},
		{"point without digits", "waves<3 @95.%", []string{"want worst, mean, first"}},
		{"seeds in the middle", "waves@mean<3", []string{`unknown metric "waves@mean"`, "did you mean waves"}},
		{"two seeds", "waves<3 @mean @worst", []string{`waves = "3 @mean"`}},
		{"probe of a strategy", "full:probe_capacity>1/s", []string{"probe_capacity is of the target before the storm, not of a strategy"}},
		{"every fault at once", "X:convoy_indx =< @best", []string{`strategy "X"`, "convoy_index", `operator "=<"`, "no value", "@best"}},
		{"every fault of words", "verdict < bad @mean", []string{`verdict = "bad"`, "no mean"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := check.Parse(tt.text)
			var fault *check.Error
			if !errors.As(err, &fault) || got != (check.Gate{}) {
				t.Fatalf("Parse(%q) = %+v, %v, want an *Error", tt.text, got, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Parse(%q): %q does not say %q", tt.text, err, part)
				}
			}
		})
	}
}

// TestString: a gate has one short form, whichever way it was written.
func TestString(t *testing.T) {
	for text, want := range map[string]string{
		" full : p99 <= 1500ms": "full:latency_p99<=1.5s", "periodicity>-0": "periodicity>0", "goodput > 90/m @ 95.50 %": "goodput>1.5/s@95.5%",
		"waves<3 @worst": "waves<3@worst", " verdict == CLEAR @first": "verdict==CLEAR@first", "attempts_sent==1e3": "attempts_sent==1000", "sync_index!=.5": "",
	} {
		g, err := check.Parse(text)
		if want == "" {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", text, g)
			}
			continue
		}
		if err != nil || g.String() != want {
			t.Errorf("Parse(%q) is %v, %v, want %s", text, g, err, want)
		}
	}
}

func TestParseAllFindsEveryFault(t *testing.T) {
	gates, err := check.ParseAll([]string{"no_such_metric<1", "p99<1", "waves<3", "success_rate>=90%"})
	if len(gates) != 1 || gates[0].Metric != "waves" {
		t.Errorf("ParseAll kept %+v, want the one good gate", gates)
	}
	for _, gate := range []string{`"no_such_metric<1"`, `"p99<1"`, `"success_rate>=90%"`} {
		if err == nil || !strings.Contains(err.Error(), gate) {
			t.Errorf("ParseAll: %v does not name %s", err, gate)
		}
	}
	if _, err := check.ParseAll(nil); err != nil {
		t.Errorf("ParseAll(nil) = %v, want nil", err)
	}
}

func TestCheckStrategies(t *testing.T) {
	gates, err := check.ParseAll([]string{"full:waves<3", "none:waves<3", "waves<3", "equal:waves<3"})
	if err != nil {
		t.Fatal(err)
	}
	if err := check.CheckStrategies(gates, []string{"none", "equal", "full"}); err != nil {
		t.Errorf("CheckStrategies = %v, want nil", err)
	}
	err = check.CheckStrategies(gates, []string{"full"})
	for _, part := range []string{`"none:waves<3"`, `"equal:waves<3"`, "runs full"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("CheckStrategies: %v does not say %s", err, part)
		}
	}
}

// A name that two have says of neither what is meant.
func TestCheckStrategiesOfOneName(t *testing.T) {
	gates, err := check.ParseAll([]string{"full:waves<3", "none:waves<3"})
	if err != nil {
		t.Fatal(err)
	}
	err = check.CheckStrategies(gates, []string{"full", "none", "full"})
	if want := `"full:waves<3": full is the name of two: of full, none, full`; err == nil || err.Error() != want {
		t.Errorf("CheckStrategies = %v, want %s", err, want)
	}
}

// A gate speaks of a part of a mixed fleet by its name, and without a name of the whole; what is planned and what ran know
// the parts alone by name.
func TestEvaluateParts(t *testing.T) {
	whole, full, none := closedPort("full=70%,none=30%"), closedPort("full"), closedPort("none")
	whole.Latency.P99, full.Latency.P99, none.Latency.P99 = ptr(int64(3e9)), ptr(int64(1e9)), ptr(int64(5e9))
	whole.Parts = []record.Part{{Name: "full", Share: 0.7, Clients: 7, Run: &full}, {Name: "none", Share: 0.3, Clients: 3, Run: &none}}
	full.Books.Arrivals = 5
	none.Repeats = record.RepeatsOf(1, 2, []record.Seed{record.SeedOf(&none), record.SeedOf(&full)})
	result := &record.Result{Runs: []record.Run{whole}, Plan: []byte(`{"strategy":"full","fleet":"full=70%,none=30%"}`)}
	gates, err := check.ParseAll([]string{"p99<=4s", "full:p99<=4s", "none:p99<=4s@first", "full:waves<3", "equal:waves<3"})
	if err != nil {
		t.Fatal(err)
	}
	equalRows(t, check.Evaluate(gates, result), []record.Gate{
		{Gate: "p99<=4s", Value: ptr(3e9), OK: true, Reason: "latency_p99 is 3s"},
		{Gate: "full:p99<=4s", Value: ptr(1e9), OK: true, Reason: "latency_p99 is 1s"},
		{Gate: "none:p99<=4s@first", Value: ptr(5e9), Reason: "seed 1, the first: latency_p99 is 5s, want <= 4s"},
		{Gate: "full:waves<3", Reason: "no data: the capacity is the whole fleet's, and not one of its parts'"},
		{Gate: "equal:waves<3", Reason: "no data: strategy equal did not run"},
	})
	if got := check.Strategies(result); !slices.Equal(got, []string{"full", "none"}) {
		t.Errorf("Strategies = %v, want those of the parts", got)
	}
}

// Of a plan with presets the strategies have not been missed.
func TestStrategiesOfPresets(t *testing.T) {
	result := &record.Result{Runs: []record.Run{closedPort("grpc-retry")}, Plan: []byte(`{"strategy":"full","preset":"grpc-retry,envoy"}`)}
	if got := check.Strategies(result); !slices.Equal(got, []string{"grpc-retry", "envoy"}) {
		t.Errorf("Strategies = %v, want the presets", got)
	}
}

func ptr[T any](v T) *T { return &v }

// closedPort is case D-19: five operations, none answered.
func closedPort(strategy string) record.Run {
	return record.Run{
		Strategy:   strategy,
		Operations: record.Operations{Started: 5, GaveUp: map[string]int64{"max_retries": 4, "max_elapsed": 1}},
		Attempts:   record.Attempts{Sent: 5, First: 5},
	}
}

func TestEvaluateClosedPort(t *testing.T) {
	gates, err := check.ParseAll([]string{"success_rate>=0.9", "p99<1s", "sync_index<0.5", "attempts_sent==5", "operations_gave_up<5"})
	if err != nil {
		t.Fatal(err)
	}
	got := check.Evaluate(gates, &record.Result{Runs: []record.Run{closedPort("full")}})
	want := []record.Gate{
		{Gate: "success_rate>=0.9", Value: ptr(0.0), Reason: "success_share is 0, want >= 0.9"},
		{Gate: "p99<1s", Reason: "no data: no attempt was answered"},
		{Gate: "sync_index<0.5", Reason: "no data: too few retries in the window"},
		{Gate: "attempts_sent==5", Value: ptr(5.0), OK: true, Reason: "attempts_sent is 5"},
		{Gate: "operations_gave_up<5", Value: ptr(5.0), Reason: "operations_gave_up is 5, want < 5"},
	}
	equalRows(t, got, want)
	if check.Passed(got) || !check.Passed(got[3:4]) || !check.Passed(nil) {
		t.Error("Passed does not agree with the rows")
	}
}

func equalRows(t *testing.T, got, want []record.Gate) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("Evaluate gave %d rows, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		sameValue := (g.Value == nil) == (w.Value == nil) && (g.Value == nil || *g.Value == *w.Value)
		if g.Gate != w.Gate || g.OK != w.OK || g.Reason != w.Reason || !sameValue {
			t.Errorf("row %d = %+v, want %+v", i, g, w)
		}
	}
}

func TestEvaluateSeveralRuns(t *testing.T) {
	none, full := closedPort("none"), closedPort("full")
	none.Latency.P99, full.Latency.P99 = ptr(int64(1_500_000_000)), ptr(int64(1_000_000_000))
	gates, err := check.ParseAll([]string{"p99<=1s", "full:waves<3", "equal:waves<3"})
	if err != nil {
		t.Fatal(err)
	}
	got := check.Evaluate(gates, &record.Result{Runs: []record.Run{none, full}})
	equalRows(t, got, []record.Gate{
		{Gate: "none: p99<=1s", Value: ptr(1.5e9), Reason: "latency_p99 is 1.5s, want <= 1s"},
		{Gate: "full: p99<=1s", Value: ptr(1e9), OK: true, Reason: "latency_p99 is 1s"},
		{Gate: "full:waves<3", Reason: "no data: nothing arrived"},
		{Gate: "equal:waves<3", Reason: "no data: strategy equal did not run"},
	})
	equalRows(t, check.Evaluate(gates[:1], &record.Result{}), []record.Gate{{Gate: "p99<=1s", Reason: "no data: nothing ran"}})
}

// TestMetrics: every name and alias is read, with a value of its unit.
func TestMetrics(t *testing.T) {
	value := map[check.Unit]string{check.Count: "3", check.Ratio: "3", check.Share: "0.3", check.Duration: "3s", check.Rate: "3/s"}
	names := map[string]check.Metric{}
	for _, name := range check.Names() {
		m, known := check.Lookup(name)
		if names[name] = m; !known {
			t.Errorf("%s is not known", name)
		}
	}
	if len(names) < 140 {
		t.Errorf("%d names: the test does not see them", len(names))
	}
	for name, m := range names {
		text := name + "==" + value[m.Unit]
		if m.Unit == check.Word {
			text = name + "==" + m.Words[0]
		}
		if g, err := check.Parse(text); err != nil || g.Metric != m.Name {
			t.Errorf("Parse(%s) = %+v, %v", text, g, err)
		}
	}
}

func TestOps(t *testing.T) {
	for _, tt := range []struct {
		op                   string
		below, equal, beyond bool
	}{
		{"<", true, false, false}, {"<=", true, true, false}, {">", false, false, true},
		{">=", false, true, true}, {"==", false, true, false}, {"!=", true, false, true},
	} {
		g, err := check.Parse("completion" + tt.op + "2s")
		if err != nil {
			t.Fatal(err)
		}
		for figure, want := range map[time.Duration]bool{2*time.Second - 1: tt.below, 2 * time.Second: tt.equal, 2*time.Second + 1: tt.beyond} {
			run := closedPort("full")
			run.Completion = ptr(int64(figure))
			if rows := check.Evaluate([]check.Gate{g}, &record.Result{Runs: []record.Run{run}}); rows[0].OK != want {
				t.Errorf("%v %s 2s = %v, want %v", figure, tt.op, rows[0].OK, want)
			}
		}
	}
	for _, op := range check.Ops() {
		for _, pair := range [][2]float64{{math.NaN(), 1}, {1, math.NaN()}, {math.NaN(), math.NaN()}} {
			if check.Op(op).Holds(pair[0], pair[1]) {
				t.Errorf("%v %s %v holds", pair[0], op, pair[1])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, value := range []string{
		"0", "1", "-0", "-1", "0.25", "1e308", "1e309", "-1e308", "5e-324", "9007199254740992", "9223372036854775807", "9223372036854775808",
		"0ns", "1ns", "9007199254740991ns", "9007199254740992ns", "9007199254740993ns", "9223372036854775807ns", "-1ns", "2562047h47m16.854775807s",
		"0.3ns", "1h2m3.5s", "µs", "90%", "%", "NaN", "Inf", "", " ", "0x1p-2", "1_000", "1,000", "\x00", "\xff", "é",
	} {
		for _, metric := range []string{"p99", "success_share", "waves", "periodicity", "full:amplification", "no_such_metric", ""} {
			f.Add(metric + "<" + value)
		}
	}
	for _, over := range []string{"@worst", "@mean", "@first", "@95%", "@0%", "@100%", "@100.0001%", "@0.0001%", "@-1%", "@9999999999999999999%", "@", "@@", "@95", "@NaN%", "@1e2%", "@ 9 %", "@99.99999%"} {
		f.Add("waves<3" + over)
		f.Add("verdict==CLEAR" + over)
	}
	for _, value := range []string{"0/s", "-1/s", "1/m", "9223372036854775807/h", "1e308/h", "1e309/s", "/s", "1/", "CLEAR", "clear", "no"} {
		f.Add("goodput>" + value)
		f.Add("metastable==" + value)
	}
	f.Add("<=!=>")
	f.Add("a:b:c==1")
	f.Add(strings.Repeat("x", 1<<12) + "<1")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := check.Parse(text)
		if err != nil {
			var fault *check.Error
			if !errors.As(err, &fault) || len(fault.Problems) == 0 {
				t.Fatalf("Parse(%q): %v is no *Error with a problem", text, err)
			}
			return
		}
		again, err := check.Parse(g.String())
		if err != nil {
			t.Fatalf("Parse(%q) = %+v, but its String %q does not parse: %v", text, g, g.String(), err)
		}
		again.Text = g.Text
		if again != g {
			t.Fatalf("Parse(%q) = %+v, through String %+v", text, g, again)
		}
		if rows := check.Evaluate([]check.Gate{g}, &record.Result{Runs: []record.Run{closedPort("full")}}); len(rows) != 1 {
			t.Fatalf("Evaluate(%q) gave %d rows", text, len(rows))
		}
	})
}
