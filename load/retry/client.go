// Package retry decides whether a failed operation is tried again, and when. It is the one
// state machine of both engines: time and chance arrive as arguments, it knows no clock,
// starts no goroutine and allocates nothing while it decides.
//
//	var c retry.Client
//	c.Init(&policy, backoffStream, hintStream)
//	c.Begin(now)
//	for {
//		a := c.Admit(now) // for a breaker or a throttle, if there is one
//		now = sleep(now + a.Wait)
//		if outcome = (Outcome{Kind: ShortCircuited}); !a.Refused {
//			c.Leave(now) // for a budget, if there is one
//			outcome, now = send(c.AttemptTimeout(now))
//		}
//		d := c.Decide(now, outcome)
//		if !d.Retry {
//			break // d.Reason says why, c.Last with what
//		}
//		now = sleep(now + d.Delay)
//	}
//
// What is worth a retry stands in one table at Set.Classify, what Retry-After does to a
// delay at Policy.RetryAfterJitter, and the order of all checks in Client.Decide.
package retry

import (
	"math/rand/v2"
	"time"

	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
)

// A Client keeps one operation after another within a Policy. It takes 80 bytes and may be
// an element of a slice; it may be copied between operations, but then the copies share
// their streams and their budget. The zero Client is ready for Init only.
//
// Not safe for concurrent use.
type Client struct {
	judge Judge
	state State
}

// Init makes c ready for its first Begin. The policy must be without faults. The streams
// must be c's alone. The strategy draws from backoffRand for every planned delay, whatever
// the server said; hintRand is drawn from only to spread a hint by a RetryAfterJitter above
// zero, and may be nil where there is none.
func (c *Client) Init(p *Policy, backoffRand, hintRand *rand.Rand) {
	*c = Client{}
	c.judge.Init(p, backoffRand, hintRand)
}

// Under makes c ask an account before each retry, from the next Begin on; nil is none. The
// account may be shared with other clients.
func (c *Client) Under(a *budget.Account) { c.judge.Under(a) }

// Behind makes c ask a breaker before each attempt, from the next Begin on; nil is none. The breaker may be shared with
// other clients.
func (c *Client) Behind(b *breaker.Breaker) { c.judge.Behind(b) }

// Begin starts an operation whose first attempt is due now. One that was under way is
// cancelled.
func (c *Client) Begin(now time.Duration) { c.judge.Begin(&c.state, now) }

// Leave says that the attempt under way leaves now. Under an account it must be called once
// for every attempt before its outcome is decided: it is what pays for retries. Without one it
// does nothing.
func (c *Client) Leave(now time.Duration) { c.judge.Leave(&c.state, now) }

// Cancel breaks off the operation under way, if there is one, because its run ends. A retry
// that has not left gives back what it took from the budget.
func (c *Client) Cancel(now time.Duration) { c.judge.Cancel(&c.state, now) }

// Attempt returns the number of the attempt under way, or of the last one: 0 is the first
// attempt, n the retry with index n-1.
func (c *Client) Attempt() int { return c.state.Attempt() }

// Last returns the outcome that was decided last in this operation, without its hint. It
// stays until the next Begin, so that the end of an operation can be reported with what
// the target said. The zero Outcome where there was none.
func (c *Client) Last() Outcome { return c.state.Last() }

// Elapsed returns the time since Begin, never below 0.
func (c *Client) Elapsed(now time.Duration) time.Duration { return c.state.Elapsed(now) }

// TimeLeft returns the time from now to the end of the operation's MaxElapsed, 0 from there
// on, NoLimit where there is no such end.
func (c *Client) TimeLeft(now time.Duration) time.Duration { return c.judge.timeLeft(&c.state, now) }

// AttemptTimeout returns how long an attempt that starts now may take: the smaller of
// Timeout and TimeLeft, 0..NoLimit. 0 means that now is too late to start it at all, which
// happens to an engine that woke up late and never to a moment that Decide planned.
func (c *Client) AttemptTimeout(now time.Duration) time.Duration {
	return c.judge.AttemptTimeout(&c.state, now)
}

// Decide says what follows the outcome o of the attempt under way, which was known at now.
// Where it says Retry the retry is counted: the next attempt is under way, due at
// now+Delay. Everything is decided before the sleep: nobody sleeps towards a retry that is
// already forbidden, and the budget is asked last, so that it pays for no retry that another
// limit forbids. Equal arguments and streams, and an account in an equal state, give equal
// decisions.
//
// A hint changes the delay, and thereby what MaxElapsed allows, but no draw: the strategy
// sees its own previous draw and never the server's floor.
func (c *Client) Decide(now time.Duration, o Outcome) Decision {
	return c.judge.Decide(&c.state, now, o)
}
