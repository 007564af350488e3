package metrics_test

import (
	"io"
	"testing"

	"stormtest/load/record"
	"stormtest/report/metrics"
)

// BenchmarkBegin is what the begin of a seed costs before t0: the counts of the one before it.
func BenchmarkBegin(b *testing.B) {
	run := aRun("full")
	for b.Loop() {
		l := metrics.NewLive(record.Result{})
		l.Begin("full", looking(run))
		l.Begin("full", looking(run))
	}
}

// BenchmarkText is a file of four strategies.
func BenchmarkText(b *testing.B) {
	r := resultOf(aRun("none"), aRun("equal"), aRun("full"), aRun("decorrelated"))
	for b.Loop() {
		if err := metrics.Text(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}
