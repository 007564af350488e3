package retry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
)

// A Judge is what decides for a [State]: a policy, the streams to draw from and an account. An
// engine that is one goroutine keeps one Judge and a State for each of its millions of clients; a
// [Client] is one of each.
//
// Not safe for concurrent use.
type Judge struct {
	policy  *Policy
	backoff *rand.Rand
	hint    *rand.Rand
	account *budget.Account  // nil: every retry is allowed
	breaker *breaker.Breaker // nil: every attempt may leave
}

// A State is how far one client has come with its operation. It takes 40 bytes and holds no
// pointer, so that a collector need not look at it. The zero State has no operation under way.
type State struct {
	begun   time.Duration  // when the first attempt of this operation was due
	prev    time.Duration  // the strategy's previous draw of this operation
	carry   float64        // the strategy's own, see backoff.Attempt
	ticket  budget.Ticket  // of this operation, for the account
	pass    breaker.Ticket // of the attempt under way, for the breaker
	attempt int32          // number of the attempt under way, 0 first; so also the next retry's index k
	status  int16          // of the last outcome
	kind    Kind           // of the last outcome
	stage   stage
}

// A stage says whether an operation is under way, and what became of its attempt before it could leave.
type stage uint8

const (
	over      stage = iota // no operation is under way
	open                   // between Begin and the decision that ends the operation
	throttled              // the account did not let the first attempt out
	late                   // it would have, but not before the end of MaxElapsed
)

// Init is [Client.Init], but that the streams are those of whatever client is decided for.
func (j *Judge) Init(p *Policy, backoffRand, hintRand *rand.Rand) {
	*j = Judge{policy: p, backoff: backoffRand, hint: hintRand}
}

// Under makes j ask an account before each retry. For one State it must be the same account from
// Begin on until the operation has ended.
func (j *Judge) Under(a *budget.Account) { j.account = a }

// Behind makes j ask a breaker before each attempt. For one State it must be the same breaker from Begin on until the
// operation has ended.
func (j *Judge) Behind(b *breaker.Breaker) { j.breaker = b }

// Begin is [Client.Begin].
func (j *Judge) Begin(s *State, now time.Duration) {
	j.Cancel(s, now)
	*s = State{begun: now, stage: open}
}

// BeginWithin is Begin for an operation that has so much time left, and no more, however long MaxElapsed is; that must
// not be 0. Elapsed and TimeLeft are then those of an operation that began so much earlier.
func (j *Judge) BeginWithin(s *State, now, left time.Duration) {
	j.Begin(s, now)
	s.begun = min(s.begun, now+left-j.policy.MaxElapsed)
}

// Leave is [Client.Leave].
func (j *Judge) Leave(s *State, now time.Duration) {
	if j.account != nil {
		j.account.Leave(now, &s.ticket)
	}
}

// Cancel is [Client.Cancel].
func (j *Judge) Cancel(s *State, now time.Duration) {
	if s.stage != over && j.account != nil {
		j.account.Cancel(now, &s.ticket)
	}
	if s.stage != over && j.breaker != nil {
		j.breaker.Cancel(now, &s.pass)
	}
	s.stage = over
}

// Open reports whether an operation is under way.
func (s *State) Open() bool { return s.stage != over }

// Attempt is [Client.Attempt].
func (s *State) Attempt() int { return int(s.attempt) }

// Last is [Client.Last].
func (s *State) Last() Outcome { return Outcome{Kind: s.kind, Status: int(s.status)} }

// Elapsed is [Client.Elapsed].
func (s *State) Elapsed(now time.Duration) time.Duration { return max(now-s.begun, 0) }

// timeLeft is [Client.TimeLeft].
func (j *Judge) timeLeft(s *State, now time.Duration) time.Duration {
	if j.policy.MaxElapsed == 0 {
		return NoLimit
	}
	return max(j.policy.MaxElapsed-s.Elapsed(now), 0)
}

// AttemptTimeout is [Client.AttemptTimeout].
func (j *Judge) AttemptTimeout(s *State, now time.Duration) time.Duration {
	left := j.timeLeft(s, now)
	if j.policy.Timeout == 0 {
		return left
	}
	return min(j.policy.Timeout, left)
}

// Decide is [Client.Decide].
func (j *Judge) Decide(s *State, now time.Duration, o Outcome) Decision {
	if s.stage == over {
		panic("retry: BUG: Decide without an operation under way")
	}
	s.kind, s.status = o.Kind, int16(o.Status)
	p := j.policy

	class := p.RetryOn.classify(o.Kind, o.Status)
	if j.breaker != nil && o.Kind != ShortCircuited {
		j.breaker.Report(now, class == Retryable, &s.pass)
	}
	switch {
	case s.stage == throttled:
		s.stage = over // of which the account knows nothing
		return ended(Throttled)
	case class == Success:
		return j.end(s, now, Succeeded)
	case class == Final:
		return j.end(s, now, NotRetryable)
	}
	if !p.repeatable(o.Kind) {
		return j.end(s, now, NotIdempotent)
	}
	if p.MaxRetries != Unlimited && s.Attempt() >= p.MaxRetries && s.stage != late {
		return j.end(s, now, MaxRetries)
	}
	a := backoff.Attempt{Retry: s.Attempt(), Prev: s.prev, Carry: &s.carry}
	strategy := p.Strategy
	if p.Throttled != nil && o.Kind == Responded && o.Status == statusThrottled {
		strategy = p.Throttled
	}
	draw := strategy.Delay(j.backoff, a)
	if draw < 0 {
		panic(fmt.Sprintf("retry: BUG: strategy %T gave a delay of %v", strategy, draw))
	}
	draw = min(draw, NoLimit)
	delay, hinted := draw, false
	if floor := p.floor(o); floor > 0 {
		delay, hinted = j.honour(floor, a, draw)
	}
	if p.MaxElapsed != 0 && (delay >= j.timeLeft(s, now) || s.stage == late) {
		d := j.end(s, now, MaxElapsed)
		d.Draw = draw
		return d
	}
	if j.account != nil && !j.account.Ask(now, failure(o), &s.ticket) {
		s.stage = over // and the account knows
		d := ended(RefusedByBudget)
		d.Draw = draw
		return d
	}
	if s.attempt < math.MaxInt32 { // which no run lives to see
		s.attempt++
	}
	s.prev = draw
	return Decision{Verdict{Retry: true, Hinted: hinted}, delay, draw}
}

// honour plans the sleep before the next retry, at least floor, which is above 0, by the
// rule of Policy.RetryAfterJitter. hinted says that it is not the draw alone.
func (j *Judge) honour(floor time.Duration, a backoff.Attempt, draw time.Duration) (delay time.Duration, hinted bool) {
	p := j.policy
	switch {
	case p.RetryAfterJitter > 0:
		delay = floor + time.Duration(j.hint.Int64N(int64(p.RetryAfterJitter)))
	case p.RetryAfterJitter == 0:
		delay = floor
	case backoff.Jittered(p.Strategy, a):
		delay = floor + draw
	default:
		delay = max(floor, draw)
	}
	return min(delay, NoLimit), p.RetryAfterJitter >= 0 || delay != draw
}

// end closes the operation.
func (j *Judge) end(s *State, now time.Duration, r Reason) Decision {
	s.stage = over
	if j.account != nil {
		j.account.End(now, s.known(r), &s.ticket)
	}
	return ended(r)
}
