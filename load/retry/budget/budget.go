// Package budget bounds how many retries there may be, whoever asks for them. It is pure:
// time arrives as an argument, and equal calls give equal answers.
//
// An Account belongs to one client or to a whole fleet, and is told what happens to every
// operation under it, which keeps one Ticket:
//
//	a.Leave(now, &t)           // the first attempt leaves
//	for a.Ask(now, &t) {       // it failed: may there be a retry?
//		a.Leave(now, &t)       // there may, and after its sleep it leaves
//	}                          // there may not: the operation has ended
//	a.End(now, &t)             // or it succeeded, or gave up without asking
//	a.Cancel(now, &t)          // or the run ended first
//
// A retry that was allowed counts from the answer on, asleep or not: clients that fail
// together and sleep together cannot all slip through. One that is cancelled in its sleep
// gives back what it took.
//
// How a kind of budget counts is a rule; Table has one row for each.
package budget

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Kind names a rule. The zero Kind is None.
type Kind uint8

// The kinds.
const (
	None    Kind = iota // every retry is allowed
	Finagle             // retries for a share of the first attempts of a sliding window
	Envoy               // a share of the operations under way may be retries
	KindCount
)

// Table has one row for each Kind, indexed by it.
var Table = [KindCount]struct {
	Name     string
	Defaults Config
	new      func(Config) rule
}{
	None: {Name: "none"},
	Finagle: {
		Name:     "finagle",
		Defaults: Config{Kind: Finagle, Ratio: 0.2, Min: 10, TTL: 10 * time.Second},
		new:      func(c Config) rule { return newFinagle(c) },
	},
	Envoy: {
		Name:     "envoy",
		Defaults: Config{Kind: Envoy, Ratio: 0.2, Min: 3, Shared: true},
		new:      func(c Config) rule { return newEnvoy(c) },
	},
}

// String returns the kind's name, as in a plan.
func (k Kind) String() string {
	if k >= KindCount {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return Table[k].Name
}

// Bounds of a Config. RatioParts makes every ratio a whole number of parts, with which the rules
// compute, so that none depends on how a binary number was rounded.
const (
	RatioParts      = 10_000_000 // 0.00001 %
	RatioMin        = 1e-5       // unless 0
	FinagleRatioMax = 1000
	EnvoyRatioMax   = 1
	MinMax          = 1_000_000
	TTLMin          = time.Second
	TTLMax          = 60 * time.Second
)

// A Config is a budget's kind and numbers. Fields that its kind does not read are zero. The
// zero Config is no budget.
type Config struct {
	Kind Kind
	// Ratio is how many retries each first attempt pays for (Finagle), or how many of the
	// operations under way may be retries (Envoy). 0, or RatioMin upwards.
	Ratio float64
	// Min is allowed whatever Ratio says: so many retries a second (Finagle), or at a time
	// (Envoy). 0..MinMax.
	Min int
	// TTL is how long a first attempt pays for retries (Finagle). Whole seconds, TTLMin..TTLMax.
	TTL time.Duration
	// Shared makes one budget for the whole fleet; false is one for each client.
	Shared bool
}

// Validate returns every fault of c.
func (c Config) Validate() []error {
	var faults []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			faults = append(faults, fmt.Errorf("budget: %s = %v, want %s", field, got, want))
		}
	}
	var ratioMax float64
	switch c.Kind {
	case None:
		check(c == Config{}, "none", c, "no numbers")
		return faults
	case Finagle:
		ratioMax = FinagleRatioMax
		check(c.TTL >= TTLMin && c.TTL <= TTLMax && c.TTL%time.Second == 0, "ttl", c.TTL, "whole seconds, 1s..60s")
	case Envoy:
		ratioMax = EnvoyRatioMax
		check(c.TTL == 0, "ttl", c.TTL, "0 with kind envoy")
	default:
		check(false, "kind", c.Kind, "a kind of the table")
		return faults
	}
	inRange := c.Ratio == 0 || c.Ratio >= RatioMin && c.Ratio <= ratioMax
	check(inRange && c.Ratio == float64(c.parts())/RatioParts, "ratio", c.Ratio, "0 or 1e-5.."+
		strconv.FormatFloat(ratioMax, 'f', -1, 64)+", at most seven decimals")
	check(c.Min >= 0 && c.Min <= MinMax, "min", c.Min, "0..1000000")
	return faults
}

// parts is Ratio in RatioParts.
func (c Config) parts() int64 { return int64(math.Round(c.Ratio * RatioParts)) }

// A rule is how one kind counts. now never goes back. Not safe for concurrent use.
type rule interface {
	// note tells what needs no permission.
	note(now time.Duration, e event, t *Ticket)
	// take asks for a retry, and may keep a mark in the ticket for its return.
	take(now time.Duration, t *Ticket) bool
	// balance is how many retries it would allow at now if nothing else happened, 0 or more.
	balance(now time.Duration) int64
}

// An event is what a rule is told of.
type event uint8

const (
	opened   event = iota // a first attempt has left
	returned              // a retry was cancelled before it left
	finished              // a retry has its outcome
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
)
