package report_test

import (
	"math"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// TestAnsweredInTime: no window says more than was answered in it, also where the run ends in it, and no answer is left
// out.
func TestAnsweredInTime(t *testing.T) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, tt := range []struct {
		name   string
		length time.Duration
		served []int64 // in buckets of 100 ms
		want   []float64
	}{
		{"whole", ms(300), []int64{4, 4, 2}, []float64{4, 4, 2}},
		{"cut", ms(226), []int64{4, 4, 1}, []float64{4, 4, 1 + 4*0.74}},
		{"an answer at the very end", ms(200), []int64{1, 1, 1}, []float64{1, 2}},
		{"shorter than a bucket", ms(1), []int64{1}, []float64{1}},
	} {
		run := record.Run{Bucket: ms(100), Duration: tt.length}
		for i, n := range tt.served {
			run.Buckets = append(run.Buckets, record.Bucket{At: ms(100 * int64(i)), Arrivals: n, Served: n})
		}
		got := report.AnsweredInTime(&run, tt.length)
		if len(got) != len(tt.want) {
			t.Fatalf("%s: %v, want %v", tt.name, got, tt.want)
		}
		for i, want := range tt.want {
			if d := got[i] - want; d < -1e-9 || d > 1e-9 {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
	}
}

// TestAnsweredInTimeOfAShortRun: beside a run of two hours, whose windows are of two minutes, one that was over after ten
// seconds has the level of its own time.
func TestAnsweredInTimeOfAShortRun(t *testing.T) {
	run := record.Run{Bucket: 100 * time.Millisecond, Duration: 10 * time.Second}
	for i := range 100 {
		run.Buckets = append(run.Buckets, record.Bucket{At: time.Duration(i) * run.Bucket, Arrivals: 7, Served: 7})
	}
	if got := report.AnsweredInTime(&run, 2*time.Hour); len(got) != 1 || math.Abs(got[0]-7) > 1e-9 {
		t.Errorf("%v, want [7]", got)
	}
}
