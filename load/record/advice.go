package record

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// AdviceSchema names the form of an Advice.
const AdviceSchema = "stormtest.advice/v1"

// Advice is what a search in virtual time found for a fleet that fails together: which policies keep the
// wishes, and where none does, which wish is in the way.
type Advice struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	// Situation is the plan that the search began with: clients, target, outage, and the policy of
	// which it changed strategy, base, cap and Retry-After.
	Situation json.RawMessage `json:"situation"`
	Seed      uint64          `json:"seed"`     // of the search: equal seeds give equal advice
	Policies  int64           `json:"policies"` // that were tried
	Runs      int64           `json:"runs"`     // in virtual time

	Sizing Sizing `json:"sizing"`
	Wishes []Wish `json:"wishes"`
	// Met says that Plan keeps every wish.
	Met bool `json:"met"`
	// Obstacles say in words what is in the way, and what can be had; none where Met.
	Obstacles []string `json:"obstacles"`
	// Best are the policies worth a look, where Met the one of Plan first. Current is the user's
	// own beside them, nil where none was given.
	Best    []Advised `json:"best"`
	Current *Advised  `json:"current"`
	// Plan is a scenario file of the first of Best; null unless Met.
	Plan json.RawMessage `json:"plan"`
	// Confirmed are runs in real time beside what was predicted of them.
	Confirmed []Confirmed `json:"confirmed,omitempty"`
}

// Sizing is the rule of thumb beside the search (domain 5.5): a first ceiling of Drain or more spreads the
// first retries within capacity; a shorter one costs log2(Drain / first ceiling) waves above it.
type Sizing struct {
	Clients           int64   `json:"clients"`
	CapacityPerSecond float64 `json:"capacity_per_second"`
	// Drain is clients over capacity: how long the target takes for all of them.
	Drain time.Duration `json:"drain_ns"`
	// Earliest is when the target can have served all clients, whatever their policy; nil for never.
	Earliest *time.Duration `json:"earliest_ns"`
	// FirstCeiling is that of the first of Best, and Waves how many lie above capacity by the rule;
	// nil where a Retry-After decides, or there is none.
	FirstCeiling *time.Duration `json:"first_ceiling_ns"`
	Waves        *int64         `json:"waves"`
}

// The names of wishes, which are also those of the figures that they bound.
const (
	WishCompletion = "completion"
	WishPeak       = "peak_over_capacity_of_retries"
	WishSuccess    = "success_share"
)

// A Wish bounds one figure: success_share from below, the others from above. Durations are in ns.
type Wish struct {
	Name  string  `json:"name"`
	Limit float64 `json:"limit"`
	// Alone is the best that was found when nothing else was wished, WithOthers when all other
	// wishes are kept: the value that 95 % of the seeds kept. nil where it was not looked for, because
	// all wishes can be met, or no value was found.
	Alone      *float64 `json:"alone"`
	WithOthers *float64 `json:"with_others"`
}

// Advised is one policy with its figures over several seeds.
type Advised struct {
	Strategy string        `json:"strategy"`
	Base     time.Duration `json:"base_ns"`
	Cap      time.Duration `json:"cap_ns"`
	// SendRetryAfter is the hint that the target would have to send; 0 is none, -1 the one that it works
	// out itself. RetryAfterJitter is spread above it; -1 is the strategy's own draw.
	SendRetryAfter   time.Duration `json:"send_retry_after_ns"`
	RetryAfterJitter time.Duration `json:"retry_after_jitter_ns"`

	Seeds int64 `json:"seeds"`
	Kept  int64 `json:"kept"` // of these, in how many every wish was kept
	Meets bool  `json:"meets"`

	Completion   Spread `json:"completion_ns"` // of the seeds in which every operation succeeded
	Peak         Spread `json:"peak_over_capacity_of_retries"`
	Attempts     Spread `json:"attempts_per_client"`
	ConvoyIndex  Spread `json:"convoy_index"` // of the retries after the last outage
	SuccessShare Spread `json:"success_share"`
}

// Confirmed is one policy's run in real time.
type Confirmed struct {
	Current   bool     `json:"current"` // the user's own policy, and not the first of Best
	Predicted Advised  `json:"predicted"`
	Measured  Measured `json:"measured"`
	Valid     bool     `json:"valid"` // the generator kept up
	Reasons   []string `json:"invalid_reasons"`
	Cut       bool     `json:"cut"` // the run was ended before the policy was done
}

// Measured are the figures of one run; nil where it has none.
type Measured struct {
	Completion   *float64 `json:"completion_ns"`
	Peak         *float64 `json:"peak_over_capacity_of_retries"`
	Attempts     *float64 `json:"attempts_per_client"`
	ConvoyIndex  *float64 `json:"convoy_index"`
	SuccessShare *float64 `json:"success_share"`
}

// MeasuredOf returns the figures of a run.
func MeasuredOf(r *Run) Measured {
	m := Measured{
		Completion:  whole(r.Completion),
		Attempts:    r.Amplification,
		ConvoyIndex: r.Convoy.PostOutageIndex,
	}
	m.SuccessShare = share(r.Operations.Succeeded, r.Operations.Started)
	if m.ConvoyIndex == nil {
		m.ConvoyIndex = r.Convoy.ConvoyIndex
	}
	if c := r.CapacityPerSecond; c != nil && *c > 0 && r.Bucket > 0 {
		var most int64
		for i := range r.Buckets {
			most = max(most, r.Buckets[i].Retries)
		}
		m.Peak = ptr(float64(most) / (*c * r.Bucket.Seconds()))
	}
	return m
}

// SpreadOf returns the spread of the values that are numbers. The slice is not changed.
func SpreadOf(values []float64) Spread {
	return spreadOf(slices.DeleteFunc(slices.Clone(values), math.IsNaN))
}
