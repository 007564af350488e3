package report_test

import (
	"io"
	"testing"

	"stormtest/report"
)

// BenchmarkFormats renders a run of 30 s in each format.
func BenchmarkFormats(b *testing.B) {
	r := resultOf(guidePlan, guideStorm("none"))
	for _, f := range report.Formats() {
		b.Run(f.Name, func(b *testing.B) {
			for b.Loop() {
				if err := f.Write(io.Discard, r, report.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
