package report_test

import (
	"bytes"
	"strings"
	"testing"

	"stormtest/load/record"
	"stormtest/report"
)

// probed is a baseline of a target that lets 200 a second through.
func probed() *record.Probe {
	step := func(mode string, concurrency int, offered, good float64, p50, p99 int64) record.ProbeStep {
		return record.ProbeStep{
			Mode: mode, Concurrency: concurrency, Duration: 300e6, Offered: &offered, Answered: &offered, Good: &good, P50: &p50, P99: &p99,
		}
	}
	return &record.Probe{
		CapacityPerSecond: ptr(199.0), Limit: record.ProbeRejections,
		Latency:  record.Distribution{Count: 162, Min: ptr(int64(1594729)), Mean: ptr(2.31e6), P50: ptr(int64(2162687)), P90: ptr(int64(4161535)), P99: ptr(int64(11862015)), P999: ptr(int64(18630000)), Max: ptr(int64(18633390))},
		ByStatus: map[string]int64{"200": 721, "503": 766}, Errors: map[string]int64{"reset": 3},
		Requests: 1490, Connections: 113, Duration: 4_952_360_274,
		Steps: []record.ProbeStep{
			step("closed", 1, 1510.9, 191, 2_000_000, 9_000_000), step("paced", 20, 192.8, 192.8, 2_100_000, 11_800_000),
			step("paced", 39, 403.6, 252.3, 2_200_000, 12_000_000), step("hold", 38, 378, 199, 2_200_000, 12_100_000),
			{Mode: "hold", Concurrency: 1},
		},
	}
}

// probedResult is a storm on it, whose capacity is the probe's.
func probedResult() *record.Result {
	r := urlResult()
	r.Probe = probed()
	r.Runs[0].CapacityPerSecond = r.Probe.CapacityPerSecond
	return r
}

func TestProbe(t *testing.T) {
	unknown := probed()
	unknown.CapacityPerSecond, unknown.Limit = nil, record.ProbeMachine
	failing := &record.Probe{Limit: record.ProbeFailing, ByStatus: map[string]int64{"404": 12}, Requests: 12, Connections: 1}
	for name, tt := range map[string]struct {
		probe *record.Probe
		o     report.Options
	}{
		"probe-80":         {probed(), report.Options{Width: 80}},
		"probe-30-ascii":   {probed(), report.Options{Width: 30, ASCII: true}},
		"probe-unknown-80": {unknown, report.Options{Width: 80}},
		"probe-failing-80": {failing, report.Options{Width: 80}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := report.Probe(&b, tt.probe, tt.o); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := displayCells(strings.TrimSuffix(line, "\n")); n > tt.o.Width {
					t.Errorf("%d cells: %q", n, line)
				}
			}
			golden(t, name, b.Bytes())
		})
	}
}

// A result from before a limit was known, or from a later version, is shown as it is.
func TestProbeOfUnknownLimit(t *testing.T) {
	var b bytes.Buffer
	if err := report.Probe(&b, &record.Probe{Limit: "quota"}, report.Options{}); err != nil || !strings.Contains(b.String(), "not found; quota") {
		t.Errorf("error %v, text %q; want the limit's own word", err, &b)
	}
}
