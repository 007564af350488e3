package record

import "time"

// An Interval is the arrivals of one bucket, or of a bucket those that came after it was handed out.
type Interval struct {
	At, Width time.Duration // [At, At+Width) since t0
	offsets   offsets
}

// Arrivals is how many it holds.
func (x Interval) Arrivals() int64 { return x.offsets.count() }

// Export hands out the next bucket of the run, if it ended by until; each bucket once, in order, empty
// ones too. The caller gives a bucket some time after its end, as an arrival may be recorded a little
// after its moment; one that comes later still is kept for [Recorder.ExportLate] beside the figures
// that every arrival is in.
//
// Safe for concurrent use with everything that records. It holds the lock of the target's side for
// the copy of one bucket's histogram, about 2 µs.
func (r *Recorder) Export(until time.Duration) (x Interval, ok bool) {
	if r.solo != nil {
		r.solo.Flush()
	}
	s := &r.site
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.buckets
	if until-b.width < b.exported {
		return Interval{}, false
	}
	x = Interval{At: b.exported, Width: b.width}
	if c := b.at(int(b.exported / b.width)); c != nil {
		x.offsets = c.offsets.clone()
	}
	b.exported += b.width
	return x, true
}

// ExportLate hands out what arrived in buckets that had been handed out already, one interval for each
// such bucket, in order. Call it when nothing records any more; what it returned it forgets.
func (r *Recorder) ExportLate() []Interval {
	s := &r.site
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.buckets
	var list []Interval
	for i := range int(b.exported / b.width) {
		if c := b.at(i); c != nil && c.late.count() > 0 {
			list = append(list, Interval{At: time.Duration(i) * b.width, Width: b.width, offsets: c.late})
			c.late = offsets{}
		}
	}
	return list
}
