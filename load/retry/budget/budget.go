// Package budget bounds how many retries there may be, whoever asks for them. It is pure: time
// and chance arrive as arguments, and equal calls give equal answers.
//
// An Account belongs to one client or to a whole fleet, and is told what happens to every
// operation under it, which keeps one Ticket:
//
//	a.Leave(now, &t)           // the first attempt leaves
//	for a.Ask(now, o, &t) {    // it failed as o says: may there be a retry?
//		a.Leave(now, &t)       // there may, and after its sleep it leaves
//	}                          // there may not: the operation has ended
//	a.End(now, o, &t)          // or it succeeded, or gave up without asking
//	a.Cancel(now, &t)          // or the run ended first
//
// A retry that was allowed counts from the answer on, asleep or not: clients that fail
// together and sleep together cannot all slip through. One that is cancelled in its sleep
// gives back what it took.
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
	None      Kind = iota // every retry is allowed
	Finagle               // retries for a share of the first attempts of a sliding window
	Envoy                 // a share of the operations under way may be retries
	AWS                   // retries for tokens that successes bring back, the quota of 2026
	AWSLegacy             // the quota before it
	GRPC                  // no retries while failures outweigh successes
	SRE                   // retries rejected by chance as the target accepts less than it is asked
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
	GRPC: {
		Name:     "grpc",
		Defaults: Config{Kind: GRPC, Size: 10, Ratio: 0.1},
		new:      func(c Config, _ *rand.Rand) rule { return newGRPC(c) },
	},
	SRE: {
		Name:     "sre",
		Defaults: Config{Kind: SRE, TTL: 2 * time.Minute, K: 2},
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

// An event is what a rule is told of.
type event uint8

const (
	opened   event = iota // a first attempt has left
	returned              // a retry was cancelled before it left
	answered              // the attempt under way has its outcome; the ticket says which it was
	dropped               // the attempt under way was broken off without one
	closed                // an operation has ended, after its last attempt
)

// A Ticket is an account's knowledge of one operation. The zero Ticket is one that has not
// begun, and what every operation ends with.
type Ticket struct {
	mark  int32 // the rule's own
	state state
}

type state uint8

const (
	idle     state = iota // no attempt has left
	first                 // the first attempt has
	asleep                // a retry is allowed, and has not left
	retrying              // it has
	waiting               // the attempt has its outcome, and copies of it are under way
)
