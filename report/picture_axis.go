package report

import (
	"math"
	"slices"
	"time"

	"stormtest/load/record"
)

// A rootAxis places numbers of arrivals by a root of them: the square root, or one of a higher degree where the
// fullest bucket holds so many times the capacity that the line would lie on the ground.
//
// The first wave is 20 times the capacity in the main job and 1,000 times it in others. On a linear axis the line is
// then at a twentieth of the height and whatever happens around it is not to be seen. To cut the first bar off
// does not help where a convoy comes back as high, which is what the picture is for. A logarithm has no 0 for bars
// to stand on, and draws 1,900 hardly higher than 400. A root keeps 0, keeps the order of heights, and its square
// is the scale on which counts scatter alike.
type rootAxis struct {
	top    float64 // the number at the upper end
	degree float64 // 1 is linear
	height float64
	line   float64 // the capacity that the axis is made for; 0 is none
}

// lineLowest is the least part of the height at which the capacity line stands.
const lineLowest = 0.14

// degreeMost is enough for a bucket of 10^10 times the capacity.
const degreeMost = 12

// lineHighest is how many times the fullest bucket a capacity may be that the axis still reaches to.
const lineHighest = 4

// newRootAxis makes the axis on which all runs fit.
func newRootAxis(runs []record.Run, height float64) rootAxis {
	var peak, sum, buckets float64
	line := math.Inf(1)
	for i := range runs {
		run := &runs[i]
		if c := bucketCapacity(run); c > 0 && !math.IsInf(c, 0) {
			line = min(line, c)
		}
		for j := range run.Buckets {
			if n := float64(run.Buckets[j].Arrivals); n > 0 {
				peak, sum, buckets = max(peak, n), sum+n, buckets+1
			}
		}
	}
	a := rootAxis{top: max(peak, 1), degree: 1, height: height}
	level := line
	switch {
	case math.IsInf(line, 0) && buckets == 0:
		return a
	case math.IsInf(line, 0): // nobody knows the capacity: what buckets hold in the mean shall be readable
		level = sum / buckets
	case line <= lineHighest*a.top:
		a.line, a.top = line, max(a.top, line)
	default:
		return a
	}
	for math.Pow(level/a.top, 1/a.degree) < lineLowest && a.degree < degreeMost {
		a.degree++
	}
	a.top *= math.Pow(1.04, a.degree) // some air above the fullest
	return a
}

// at is how far above the ground a number stands.
func (a *rootAxis) at(v float64) float64 {
	return a.height * math.Pow(max(0, v)/a.top, 1/a.degree)
}

// words name the axis.
func (a *rootAxis) words() string {
	switch a.degree {
	case 1:
		return "linear"
	case 2:
		return "square root"
	case 3:
		return "cube root"
	default:
		return count(int64(a.degree)) + "th root"
	}
}

// ticks are the numbers to write, from the capacity and 0 on: 1, 2 and 5 times powers of ten from the top down,
// as many as have room.
func (a *rootAxis) ticks() []float64 {
	const room = 16
	list := []float64{0}
	if a.line > 0 {
		list = append(list, a.line)
	}
	free := func(v float64) bool {
		return !slices.ContainsFunc(list, func(other float64) bool { return math.Abs(a.at(v)-a.at(other)) < room })
	}
	if a.degree == 1 {
		step := niceStep(a.top / max(2, a.height/32))
		for v := max(1, step); v <= a.top; v += max(1, step) {
			if free(v) {
				list = append(list, v)
			}
		}
		return list
	}
	digits := [][]float64{{5, 2, 1}, {8, 6, 4, 3}} // the second where the first leave room
	if a.degree > 3 {
		digits = [][]float64{{1}, {5, 2}}
	}
	for _, digits := range digits {
		for power := math.Pow(10, math.Floor(math.Log10(a.top))); power >= 1; power /= 10 {
			for _, digit := range digits {
				if v := digit * power; v <= a.top && free(v) {
					list = append(list, v)
				}
			}
		}
	}
	return list
}

// A timeline is the axis of time that all panels share, in columns of whole buckets.
type timeline struct {
	bucket  time.Duration // the least width of the runs; 0 where nothing can be drawn
	whole   time.Duration // until where something was measured
	end     time.Duration // until where it is drawn
	merged  int64         // buckets in a column
	columns int
}

// quietShare is the part of the fullest bucket below which buckets are quiet, and quietCapacity the same of the
// capacity, which can be less than that: both must hold.
const (
	quietShare    = 0.01
	quietCapacity = 0.1
	cutLeast      = 0.75 // an axis is cut only where this much of it or less is left
)

// newTimeline makes an axis of at most the given number of columns.
//
// It ends where all strategies have become quiet for good, if that saves a fourth, for the seconds after the failure
// are what matters; what arrives later is told in words by each panel. Outages are in it.
func newTimeline(runs []record.Run, plan planFields, columns int) timeline {
	var t timeline
	quiet := quietBelow(runs)
	var loud time.Duration
	for i := range runs {
		run := &runs[i]
		if run.Bucket <= 0 {
			continue
		}
		if t.bucket == 0 || run.Bucket < t.bucket {
			t.bucket = run.Bucket
		}
		t.whole = max(t.whole, run.Duration)
		for j := range run.Buckets {
			b := &run.Buckets[j]
			if b.Arrivals <= 0 || b.At < 0 {
				continue
			}
			t.whole = max(t.whole, bucketEnd(b, run.Bucket))
			if float64(b.Arrivals) >= quiet {
				loud = max(loud, bucketEnd(b, run.Bucket))
			}
		}
	}
	if t.bucket == 0 {
		return t
	}
	for _, o := range plan.everyOutage() {
		if o.from < t.whole {
			loud = max(loud, min(o.to, t.whole))
		}
	}
	for _, s := range plan.surges() {
		if s.from < t.whole {
			loud = max(loud, min(s.to, t.whole))
		}
	}
	t.end = t.whole
	if cut := loud + loud/20; loud > 0 && float64(cut) <= cutLeast*float64(t.whole) {
		t.end = max(t.bucket, min(t.whole, roundedUp(cut, time.Duration(niceStep(float64(cut)/20)))))
	}
	buckets := (int64(t.end)-1)/int64(t.bucket) + 1
	t.merged = (buckets-1)/int64(max(1, columns)) + 1
	t.columns = int((buckets-1)/t.merged + 1)
	return t
}

// roundedUp is the least multiple of step that is at least d.
func roundedUp(d, step time.Duration) time.Duration {
	if rest := d % step; rest > 0 {
		return d + step - rest
	}
	return d
}

// bucketEnd is where a bucket ends, or the end of all time.
func bucketEnd(b *record.Bucket, width time.Duration) time.Duration {
	return min(b.At, math.MaxInt64-width) + width
}

// quietBelow is how many arrivals a bucket has to hold to be worth a place on the axis of time.
func quietBelow(runs []record.Run) float64 {
	peak, capacity := 0.0, math.Inf(1)
	for i := range runs {
		for j := range runs[i].Buckets {
			peak = max(peak, float64(runs[i].Buckets[j].Arrivals))
		}
		if c := bucketCapacity(&runs[i]); c > 0 {
			capacity = min(capacity, c)
		}
	}
	return min(peak*quietShare, capacity*quietCapacity)
}

// cut reports whether something measured lies beyond the axis.
func (t *timeline) cut() bool { return t.end < t.whole }

// at is how far right a moment stands in a plot of the given width.
func (t *timeline) at(moment time.Duration, width float64) float64 {
	return width * max(0, min(1, float64(moment)/float64(t.end)))
}

// edges are the left edges of the columns, and the right end.
func (t *timeline) edges(width float64) []float64 {
	list := make([]float64, t.columns+1)
	for i := range list {
		list[i] = t.at(time.Duration(min(float64(t.end), float64(i)*float64(t.merged)*float64(t.bucket))), width)
	}
	return list
}

// A timeUnit is what the axis of time counts.
type timeUnit struct {
	unit time.Duration
	name string
}

// in chooses the unit: that which makes no number of more than three digits, as far as there is one.
func (t *timeline) in() timeUnit {
	switch {
	case t.end > 10*time.Hour:
		return timeUnit{time.Hour, "hours"}
	case t.end > 10*time.Minute:
		return timeUnit{time.Minute, "minutes"}
	case t.end >= time.Second:
		return timeUnit{time.Second, "seconds"}
	default:
		return timeUnit{time.Millisecond, "milliseconds"}
	}
}

// ticks are the moments to write: 1, 2 or 5 times a power of ten of the unit apart, about most of them.
func (t *timeline) ticks(most int) []time.Duration {
	unit := float64(t.in().unit)
	step := time.Duration(max(1, unit*niceStep(float64(t.end)/unit/float64(most))))
	var list []time.Duration
	for at := time.Duration(0); at <= t.end && at >= 0; at += step {
		list = append(list, at)
	}
	return list
}
