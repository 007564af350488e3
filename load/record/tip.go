package record

import (
	"encoding/json"
	"math"
	"time"
)

// TipSchema names the form of a Tip.
const TipSchema = "stormtest.tip/v1"

// What a search for a tipping point came to.
const (
	TipFound    = "tips"             // at one end the service recovers, at the other it does not
	TipRecovers = "always recovers"  // at every value that was tried
	TipStays    = "never recovers"   // at every value that was tried
	TipUnsteady = "tips and returns" // both ends are alike, and something between them is not
	TipUnknown  = "not known"        // the search was broken off before it knew
)

// A Tip is what a search in virtual time found for one number of a plan: from which value on the service does not come
// back after its outage (domain 4.4).
type Tip struct {
	Schema   string          `json:"schema"`
	Tool     Tool            `json:"tool"`
	Plan     json.RawMessage `json:"plan"`
	PlanHash string          `json:"plan_hash"`
	Seed     uint64          `json:"seed"`  // the first
	Seeds    int64           `json:"seeds"` // at each value, the same ones

	Vary      string `json:"vary"`
	From      string `json:"from"`
	To        string `json:"to"`
	Precision string `json:"precision"`

	Outcome string `json:"outcome"`
	// Recovers and Stays are neighbours in Points, at most Precision apart where the search came to its end: at the one more than
	// half of the seeds recover, at the other half of them at most. Nil where there are no such two.
	Recovers *TipPoint `json:"recovers"`
	Stays    *TipPoint `json:"stays_down"`
	// All is the value next to the tip at which every seed recovers, None that at which not one does; nil where there is none
	// on that side. Between them seeds disagree.
	All  *TipPoint `json:"all_recover"`
	None *TipPoint `json:"none_recovers"`
	// Returns says that the values are not in two halves: beyond the tip the service recovers again.
	Returns bool `json:"returns"`

	Points      []TipPoint `json:"points"` // all that were tried, ascending
	Runs        int64      `json:"runs"`   // in virtual time
	Interrupted bool       `json:"interrupted"`
	Notes       []string   `json:"notes"`
	// RealTime are runs in real time beside what virtual time says of them.
	RealTime []TipConfirmed `json:"real_time,omitempty"`
}

// A TipPoint is one value and what became of its seeds.
type TipPoint struct {
	Value string `json:"value"` // as the plan's file and flag take it
	// Load is rate over capacity, of a chain over its smallest, Worst the most attempts that the policy allows for each operation in the long run, LoadWorst
	// their product: above 1 the retries alone can keep the service down. Nil where that is no number.
	Load      *float64 `json:"load"`
	Worst     *float64 `json:"amplification_worst"`
	LoadWorst *float64 `json:"load_times_worst"`

	Seeds     int64 `json:"seeds"`
	Recovered int64 `json:"recovered"` // of these
	// ShareLow and ShareHigh are Wilson's 95 % confidence interval of the share of seeds that recover.
	ShareLow  float64 `json:"share_low"`
	ShareHigh float64 `json:"share_high"`
	// After is how long after the outage the seeds that recovered did; none where none did.
	After Spread `json:"recovered_after_ns"`
	// Watched is how long after the outage's end each seed had for it: RecoveryWatchDefault, or three times Alone.
	Watched time.Duration `json:"watched_ns"`
	// Alone is how long the service takes where nobody retries; nil where that is longer than AloneWatched.
	Alone        *time.Duration `json:"without_retries_ns"`
	AloneWatched time.Duration  `json:"without_retries_watched_ns"`
	// Amplification is of the last minute, mean of the seeds.
	Amplification *float64 `json:"amplification_last_60s"`
	// Before is goodput before the outage over the rate, mean of the seeds: under RecoveryShare the service was not well to
	// begin with.
	Before *float64 `json:"goodput_before_over_rate"`
	// Unstarted is how many operations a seed had, mean, that were due while no client was idle: the fleet was the limit.
	Unstarted float64 `json:"unstarted"`
}

// A TipConfirmed is one run in real time at a value of a Tip.
type TipConfirmed struct {
	Value     string         `json:"value"`
	Predicted bool           `json:"predicted"` // that it recovers
	Seed      uint64         `json:"seed"`
	Recovered *time.Duration `json:"recovered_after_ns"` // nil: not within Watched
	Watched   time.Duration  `json:"watched_ns"`
	Agrees    *bool          `json:"agrees"` // nil: not to be told, see Reasons
	Reasons   []string       `json:"reasons"`
}

// Recovers reports whether more than half of the seeds did.
func (p *TipPoint) Recovers() bool { return 2*p.Recovered > p.Seeds }

// Wilson returns the 95 % confidence interval of a share of which k of n were seen: that of Wilson (1927), which
// keeps its promise also at 0 and at n, and for few. n is at least 1.
func Wilson(k, n int64) (low, high float64) {
	const z = 1.959963984540054 // the normal distribution's 97.5 %
	count, share := float64(n), float64(k)/float64(n)
	square := float64(z*z) / count
	middle := (share + square/2) / (1 + square)
	half := float64(z*math.Sqrt(float64(share*(1-share))/count+square/(4*count))) / (1 + square)
	low, high = max(0, middle-half), min(1, middle+half)
	if k == 0 { // exactly, whatever was rounded
		low = 0
	}
	if k == n {
		high = 1
	}
	return low, high
}
