package metrics_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"stormtest/load/record"
	"stormtest/report/metrics"
	"stormtest/report/strict"
)

// full is a result with everything in it.
func full() *record.Result {
	r := resultOf(aRun("full"), aRun("none"))
	r.Gates = []record.Gate{{Gate: "waves<3", OK: true}, {Gate: "full:amplification<1", OK: false}}
	r.Runs[1].Completion = ptr(int64(20_107_000_000))
	r.Runs[1].Repeats = &record.Repeats{Asked: 5, Count: 4}
	r.Plan = []byte(`{"label":"nightly, \"real\""}`)
	return r
}

func text(t *testing.T, r *record.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := metrics.Text(&b, r); err != nil {
		t.Fatal(err)
	}
	if _, err := strict.Read("prom", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func openMetrics(t *testing.T, r *record.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := metrics.OpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	if _, err := strict.Read("openmetrics", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	golden(t, "full.prom", []byte(text(t, full())))
	golden(t, "full.openmetrics", []byte(openMetrics(t, full())))
}

// TestEveryFamilyIsInTheGolden: the golden shows each family of the table, so that it, and the linter over it, see all.
func TestEveryFamilyIsInTheGolden(t *testing.T) {
	got := text(t, full())
	for _, f := range metrics.Of(full()) {
		if !strings.Contains(got, "# TYPE "+f.Name+" ") {
			t.Errorf("no %s", f.Name)
		}
	}
	for _, name := range metrics.Names() {
		if !strings.Contains(got, "# TYPE "+name+" ") {
			t.Errorf("the fixture has no %s", name)
		}
	}
}

// TestCountsAreTheFixtures: what the comment of aRun says, a scrape says.
func TestCountsAreTheFixtures(t *testing.T) {
	got := text(t, full())
	for _, want := range []string{
		// 80 sleeps, 40 of exactly 100 ms and 40 of exactly 20 s: at most means at most.
		`retry_delay_ms_bucket{backoff_strategy="full",le="50"} 0`,
		`retry_delay_ms_bucket{backoff_strategy="full",le="100"} 40`,
		`retry_delay_ms_bucket{backoff_strategy="full",le="10000"} 40`,
		`retry_delay_ms_bucket{backoff_strategy="full",le="20000"} 80`,
		`retry_delay_ms_bucket{backoff_strategy="full",le="+Inf"} 80`,
		`retry_delay_ms_sum{backoff_strategy="full"} 804000`,
		`retry_delay_ms_count{backoff_strategy="full"} 80`,
		`retry_attempt_number_bucket{backoff_strategy="full",le="1"} 60`,
		`retry_attempt_number_bucket{backoff_strategy="full",le="2"} 60`,
		`retry_attempt_number_bucket{backoff_strategy="full",le="3"} 90`,
		`retry_attempt_number_sum{backoff_strategy="full"} 150`,
		`retry_total_elapsed_seconds_bucket{backoff_strategy="full",le="0.005"} 60`,
		`retry_total_elapsed_seconds_bucket{backoff_strategy="full",le="20"} 60`,
		`retry_total_elapsed_seconds_bucket{backoff_strategy="full",le="50"} 95`,
		`stormtest_arrivals_total{attempt="first",backoff_strategy="full"} 100`,
		`stormtest_arrivals_total{attempt="retry",backoff_strategy="full"} 70`,
		`stormtest_arrivals_accepted_total{backoff_strategy="full"} 90`,
		`stormtest_arrivals_rejected_total{backoff_strategy="full"} 80`,
		`stormtest_attempts_ended_total{backoff_strategy="full",outcome="200"} 90`,
		`stormtest_attempts_ended_total{backoff_strategy="full",outcome="503"} 80`,
		`stormtest_operations_ended_total{backoff_strategy="full",result="succeeded"} 90`,
		`stormtest_operations_ended_total{backoff_strategy="full",result="gave_up"} 5`,
		`stormtest_operations_given_up_total{backoff_strategy="full",reason="max_retries"} 5`,
		`stormtest_operations_unfinished{backoff_strategy="full"} 5`,
		`stormtest_amplification_ratio{backoff_strategy="full"} 1.71`,
		`stormtest_attempts_lost_total{backoff_strategy="full",how="reset"} 1`,
		`stormtest_delays_at_cap_ratio{backoff_strategy="full"} 0.5`,
		`stormtest_lateness_quantiles_seconds{backoff_strategy="full",quantile="0.99"} 5e-05`,
		`peak_over_capacity{backoff_strategy="full"} 5`,
		`stormtest_gate_passed{gate="full:amplification<1"} 0`,
		`stormtest_gate_passed{gate="waves<3"} 1`,
		`stormtest_seeds_ended{backoff_strategy="none"} 4`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	for _, name := range []string{"stormtest_completion_seconds{backoff_strategy=\"full\"}", "stormtest_seeds_ended{backoff_strategy=\"full\"}"} {
		if strings.Contains(got, "\n"+name) {
			t.Errorf("%s has a value", name)
		}
	}
}

// TestLinter: Prometheus' linter finds nothing but what the guides' names bring with them.
func TestLinter(t *testing.T) {
	tolerated := map[string]string{
		// The guides fix the name, and with it the unit; stormtest_delay_quantiles_seconds has the base unit.
		"retry_delay_ms": "metric names should not contain abbreviated units",
	}
	problems, err := promlint.New(strings.NewReader(text(t, full()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if tolerated[p.Metric] != p.Text {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		delete(tolerated, p.Metric)
	}
	for name, complaint := range tolerated {
		t.Errorf("%s: the linter does not say any more: %s", name, complaint)
	}
}

// TestParsers: Prometheus' own parser reads the text, and finds in it what was written.
func TestParsers(t *testing.T) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text(t, full())))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range metrics.Of(full()) {
		got := families[f.Name]
		if got == nil || len(got.GetMetric()) != len(f.Samples) || got.GetHelp() != f.Help {
			t.Errorf("%s is read as %v", f.Name, got)
		}
	}
}

// TestHostileLabels: a text is shown as it is and ends no label.
func TestHostileLabels(t *testing.T) {
	evil := "a\nb\"c\\d\xffe{f=\"g\"} 1\u202e\x00"
	r := resultOf(aRun(evil), aRun(evil), aRun(""))
	r.Tool.Version, r.PlanHash = evil, evil
	r.Gates = []record.Gate{{Gate: evil, OK: true}, {Gate: evil}}
	run := &r.Runs[0]
	run.Engine, run.ArrivalsMeasuredAt = evil, evil
	run.Attempts.ByOutcome = map[string]int64{evil: 3, "": 2, "other": 1}
	for i := range 30 {
		run.Attempts.ByOutcome[strings.Repeat("x", i+1)] = int64(100 + i)
	}
	got := text(t, r)
	openMetrics(t, r)
	spelled := `a b\"c\\d\\xffe{f=\"g\"} 1\\u202e\\x00`
	for _, want := range []string{
		`stormtest_run_finished{backoff_strategy="` + spelled + `"} 1`,
		`stormtest_run_finished{backoff_strategy="` + spelled + ` (2)"} 1`,
		`stormtest_run_finished{backoff_strategy="unnamed"} 1`,
		`stormtest_gate_passed{gate="` + spelled + `"} 0`,
		`stormtest_build_info{version="` + spelled + `"} 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	// The 20 most frequent of 32 classes, 110 to 129 of them, and the rest as one: 100 to 109, 3, 2 and 1.
	classes := strings.Count(got, `stormtest_attempts_ended_total{backoff_strategy="`+spelled+`",outcome=`)
	if want := `outcome="other"} 1051`; classes != record.OutcomesMax+1 || !strings.Contains(got, want) {
		t.Errorf("%d classes, want %d and %s", classes, record.OutcomesMax+1, want)
	}
}

// TestNoValueIsNoSample: of a figure that is no number there is no sample, whichever it is.
func TestNoValueIsNoSample(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := full()
		fill(reflect.ValueOf(r).Elem(), v)
		got := strings.ReplaceAll(text(t, r), `le="+Inf"`, "")
		if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
			t.Errorf("%v is shown", v)
		}
		openMetrics(t, r)
	}
}

// fill sets every figure that may have no value.
func fill(v reflect.Value, to float64) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Float64 && v.CanSet() {
			v.Set(reflect.ValueOf(&to))
		} else if !v.IsNil() {
			fill(v.Elem(), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), to)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), to)
		}
	}
}

// TestWhatIsUnknownIsAbsent: each kind of run has the families that somebody measured, and no other.
func TestWhatIsUnknownIsAbsent(t *testing.T) {
	clients := []string{
		"retry_delay_ms", "retry_attempt_number", "retry_total_elapsed_seconds", "stormtest_attempts_sent_total", "stormtest_operations_started_total",
		"stormtest_operations_ended_total", "stormtest_amplification_ratio", "stormtest_success_ratio", "stormtest_lateness_quantiles_seconds",
		"stormtest_generator_kept_up", "stormtest_retry_after_seen_total", "stormtest_latency_quantiles_seconds",
	}
	outside := aRun("outside")
	outside.Outside = &record.Outside{Answers: map[string]int64{"200": 90, "503": 80}}
	noOutside := outside
	noOutside.Buckets, noOutside.Books.Arrivals = nil, 0
	virtual := aRun("full")
	virtual.Engine = record.EngineVirtual
	old := aRun("full")
	old.Detail = nil
	url := aRun("full")
	url.ArrivalsMeasuredAt, url.CapacityPerSecond, url.Convoy.PeakOverCapacity = "client", nil, nil
	log := aRun("full")
	log.FromLog = &record.FromLog{}
	for _, tt := range []struct {
		name          string
		run           record.Run
		want, missing []string
	}{
		{"clients that are not ours", outside, []string{"stormtest_arrivals_total", "convoy_index", `outcome="503"} 80`, "stormtest_wasted_total"}, clients},
		{"nobody came", noOutside, []string{"stormtest_arrivals_total"}, append(clients, "convoy_index", "peak_over_capacity", "stormtest_waves")},
		{"virtual time", virtual, []string{"retry_delay_ms", "stormtest_delay_quantiles_seconds"},
			[]string{"stormtest_lateness_seconds", "stormtest_lateness_quantiles_seconds", "stormtest_generator_kept_up", "stormtest_connections_opened_total"}},
		{"saved without histograms", old, []string{"stormtest_delay_quantiles_seconds", "convoy_index"}, []string{"retry_delay_ms", "retry_attempt_number", "stormtest_latency_seconds"}},
		{"another target", url, []string{"stormtest_arrivals_rejected_total", "retry_delay_ms"},
			[]string{"peak_over_capacity", "stormtest_capacity_per_second", "stormtest_wasted_total", "stormtest_wasted_ratio", "stormtest_arrivals_accepted_total"}},
		{"a log of arrivals", log, []string{`stormtest_arrivals_total{attempt="unknown",backoff_strategy="full"} 170`},
			append(clients, "stormtest_served_total", "stormtest_books_balanced", "stormtest_verdict", "convoy_index")},
		{"nothing", record.Run{Strategy: "full"}, []string{"stormtest_operations_started_total", "stormtest_run_finished"},
			[]string{"convoy_index", "peak_over_capacity", "stormtest_peak_arrivals", "stormtest_amplification_ratio", "stormtest_capacity_per_second"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := text(t, resultOf(tt.run))
			openMetrics(t, resultOf(tt.run))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %s", want)
				}
			}
			for _, name := range tt.missing {
				if strings.Contains(got, "# TYPE "+name+" ") {
					t.Errorf("%s has a value", name)
				}
			}
		})
	}
}

// TestBinsThatAreNotTheDistributions: a histogram that contradicts its summary is none.
func TestBinsThatAreNotTheDistributions(t *testing.T) {
	for name, break_ := range map[string]func(*record.Run){
		"one more":    func(r *record.Run) { r.Detail.Delay.Count[0]++ },
		"negative":    func(r *record.Run) { r.Detail.Delay.Count = []int64{-10, 90} },
		"no mean":     func(r *record.Run) { r.Delay.Mean = nil },
		"beyond them": func(r *record.Run) { r.Detail.Delay.AtFrom = []int64{40, 4000} },
	} {
		t.Run(name, func(t *testing.T) {
			run := aRun("full")
			break_(&run)
			if got := text(t, resultOf(run)); strings.Contains(got, "\nretry_delay_ms") {
				t.Error("it is shown")
			}
		})
	}
}

// TestQuantilesBeyondTheHistogram: a quantile that is only known to be above something is left out.
func TestQuantilesBeyondTheHistogram(t *testing.T) {
	run := aRun("full")
	run.Delay.Clamped = 5 // of 80: beyond the 93.75th percentile
	got := text(t, resultOf(run))
	for quantile, want := range map[string]bool{"0.5": true, "0.9": true, "0.99": false, "0.999": false, "1": true} {
		if line := `stormtest_delay_quantiles_seconds{backoff_strategy="full",quantile="` + quantile + `"}`; strings.Contains(got, line) != want {
			t.Errorf("%s is there: %v, want %v", line, !want, want)
		}
	}
}

// TestNames: every name is of Prometheus' kind, and the guides' are as they are.
func TestNames(t *testing.T) {
	names := metrics.Names()
	for _, name := range []string{"retry_delay_ms", "retry_attempt_number", "retry_total_elapsed_seconds", "retry_synchronisation_index", "convoy_index", "peak_over_capacity", "circuit_breaker_reopen_total"} {
		if !slices.Contains(names, name) {
			t.Errorf("no %s", name)
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			t.Errorf("%s stands twice", name)
		}
		if i >= 7 && !strings.HasPrefix(name, "stormtest_") {
			t.Errorf("%s has no prefix", name)
		}
	}
}

// TestRunsOfOneNameAreToldApart: each with the lowest number that is free, also where a strategy has such a name itself.
func TestRunsOfOneNameAreToldApart(t *testing.T) {
	got := text(t, resultOf(aRun("full"), aRun("full (2)"), aRun("full"), aRun("full"), aRun(""), aRun("")))
	for _, name := range []string{"full", "full (2)", "full (3)", "full (4)", "unnamed", "unnamed (2)"} {
		if n := strings.Count(got, `stormtest_books_balanced{backoff_strategy="`+name+`"}`); n != 1 {
			t.Errorf("%q stands %d times, want once", name, n)
		}
	}
}
