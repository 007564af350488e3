// Package retry decides whether a failed operation is tried again, and when. It is the one
// state machine of both engines: time and chance arrive as arguments, it knows no clock,
// starts no goroutine and allocates nothing while it decides.
//
//	var c retry.Client
//	c.Init(&policy, backoffStream, hintStream)
//	c.Begin(now)
//	for {
//		c.Leave(now) // for a budget, if there is one
//		outcome, now = send(c.AttemptTimeout(now))
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
	"fmt"
	"math/rand/v2"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry/budget"
)

// A Client keeps one operation after another within a Policy. It takes 80 bytes and may be
// an element of a slice; it may be copied between operations, but then the copies share
// their streams and their budget. The zero Client is ready for Init only.
//
// Not safe for concurrent use.
type Client struct {
	policy  *Policy
	backoff *rand.Rand
	hint    *rand.Rand
	account *budget.Account // nil: every retry is allowed

	begun   time.Duration // when the first attempt of this operation was due
	prev    time.Duration // the strategy's previous draw of this operation
	carry   float64       // the strategy's own, see backoff.Attempt
	attempt int           // number of the attempt under way, 0 first; so also the next retry's index k
	ticket  budget.Ticket // of this operation, for account
	status  int32         // of the last outcome
	kind    Kind          // of the last outcome
	open    bool          // between Begin and the decision that ends the operation
}

// Init makes c ready for its first Begin. The policy must be without faults. The streams
// must be c's alone. The strategy draws from backoffRand for every planned delay, whatever
// the server said; hintRand is drawn from only to spread a hint by a RetryAfterJitter above
// zero, and may be nil where there is none.
func (c *Client) Init(p *Policy, backoffRand, hintRand *rand.Rand) {
	*c = Client{policy: p, backoff: backoffRand, hint: hintRand}
}

// Under makes c ask an account before each retry, from the next Begin on; nil is none. The
// account may be shared with other clients.
func (c *Client) Under(a *budget.Account) { c.account = a }

// Begin starts an operation whose first attempt is due now. One that was under way is
// cancelled.
func (c *Client) Begin(now time.Duration) {
	c.Cancel(now)
	*c = Client{policy: c.policy, backoff: c.backoff, hint: c.hint, account: c.account, begun: now, open: true}
}

// Leave says that the attempt under way leaves now. Under an account it must be called once
// for every attempt before its outcome is decided: it is what pays for retries. Without one it
// does nothing.
func (c *Client) Leave(now time.Duration) {
	if c.account != nil {
		c.account.Leave(now, &c.ticket)
	}
}

// Cancel breaks off the operation under way, if there is one, because its run ends. A retry
// that has not left gives back what it took from the budget.
func (c *Client) Cancel(now time.Duration) {
	if c.open && c.account != nil {
		c.account.Cancel(now, &c.ticket)
	}
	c.open = false
}

// Attempt returns the number of the attempt under way, or of the last one: 0 is the first
// attempt, n the retry with index n-1.
func (c *Client) Attempt() int { return c.attempt }

// Last returns the outcome that was decided last in this operation, without its hint. It
// stays until the next Begin, so that the end of an operation can be reported with what
// the target said. The zero Outcome where there was none.
func (c *Client) Last() Outcome { return Outcome{Kind: c.kind, Status: int(c.status)} }

// Elapsed returns the time since Begin, never below 0.
func (c *Client) Elapsed(now time.Duration) time.Duration { return max(now-c.begun, 0) }

// TimeLeft returns the time from now to the end of the operation's MaxElapsed, 0 from there
// on, NoLimit where there is no such end.
func (c *Client) TimeLeft(now time.Duration) time.Duration {
	if c.policy.MaxElapsed == 0 {
		return NoLimit
	}
	return max(c.policy.MaxElapsed-c.Elapsed(now), 0)
}

// AttemptTimeout returns how long an attempt that starts now may take: the smaller of
// Timeout and TimeLeft, 0..NoLimit. 0 means that now is too late to start it at all, which
// happens to an engine that woke up late and never to a moment that Decide planned.
func (c *Client) AttemptTimeout(now time.Duration) time.Duration {
	left := c.TimeLeft(now)
	if c.policy.Timeout == 0 {
		return left
	}
	return min(c.policy.Timeout, left)
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
	if !c.open {
		panic("retry: BUG: Decide without an operation under way")
	}
	c.kind, c.status = o.Kind, int32(o.Status)
	p := c.policy

	switch p.RetryOn.Classify(o) {
	case Success:
		return c.end(now, Succeeded)
	case Final:
		return c.end(now, NotRetryable)
	}
	if !p.repeatable(o) {
		return c.end(now, NotIdempotent)
	}
	if p.MaxRetries != Unlimited && c.attempt >= p.MaxRetries {
		return c.end(now, MaxRetries)
	}
	d := c.delay(p.floor(o))
	if p.MaxElapsed != 0 && d.Delay >= c.TimeLeft(now) {
		return c.end(now, MaxElapsed)
	}
	if c.account != nil && !c.account.Ask(now, &c.ticket) {
		c.open = false // and the account knows
		return Decision{Reason: RefusedByBudget}
	}
	c.attempt++
	c.prev = d.Draw
	return d
}

// delay plans the sleep before the next retry, at least floor, by the rule of
// Policy.RetryAfterJitter.
func (c *Client) delay(floor time.Duration) Decision {
	p := c.policy
	a := backoff.Attempt{Retry: c.attempt, Prev: c.prev, Carry: &c.carry}
	draw := p.Strategy.Delay(c.backoff, a)
	if draw < 0 {
		panic(fmt.Sprintf("retry: BUG: strategy %T gave a delay of %v", p.Strategy, draw))
	}
	draw = min(draw, NoLimit)

	delay := draw
	switch {
	case floor == 0:
	case p.RetryAfterJitter > 0:
		delay = floor + time.Duration(c.hint.Int64N(int64(p.RetryAfterJitter)))
	case p.RetryAfterJitter == 0:
		delay = floor
	case backoff.Jittered(p.Strategy, a):
		delay = floor + draw
	default:
		delay = max(floor, draw)
	}
	return Decision{
		Retry:  true,
		Delay:  min(delay, NoLimit),
		Draw:   draw,
		Hinted: floor > 0 && (p.RetryAfterJitter >= 0 || delay != draw),
	}
}

// end closes the operation.
func (c *Client) end(now time.Duration, r Reason) Decision {
	c.open = false
	if c.account != nil {
		c.account.End(now, &c.ticket)
	}
	return Decision{Reason: r}
}
