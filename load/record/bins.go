package record

import "math"

// Bins is a histogram in bins of two significant digits: every whole number below 100 is a bin of its own,
// then come [100, 110), [110, 120) to [990, 1000), [1000, 1100) and so on, so that every 1, 2 and 5 of
// every power of ten is where a bin begins. Only bins that hold something are listed.
//
// The values come from a histogram of three digits, whose own bins have such a beginning somewhere inside: 5 s lie in one
// of [4.9996 s, 5.0038 s]. What lies in one of those counts as lying at the beginning that is in it, so that whatever
// is exactly there (a timeout, a cap, a delay without jitter) stands in the bin that begins there; but nothing is
// placed outside the exact extremes of all values, so that a delay that is drawn below 5 s does not look as if
// it could be more. So at most a thousandth below the bin may be in it, and below 2048 nothing is. Values beyond the
// histogram (Distribution.Clamped) stand in the bin of its end: 4e12, and 1e7 for attempts.
type Bins struct {
	From  []int64 `json:"from"`  // where each bin begins, ascending
	Count []int64 `json:"count"` // how many values it holds, above 0; of all bins as many as Distribution.Count
	// AtFrom is how many of Count stand where the bin begins: within a thousandth of From either way, as a point there
	// and a stretch across it are not told apart. For UpTo, which needs them; nil where nobody counted.
	AtFrom []int64 `json:"at_from,omitempty"`
}

// BinEnd returns where the bin ends that begins at from: the first value that is no longer in it, or the largest
// number there is.
func BinEnd(from int64) int64 {
	step := int64(1)
	for from/step >= 100 {
		step *= 10
	}
	if from > math.MaxInt64-step {
		return math.MaxInt64
	}
	return from + step
}

// binOf returns where the bin begins that holds v.
func binOf(v int64) int64 {
	step := int64(1)
	for v/step >= 100 {
		step *= 10
	}
	return v - v%step
}

// UpTo returns how many values are at most v, which includes those at v itself: a cumulative count as
// Prometheus wants it, where v is the beginning of a bin or below 100. What is up to a thousandth above such a v counts
// as being there, see Bins; below 2048 it is exact. Of the values in a bin that v lies inside of, none counts. O(len(b.From)).
func (b *Bins) UpTo(v int64) int64 {
	var n int64
	for i, from := range b.From {
		switch {
		case from > v:
			return n
		case BinEnd(from)-1 <= v:
			n += b.Count[i]
		case from == v && i < len(b.AtFrom):
			n += b.AtFrom[i]
		}
	}
	return n
}

// Total returns how many values there are.
func (b *Bins) Total() int64 {
	var n int64
	for _, count := range b.Count {
		n += count
	}
	return n
}

// add counts n values in [lo, hi], which are closer together than the bins are wide, and above those before.
func (b *Bins) add(lo, hi, n int64) {
	last := len(b.From) - 1
	if last < 0 || hi >= BinEnd(b.From[last]) {
		b.From, b.Count, b.AtFrom = append(b.From, binOf(hi)), append(b.Count, 0), append(b.AtFrom, 0)
		last++
	}
	b.Count[last] += n
	if b.From[last] >= lo {
		b.AtFrom[last] += n
	}
}

// bins returns t's histogram; nil of nothing.
func (t *tally) bins() *Bins {
	if t.count == 0 {
		return nil
	}
	b := &Bins{}
	first, last := min(t.min, t.highest), min(t.max, t.highest)
	inside := func(i int) (lo, hi int64) {
		return max(tallyGeometry.lowest(i), first), min(tallyGeometry.highest(i), last)
	}
	if t.histogram == nil { // all are one value
		b.add(first, last, t.count)
	} else {
		counts := t.histogram.Export().Counts
		for i := tallyIndex(first); i <= tallyIndex(last); i++ {
			if n := counts[i]; n > 0 {
				lo, hi := inside(i)
				b.add(lo, hi, n)
			}
		}
	}
	if t.clamped > 0 { // these are not up to the end, but beyond
		b.AtFrom[len(b.AtFrom)-1] = max(0, b.AtFrom[len(b.AtFrom)-1]-t.clamped)
	}
	return b
}
