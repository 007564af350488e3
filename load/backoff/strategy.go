// Package backoff holds the formulas that say how long a client waits before a retry.
//
// # Index
//
// The retry index k is 0 for the first retry, that is, for the second attempt. Published
// snippets disagree: half of them begin with the base delay (exponent 0), half with twice
// the base (exponent 1). Params.FirstExponent chooses; the step of the schedule is
// n = k + FirstExponent in every formula here, and FirstCeiling tells what came of it.
//
// # Words of the formulas
//
// b, m and cap are Params.Base, Multiplier and Cap. U[x, y) is one uniform draw. The
// ceiling is c = min(cap, b*m^n) where a strategy does not say otherwise. All arithmetic
// is in whole nanoseconds, saturates at the longest time.Duration instead of overflowing,
// and never truncates to a coarser unit: a lattice of 1 ms would be a convoy of its own.
//
// # Cap modes
//
// "Jitter the cap" has four meanings, and CapMode never guesses among them; each
// strategy says what it does where one of them does not apply. Where the jitter reaches
// above the ceiling (fixed, fixed-up, proportional, additive), CapCeiling caps first and
// so lets a delay pass the cap by the jitter's share, as gRPC and cenkalti/backoff do;
// CapClamp does not, and piles clients up on the cap instead, as Kafka and resilience4j do.
//
// # Where this differs from what is published
//
// The two published decorrelated formulas differ (29 % of one's delays sit exactly on the
// cap, none of the other's): Decorrelated is either, by cap mode. A fixed cap does not make
// a spread fleet meet again, it freezes whatever spread there is and repeats it every cap:
// Entry.Period and Entry.PeriodFrom say where to look. Exponent jitter is blamed for delays
// out of order (a wait at k = 2 beats one at k = 4 in 25 % of the pairs), but full jitter
// has them too (12.5 %); its real faults are others, see Exponent. A whole-millisecond
// conversion in published Go code makes means 0.5 ms low; it is not copied.
//
// The package knows no clock and no random source but the one it is handed.
package backoff

import (
	"math/rand/v2"
	"time"
)

// A Strategy says how long a client waits before a retry.
//
// Delay returns the planned sleep before the retry described by a: at least 0, within
// Range, and drawn from r. It allocates nothing. It keeps no state of its own, so one
// Strategy serves any number of clients at once, each with its own r (which is not safe
// for concurrent use) and its own Attempt.
type Strategy interface {
	Delay(r *rand.Rand, a Attempt) time.Duration
}

// An Attempt tells a Strategy which retry of an operation is planned, and carries what the
// strategy keeps between the delays of one operation.
type Attempt struct {
	// Retry is the retry index k: 0 before the first retry. Negative is a bug and panics.
	Retry int
	// Prev is the delay that the strategy returned before the retry before this one, also
	// where something else (a server's hint) decided the sleep. Zero before the first.
	Prev time.Duration
	// Carry is one number that a strategy may keep. The caller sets it to 0 when an
	// operation begins and passes the same pointer for each of its delays. Polly needs
	// it and panics without; no other strategy touches it.
	Carry *float64
}

// A Ranged is a Strategy that can say what it may return. Every strategy of Table is one.
type Ranged interface {
	Strategy
	// Range returns the least and the greatest delay that Delay may return for a, both
	// included: tight to the nanosecond, or to 1e-15 of it where the formula needs
	// floating point. Of a only Retry and Prev are read. Where Retry is above 0 and Prev
	// is 0 the range holds for every possible Prev.
	Range(a Attempt) (lo, hi time.Duration)
	// Ceiling returns the delay the schedule has reached at retry index k before any
	// jitter, capped. It never falls as k grows.
	Ceiling(k int) time.Duration
}

// Jittered reports whether the delay of s for a is random: whether its range is wider than
// one point. A jittered strategy may still have exact delays, such as the first of Exponent
// and all at an unjittered cap. Of a only Retry and Prev are read. It allocates nothing.
func Jittered(s Ranged, a Attempt) bool {
	lo, hi := s.Range(a)
	return lo < hi
}
