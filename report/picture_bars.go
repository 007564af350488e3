package report

import (
	"math"
	"time"

	"stormtest/load/record"
)

// bars are the arrivals of one run in the columns of a timeline. A column shows its fullest bucket, so that no
// peak is lost in a mean.
type bars struct {
	arrivals, accepted []float64 // accepted is of the bucket whose arrivals are shown
	peak               int64     // of the whole run
	peakAt             time.Duration
	later, laterPeak   int64 // beyond the axis: arrivals, and the fullest bucket
}

func newColumns(run *record.Run, t *timeline) bars {
	b := bars{arrivals: make([]float64, t.columns), accepted: make([]float64, t.columns)}
	for i := range run.Buckets {
		x := &run.Buckets[i]
		if x.Arrivals <= 0 || x.At < 0 || run.Bucket <= 0 {
			continue
		}
		if x.Arrivals > b.peak {
			b.peak, b.peakAt = x.Arrivals, x.At
		}
		if x.At >= t.end {
			b.later += x.Arrivals
			b.laterPeak = max(b.laterPeak, x.Arrivals)
			continue
		}
		b.place(x, run.Bucket, t)
	}
	return b
}

// place puts a bucket into the columns that it touches.
func (b *bars) place(x *record.Bucket, width time.Duration, t *timeline) {
	column := float64(t.merged) * float64(t.bucket)
	first := int(float64(x.At)/column + 1e-9)
	end := int(math.Ceil(min(float64(t.columns), float64(bucketEnd(x, width))/column-1e-9)))
	for i := first; i < max(end, first+1) && i < t.columns; i++ {
		if n := float64(x.Arrivals); n > b.arrivals[i] {
			b.arrivals[i] = n
			b.accepted[i] = n - float64(min(max(0, x.Rejected), x.Arrivals))
		}
	}
}

// windowsMost is how many means a line is made of.
const windowsMost = 60

// window is the time of one mean: so many whole buckets that there are not too many windows.
func (t *timeline) window() time.Duration {
	buckets := (int64(t.end)-1)/int64(t.bucket) + 1
	return time.Duration((buckets-1)/windowsMost+1) * t.bucket
}

// inTime returns, for every window of the axis that the run reached, how many answers reached a client that was
// still there, in a bucket of it on average. It counts answers by when they were given. The last window reaches back
// where the run ended in it: of a few ms of it a single answer would read as a storm.
func inTime(run *record.Run, t *timeline) []float64 {
	window := t.window()
	length := min(t.end, run.Duration)
	if run.Bucket != t.bucket || length <= 0 {
		return nil
	}
	list := make([]float64, (length-1)/window+1)
	last := len(list) - 1
	for i := range run.Buckets {
		b := &run.Buckets[i]
		n := float64(max(0, b.Served-b.Wasted))
		if b.At < 0 || b.At >= length && (t.end < run.Duration || b.At > length) {
			continue
		}
		if at := int(min(b.At, length-1) / window); at < last {
			list[at] += n
		}
		if width := min(run.Bucket, length-b.At); width <= 0 {
			list[last] += n // at the very end
		} else if in := min(width, b.At+width-(length-window)); in > 0 {
			list[last] += n * float64(in) / float64(width)
		}
	}
	over := max(t.bucket, min(window, length)) // a run that is shorter than a window has its own length, but for a part of a bucket
	for i := range list {
		list[i] *= float64(t.bucket) / float64(over)
	}
	return list
}

// wasteful says that work for clients that had gone is a part of the story: a hundredth of all or more.
func wasteful(runs []record.Run) bool {
	for i := range runs {
		run := &runs[i]
		if run.ArrivalsMeasuredAt == "client" || run.FromLog != nil {
			continue
		}
		var served, wasted int64
		for j := range run.Buckets {
			served += run.Buckets[j].Served
			wasted += run.Buckets[j].Wasted
		}
		if wasted > 0 && float64(wasted) >= 0.01*float64(served) {
			return true
		}
	}
	return false
}
