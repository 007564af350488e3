// Package budget bounds how many retries there may be, whoever asks for them. It is pure: time
// and chance arrive as arguments, and equal calls give equal answers.
//
// An Account belongs to one client or to a whole fleet, and is told what happens to every
// operation under it, which keeps one Ticket:
//
//	a.Admit(now, most, &t)     // may an attempt that is due leave, and when? (two kinds only)
//	a.Leave(now, &t)           // the first attempt leaves
//	for a.Ask(now, o, &t) {    // it failed as o says: may there be a retry?
//		a.Leave(now, &t)       // there may, and after its sleep it leaves
//	}                          // there may not: the operation has ended
//	a.End(now, o, &t)          // or it succeeded, or gave up without asking
//	a.Cancel(now, &t)          // or the run ended first
//	a.Bar(now, &t)             // in place of Leave: something else, such as a breaker, does not let it out
//
// A retry that was allowed counts from the answer on, asleep or not: clients that fail
// together and sleep together cannot all slip through. One that is cancelled in its sleep, or
// that a circuit breaker does not let out, gives back what it took: budgets are of what the target gets.
// For the same reason a first attempt that is not let out pays nothing in. The retry after it is asked for as any other.
//
// How a kind of budget counts is a rule; Table has one row for each.
package budget

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// A Kind names a rule. The zero Kind is None.
type Kind uint8

// The kinds.
const (
	None        Kind = iota // every retry is allowed
	Finagle                 // retries for a share of the first attempts of a sliding window
	Envoy                   // a share of the operations under way may be retries
	AWS                     // retries for tokens that successes bring back, the quota of 2026
	AWSLegacy               // the quota before it
	AWSAdaptive             // AWS, and attempts that wait for tokens once the target said that it is asked too often
	GRPC                    // no retries while failures outweigh successes
	SRE                     // attempts rejected by chance as the target accepts less than it is asked
	KindCount
)

// Table has one row for each Kind, indexed by it.
var Table = [KindCount]struct {
	Name     string
	Defaults Config
	chance   bool // new needs a stream
	new      func(Config, *rand.Rand) rule
}{
	None: {Name: "none"},
	Finagle: {
		Name:     "finagle",
		Defaults: Config{Kind: Finagle, Ratio: 0.2, Min: 10, TTL: 10 * time.Second},
		new:      func(c Config, _ *rand.Rand) rule { return newFinagle(c) },
	},
	Envoy: {
		Name:     "envoy",
		Defaults: Config{Kind: Envoy, Ratio: 0.2, Min: 3, Shared: true},
		new:      func(c Config, _ *rand.Rand) rule { return newEnvoy(c) },
	},
	AWS: {
		Name:     "aws",
		Defaults: Config{Kind: AWS, Size: 500, Cost: 14, CostThrottled: 5, Credit: 1},
		new:      func(c Config, _ *rand.Rand) rule { return newQuota(c) },
	},
	AWSLegacy: {
		Name:     "aws-legacy",
		Defaults: Config{Kind: AWSLegacy, Size: 500, Cost: 5, CostTimeout: 10, Credit: 1},
		new:      func(c Config, _ *rand.Rand) rule { return newQuota(c) },
	},
	AWSAdaptive: {
		Name:     "aws-adaptive",
		Defaults: Config{Kind: AWSAdaptive, Size: 500, Cost: 14, CostThrottled: 5, Credit: 1},
		new:      func(c Config, _ *rand.Rand) rule { return newAdaptive(c) },
	},
	GRPC: {
		Name:     "grpc",
		Defaults: Config{Kind: GRPC, Size: 10, Ratio: 0.1},
		new:      func(c Config, _ *rand.Rand) rule { return newGRPC(c) },
	},
	SRE: {
		Name:     "sre",
		Defaults: Config{Kind: SRE, TTL: 2 * time.Minute, K: 2, Ratio: 1},
		chance:   true,
		new:      func(c Config, chance *rand.Rand) rule { return newSRE(c, chance) },
	},
}

// String returns the kind's name, as in a plan.
func (k Kind) String() string {
	if k >= KindCount {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return Table[k].Name
}

// A rule is how one kind counts. now never goes back. Not safe for concurrent use.
type rule interface {
	// note tells what needs no permission. o is read where something was answered.
	note(now time.Duration, e event, o Outcome, t *Ticket)
	// take asks for a retry after o, and may keep a mark in the ticket for its return.
	take(now time.Duration, o Outcome, t *Ticket) bool
	// balance is how many retries it would certainly allow at now, each after an attempt that
	// Failed, if nothing else happened. 0 or more.
	balance(now time.Duration) int64
}

// A gate is a rule that is asked before each attempt leaves, too.
type gate interface {
	// admit returns how long an attempt has to wait before it may leave; below 0 it may not leave at all. Where it has to wait
	// for most or longer it takes nothing. Retries have been allowed already, and may always leave.
	admit(now, most time.Duration, t *Ticket) (wait time.Duration)
}

// An event is what a rule is told of.
type event uint8

const (
	opened   event = iota // a first attempt has left
	blocked               // one was not let out by something else, and its operation goes on
	returned              // a retry will not leave
	answered              // the attempt under way has its outcome; the ticket says which it was
	dropped               // the attempt under way was broken off without one
	closed                // an operation has ended, after its last attempt
)

// A Ticket is an account's knowledge of one operation, in four bytes. The zero Ticket is one that has
// not begun, and what every operation ends with.
type Ticket struct{ bits uint32 } // the state, and above it the rule's mark

const (
	stateBits = 3
	stateMask = 1<<stateBits - 1
)

func (t *Ticket) state() state { return state(t.bits & stateMask) }

func (t *Ticket) become(s state) { t.bits = t.bits&^stateMask | uint32(s) }

// mark is what the rule keeps of the operation.
func (t *Ticket) mark() int64 { return int64(t.bits >> stateBits) }

// keep sets the mark, 0..2^29-1.
func (t *Ticket) keep(mark int64) { t.bits = uint32(mark)<<stateBits | t.bits&stateMask }

type state uint8

const (
	idle     state = iota // no attempt has left
	first                 // the first attempt has
	asleep                // a retry is allowed, and has not left
	retrying              // it has
	waiting               // the attempt has its outcome, and copies of it are under way
	barred                // what was to leave was not let out by something else
)
