package record

import "time"

// attemptColumns is the length of Bucket.ByAttempt: retry index 0 to 7, and all beyond.
const attemptColumns = 9

// bucketsPerChunk is how many buckets are allocated together.
const bucketsPerChunk = 10

// A bucketCount is what is counted of one bucket while the run goes on.
type bucketCount struct {
	first, retries, served, wasted, rejected int64
	unknown                                  int64 // of first and retries
	expired, shed                            int64 // dropped

	byAttempt [attemptColumns]int64
	halves    [2]half // of the retries' offsets
	offsets   offsets // of all arrivals; made with the first
	late      offsets // of those that came after the bucket was handed out
}

func (b *bucketCount) arrivals() int64 { return b.first + b.retries }

func (b *bucketCount) dropped() int64 { return b.expired + b.shed }

// buckets counts by bucket, in chunks allocated where something happens. Not safe for concurrent use.
type buckets struct {
	width    time.Duration
	exported time.Duration // the end of what has been handed out
	chunks   []*[bucketsPerChunk]bucketCount
	spare    spare[[bucketsPerChunk]bucketCount]
}

// of returns the bucket of the given moment, which must not be negative.
func (b *buckets) of(at time.Duration) *bucketCount {
	index := int(at / b.width)
	chunk := index / bucketsPerChunk
	for len(b.chunks) <= chunk {
		b.chunks = append(b.chunks, nil)
	}
	if b.chunks[chunk] == nil {
		b.chunks[chunk] = b.spare.take()
	}
	return &b.chunks[chunk][index%bucketsPerChunk]
}

// reset forgets everything and keeps the storage, but for the histograms.
func (b *buckets) reset() {
	b.exported = 0
	b.chunks = b.spare.keep(b.chunks)
}

// at returns bucket i, nil where nothing happened near it.
func (b *buckets) at(i int) *bucketCount {
	chunk := i / bucketsPerChunk
	if chunk >= len(b.chunks) || b.chunks[chunk] == nil {
		return nil
	}
	return &b.chunks[chunk][i%bucketsPerChunk]
}

// arrival counts one attempt.
func (b *buckets) arrival(a Arrival) {
	x := b.of(a.At)
	offset := a.At % b.width
	if a.Attempt == 0 {
		x.first++
	} else {
		x.retries++
		addRetryOffset(&x.halves, offset, b.width)
	}
	if a.Unknown {
		x.unknown++
	} else {
		x.byAttempt[min(max(a.Attempt, 0), attemptColumns-1)]++
	}
	if a.Rejected {
		x.rejected++
	}
	x.offsets.record(offset, b.width)
	if a.At < b.exported {
		x.late.record(offset, b.width)
	}
}

// served counts one finished piece of work.
func (b *buckets) served(at time.Duration, wasted bool) {
	x := b.of(at)
	x.served++
	if wasted {
		x.wasted++
	}
}

// droppedAt counts one piece of work thrown out of the queue.
func (b *buckets) droppedAt(at time.Duration, expired bool) {
	if x := b.of(at); expired {
		x.expired++
	} else {
		x.shed++
	}
}

// dropped returns how many were thrown out of the queue, by why.
func (b *buckets) dropped() Dropped {
	var d Dropped
	for i := range b.used() {
		if x := b.at(i); x != nil {
			d.Expired += x.expired
			d.Shed += x.shed
		}
	}
	return d
}

// used returns the number of buckets up to the last in which something happened.
func (b *buckets) used() int {
	for i := len(b.chunks) * bucketsPerChunk; i > 0; i-- {
		if x := b.at(i - 1); x != nil && x.arrivals()+x.served+x.dropped() > 0 {
			return i
		}
	}
	return 0
}

// list returns the first n buckets as a result shows them.
func (b *buckets) list(n int) []Bucket {
	list := make([]Bucket, n)
	columns := make([]int64, n*attemptColumns)
	for i := range list {
		own := columns[i*attemptColumns : (i+1)*attemptColumns : (i+1)*attemptColumns]
		list[i] = Bucket{At: time.Duration(i) * b.width, ByAttempt: own}
		x := b.at(i)
		if x == nil {
			continue
		}
		copy(own, x.byAttempt[:])
		list[i].Arrivals = x.arrivals()
		list[i].First, list[i].Retries, list[i].Unknown = x.first, x.retries, x.unknown
		list[i].Served, list[i].Wasted, list[i].Rejected = x.served, x.wasted, x.rejected
		list[i].Dropped = x.dropped()
		list[i].OffsetP50 = x.offsets.quantile(0.5, int64(b.width))
		list[i].OffsetP99 = x.offsets.quantile(0.99, int64(b.width))
		list[i].RSI = shown(syncIndex([][2]half{x.halves}, b.width))
	}
	return list
}

// retries returns the retries of buckets [from, to).
func (b *buckets) retries(from, to int) []int64 {
	counts := make([]int64, max(0, to-from))
	for i := range counts {
		if x := b.at(from + i); x != nil {
			counts[i] = x.retries
		}
	}
	return counts
}

// rsi returns the retry_synchronisation_index over buckets [from, to).
func (b *buckets) rsi(from, to int) (float64, bool) {
	halves := make([][2]half, max(0, to-from))
	for i := range halves {
		if x := b.at(from + i); x != nil {
			halves[i] = x.halves
		}
	}
	return syncIndex(halves, b.width)
}

// shown returns an index as a result holds it: nil without a value, 0 for what chance made negative.
func shown(index float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return ptr(max(0, index))
}
