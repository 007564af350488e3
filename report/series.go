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
func newSeries(run *record.Run, width int) (s series, ok bool) { return newSeriesOf(run, width, 0) }

// newSeriesOf is newSeries over so many buckets or more.
func newSeriesOf(run *record.Run, width int, least int64) (s series, ok bool) {
	s = series{bucket: run.Bucket, capacity: bucketCapacity(run), total: least}
	ok = s.lay(run.Duration, width, func(yield func(column)) {
		for i := range run.Buckets {
			b := &run.Buckets[i]
			yield(column{arrivals: b.Arrivals, first: b.First, rejected: b.Rejected, at: b.At})
		}
	})
	return s, ok
}

// lay fills a series of which bucket and capacity are set, for a run of a length; each gives its buckets, the
// same ones each time.
func (s *series) lay(length time.Duration, width int, each func(yield func(column))) (ok bool) {
	s.merged, s.repeat = 1, 1
	if s.bucket <= 0 || width < 1 {
		return false
	}
	each(func(c column) {
		if c.at < 0 || c.arrivals <= 0 {
			return
		}
		s.arrivals += c.arrivals
		s.total = max(s.total, s.indexOf(c.at)+1)
		if s.capacity >= 0 && float64(c.arrivals) > s.capacity {
			s.above++
		}
		if c.arrivals > s.peak {
			s.peak, s.peakAt = c.arrivals, c.at
		}
	})
	if s.peak == 0 {
		return false
	}
	if whole := int64(length / s.bucket); whole > 0 {
		s.total = max(s.total, whole)
	}
	s.merged = (s.total-1)/int64(width) + 1
	if s.merged == 1 {
		s.repeat = int(min(repeatMost, int64(width)/s.total))
	}
	s.columns = make([]column, int((s.total-1)/s.merged+1)*s.repeat)
	each(s.place)
	return true
}

// indexOf is the number of the bucket that begins at a moment, which the total can still count.
func (s *series) indexOf(at time.Duration) int64 { return min(int64(at/s.bucket), math.MaxInt64-1) }

// place puts a bucket into its columns.
func (s *series) place(c column) {
	if c.at < 0 || c.arrivals <= 0 {
		return
	}
	c.first, c.rejected = min(max(0, c.first), c.arrivals), min(max(0, c.rejected), c.arrivals)
	from := int(s.indexOf(c.at)/s.merged) * s.repeat
	for i := from; i < from+s.repeat; i++ {
		sum := s.columns[i].sum + float64(c.arrivals)
		if c.arrivals > s.columns[i].arrivals {
			s.columns[i] = c
		}
		s.columns[i].sum = sum
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
