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
func (j *Judge) Admit(*State, time.Duration) Admission { return Admission{} }

// Admit is [Judge.Admit].
func (c *Client) Admit(now time.Duration) Admission { return c.judge.Admit(&c.state, now) }
