package fleet

import (
	"time"

	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
)

// A ledger is one client's policy and books: what is the same whichever way its attempts
// travel. Not safe for concurrent use.
type ledger struct {
	cfg    *Config
	id     int
	policy retry.Client

	operation int64 // how many operations it has ended
	attempts  int64 // how many attempts it has sent
	lost      int64 // of these, known not to have arrived
	resets    int64 // of the others, reset and not seen to arrive

	begun    bool          // an operation is under way
	flying   bool          // the end of the run cut an attempt short
	hinted   bool          // the attempt's due moment is a server's floor
	hedge    bool          // the attempt is a copy of one that is under way
	gated    bool          // attempts ask before they leave
	admitted bool          // the one under way has asked
	due      time.Duration // of the attempt under way
	sentAt   time.Duration // when it left
	reached  time.Duration // when it arrived; negative: it did not, or nobody knows
}

func (l *ledger) init(cfg *Config, id int) {
	l.cfg, l.id = cfg, id
	stream := uint32(id)
	if cfg.SharedSeed {
		stream = 0
	}
	party, place := &retry.Party{Policy: cfg.Policy, Budget: cfg.Budget, Breakers: cfg.Breakers}, id
	if cfg.Mixture != nil {
		party, place = cfg.Mixture.Party(id)
	}
	l.policy.Init(party.Policy, seed.Stream(cfg.Seed, seed.Backoff, stream), seed.Stream(cfg.Seed, seed.RetryAfter, stream))
	l.policy.Under(party.Budget.Account(place))
	l.policy.Behind(party.Breakers.Breaker(place))
	l.gated = party.Gates()
}

// admit asks whether the attempt under way may leave, once: one that has waited has what it waited for.
func (l *ledger) admit(now time.Duration) retry.Admission {
	if !l.gated || l.admitted {
		return retry.Admission{}
	}
	l.admitted = true
	return l.policy.Admit(now)
}

// begin starts an operation whose first attempt is due then.
func (l *ledger) begin(due time.Duration) {
	l.begun = true
	l.policy.Begin(due)
	l.cfg.Recorder.OperationStarted(uint32(l.id))
}

// left says that the attempt under way leaves now, which pays for retries or is paid for.
func (l *ledger) left(now time.Duration) {
	l.sentAt = now
	l.policy.Leave(now)
}

// unfinished says that the run ended before the operation under way, if there is one.
func (l *ledger) unfinished(now time.Duration) bool {
	l.policy.Cancel(now)
	return l.begun
}

// decide records an attempt's outcome and asks the policy what follows.
func (l *ledger) decide(o retry.Outcome, at time.Duration) retry.Decision {
	rec, id := l.cfg.Recorder, uint32(l.id)
	attempt := l.policy.Attempt()
	row := retry.Row{
		Client: l.id, Operation: l.operation, Attempt: attempt,
		Due: l.due, Sent: l.sentAt, Arrived: l.reached, End: at, Outcome: o,
	}
	l.recordSent(attempt)
	sample := record.Sample{Latency: at - l.due, Answered: o.Kind == retry.Responded}
	if sample.Answered {
		sample.Key = record.StatusKey(o.Status)
	} else {
		sample.Key = record.KindKey(int(o.Kind))
	}
	rec.Outcome(id, sample)
	d := l.policy.Decide(at, o)
	if o.Hint.Seen {
		rec.Hint(id, record.Hint{Valid: o.Hint.Valid, Obeyed: d.Hinted})
	}
	l.planned(attempt, at, d)
	if l.cfg.Trace != nil {
		row.Decision = d
		l.cfg.Trace(row)
	}
	return d
}

// shortCircuited records that the attempt under way was not let out, and asks the policy what follows.
func (l *ledger) shortCircuited(at time.Duration) retry.Decision {
	attempt, o := l.policy.Attempt(), retry.Outcome{Kind: retry.ShortCircuited}
	l.cfg.Recorder.ShortCircuited(uint32(l.id))
	d := l.policy.Decide(at, o)
	l.planned(attempt, at, d)
	if l.cfg.Trace != nil {
		l.cfg.Trace(retry.Row{
			Client: l.id, Operation: l.operation, Attempt: attempt,
			Due: l.due, Sent: -1, Arrived: -1, End: at, Outcome: o, Decision: d,
		})
	}
	return d
}

// planned records what follows an attempt.
func (l *ledger) planned(attempt int, at time.Duration, d retry.Decision) {
	rec, id := l.cfg.Recorder, uint32(l.id)
	if d.Retry {
		rec.Delay(id, record.Delay{Retry: attempt, Planned: d.Delay, Draw: d.Draw})
	} else {
		l.begun = false
		rec.OperationEnded(id, record.Operation{
			At:        at,
			Elapsed:   l.policy.Elapsed(at),
			Attempts:  attempt + 1,
			Succeeded: d.Reason == retry.Succeeded,
			Reason:    int(d.Reason),
			Drawn:     d.Reason.Drew(),
			Draw:      d.Draw,
		})
	}
}

func (l *ledger) recordSent(attempt int) {
	l.attempts++
	l.cfg.Recorder.Sent(uint32(l.id), record.Sent{
		Attempt: attempt,
		Due:     l.due,
		At:      l.sentAt,
		Hedge:   l.hedge,
		Early:   l.hinted && l.sentAt < l.due,
	})
}

func (l *ledger) recordLost(how int) {
	l.lost++
	l.cfg.Recorder.Lost(uint32(l.id), how)
}
