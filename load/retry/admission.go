package retry

import "time"

// An Admission says whether an attempt that is due may leave. The zero Admission lets it leave now.
type Admission struct {
	// Wait is how long it has to wait first, and then leaves without being asked again: it has what it waited for.
	Wait time.Duration
	// Refused says that it does not leave at all: nothing is sent, and the engine asks Decide what follows
	// the outcome ShortCircuited.
	Refused bool
}

// Admit asks whether the attempt that is due now may leave, and takes what it needs for that. The engine asks it
// once for every attempt and, where it may leave, calls Leave when it does.
//
// Retries are outside the breaker: what it refuses, first attempt or retry, is a try of its operation as any other, counts
// for MaxRetries and lets the delay grow, and is always worth a retry. It costs an account nothing, for nothing was
// sent: see [budget.Account.Bar]. A breaker is asked before a throttle, so that what it refuses takes no token.
//
// A first attempt that the account refuses ends its operation, for Throttled. One that would have to wait until the end
// of MaxElapsed ends it for MaxElapsed, at once.
func (j *Judge) Admit(s *State, now time.Duration) Admission {
	if j.breaker != nil && !j.breaker.Allow(now, &s.pass) {
		if j.account != nil {
			j.account.Bar(now, &s.ticket)
		}
		return Admission{Refused: true}
	}
	if j.account == nil {
		return Admission{}
	}
	left := j.timeLeft(s, now)
	wait, ok := j.account.Admit(now, left, &s.ticket)
	switch {
	case !ok:
		s.stage = throttled
	case wait > 0 && wait >= left:
		s.stage = late
		j.account.Bar(now, &s.ticket)
	default:
		return Admission{Wait: wait}
	}
	if j.breaker != nil {
		j.breaker.Cancel(now, &s.pass)
	}
	return Admission{Refused: true}
}

// Admit is [Judge.Admit].
func (c *Client) Admit(now time.Duration) Admission { return c.judge.Admit(&c.state, now) }
