package probe

import (
	"slices"
	"time"

	"stormtest/load/record"
)

// A mode is how a step puts load on the target.
type mode string

const (
	closed mode = "closed" // each worker sends again as soon as it is answered
	paced  mode = "paced"  // evenly, at a rate
	hold   mode = "hold"   // likewise, beyond the limit, and judged by the later half
)

// A shape is a load to be put on the target.
type shape struct {
	mode      mode
	workers   int           // each has one connection
	perSecond float64       // of all workers together; 0 in a closed loop
	requests  int           // at most, of all workers together
	length    time.Duration // sending ends then; what is in flight may finish
}

// turn is how often a paced worker sends, and so the moment of the first request.
func (s shape) turn() time.Duration {
	if s.perSecond == 0 {
		return 0
	}
	return time.Duration(float64(s.workers) / s.perSecond * float64(time.Second))
}

// A sample is one answer. Moments are since the step began.
type sample struct {
	sent   time.Duration
	took   time.Duration // until the end of the body
	status int
	fresh  bool // the first on its connection, so its time holds the connecting
}

func (s sample) done() time.Duration { return s.sent + s.took }
func (s sample) good() bool          { return s.status >= 200 && s.status < 400 }

// A batch is what came of a shape.
type batch struct {
	shape   shape
	elapsed time.Duration
	// spent is the moment when the first worker had used up its share of the requests; 0 where none had.
	// After it fewer workers send than were asked for.
	spent       time.Duration
	sends       []time.Duration // moment of each request, in no order
	requests    int64           // written to a connection, those that net/http sent again included
	samples     []sample
	errors      map[string]int64 // requests without an answer, and answers cut short, by kind
	connections int64
	own         float64 // part of the machine's processor time that this process took, 0..1
}

// A step is a batch's figures. Rates are per second and 0 without any.
type step struct {
	shape
	from, to                time.Duration // what the rates are over, [from, to)
	offered, answered, good float64
	badShare                float64 // of all requests that ended, 0..1
	goodCount               int64   // of all
	p50, p99                *int64
	own                     float64
}

// answersLeast is how many answers a closed loop's window must hold, or else all of them count.
const answersLeast = 10

// figures reduces a batch.
func (b batch) figures() step {
	s := step{shape: b.shape, own: b.own}
	times := b.times(false)
	d := record.Summary(times)
	s.p50, s.p99 = d.P50, d.P99
	s.goodCount = max(0, int64(len(times))-b.errors[errorCut])
	var bad int64
	for _, n := range b.errors {
		bad += n
	}
	if ended := bad + int64(len(b.samples)) - b.errors[errorCut]; ended > 0 { // a cut answer is a sample too
		s.badShare = 1 - float64(s.goodCount)/float64(ended)
	}
	s.from, s.to = b.window(d.P50)
	var shift time.Duration
	if s.mode != closed && s.p50 != nil {
		shift = time.Duration(*s.p50) // the answers to what was sent in the window
	}
	answered, good := b.count(s.from+shift, s.to+shift)
	if answered < answersLeast && s.mode == closed && b.last() > 0 { // a slow one
		s.from, s.to = 0, b.last()+1
		answered, good = b.count(s.from, s.to)
	}
	sent := 0
	for _, at := range b.sends {
		if at >= s.from && at < s.to {
			sent++
		}
	}
	if span := (s.to - s.from).Seconds(); span > 0 {
		s.offered, s.answered, s.good = float64(sent)/span, float64(answered)/span, float64(good)/span
	}
	return s
}

// window is what a batch's rates are over. It leaves out the beginning, in which connections are opened and
// the bursts that a limit allows are used up, and the end, in which workers finish one after another. A
// closed loop against slow answers goes in rounds, of which it holds whole ones.
func (b batch) window(p50 *int64) (from, to time.Duration) {
	to = min(b.shape.length, b.elapsed)
	if b.spent > 0 {
		to = min(to, b.spent)
	}
	switch b.shape.mode {
	case hold:
		return to / 2, to
	case paced:
		return max(to/4, min(b.shape.turn(), to)), to
	}
	from = to / 4
	if p50 != nil && *p50 > 0 {
		if rest := (to - from) % time.Duration(*p50); rest < (to-from)/2 {
			from += rest
		}
	}
	return from, to
}

// count counts the answers, and the good ones, that ended in [from, to).
func (b batch) count(from, to time.Duration) (answered, good int) {
	for _, a := range b.samples {
		if a.done() < from || a.done() >= to {
			continue
		}
		answered++
		if a.good() {
			good++
		}
	}
	return answered, good
}

// last is the moment of the last answer; 0 without one.
func (b batch) last() time.Duration {
	var last time.Duration
	for _, a := range b.samples {
		last = max(last, a.done())
	}
	return last
}

// times returns how long each good answer took, sorted; warm leaves out those that waited for a connection.
func (b batch) times(warm bool) []int64 {
	var list []int64
	for _, a := range b.samples {
		if a.good() && (!warm || !a.fresh) {
			list = append(list, int64(a.took))
		}
	}
	slices.Sort(list)
	return list
}

// public returns the step as results show it.
func (s step) public() record.ProbeStep {
	rate := func(v float64) *float64 {
		if s.to <= s.from {
			return nil
		}
		return &v
	}
	return record.ProbeStep{
		Mode: string(s.mode), Concurrency: s.workers, Duration: int64(s.to - s.from),
		Offered: rate(s.offered), Answered: rate(s.answered), Good: rate(s.good), P50: s.p50, P99: s.p99,
	}
}
