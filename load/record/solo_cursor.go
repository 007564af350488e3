package record

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// A soloCursor is where a Solo is in the storage of the target's side: in one bucket, and in one second of
// cells. Not safe for concurrent use.
type soloCursor struct {
	site     *site
	geometry geometry // of a bucket's offsets
	half     time.Duration

	// The current bucket is [from, from+span), nil and empty where there is none. It ends early where the site's moments do.
	from, span time.Duration
	bucket     *bucketCount
	// counts are the offsets of what arrived since the cursor came there, and used has a bit for each count that
	// is not 0.
	counts []uint32
	used   []uint64
	held   uint32 // sum of counts

	second  time.Duration // where it begins
	cells   *[cellsPerChunk]cell
	goodput *[goodputCellsPerSecond]int64

	scratch []byte
	arena   []byte // where closed offsets are put one after another
}

// begin is for a new run. Nothing must be left to close.
func (c *soloCursor) begin() {
	width := c.site.buckets.width
	c.half = width / 2
	c.geometry = offsetGeometry(int64(width))
	length := c.geometry.index(offsetHighest(int64(width))) + 1
	if len(c.counts) != length {
		c.counts = make([]uint32, length)
		c.used = make([]uint64, length/64+1)
	}
	c.from, c.span, c.bucket = 0, 0, nil
	c.second, c.cells, c.goodput = math.MinInt64/2, nil, nil // a second in which no moment is
	c.arena = c.arena[:0]
}

// arrival counts one attempt, or returns false where the site must.
func (c *soloCursor) arrival(a Arrival) bool {
	offset := a.At - c.from
	if uint64(offset) >= uint64(c.span) {
		if !c.seek(a.At) {
			return false
		}
		offset = a.At - c.from
	}
	b := c.bucket
	if a.Attempt == 0 {
		b.first++
	} else {
		b.retries++
		if offset < c.half {
			b.halves[0].add(uint64(offset))
		} else {
			b.halves[1].add(uint64(offset - c.half))
		}
	}
	if a.Unknown {
		b.unknown++
	} else {
		b.byAttempt[min(max(a.Attempt, 0), attemptColumns-1)]++
	}
	if a.Rejected {
		b.rejected++
	}
	i := uint(offsetIndex(int64(offset), c.geometry.unit))
	c.counts[i]++
	c.used[i/64] |= 1 << (i % 64)
	if c.held++; c.held == 1<<31 {
		c.rest()
	}
	inside := a.At - c.second
	if uint64(inside) >= uint64(time.Second) {
		c.seekSecond(a.At)
		inside = a.At - c.second
	}
	at := uint32(inside)
	cell := at / uint32(CellWidth)
	if !c.cells[cell].add(at%uint32(CellWidth), a.Attempt > 0) {
		c.site.cells.saturated++
	}
	return true
}

// served counts one finished piece of work, or returns false where the site must.
func (c *soloCursor) served(at time.Duration, wasted bool) bool {
	if uint64(at-c.from) >= uint64(c.span) && !c.seek(at) {
		return false
	}
	c.bucket.served++
	if wasted {
		c.bucket.wasted++
		return true
	}
	if uint64(at-c.second) >= uint64(time.Second) {
		c.seekSecond(at)
	}
	c.goodput[uint32(at-c.second)/uint32(goodputCell)]++
	return true
}

// seek moves to the bucket of a later moment. It returns false where the moment is before the current bucket, out of
// range, or in a bucket that was handed out: what comes late there is counted apart.
func (c *soloCursor) seek(at time.Duration) bool {
	s := c.site
	width := s.buckets.width
	if at < c.from || at >= s.limit || at < s.buckets.exported {
		return false
	}
	from := c.from + width
	if at < from || at-from >= width {
		from = at - at%width
	}
	c.rest()
	c.from, c.span = from, min(width, s.limit-from)
	c.bucket = s.buckets.of(from)
	return true
}

// seekSecond moves to the cells of a moment in range.
func (c *soloCursor) seekSecond(at time.Duration) {
	c.second = at - at%time.Second
	c.cells = c.site.cells.chunk(c.second)
	c.goodput = c.site.goodput.chunk(c.second)
}

// rest leaves the current bucket, with all that was counted in it.
func (c *soloCursor) rest() {
	if c.held > 0 {
		c.close()
	}
	c.span = 0
}

// close moves the offsets that were counted into the bucket.
func (c *soloCursor) close() {
	o := &c.bucket.offsets
	before := o.count()
	if before > math.MaxUint32/2 {
		o.open(int64(c.site.buckets.width))
	}
	if o.histogram != nil {
		for i := range c.eachCount {
			o.add(c.geometry.lowest(i), int64(c.counts[i]))
			c.counts[i] = 0
		}
		c.held = 0
		return
	}
	for i, n := range o.each {
		c.counts[i] += uint32(n)
		c.used[i/64] |= 1 << (i % 64)
	}
	b, next := binary.AppendUvarint(c.scratch[:0], uint64(before+int64(c.held))), 0
	for i := range c.eachCount {
		b = appendCount(b, i-next, int64(c.counts[i]))
		c.counts[i] = 0
		next = i + 1
	}
	c.scratch, c.held = b, 0
	o.closed = c.keep(b)
}

// eachCount yields the places of the counts that are not 0, and clears their bits.
func (c *soloCursor) eachCount(yield func(i int) bool) {
	for word, set := range c.used {
		for ; set != 0; set &= set - 1 {
			if !yield(word*64 + bits.TrailingZeros64(set)) {
				return
			}
		}
		c.used[word] = 0
	}
}

// arenaBytes is how much is allocated at a time for closed offsets.
const arenaBytes = 64 << 10

// keep returns a copy of b that stays.
func (c *soloCursor) keep(b []byte) []byte {
	if len(b) > cap(c.arena)-len(c.arena) {
		c.arena = make([]byte, 0, max(arenaBytes, len(b)))
	}
	from := len(c.arena)
	c.arena = append(c.arena, b...)
	return c.arena[from:len(c.arena):len(c.arena)]
}
