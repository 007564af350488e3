package record

import "time"

// How recovery is measured (domain 4.4).
const (
	RecoveryShare         = 0.9              // of the goodput before the outage
	RecoverySeconds       = 5                // in a row
	RecoveryBaselineMax   = 10 * time.Second // before the outage
	RecoveryBaselineMin   = time.Second
	goodputLastSpan       = 5 * time.Second
	goodputCellsPerSecond = int64(time.Second / goodputCell)
)

// goodputCell is the resolution of the goodput series.
const goodputCell = 10 * time.Millisecond

// A goodput counts work that was finished for a client that still wanted it, in cells of 10 ms and
// chunks of one second. Not safe for concurrent use.
type goodput struct {
	chunks []*[goodputCellsPerSecond]int64
	spare  spare[[goodputCellsPerSecond]int64]
}

// chunk returns the second of the given moment, which must not be negative.
func (g *goodput) chunk(at time.Duration) *[goodputCellsPerSecond]int64 {
	i := int(at / time.Second)
	for len(g.chunks) <= i {
		g.chunks = append(g.chunks, nil)
	}
	if g.chunks[i] == nil {
		g.chunks[i] = g.spare.take()
	}
	return g.chunks[i]
}

// add counts one answer at the given moment, which must not be negative.
func (g *goodput) add(at time.Duration) { g.chunk(at)[at%time.Second/goodputCell]++ }

// reset forgets everything and keeps the storage.
func (g *goodput) reset() { g.chunks = g.spare.keep(g.chunks) }

// between counts the answers in [from, to), both rounded down to a cell.
func (g *goodput) between(from, to time.Duration) int64 {
	var n int64
	for i := int64(from / goodputCell); i < int64(to/goodputCell); i++ {
		chunk := i / goodputCellsPerSecond
		if chunk >= int64(len(g.chunks)) {
			break
		}
		if c := g.chunks[chunk]; c != nil {
			n += c[i%goodputCellsPerSecond]
		}
	}
	return n
}

// perSecond returns the rate over [from, to), both rounded down to a cell; nil where that is no time.
func (g *goodput) perSecond(from, to time.Duration) *float64 {
	width := to.Truncate(goodputCell) - from.Truncate(goodputCell)
	if width <= 0 {
		return nil
	}
	return ptr(float64(g.between(from, to)) / width.Seconds())
}

// recovery compares the goodput after the last trigger, which ended at to, with that before the first, which began at
// from, in a run that ended at end.
//
// Before is the mean of the up to 10 s that precede the first trigger, with no value under 1 s or when nothing
// was served. The target has recovered at the first whole second after the last trigger from which
// RecoverySeconds seconds in a row reach RecoveryShare of that; seconds count from the trigger's end, and
// all of them must have been watched. At a few operations a second chance alone breaks such a row now
// and then and delays the moment.
func (g *goodput) recovery(from, to, end time.Duration) Recovery {
	r := Recovery{Watched: max(0, end-to)}
	if from >= RecoveryBaselineMin {
		if before := g.perSecond(max(0, from-RecoveryBaselineMax), from); *before > 0 {
			r.GoodputBefore = before
		}
	}
	if r.GoodputBefore == nil {
		return r
	}
	if r.Watched >= time.Second {
		r.GoodputLast = g.perSecond(max(to, end-goodputLastSpan), end)
	}
	row := 0
	for second := to; second+time.Second <= end; second += time.Second {
		row++
		if float64(g.between(second, second+time.Second)) < RecoveryShare**r.GoodputBefore {
			row = 0
		}
		if row == RecoverySeconds {
			r.RecoveredAt = ptr(second + time.Second - RecoverySeconds*time.Second - to)
			break
		}
	}
	return r
}

// metastable says whether goodput stayed away for as long as it takes to say so: never in a closed loop, which has no
// GoodputBefore.
func (r Recovery) metastable(watch time.Duration) bool {
	return r.GoodputBefore != nil && r.RecoveredAt == nil && r.Watched >= watch
}

func ptr[T any](v T) *T { return &v }
