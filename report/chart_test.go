package report_test

import (
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// plotted renders a run of the given counts a bucket (capacity 100) and returns the lines of its chart
// from the top to the time axis, without the gutter.
func plotted(t *testing.T, width int, buckets ...record.Bucket) []string {
	t.Helper()
	r := emptyResult()
	run := &r.Runs[0]
	run.Duration = time.Duration(len(buckets)) * run.Bucket
	for i := range buckets {
		buckets[i].At = time.Duration(i) * run.Bucket
	}
	run.Buckets = buckets
	_, text, _ := strings.Cut(render(t, r, report.Options{Width: width}), "buckets\n\n")
	var lines []string
	for line := range strings.Lines(text) {
		if at := strings.IndexAny(line, "│┤┼└"); at >= 0 {
			lines = append(lines, strings.TrimSuffix(line[at+len("│"):], "\n"))
		}
		if strings.Contains(line, "└") {
			break
		}
	}
	return lines
}

func retries(counts ...int64) []record.Bucket {
	buckets := make([]record.Bucket, len(counts))
	for i, n := range counts {
		buckets[i] = record.Bucket{Arrivals: n, Retries: n}
	}
	return buckets
}

// capacityRow finds the row of the capacity line, which is the only one above the axis with a "─".
func capacityRow(lines []string) string {
	for _, line := range lines[:len(lines)-1] {
		if strings.Contains(line, "─") {
			return line
		}
	}
	return ""
}

// TestBarsCrossTheLineExactly: a bar goes through the capacity line if and only if the bucket
// holds more than the capacity, whatever the scale rounds to.
func TestBarsCrossTheLineExactly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts []int64
		want   string // each bucket is 4 columns wide
	}{
		{"linear", []int64{99, 100, 101, 0, 200, 100, 100}, "────────████────████────────"},
		{"bent", []int64{100, 101, 4000, 1, 99, 100, 100}, "────████████────────────────"},
		{"tenfold", []int64{100, 101, 4_000_000, 1, 0, 0, 0}, "────████████────────────────"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := strings.Replace(capacityRow(plotted(t, 80, retries(tt.counts...)...)), " capacity ", "──────────", 1)
			if row != tt.want {
				t.Errorf("line of %v = %q, want %q", tt.counts, row, tt.want)
			}
		})
	}
}

// TestPeaksSurvive: a single full bucket among 72,000 is seen as high as if it were alone.
func TestPeaksSurvive(t *testing.T) {
	for _, width := range []int{40, 80, 120, 300} {
		text := render(t, longResult(), report.Options{Width: width})
		if !strings.Contains(strings.Join(strings.Fields(text), " "), "most in one bucket 350 at 1h0m0.1s (3.50x capacity); above capacity in 1 of 72,000 buckets") {
			t.Errorf("width %d: the caption does not name the peak", width)
		}
		crossing := false
		for line := range strings.Lines(text) {
			crossing = crossing || strings.Contains(line, "┼") && strings.Contains(line, "█")
		}
		if !crossing {
			t.Errorf("width %d: the peak does not cross the line", width)
		}
	}
}

// TestColumnsAreTheFullestBucket: merging takes the maximum, not a mean and not the last.
func TestColumnsAreTheFullestBucket(t *testing.T) {
	counts := make([]int64, 600)
	for i := range counts {
		counts[i] = 10
	}
	counts[300], counts[599] = 101, 101
	row := []rune(strings.Replace(capacityRow(plotted(t, 80, retries(counts...)...)), " capacity ", "──────────", 1))
	const merged = 9 // 600 buckets in at most 71 columns
	for i, r := range row {
		if want := i == 300/merged || i == 599/merged; (r == '█') != want {
			t.Errorf("column %d of the line is %c", i, r)
		}
	}
}

// TestFirstAttemptsAreToldApart: first attempts stand at the foot of a bar in their own shade.
func TestFirstAttemptsAreToldApart(t *testing.T) {
	lines := plotted(t, 80, record.Bucket{Arrivals: 100, First: 50, Retries: 50}, record.Bucket{Arrivals: 100, First: 100}, record.Bucket{Arrivals: 100, Retries: 100}, record.Bucket{})
	top, foot := lines[1], lines[len(lines)-2]
	if !strings.HasPrefix(foot, "▒▒▒▒▒▒▒▒████") || !strings.HasPrefix(top, "████▒▒▒▒████") {
		t.Errorf("top %q, foot %q", top, foot)
	}
}

// TestAnyArrivalIsSeen: one arrival beside thousands still shows.
func TestAnyArrivalIsSeen(t *testing.T) {
	lines := plotted(t, 80, retries(1, 0, 100_000, 0)...)
	if foot := lines[len(lines)-2]; !strings.HasPrefix(foot, "▁▁▁▁    ████") {
		t.Errorf("foot %q", foot)
	}
}

// TestChartHeight: a chart is 4 to 12 rows and its axis, whatever the peak.
func TestChartHeight(t *testing.T) {
	for n := int64(1); n > 0 && n < 1<<62; n = n*3 + 1 {
		if rows := len(plotted(t, 80, retries(n, 1, 0, n/2)...)) - 1; rows < 4 || rows > 12 {
			t.Errorf("a peak of %d gives %d rows", n, rows)
		}
	}
}

// TestBentAxisIsStraightForHalving: a storm that halves falls by the same number of rows each time.
func TestBentAxisIsStraightForHalving(t *testing.T) {
	lines := plotted(t, 80, retries(1600, 800, 400, 200)...)
	var heights []int
	for bucket := range 4 {
		height := 0
		for _, line := range lines[:len(lines)-1] {
			if runes := []rune(line); len(runes) > bucket*4 && runes[bucket*4] == '█' {
				height++
			}
		}
		heights = append(heights, height)
	}
	step := heights[0] - heights[1]
	if step < 1 || heights[1]-heights[2] != step || heights[2]-heights[3] != step {
		t.Errorf("heights %v do not fall evenly", heights)
	}
}

// TestTimeAxis: labels are seconds and stand under their ticks.
func TestTimeAxis(t *testing.T) {
	for _, tt := range []struct {
		bucket time.Duration
		n      int
		want   string
	}{
		{100 * time.Millisecond, 300, "0 5 10 15 20 25 30 s"},
		{time.Millisecond, 70, "0 0.01 0.02 0.03 0.04 0.05 0.06 0.07 s"},
		{100 * time.Millisecond, 72_000, "0 30m 1h 1h30m 2h"},
		{10 * time.Second, 60, "0 2m 4m 6m 8m 10m"},
		{100 * time.Millisecond, 1, "0 s"},
	} {
		r := emptyResult()
		run := &r.Runs[0]
		run.Bucket, run.Duration = tt.bucket, tt.bucket*time.Duration(tt.n)
		run.Buckets = []record.Bucket{{Arrivals: 5}}
		_, text, _ := strings.Cut(render(t, r, report.Options{Width: 80}), "└")
		lines := strings.Split(text, "\n")
		if got := strings.Join(strings.Fields(lines[1]), " "); got != tt.want {
			t.Errorf("%d buckets of %v: %q, want %q", tt.n, tt.bucket, got, tt.want)
		}
	}
}

// TestWindowsStandUnderTheirTime: an outage is drawn from its first to its last column.
func TestWindowsStandUnderTheirTime(t *testing.T) {
	text := render(t, openLoop(), report.Options{Width: 80})
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "outage"); ok && strings.Contains(line, "hang") {
			runes := []rune(strings.TrimRight("      "+rest, "\n"))
			const gutter, perSecond = 8, 2
			if runes[gutter+10*perSecond-1] != ' ' || runes[gutter+10*perSecond] != '━' || len(runes) != gutter+15*perSecond {
				t.Errorf("outage from 10 s to 15 s drawn as %q", line)
			}
			return
		}
	}
	t.Error("no outage under the axis")
}
