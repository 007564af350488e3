package record

import "time"

// A Solo records for an engine that is one goroutine and whose moments never step back: virtual
// time. It fills the storage of its Recorder, and what [Recorder.Summarise] and [Recorder.Export]
// make of that is byte for byte what the same calls on the Recorder give.
//
// Not safe for concurrent use, and nobody else may use the Recorder meanwhile. The Recorder does
// not know everything before Flush.
type Solo struct{ r *Recorder }

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

// Solo returns the only recording side of r, which must have one shard.
func (r *Recorder) Solo() *Solo {
	if len(r.shards) != 1 {
		panic("record: BUG: a Solo of a Recorder with several shards")
	}
	return &Solo{r: r}
}

// Arrival is [Recorder.Arrival].
func (s *Solo) Arrival(a Arrival) { s.r.Arrival(a) }

// Served is [Recorder.Served].
func (s *Solo) Served(at time.Duration, wasted bool) { s.r.Served(at, wasted) }

// OperationStarted is [Recorder.OperationStarted].
func (s *Solo) OperationStarted() { s.r.OperationStarted(0) }

// Sent is [Recorder.Sent].
func (s *Solo) Sent(x Sent) { s.r.Sent(0, x) }

// Outcome is [Recorder.Outcome].
func (s *Solo) Outcome(x Sample) { s.r.Outcome(0, x) }

// Lost is [Recorder.Lost].
func (s *Solo) Lost(how int) { s.r.Lost(0, how) }

// Delay is [Recorder.Delay].
func (s *Solo) Delay(d Delay) { s.r.Delay(0, d) }

// Hint is [Recorder.Hint].
func (s *Solo) Hint(h Hint) { s.r.Hint(0, h) }

// OperationEnded is [Recorder.OperationEnded].
func (s *Solo) OperationEnded(o Operation) { s.r.OperationEnded(0, o) }

// Refused records one attempt as Sent, Arrival, Outcome and Delay do.
func (s *Solo) Refused(x Refusal) {
	s.Sent(Sent{Attempt: x.Attempt, Due: x.At, At: x.At})
	s.Arrival(Arrival{At: x.At, Attempt: x.Attempt, Opening: x.Opening, Rejected: true})
	s.Outcome(Sample{Key: x.Key, Answered: true})
	s.Delay(Delay{Retry: x.Attempt, Planned: x.Planned, Draw: x.Draw})
}

// Flush brings the Recorder up to date. It may be called at any time, and recording may go on.
func (s *Solo) Flush() {}
