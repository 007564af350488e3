package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
)

// D-15: a percentile among values beyond the histogram reads as more than its end; the greatest
// of them is kept exactly, and both counts are told.
func TestPercentilesBeyondTheHistogram(t *testing.T) {
	run := record.Run{Strategy: "full", Operations: record.Operations{Started: 12}}
	run.Latency = record.Distribution{
		Count: 12, Clamped: 2, Faults: 1, Min: ptr(int64(0)), Mean: ptr(1e9), Max: ptr(int64(5e9)),
		P50: ptr(int64(2e8)), P90: ptr(int64(1e9)), P99: ptr(int64(1e9)), P999: ptr(int64(1e9)),
	}
	var out bytes.Buffer
	if err := report.Terminal(&out, &record.Result{Valid: true, Runs: []record.Run{run}}, report.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(out.String(), "\u00a0", " ")
	for _, want := range []string{
		`(?m)^latency +200 ms +> 1.00 s +> 1.00 s +> 1.00 s +5.00 s +1.00 s +12$`,
		`latency: 2 values beyond the histogram, so its percentiles are too low; 1 negative value\s+not\s+recorded`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the report has no %s:\n%s", want, text)
		}
	}
}

// D-06: 429 and 503 never share a row, and neither do two statuses of one class.
func TestStatusesByTheirOwnNumber(t *testing.T) {
	run := record.Run{Strategy: "full", Operations: record.Operations{Started: 1}}
	run.Attempts = record.Attempts{Sent: 70, ByOutcome: map[string]int64{"200": 10, "204": 11, "429": 12, "500": 13, "503": 14, "504": 10}}
	var out bytes.Buffer
	if err := report.Terminal(&out, &record.Result{Valid: true, Runs: []record.Run{run}}, report.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if want := "14 × 503, 13 × 500, 12 × 429, 11 × 204, 10 × 200, 10 × 504"; !strings.Contains(strings.ReplaceAll(out.String(), "\u00a0", " "), want) {
		t.Errorf("the report has no %s:\n%s", want, out.String())
	}
}
