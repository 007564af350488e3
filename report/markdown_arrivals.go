package report

import (
	"cmp"
	"strings"
	"time"

	"stormtest/load/record"
)

// A strip is the arrivals of every run over one time axis, a line of characters each.
type strip struct {
	column   time.Duration // time of a character
	total    time.Duration
	columns  int
	peak     int64 // of all runs
	relative bool  // heights are by the capacity, which every run has
}

// stripColumns is how many characters a strip has at most.
const stripColumns = 60

// newStrip lays the axis; ok is false where nothing arrived anywhere.
func newStrip(r *record.Result) (s strip, ok bool) {
	s.relative = true
	var bucket time.Duration
	for i := range r.Runs {
		run := &r.Runs[i]
		series, some := newSeries(run, 1)
		if !some {
			continue
		}
		bucket = max(bucket, run.Bucket)
		s.total = max(s.total, time.Duration(min(1<<62, float64(series.total)*float64(run.Bucket))))
		s.peak = max(s.peak, series.peak)
		s.relative = s.relative && series.capacity > 0
	}
	if s.peak == 0 {
		return s, false
	}
	buckets := int64((s.total-1)/bucket) + 1
	s.column = bucket * time.Duration((buckets-1)/stripColumns+1)
	s.columns = int((s.total-1)/s.column) + 1
	return s, true
}

// line draws one run.
func (s *strip) line(run *record.Run) string {
	fullest := make([]int64, s.columns)
	for i := range run.Buckets {
		b := &run.Buckets[i]
		if at := int64(b.At / s.column); b.At >= 0 && at < int64(s.columns) {
			fullest[at] = max(fullest[at], b.Arrivals)
		}
	}
	capacity := bucketCapacity(run)
	var b strings.Builder
	for _, n := range fullest {
		b.WriteString(s.height(n, capacity))
	}
	return b.String()
}

// height is the character of so many arrivals in a bucket. By the capacity, each step but the first doubles.
func (s *strip) height(arrivals int64, capacity float64) string {
	blocks := unicodeGlyphs.blocks
	if arrivals <= 0 {
		return " "
	}
	if !s.relative {
		return blocks[min(7, int(float64(arrivals)/float64(s.peak)*8))]
	}
	step, most := 0, capacity/2
	for ; step < len(blocks)-1 && float64(arrivals) > most; step++ {
		most *= 2
	}
	return blocks[step]
}

// legend says what the characters mean.
func (s *strip) legend(bucket time.Duration) string {
	blocks := unicodeGlyphs.blocks
	text := "A character is " + moment(s.column) + " and shows the fullest bucket of " + moment(bucket) + " in it: "
	if !s.relative {
		return text + blocks[0] + " to " + blocks[7] + " are eighths of the fullest of all, which held " + count(s.peak) + "."
	}
	return text + blocks[0] + " up to half of what the target can serve, " + blocks[1] + " up to all of it, " + blocks[2] + " up to twice that, and so on, doubling, to " +
		blocks[7] + " beyond 32 times."
}

// markdownArrivals shows when attempts arrived, in every strategy on the same axis.
func markdownArrivals(r *record.Result, plan planFields) string {
	if len(r.Runs) == 0 {
		return ""
	}
	s, ok := newStrip(r)
	if !ok {
		return "### Arrivals\n\n" + strings.TrimSpace("No attempt arrived, so there is no picture. "+escaped(unreached(r))) + "\n\n"
	}
	names := 8
	for i := range r.Runs {
		names = max(names, min(strategyCells, cells(clean(r.Runs[i].Strategy))))
	}
	var rows []string
	if bar, any := s.outages(plan); any {
		rows = append(rows, padRight("outage", names)+" │"+bar+"│")
	}
	bucket := time.Duration(0)
	for i := range r.Runs {
		run := &r.Runs[i]
		peak := "none"
		if series, some := newSeries(run, 1); some {
			peak = "up to " + count(series.peak) + " at " + moment(series.peakAt)
			bucket = max(bucket, run.Bucket)
		}
		rows = append(rows, padRight(clip(cmp.Or(clean(run.Strategy), "unnamed"), names), names)+" │"+s.line(run)+"│ "+peak)
	}
	end := moment(s.column * time.Duration(s.columns))
	axis := padRight("", names) + " 0" + padLeft(end, s.columns)
	text := strings.TrimSuffix(bounded("", "strategy", rows)+axis, "\n")
	return "### Arrivals\n\n" + fenced("text", strings.ReplaceAll(text, string(nbsp), " ")) + "\n" + escaped(s.legend(bucket)) + "\n\n"
}

// outages marks the windows in which the target failed.
func (s *strip) outages(plan planFields) (bar string, some bool) {
	marks := make([]string, s.columns)
	for i := range marks {
		marks[i] = " "
		from, to := time.Duration(i)*s.column, time.Duration(i+1)*s.column
		for _, o := range plan.outages() {
			if o.from < to && o.to > from {
				marks[i], some = unicodeGlyphs.outage, true
			}
		}
	}
	return strings.Join(marks, ""), some
}
