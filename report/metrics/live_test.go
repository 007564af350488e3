package metrics_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/record"
	"stormtest/report/metrics"
	"stormtest/report/strict"
)

// scrape asks the handler as Prometheus does.
func scrape(t *testing.T, l *metrics.Live, path, accept string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	l.Handler().ServeHTTP(w, r)
	return w
}

// series returns what a scrape holds, by series.
func series(t *testing.T, l *metrics.Live) map[string]string {
	t.Helper()
	w := scrape(t, l, metrics.Path, "")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if _, err := strict.Read("prom", w.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			at := strings.LastIndexByte(line, ' ')
			all[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return all
}

// wants checks some of the series; an empty value is a series that is not there.
func wants(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s = %q, want %q", name, got[name], want[name])
		}
	}
}

// underWay is a run that goes on, as record.Interim gives it.
func underWay(run record.Run) record.Run {
	run.Books.Balanced, run.Books.Faults = false, []string{record.UnderWay}
	run.Budget, run.Operations.Unstarted, run.Completion = nil, nil, nil
	run.Recovery = record.Recovery{}
	return run
}

func looking(run record.Run) func() record.Run { return func() record.Run { return run } }

// TestALiveStorm goes through two strategies: series come with their run and stay, and what only the end tells comes
// then.
func TestALiveStorm(t *testing.T) {
	head := *resultOf()
	l := metrics.NewLive(head)
	wants(t, series(t, l), map[string]string{
		`stormtest_build_info{version="1.0.0"}`: "1", `stormtest_plan_info{plan_hash="3f9c2d7e41b0",seed="42"}`: "1",
		`stormtest_valid`: "", `stormtest_run_finished{backoff_strategy="none"}`: "",
	})
	now := underWay(aRun("none"))
	l.Begin("none", func() record.Run { return now })
	wants(t, series(t, l), map[string]string{
		`stormtest_run_finished{backoff_strategy="none"}`: "0", `stormtest_arrivals_total{attempt="first",backoff_strategy="none"}`: "100",
		`stormtest_books_balanced{backoff_strategy="none"}`: "", `stormtest_attempts_in_flight{backoff_strategy="none"}`: "",
		`stormtest_connections_opened_total{backoff_strategy="none"}`: "",
	})
	now = aRun("none")
	l.Finished(now)
	l.Begin("full", looking(underWay(aRun("full"))))
	wants(t, series(t, l), map[string]string{
		`stormtest_run_finished{backoff_strategy="none"}`: "1", `stormtest_run_finished{backoff_strategy="full"}`: "0",
		`stormtest_books_balanced{backoff_strategy="none"}`: "0", `retry_delay_ms_count{backoff_strategy="full"}`: "80",
	})
	r := full()
	l.Finished(r.Runs[0])
	l.Over(r)
	got := series(t, l)
	wants(t, got, map[string]string{
		`stormtest_run_finished{backoff_strategy="none"}`: "1", `stormtest_valid`: "1", `stormtest_gate_passed{gate="waves<3"}`: "1",
	})
	// The last scrape is the file.
	for line := range strings.Lines(text(t, resultOf(now, r.Runs[0]))) {
		if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") && got[line[:at]] != strings.TrimSpace(line[at:]) {
			t.Errorf("the file says %sthe last scrape %q", line, got[line[:at]])
		}
	}
}

// TestARepeatGoesOn: over the seeds of a repeat counts add up and gauges are of the seed under way; in the end gauges
// are those of the result.
func TestARepeatGoesOn(t *testing.T) {
	l := metrics.NewLive(*resultOf())
	first, second := aRun("full"), aRun("full")
	second.Convoy.ConvoyIndex, second.Delay.P50 = ptr(0.5), ptr(int64(7e9))
	second.Attempts.ByOutcome = map[string]int64{"200": 90, "429": 80}
	l.Begin("full", looking(first))
	l.Begin("full", looking(underWay(second)))
	counts := map[string]string{
		`stormtest_arrivals_total{attempt="retry",backoff_strategy="full"}`:          "140",
		`stormtest_attempts_ended_total{backoff_strategy="full",outcome="200"}`:      "180",
		`stormtest_attempts_ended_total{backoff_strategy="full",outcome="503"}`:      "80",
		`stormtest_attempts_ended_total{backoff_strategy="full",outcome="429"}`:      "80",
		`retry_delay_ms_bucket{backoff_strategy="full",le="100"}`:                    "80",
		`retry_delay_ms_count{backoff_strategy="full"}`:                              "160",
		`stormtest_delay_quantiles_seconds_count{backoff_strategy="full"}`:           "160",
		`stormtest_operations_unstarted_total{backoff_strategy="full"}`:              "2",
		`stormtest_delay_quantiles_seconds{backoff_strategy="full",quantile="1"}`:    "20",
		`stormtest_operations_ended_total{backoff_strategy="full",result="gave_up"}`: "10",
	}
	got := series(t, l)
	wants(t, got, counts)
	wants(t, got, map[string]string{
		`convoy_index{backoff_strategy="full"}`: "0.5", `stormtest_delay_quantiles_seconds{backoff_strategy="full",quantile="0.5"}`: "7",
	})
	first.Repeats = &record.Repeats{Asked: 2, Count: 2}
	l.Finished(first)
	got = series(t, l)
	wants(t, got, counts)
	wants(t, got, map[string]string{
		`convoy_index{backoff_strategy="full"}`: "0.25", `stormtest_seeds_ended{backoff_strategy="full"}`: "2",
		`stormtest_delay_quantiles_seconds{backoff_strategy="full",quantile="0.5"}`: "0.100007935",
	})
}

// TestVirtualTime has results alone.
func TestVirtualTime(t *testing.T) {
	l := metrics.NewLive(*resultOf())
	l.Finished(aRun("full"))
	l.Over(full())
	wants(t, series(t, l), map[string]string{`stormtest_run_finished{backoff_strategy="full"}`: "1", `stormtest_valid`: "1"})
}

// TestCountsNeverFall: where two counts are not read at one moment their difference may fall, and a class may leave the
// most frequent ones; what was shown stays, and there are never more classes than may be.
func TestCountsNeverFall(t *testing.T) {
	l := metrics.NewLive(*resultOf())
	now := underWay(aRun("full"))
	now.Attempts.ByOutcome = map[string]int64{}
	for i := range record.OutcomesMax {
		now.Attempts.ByOutcome[strconv.Itoa(400+i)] = 10
	}
	look := func(more func()) map[string]string {
		more()
		l.Begin("other", looking(record.Run{})) // so that the last look is not shown again
		return series(t, l)
	}
	l.Begin("full", func() record.Run { return now })
	accepted, class := `stormtest_arrivals_accepted_total{backoff_strategy="full"}`, func(s string) string {
		return `stormtest_attempts_ended_total{backoff_strategy="full",outcome="` + s + `"}`
	}
	before := look(func() {})
	wants(t, before, map[string]string{accepted: "90", class("400"): "10", class("other"): ""})
	after := look(func() {
		now.Buckets = slices.Clone(now.Buckets)
		now.Buckets[0].Rejected += 20
		// 400 falls out of the most frequent: what the run calls other holds it.
		delete(now.Attempts.ByOutcome, "400")
		now.Attempts.ByOutcome["503"], now.Attempts.ByOutcome["other"] = 30, 11
	})
	// Of the 31 that are in no class from before, 1 is one of 400's.
	wants(t, after, map[string]string{accepted: "90", class("400"): "10", class("419"): "10", class("503"): "", class("other"): "31"})
	last := look(func() { now.Attempts.ByOutcome["419"] = 50 })
	wants(t, last, map[string]string{class("400"): "10", class("419"): "50", class("other"): "31"})
}

// TestLooksAreBounded: whoever scrapes without end makes no more work than every 200 ms.
func TestLooksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, looks := metrics.NewLive(*resultOf()), 0
		run := underWay(aRun("full"))
		l.Begin("full", func() record.Run { looks++; return run })
		for range 100 {
			l.Families()
			time.Sleep(10 * time.Millisecond)
		}
		if looks != 5 {
			t.Errorf("%d looks in 1 s, want 5", looks)
		}
	})
}

// TestAskingAndTellingAtOnce is for the race detector.
func TestAskingAndTellingAtOnce(t *testing.T) {
	l := metrics.NewLive(*resultOf())
	h := l.Handler()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, metrics.Path, nil))
			}
		})
	}
	for range 3 {
		for _, name := range []string{"none", "full"} {
			run := aRun(name)
			l.Begin(name, looking(run))
			l.Finished(run)
		}
	}
	l.Over(full())
	wg.Wait()
}

// TestHandler: who accepts OpenMetrics gets it, and nothing but the metrics is served.
func TestHandler(t *testing.T) {
	l := metrics.NewLive(*resultOf())
	l.Finished(aRun("full"))
	for _, tt := range []struct {
		name, path, accept string
		code               int
		kind, format       string
	}{
		{"plain", metrics.Path, "", http.StatusOK, "text/plain; version=0.0.4", "prom"},
		{"anything", metrics.Path, "*/*", http.StatusOK, "text/plain; version=0.0.4", "prom"},
		{"as Prometheus asks", metrics.Path, "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3", http.StatusOK, "application/openmetrics-text; version=1.0.0", "openmetrics"},
		{"the root", "/", "", http.StatusOK, "text/plain; charset=utf-8", ""},
		{"another path", "/debug/pprof/", "", http.StatusNotFound, "text/plain; charset=utf-8", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := scrape(t, l, tt.path, tt.accept)
			if w.Code != tt.code || !strings.HasPrefix(w.Header().Get("Content-Type"), tt.kind) {
				t.Errorf("status %d, %q", w.Code, w.Header().Get("Content-Type"))
			}
			if _, err := strict.Read(tt.format, w.Body.Bytes()); err != nil {
				t.Error(err)
			}
		})
	}
	w := httptest.NewRecorder()
	l.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, metrics.Path, nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", w.Code)
	}
}
