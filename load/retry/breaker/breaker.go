// Package breaker is the circuit breaker: it stops asking a target that fails, waits, and lets a few probes find out
// whether it is back. It is pure: time and chance arrive as arguments, and equal calls give equal answers.
//
// A Breaker belongs to one client or to a whole fleet. It is asked before every attempt, first or retry, and told of
// every outcome; what it knows of an attempt is in a Ticket:
//
//	if !b.Allow(now, &t) { ... }   // the attempt is not sent
//	b.Report(now, failed, &t)      // it was, and has ended
//	b.Cancel(now, &t)              // or its client went away
//
// Closed, it lets everything through and counts outcomes, until its kind says that the target fails. Then it is open
// and refuses everything for Config.Open. After that it is half-open: at most Config.Probes attempts at a time are let
// through, and what becomes of them closes it, or opens it again.
//
// Who waits to be asked is not known: a breaker whose open time is over is half-open from the first attempt on
// that comes then. An outcome counts in the state that let its attempt through and in no later one.
// Source: the domain reference, 3.8; sony/gobreaker 2.4.0, resilience4j 2.4.0 and Polly 8.7.0 are its named kinds.
package breaker

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A Ledger is what a breaker has done.
type Ledger struct {
	Opened         int64 // from closed
	Reopened       int64 // from half-open
	Closed         int64 // from half-open
	Probes         int64 // attempts let through while half-open
	ShortCircuited int64 // attempts refused
	OpenAtEnd      int64 // breakers that were open or half-open
	// OpenFor is how long it was open or half-open, from each opening to the closing after it, or the end.
	OpenFor time.Duration
}

// A Ticket is a breaker's knowledge of one attempt. The zero Ticket is of one that was not let through, and what
// every attempt ends with.
type Ticket struct{ period uint32 }

type state uint8

const (
	closed state = iota
	open
	halfOpen
)

// A Breaker is one circuit breaker. Safe for concurrent use; no method allocates. Where callers on several
// goroutines bring moments out of order, a moment before the latest counts as the latest.
//
// A ticket must be handed to one breaker only, by one goroutine at a time.
type Breaker struct {
	config *Config
	parts  int64 // of the share that opens it, in ShareParts

	mu     sync.Mutex
	chance *rand.Rand // nil: open times are not jittered
	counts window     // nil: failures in a row alone count
	now    time.Duration
	opened time.Duration // when it was last opened from closed
	until  time.Duration // the end of the open time
	// period numbers the stretches between two changes of state, from 1.
	period   uint32
	state    state
	row      int32 // failures in a row while closed
	underway int32 // probes
	passed   int32 // probes of this period that succeeded
	failed   int32 // and that failed
	ledger   Ledger
}

func (b *Breaker) init(c *Config, chance *rand.Rand, counts window) {
	b.config, b.chance, b.counts, b.parts, b.period = c, chance, counts, c.parts(), 1
}

// Allow reports whether an attempt may leave now.
func (b *Breaker) Allow(now time.Duration, t *Ticket) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.period != 0 {
		panic("breaker: BUG: an attempt asks before the one before it has its outcome")
	}
	b.now = max(b.now, now)
	if b.state == open && b.now >= b.until {
		b.become(halfOpen)
	}
	switch {
	case b.state == closed:
	case b.state == open || !b.spare():
		b.ledger.ShortCircuited++
		return false
	default:
		b.underway++
		b.ledger.Probes++
	}
	t.period = b.period
	return true
}

// spare reports whether there may be one more probe. Of those that are judged together there are no more than
// are judged. The caller holds mu, as for all that follow.
func (b *Breaker) spare() bool {
	probes := b.underway
	if b.judged() {
		probes += b.passed + b.failed
	}
	return probes < int32(b.config.Probes)
}

// judged reports whether the probes are judged by their share of failures.
func (b *Breaker) judged() bool { return Table[b.config.Kind].judged }

// Report tells how an attempt that was let through has ended. failed says that a retry would be worth it.
func (b *Breaker) Report(now time.Duration, failed bool, t *Ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = max(b.now, now)
	mine := t.period == b.period
	*t = Ticket{}
	switch {
	case !mine: // it was let through by a state that has ended
	case b.state == closed:
		if b.trips(failed) {
			b.ledger.Opened++
			b.opened = b.now
			b.open()
		}
	default: // no attempt is let through by an open one
		b.underway--
		b.probed(failed)
	}
}

// trips counts an outcome, and reports whether the breaker opens.
func (b *Breaker) trips(failed bool) bool {
	if b.counts == nil {
		if !failed {
			b.row = 0
			return false
		}
		b.row++
		return int(b.row) >= b.config.Failures
	}
	b.counts.add(b.now, failed)
	if !failed && Table[b.config.Kind].onFailure {
		return false
	}
	calls, failures := b.counts.sum()
	return calls >= int64(b.config.Calls) && b.tooMany(failures, calls)
}

// tooMany reports whether failures are the share of calls that opens.
func (b *Breaker) tooMany(failures, calls int64) bool {
	return failures*ShareParts >= b.parts*calls
}

// probed counts the outcome of a probe.
func (b *Breaker) probed(failed bool) {
	if failed {
		b.failed++
	} else {
		b.passed++
	}
	reopens, closes := failed, int(b.passed) >= b.config.Successes
	if b.judged() {
		all := b.passed + b.failed
		enough := int(all) >= b.config.Probes
		reopens = enough && b.tooMany(int64(b.failed), int64(all))
		closes = enough && !reopens
	}
	switch {
	case reopens:
		b.ledger.Reopened++
		b.open()
	case closes:
		b.ledger.Closed++
		b.ledger.OpenFor += b.now - b.opened
		b.become(closed)
	}
}

// open begins an open time.
func (b *Breaker) open() {
	b.until = b.now + b.config.Open
	if spread := b.config.spread(); spread > 0 {
		b.until += time.Duration(b.chance.Int64N(int64(spread)))
	}
	b.become(open)
}

// become changes the state. What was counted in the one before does not count any more.
func (b *Breaker) become(s state) {
	b.state = s
	b.period++
	b.row, b.underway, b.passed, b.failed = 0, 0, 0, 0
	if b.counts != nil && s == closed {
		b.counts.clear()
	}
}

// Cancel tells that the client of an attempt went away before its outcome: a probe that it had is another's to have. It
// does nothing for an attempt that was not let through.
func (b *Breaker) Cancel(now time.Duration, t *Ticket) {
	if t.period == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = max(b.now, now)
	if t.period == b.period && b.state == halfOpen {
		b.underway--
	}
	*t = Ticket{}
}

// Ledger returns what the breaker has done until end.
func (b *Breaker) Ledger(end time.Duration) Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ledger
	if b.state != closed {
		l.OpenAtEnd = 1
		l.OpenFor += max(end, b.now) - b.opened
	}
	return l
}
