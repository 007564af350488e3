package breaker

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Kind names a rule by which a closed breaker opens. The zero Kind is None.
type Kind uint8

// The kinds.
const (
	None         Kind = iota // nothing is broken
	Consecutive              // so many failures in a row open
	Rate                     // a share of the outcomes of a window opens
	GoBreaker                // Consecutive, as sony/gobreaker ships it
	Resilience4j             // Rate, as resilience4j ships it, whose probes are judged together
	Polly                    // Rate, as Polly ships it
	KindCount
)

// Table has one row for each Kind, indexed by it.
var Table = [KindCount]struct {
	Name     string
	Defaults Config
	// Rates says that Share, Calls and a window count, and otherwise Failures does.
	Rates     bool
	judged    bool // the probes of a half-open breaker are judged by Share once all have their outcome
	onFailure bool // a success never opens, even where the failures before it suffice once it is counted
}{
	None:        {Name: "none"},
	Consecutive: {Name: "consecutive", Defaults: Config{Kind: Consecutive, Failures: 5, Open: time.Minute, Probes: 1, Successes: 1}},
	Rate: {
		Name:     "rate",
		Defaults: Config{Kind: Rate, Share: 0.5, Calls: 20, Window: 10 * time.Second, Open: time.Minute, Probes: 1, Successes: 1},
		Rates:    true,
	},
	GoBreaker: {Name: "gobreaker", Defaults: Config{Kind: GoBreaker, Failures: 6, Open: time.Minute, Probes: 1, Successes: 1}},
	Resilience4j: {
		Name:     "resilience4j",
		Defaults: Config{Kind: Resilience4j, Share: 0.5, Calls: 100, Last: 100, Open: time.Minute, Probes: 10},
		Rates:    true, judged: true,
	},
	Polly: {
		Name:     "polly",
		Defaults: Config{Kind: Polly, Share: 0.1, Calls: 100, Window: 30 * time.Second, Open: 5 * time.Second, Probes: 1, Successes: 1},
		Rates:    true, onFailure: true,
	},
}

// Judges reports whether the probes of kind k are judged together, by Share; otherwise so many successes close and any
// failure opens.
func (k Kind) Judges() bool { return k < KindCount && Table[k].judged }

// String returns the kind's name, as in a plan.
func (k Kind) String() string {
	if k >= KindCount {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return Table[k].Name
}

// Bounds of a Config. ShareParts makes every share a whole number of parts, with which breakers compute, so that none
// depends on how a binary number was rounded.
const (
	ShareParts = 10_000_000 // 0.00001 %
	ShareMin   = 1.0 / ShareParts
	CountMax   = 1_000_000 // of Failures, Calls, Probes and Successes
	LastMax    = 1000      // outcomes that are remembered one by one
	WindowMin  = time.Second
	WindowMax  = time.Hour
	OpenMin    = time.Millisecond
	OpenMax    = 24 * time.Hour
)

// A Config says when a breaker opens and closes. Fields that its kind does not read are zero. The zero Config is no
// breaker.
type Config struct {
	Kind Kind
	// Failures is how many in a row open. 1..CountMax.
	Failures int
	// Share is the least share of failures that opens, of a window with at least so many Calls. ShareMin..1, at most seven
	// decimals; 1..CountMax.
	Share float64
	Calls int
	// The window is of the Last outcomes, 1..LastMax and no fewer than Calls; or else of what ended in the last Window, whole
	// seconds, WindowMin..WindowMax.
	Last   int
	Window time.Duration
	// Open is how long an open breaker refuses everything, OpenMin..OpenMax. Each time it is drawn from
	// [Open, Open*(1+JitterShare)): never shorter, for a shorter one probes earlier than whoever set it wished. JitterShare is
	// 0..1, at most seven decimals.
	Open        time.Duration
	JitterShare float64
	// Probes is how many attempts at a time a half-open breaker lets through, Successes how many of them close it.
	// 1..CountMax. Where Kind.Judges, it lets through Probes in all, and their share of failures decides.
	Probes, Successes int
	// Shared makes one breaker for the whole fleet; false is one for each client.
	Shared bool
}

// Validate returns every fault of c.
func (c Config) Validate() []error {
	var faults []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			faults = append(faults, fmt.Errorf("breaker: %s = %v, want %s", field, got, want))
		}
	}
	inCount := func(n int, field string) {
		check(n >= 1 && n <= CountMax, field, n, fmt.Sprintf("1..%d", CountMax))
	}
	if c.Kind >= KindCount {
		check(false, "kind", c.Kind, "a kind of the table")
		return faults
	}
	read := Config{Kind: c.Kind} // and the fields that the kind reads
	if c.Kind != None {
		read.Open, read.JitterShare, read.Probes, read.Shared = c.Open, c.JitterShare, c.Probes, c.Shared
		check(c.Open >= OpenMin && c.Open <= OpenMax, "open", c.Open, "1ms..24h")
		check(c.JitterShare >= 0 && c.JitterShare <= 1 && whole(c.JitterShare), "jitter", c.JitterShare, "0..1, at most seven decimals")
		inCount(c.Probes, "probes")
		if !c.Kind.Judges() {
			read.Successes = c.Successes
			inCount(c.Successes, "successes")
		}
	}
	switch {
	case c.Kind == None:
	case !Table[c.Kind].Rates:
		read.Failures = c.Failures
		inCount(c.Failures, "failures")
	default:
		read.Share, read.Calls = c.Share, c.Calls
		check(c.Share >= ShareMin && c.Share <= 1 && whole(c.Share), "share", c.Share, "1e-7..1, at most seven decimals")
		inCount(c.Calls, "calls")
		if c.Last > 0 {
			read.Last = c.Last
			check(c.Last >= c.Calls && c.Last <= LastMax, "window", c.Last, fmt.Sprintf("%d..%d outcomes, no fewer than calls", c.Calls, LastMax))
			break
		}
		read.Window = c.Window
		check(c.Window >= WindowMin && c.Window <= WindowMax && c.Window%time.Second == 0, "window", c.Window, "whole seconds, 1s..1h")
	}
	if len(faults) == 0 { // a number that is none equals nothing
		check(c == read, c.Kind.String(), fmt.Sprintf("%+v", c), "no numbers that it does not read")
	}
	return faults
}

// whole reports whether a share is a whole number of parts.
func whole(share float64) bool { return share == math.Round(share*ShareParts)/ShareParts }

// parts is Share in ShareParts.
func (c *Config) parts() int64 { return int64(math.Round(c.Share * ShareParts)) }

// spread is the width of the draw of an open time; 0 is none.
func (c *Config) spread() time.Duration {
	parts := int64(math.Round(c.JitterShare * ShareParts))
	return time.Duration(int64(c.Open)/ShareParts*parts) + time.Duration(int64(c.Open)%ShareParts*parts/ShareParts)
}
