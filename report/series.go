package report

import (
	"math"
	"time"

	"stormtest/load/record"
)

// A series is the arrivals of a run, ready to be drawn: columns of equal time.
type series struct {
	bucket  time.Duration
	total   int64 // buckets
	merged  int64 // buckets in a column, 1 where a bucket fills columns
	repeat  int   // columns of a bucket, 1 where a column holds buckets
	columns []column

	peak     int64 // arrivals of the fullest bucket
	peakAt   time.Duration
	above    int64 // buckets above capacity
	capacity float64
	arrivals int64
}

// A column is the fullest of its buckets, so that no peak is lost in a mean.
type column struct {
	arrivals, first, rejected int64
	at                        time.Duration // of the fullest bucket
	sum                       float64       // arrivals of all its buckets
}

// repeatMost bounds how broad one bucket is drawn.
const repeatMost = 4

// newSeries merges the run's buckets into at most width columns. ok is false where there is nothing to
// draw: no arrivals, or no width of a bucket.
func newSeries(run *record.Run, width int) (s series, ok bool) {
	s = series{bucket: run.Bucket, merged: 1, repeat: 1, capacity: bucketCapacity(run)}
	if run.Bucket <= 0 || width < 1 {
		return s, false
	}
	for i := range run.Buckets {
		b := &run.Buckets[i]
		if b.At < 0 || b.Arrivals <= 0 {
			continue
		}
		s.arrivals += b.Arrivals
		s.total = max(s.total, s.indexOf(b)+1)
		if s.capacity >= 0 && float64(b.Arrivals) > s.capacity {
			s.above++
		}
		if b.Arrivals > s.peak {
			s.peak, s.peakAt = b.Arrivals, b.At
		}
	}
	if s.peak == 0 {
		return s, false
	}
	if whole := int64(run.Duration / run.Bucket); whole > 0 {
		s.total = max(s.total, whole)
	}
	s.merged = (s.total-1)/int64(width) + 1
	if s.merged == 1 {
		s.repeat = int(min(repeatMost, int64(width)/s.total))
	}
	s.columns = make([]column, int((s.total-1)/s.merged+1)*s.repeat)
	for i := range run.Buckets {
		s.place(&run.Buckets[i])
	}
	return s, true
}

// indexOf is the number of a bucket, which the total can still count.
func (s *series) indexOf(b *record.Bucket) int64 { return min(int64(b.At/s.bucket), math.MaxInt64-1) }

// place puts a bucket into its columns.
func (s *series) place(b *record.Bucket) {
	if b.At < 0 || b.Arrivals <= 0 {
		return
	}
	c := column{arrivals: b.Arrivals, first: min(max(0, b.First), b.Arrivals), rejected: min(max(0, b.Rejected), b.Arrivals), at: b.At}
	at := int(s.indexOf(b)/s.merged) * s.repeat
	for i := at; i < at+s.repeat; i++ {
		c.sum = s.columns[i].sum + float64(b.Arrivals)
		if c.arrivals > s.columns[i].arrivals {
			s.columns[i] = c
		}
		s.columns[i].sum = c.sum
	}
}

// columnTime is the time of one column.
func (s *series) columnTime() float64 {
	return float64(s.bucket) * float64(s.merged) / float64(s.repeat)
}

// span returns the columns that [from, to) touches, clipped to the chart.
func (s *series) span(from, to time.Duration) (first, end int) {
	n := float64(len(s.columns))
	first = int(min(n, float64(from)/s.columnTime()+1e-9))
	last := float64(to) / s.columnTime()
	end = int(min(n, last-1e-9)) + 1
	return first, min(end, len(s.columns))
}

// bucketCapacity is what the target can serve in a bucket; negative where nobody knows.
func bucketCapacity(run *record.Run) float64 {
	if !finite(run.CapacityPerSecond) || *run.CapacityPerSecond < 0 {
		return -1
	}
	return *run.CapacityPerSecond * run.Bucket.Seconds()
}
