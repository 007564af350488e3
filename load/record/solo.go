package record

import "time"

// A Solo records for an engine that is one goroutine and whose moments do not step back: virtual time.
// It fills the storage of its Recorder, and what [Recorder.Summarise] and [Recorder.Export] make of that is
// byte for byte what the same calls on the Recorder give; but without locks and look-ups a call takes a tenth of the
// time. A moment before the current bucket is recorded rightly too, at the Recorder's pace.
//
// Not safe for concurrent use, and while it is used nobody else may call the Recorder, but for Totals, which tells what
// was known at the last Flush. A call allocates nothing but what the Recorder's does, and closed buckets are packed
// at about a byte a count.
type Solo struct {
	r       *Recorder
	clients *shard
	site    *site
	cursor  soloCursor
	parts   []*Solo // of a fleet that is split
	part    *Solo   // of the client that Of named last; nil where there are no parts

	// What Totals shows, until Flush adds it.
	started, succeeded, sent, arrivals, served int64
	gaveUp                                     [NamesMax + 1]int64

	// Values of lateness and latency that are 0, as most are here, are counted and not tallied.
	onTime, onTimeRest, answeredAtOnce int64

	latency, operationLatency, delay, attempts, elapsed, firstDelay, openings soloTally
}

// A Refusal is one attempt that was sent when it was due, arrived and was answered at the same
// moment, was turned away, and is retried.
type Refusal struct {
	At      time.Duration
	Attempt int        // 0 first; it is also the Delay's Retry
	Key     OutcomeKey // the answer
	Opening bool       // as in Arrival
	// Planned and Draw are those of the Delay that follows.
	Planned, Draw time.Duration
}

// Solo returns the only recording side of r, which must have one shard. Of one Recorder it is always the
// same.
func (r *Recorder) Solo() *Solo {
	if len(r.shards) != 1 {
		panic("record: BUG: a Solo of a Recorder with several shards")
	}
	if r.solo == nil {
		r.solo = newSolo(r)
		r.solo.divide()
	}
	return r.solo
}

func newSolo(r *Recorder) *Solo {
	c, t := &r.shards[0], &r.site
	s := &Solo{r: r, clients: c, site: t}
	s.cursor.site = t
	s.cursor.begin()
	s.latency.into = &c.latency
	s.operationLatency.into = &c.operationLatency
	s.delay.into = &c.delay
	s.attempts.into = &c.attempts
	s.elapsed.into = &c.elapsed
	s.firstDelay.into = &c.firstDelay
	s.openings.into = &t.openings
	for _, x := range s.tallies() {
		x.init()
	}
	return s
}

func (s *Solo) tallies() [7]*soloTally {
	return [...]*soloTally{
		&s.latency, &s.operationLatency, &s.delay, &s.attempts, &s.elapsed, &s.firstDelay, &s.openings,
	}
}

// Arrival is [Recorder.Arrival].
func (s *Solo) Arrival(a Arrival) {
	if s.part != nil {
		s.part.Arrival(a)
	}
	s.arrive(a)
}

// arrive is Arrival of the whole alone.
func (s *Solo) arrive(a Arrival) {
	if !s.cursor.arrival(a) {
		s.site.arrival(a)
		return
	}
	s.arrivals++
	if a.Opening && s.site.together {
		s.openings.add(int64(a.At))
	}
}

// Served is [Recorder.Served].
func (s *Solo) Served(at time.Duration, wasted bool) {
	if s.part != nil {
		s.part.Served(at, wasted)
	}
	if !s.cursor.served(at, wasted) {
		s.site.servedAt(at, wasted)
		return
	}
	s.served++
}

// Dropped is [Recorder.Dropped].
func (s *Solo) Dropped(at time.Duration, expired bool) {
	if s.part != nil {
		s.part.Dropped(at, expired)
	}
	s.site.droppedAt(at, expired)
}

// Rejected is [Recorder.Rejected].
func (s *Solo) Rejected(at time.Duration) { s.site.rejectedAt(at) }

// OperationStarted is [Recorder.OperationStarted].
func (s *Solo) OperationStarted() {
	if s.part != nil {
		s.part.OperationStarted()
	}
	s.started++
}

// Sent is [Recorder.Sent].
func (s *Solo) Sent(x Sent) {
	if s.part != nil {
		s.part.Sent(x)
	}
	c := s.clients
	s.sent++
	c.count(x)
	if x.Early {
		c.hints.Early++
	}
	rest := x.Due >= c.bucket
	if late := int64(x.At - x.Due); late != 0 {
		c.lateness.add(late)
		if rest {
			c.latenessRest.add(late)
		}
		return
	}
	s.onTime++
	if rest {
		s.onTimeRest++
	}
}

// Outcome is [Recorder.Outcome].
func (s *Solo) Outcome(x Sample) {
	if s.part != nil {
		s.part.Outcome(x)
	}
	s.clients.outcomes[min(x.Key, outcomeOther)]++
	switch {
	case !x.Answered:
	case x.Latency == 0:
		s.answeredAtOnce++
	default:
		s.latency.add(int64(x.Latency))
	}
}

// Lost is [Recorder.Lost].
func (s *Solo) Lost(how int) {
	if s.part != nil {
		s.part.Lost(how)
	}
	s.clients.lost[nameIndex(how)]++
}

// ShortCircuited is [Recorder.ShortCircuited].
func (s *Solo) ShortCircuited() {
	if s.part != nil {
		s.part.ShortCircuited()
	}
	s.clients.shortCircuited++
}

// Delay is [Recorder.Delay].
func (s *Solo) Delay(d Delay) {
	if s.part != nil {
		s.part.Delay(d)
	}
	c := s.clients
	s.delay.add(int64(d.Planned))
	c.delays++
	if d.Draw == c.ceiling {
		c.atCap++
	}
	if d.Draw == c.floor {
		c.atFloor++
	}
	if d.Retry == 0 {
		s.firstDelay.add(int64(d.Draw))
	}
	if c.draws != nil {
		c.draws.add(d.Retry, d.Draw)
	}
}

// Hint is [Recorder.Hint].
func (s *Solo) Hint(h Hint) {
	if s.part != nil {
		s.part.Hint(h)
	}
	s.clients.hint(h)
}

// OperationEnded is [Recorder.OperationEnded].
func (s *Solo) OperationEnded(o Operation) {
	if s.part != nil {
		s.part.OperationEnded(o)
	}
	c := s.clients
	s.elapsed.add(int64(o.Elapsed))
	if o.Drawn && c.draws != nil {
		c.draws.add(o.Attempts-1, o.Draw)
	}
	if !o.Succeeded {
		s.gaveUp[nameIndex(o.Reason)]++
		return
	}
	s.succeeded++
	c.completed = max(c.completed, o.At)
	s.operationLatency.add(int64(o.Elapsed))
	s.attempts.add(int64(o.Attempts))
}

// Refused records one attempt as Sent, Arrival, Outcome and Delay do.
func (s *Solo) Refused(x Refusal) {
	if s.part != nil {
		s.part.Refused(x)
	}
	s.arrive(Arrival{At: x.At, Attempt: x.Attempt, Opening: x.Opening, Rejected: true})
	c := s.clients
	s.sent++
	s.onTime++
	if x.At >= c.bucket {
		s.onTimeRest++
	}
	s.answeredAtOnce++
	c.outcomes[min(x.Key, outcomeOther)]++
	c.delays++
	s.delay.add(int64(x.Planned))
	if x.Draw == c.ceiling {
		c.atCap++
	}
	if x.Draw == c.floor {
		c.atFloor++
	}
	if x.Attempt == 0 {
		c.first++
		s.firstDelay.add(int64(x.Draw))
	} else {
		c.retries++
	}
	if c.draws != nil {
		c.draws.add(x.Attempt, x.Draw)
	}
}

// Flush brings the Recorder up to date. It may be called at any time, and recording may go on. Some 5 µs: the current
// bucket is packed.
func (s *Solo) Flush() {
	s.cursor.rest()
	t := s.site
	t.mu.Lock()
	t.arrivals += s.arrivals
	t.served += s.served
	t.mu.Unlock()
	c := s.clients
	c.mu.Lock()
	c.started += s.started
	c.succeeded += s.succeeded
	c.sent += s.sent
	addEach(c.gaveUp[:], s.gaveUp[:])
	c.mu.Unlock()
	s.started, s.succeeded, s.sent, s.arrivals, s.served = 0, 0, 0, 0, 0
	s.gaveUp = [NamesMax + 1]int64{}
}

// fold is Flush, and brings the tallies up to date, which only a summary reads. Some 0.1 ms.
func (s *Solo) fold() {
	s.Flush()
	c := s.clients
	c.lateness.addMany(0, s.onTime)
	c.latenessRest.addMany(0, s.onTimeRest)
	c.latency.addMany(0, s.answeredAtOnce)
	s.onTime, s.onTimeRest, s.answeredAtOnce = 0, 0, 0
	for _, t := range s.tallies() {
		t.fold()
	}
}

// begin is for a new run on the same storage.
func (s *Solo) begin() {
	s.parts, s.part = nil, nil
	s.cursor.begin()
}
