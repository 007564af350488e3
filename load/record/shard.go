package record

import (
	"sync"
	"time"
)

// A shard is one part of the clients' side of a Recorder. Its methods lock; merge does not.
type shard struct {
	bucket, ceiling, floor time.Duration // never change: Config.Bucket, Cap, Floor

	mu sync.Mutex

	started, succeeded   int64
	gaveUp               [NamesMax + 1]int64 // by reason; last, those without a name
	completed            time.Duration       // last success
	sent, first, retries int64
	hedges               int64
	shortCircuited       int64
	outcomes             [outcomeCounters]int64
	lost                 [NamesMax + 1]int64
	hints                Hints

	delays, atCap, atFloor int64       // of draws
	draws                  *drawCounts // nil where no detail is wanted

	latency, operationLatency, delay, attempts, elapsed tally
	lateness, latenessRest, firstDelay, waited          tally

	_ [64]byte // keeps the next shard's lock off this cache line
}

func (s *shard) init(c Config) {
	s.expect(c)
	for _, t := range s.tallies() {
		highest := tallyHighest
		if t == &s.attempts {
			highest = tallyHighestAttempts
		}
		*t = c.tally(highest)
	}
}

// expect sets what is of the Config, for a shard that holds nothing.
func (s *shard) expect(c Config) {
	s.bucket, s.ceiling, s.floor = c.Bucket, c.Cap, c.Floor
	switch {
	case !c.Detail:
		s.draws = nil
	case s.draws == nil:
		s.draws = new(drawCounts)
	default:
		*s.draws = drawCounts{}
	}
}

// tally returns a tally that has its histogram, so that no call has to make it while others wait for the lock; where
// there is one shard, which only a single-threaded caller wants, one that makes it when it needs one.
func (c Config) tally(highest int64) tally {
	if c.Shards == 1 {
		return thriftyTally(highest)
	}
	return newTally(highest)
}

// reset forgets everything and keeps the histograms.
func (s *shard) reset(c Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(c)
	s.started, s.succeeded, s.completed = 0, 0, 0
	s.sent, s.first, s.retries, s.hedges, s.shortCircuited = 0, 0, 0, 0, 0
	s.delays, s.atCap, s.atFloor = 0, 0, 0
	s.hints = Hints{}
	clear(s.gaveUp[:])
	clear(s.outcomes[:])
	clear(s.lost[:])
	for _, t := range s.tallies() {
		t.reset()
	}
}

// tallies returns every histogram of s, in one order.
func (s *shard) tallies() [9]*tally {
	return [...]*tally{
		&s.latency, &s.operationLatency, &s.delay, &s.attempts,
		&s.elapsed, &s.lateness, &s.latenessRest, &s.firstDelay,
		&s.waited,
	}
}

func (s *shard) operationStarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
}

func (s *shard) send(x Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	s.count(x)
	late := int64(x.At - x.Due)
	s.lateness.add(late)
	if x.Due >= s.bucket {
		s.latenessRest.add(late)
	}
	if x.Early {
		s.hints.Early++
	}
}

// count counts an attempt by what it is.
func (s *shard) count(x Sent) {
	switch {
	case x.Hedge:
		s.hedges++
	case x.Attempt == 0:
		s.first++
	default:
		s.retries++
	}
}

func (s *shard) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited.add(int64(d))
}

func (s *shard) outcome(x Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[min(x.Key, outcomeOther)]++
	if x.Answered {
		s.latency.add(int64(x.Latency))
	}
}

func (s *shard) lose(how int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost[nameIndex(how)]++
}

func (s *shard) shortCircuit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shortCircuited++
}

func (s *shard) delayed(d Delay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay.add(int64(d.Planned))
	s.delays++
	if d.Draw == s.ceiling {
		s.atCap++
	}
	if d.Draw == s.floor {
		s.atFloor++
	}
	if d.Retry == 0 {
		s.firstDelay.add(int64(d.Draw))
	}
	if s.draws != nil {
		s.draws.add(d.Retry, d.Draw)
	}
}

func (s *shard) hint(h Hint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hints.Seen++
	if !h.Valid {
		s.hints.Invalid++
	}
	if h.Obeyed {
		s.hints.Obeyed++
	}
}

func (s *shard) operationEnded(o Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elapsed.add(int64(o.Elapsed))
	if o.Drawn && s.draws != nil {
		s.draws.add(o.Attempts-1, o.Draw)
	}
	if !o.Succeeded {
		s.gaveUp[nameIndex(o.Reason)]++
		return
	}
	s.succeeded++
	s.completed = max(s.completed, o.At)
	s.operationLatency.add(int64(o.Elapsed))
	s.attempts.add(int64(o.Attempts))
}

func (s *shard) addTotals(t *Totals) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Started += s.started
	t.Succeeded += s.succeeded
	for _, n := range s.gaveUp {
		t.GaveUp += n
	}
	t.Sent += s.sent
}

// merge adds what t holds. Every part of it is a sum or an extreme, so that the order of merges does not
// matter. It locks t and not s.
func (s *shard) merge(t *shard) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.mergeCounters(t)
	from := t.tallies()
	for i, into := range s.tallies() {
		into.merge(from[i])
	}
}

// mergeCounters adds what t has counted outside its tallies. The caller holds t's lock.
func (s *shard) mergeCounters(t *shard) {
	s.started += t.started
	s.succeeded += t.succeeded
	s.completed = max(s.completed, t.completed)
	s.sent += t.sent
	s.first += t.first
	s.retries += t.retries
	s.hedges += t.hedges
	s.shortCircuited += t.shortCircuited
	s.delays += t.delays
	s.atCap += t.atCap
	s.atFloor += t.atFloor
	s.draws.merge(t.draws)
	s.hints.Seen += t.hints.Seen
	s.hints.Obeyed += t.hints.Obeyed
	s.hints.Invalid += t.hints.Invalid
	s.hints.Early += t.hints.Early
	addEach(s.gaveUp[:], t.gaveUp[:])
	addEach(s.outcomes[:], t.outcomes[:])
	addEach(s.lost[:], t.lost[:])
}

func addEach(into, from []int64) {
	for i, n := range from {
		into[i] += n
	}
}

// nameIndex returns i as an index into a table by name, the last entry where i has none.
func nameIndex(i int) int {
	if i < 0 || i > NamesMax {
		return NamesMax
	}
	return i
}
