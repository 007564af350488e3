package retry

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stormtest/load/backoff"
)

const (
	// Unlimited as Policy.MaxRetries sets no limit.
	Unlimited = -1
	// StrategyDraw as Policy.RetryAfterJitter spreads a hint by the strategy's own draw.
	StrategyDraw = time.Duration(-1)
	// NoLimit is the longest time of this package, 146 years: what TimeLeft returns where
	// nothing limits it, and the bound of every delay. It is half of what a Duration
	// holds, so that now+NoLimit does not overflow.
	NoLimit = time.Duration(math.MaxInt64 / 2)
)

// A Policy says when a failed operation is tried again. One Policy serves any number of
// clients; it must not change once one of them has it, and is then safe for concurrent use.
type Policy struct {
	// Strategy gives the delays, and says which of them are exact. Required.
	Strategy backoff.Ranged
	// Throttled gives the delays after an answer 429. Zero: Strategy does.
	Throttled backoff.Ranged

	// MaxRetries bounds the retries of one operation. Zero: none, only the first attempt.
	// Unlimited: no bound.
	MaxRetries int
	// MaxElapsed bounds an operation from its Begin: no retry starts at MaxElapsed or
	// later, and no attempt gets more time than is left. Zero: no bound.
	MaxElapsed time.Duration
	// Timeout bounds one attempt. Zero: no bound but MaxElapsed.
	Timeout time.Duration

	// HonourRetryAfter makes a valid hint of the server a floor under the delay.
	// False: hints are ignored.
	HonourRetryAfter bool
	// RetryAfterJitter is J, how far a hint RA above zero is spread upwards, never down:
	//
	//	StrategyDraw, jittered delay   RA + draw        the usual choice
	//	StrategyDraw, exact delay      max(RA, draw)    see backoff.Jittered
	//	J >= 0                         RA + U[0, J)     whatever the strategy drew
	//
	// Zero: exactly RA, and a fleet that was refused together returns together. J spreads
	// N clients over a target of C per second only from N/C upwards.
	RetryAfterJitter time.Duration

	// Hedge sends copies of the first attempt; see [Hedger]. Zero: none.
	Hedge Hedge

	// RetryOn lists what is retried; see Set.Classify. Zero: nothing. DefaultSet is the
	// usual choice.
	RetryOn Set
	// Method is the HTTP method of the attempts, as it is sent. Zero: GET.
	//
	// Where it is not idempotent (RFC 9110, 9.2.2) only failures to connect are retried,
	// because then the server did no work, unless one of the next two holds.
	Method string
	// IdempotencyKey says that the attempts of one operation carry one key by which the
	// server knows repeats.
	IdempotencyKey bool
	// RetryNonIdempotent says that repeats do no harm, or are meant to.
	RetryNonIdempotent bool
}

// A FieldError names a field of a policy as flags and files spell it, what it held and what
// it may hold.
type FieldError struct{ Field, Got, Want string }

func (e *FieldError) Error() string {
	return fmt.Sprintf("retry: %s = %s, want %s", e.Field, e.Got, e.Want)
}

// Validate returns every fault of p, each a *FieldError; nil where it has none. Clients take
// a Policy without faults only.
func (p *Policy) Validate() []error {
	var faults []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			faults = append(faults, &FieldError{Field: field, Got: fmt.Sprint(got), Want: want})
		}
	}
	inLimit := func(d time.Duration) bool { return d >= 0 && d <= NoLimit }
	times := fmt.Sprintf("0s (no limit) to %v", NoLimit)
	check(p.Strategy != nil, "strategy", "nil", "a strategy")
	check(p.MaxRetries >= Unlimited, "max-retries", p.MaxRetries, "0 or more, or -1 for no limit")
	check(inLimit(p.MaxElapsed), "max-elapsed", p.MaxElapsed, times)
	check(inLimit(p.Timeout), "timeout", p.Timeout, times)
	check(p.Hedge.valid(), "hedge", p.Hedge, fmt.Sprintf("nothing, or 1..%d copies after more than 0s", HedgesMost))
	check(p.RetryAfterJitter <= NoLimit, "retry-after-jitter", p.RetryAfterJitter, fmt.Sprintf("at most %v", NoLimit))
	check(isToken(p.Method), "method", strconv.Quote(p.Method), "letters, digits and !#$%&'*+-.^_`|~")
	return faults
}

// isToken reports whether text holds nothing but the characters of an RFC 9110 token.
// It may be empty.
func isToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return true
}
