package record

import (
	"math"
	"sync"
	"time"
)

// A Tick is what one bucket of a run under way holds so far, as the fields of a Bucket of the same names.
type Tick struct{ Arrivals, First, Retries, Served, Wasted, Rejected int64 }

// ticksAtOnce is for how many buckets Ticks holds the lock: some 10 µs.
const ticksAtOnce = 128

// Ticks returns the buckets from index from on, up to the last in which something happened; none where there
// is none so late. What happened in buckets before from is not told again, though a target that is not ours is
// known to have refused an attempt only when it answers, in whichever bucket that arrived.
//
// Safe for concurrent use with everything that records, but for a Solo. It holds the lock of the target's side
// for a few µs at a time.
func (r *Recorder) Ticks(from int) []Tick {
	from = max(from, 0)
	var list []Tick
	for s := &r.site; ; {
		s.mu.Lock()
		begin := from + len(list)
		end := min(s.buckets.used(), begin+ticksAtOnce)
		for i := begin; i < end; i++ {
			list = append(list, s.buckets.tick(i))
		}
		s.mu.Unlock()
		if end < begin+ticksAtOnce {
			return list
		}
	}
}

// tick returns the counts of bucket i.
func (b *buckets) tick(i int) Tick {
	x := b.at(i)
	if x == nil {
		return Tick{}
	}
	return Tick{Arrivals: x.arrivals(), First: x.first, Retries: x.retries, Served: x.served, Wasted: x.wasted, Rejected: x.rejected}
}

// UnderWay is the one fault in the books of a Run from [Recorder.Interim].
const UnderWay = "the run was still under way: what was not finished is in some of the counts alone"

// Interim computes what is known of the run while it goes on, as if it had ended at e.At. Of e, what only the end
// tells is left empty.
//
// Every count, histogram and bucket is whole in itself, and so is what is computed from one of them. But they are
// read one after another while recording goes on, and an attempt is counted in Attempts, Latency and Lateness when its
// outcome is known, in Buckets when it arrives. So in what it returns
//
//   - Attempts.Sent counts attempts with an outcome, and InFlightAtEnd is 0: those in flight are in no part of
//     Attempts, and Books.Arrivals may be above Books.AttemptsSent;
//   - Operations.Unfinished are those that were started and have not ended;
//   - Books.Balanced is false, and Books.Faults holds UnderWay alone;
//   - Operations.Unstarted and Completion are nil: the end decides them.
//
// Safe for concurrent use with everything that records, but for a Solo and Reset. The locks that recording takes are
// held for some 50 µs at most at a time, to copy one histogram or bucket; everything is computed from the copies, which are kept, so that
// the next call copies of the buckets only those that have changed. A call takes some 4 ms of a processor in a run of 30 s and 0.2 s
// in one of two hours, and memory as the Recorder itself.
func (r *Recorder) Interim(e End) Run {
	v := &r.view
	v.mu.Lock()
	defer v.mu.Unlock()
	v.look(r)
	run := summarise(v.copy, e)
	run.Operations.Unfinished = max(0, run.Operations.Started-run.Operations.Succeeded-sumOf(run.Operations.GaveUp))
	run.Operations.Unstarted, run.Completion = nil, nil
	run.Books.Balanced, run.Books.Faults = false, []string{UnderWay}
	return run
}

// never is later than any moment.
const never time.Duration = math.MaxInt64

// A view is a copy of a Recorder for those who look at it while it records.
type view struct {
	mu   sync.Mutex
	copy *Recorder // of one shard; nil until somebody looks
}

// look brings the copy up to date.
func (v *view) look(r *Recorder) {
	if v.copy == nil {
		c := r.config
		c.Shards = 1
		v.copy = New(c)
	}
	into := &v.copy.shards[0]
	into.reset(v.copy.config)
	for i := range r.shards {
		lookShard(into, &r.shards[i])
	}
	lookSite(&v.copy.site, &r.site)
}

// lookShard adds what a shard holds.
func lookShard(into, from *shard) {
	from.mu.Lock()
	into.mergeCounters(from)
	from.mu.Unlock()
	tallies := into.tallies()
	for i, t := range from.tallies() {
		lookTally(tallies[i], t, &from.mu)
	}
}

// lookTally adds what a tally holds that mu guards.
func lookTally(into, from *tally, mu *sync.Mutex) {
	mu.Lock()
	copied, counts := from.copy()
	mu.Unlock()
	into.mergeCounts(&copied, counts)
}

// lookSite brings the target's side up to date from the earliest moment on of which something was recorded since the
// last time. Its sums are those of the copied buckets.
func lookSite(into, from *site) {
	from.mu.Lock()
	since := from.touched
	from.touched = never
	into.early, into.late = from.early, from.late
	into.cells.saturated = from.cells.saturated
	from.mu.Unlock()
	second := int(since / time.Second)
	lookChunks(&into.cells.chunks, &from.cells.chunks, second, &from.mu)
	lookChunks(&into.goodput.chunks, &from.goodput.chunks, second, &from.mu)
	lookBuckets(into, from, int(since/from.buckets.width))
	into.openings.reset()
	lookTally(&into.openings, &from.openings, &from.mu)
}

// lookChunks copies the chunks from index i on that are there.
func lookChunks[T any](into, from *[]*T, i int, mu *sync.Mutex) {
	for ; ; i++ {
		var chunk *T
		mu.Lock()
		some := i < len(*from)
		if some {
			chunk = (*from)[i]
		}
		mu.Unlock()
		if !some {
			return
		}
		for len(*into) <= i {
			*into = append(*into, nil)
		}
		if chunk == nil {
			continue
		}
		if (*into)[i] == nil {
			(*into)[i] = new(T)
		}
		mu.Lock()
		*(*into)[i] = *chunk
		mu.Unlock()
	}
}

// lookBuckets copies the buckets from index i on that are there.
func lookBuckets(into, from *site, i int) {
	for ; ; i++ {
		from.mu.Lock()
		some := i < len(from.buckets.chunks)*bucketsPerChunk
		var b bucketCount
		x := from.buckets.at(i)
		if x != nil {
			b = *x
			b.offsets, b.late = x.offsets.clone(), offsets{}
		}
		from.mu.Unlock()
		if !some {
			return
		}
		if x == nil {
			continue
		}
		y := into.buckets.of(time.Duration(i) * into.buckets.width)
		into.arrivals += b.arrivals() - y.arrivals()
		into.served += b.served - y.served
		into.dropped += b.dropped() - y.dropped()
		*y = b
	}
}
