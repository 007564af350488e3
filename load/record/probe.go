package record

// A Probe is the healthy baseline of a target: what it serves, and how fast, while nothing is wrong.
//
// Every request of the probe is in Requests; it ends in ByStatus, in Errors, or was in flight when the
// probe ended. Rates are per second.
type Probe struct {
	// CapacityPerSecond is the most good answers per second that the target keeps up; nil where Limit
	// says that something else ended the search.
	CapacityPerSecond *float64   `json:"capacity_per_second"`
	Limit             ProbeLimit `json:"limit"`
	// Latency is of good answers on connections that were open already, from steps below the limit.
	Latency     Distribution     `json:"latency_ns"`
	ByStatus    map[string]int64 `json:"by_status"`
	Errors      map[string]int64 `json:"errors"` // by kind: connect, timeout, reset, closed, cut, malformed, other
	Requests    int64            `json:"requests"`
	Connections int64            `json:"connections"`
	Duration    int64            `json:"duration_ns"`
	Steps       []ProbeStep      `json:"steps"`
}

// A ProbeStep is one load that the probe put on the target. Figures without a value are nil.
type ProbeStep struct {
	// Mode is "closed" (each connection sends as soon as it is answered), "paced" (at a given rate) or
	// "hold" (paced beyond the limit, judged by its later half).
	Mode        string   `json:"mode"`
	Concurrency int      `json:"concurrency"`
	Duration    int64    `json:"duration_ns"`
	Offered     *float64 `json:"offered_per_second"`  // sent
	Answered    *float64 `json:"answered_per_second"` // with any status
	Good        *float64 `json:"good_per_second"`     // with a status of 200 to 399
	P50         *int64   `json:"p50_ns"`              // of good answers
	P99         *int64   `json:"p99_ns"`
}

// A ProbeLimit says what ended the search for a capacity. Only the first two come with one.
type ProbeLimit string

// What may end a probe.
const (
	ProbePlateau     ProbeLimit = "plateau"     // more connections got no more answers
	ProbeRejections  ProbeLimit = "rejections"  // the target refuses what is beyond its limit
	ProbeConcurrency ProbeLimit = "concurrency" // the most connections were reached, and answers still grew
	ProbeRequests    ProbeLimit = "requests"    // likewise requests
	ProbeTime        ProbeLimit = "time"        // likewise time
	ProbeMachine     ProbeLimit = "machine"     // this machine had no processor time left
	ProbeFailing     ProbeLimit = "failing"     // no answer was good
	ProbeInterrupted ProbeLimit = "interrupted"
)

// Best is the most good answers per second of any closed or held step; nil without one. Where there is no
// capacity, it lies at or above this.
func (p *Probe) Best() *float64 {
	var best *float64
	for _, s := range p.Steps {
		if s.Mode != "paced" && s.Good != nil && *s.Good > 0 && (best == nil || *s.Good > *best) {
			best = ptr(*s.Good)
		}
	}
	return best
}

// Summary returns the distribution of values, which must not be negative.
func Summary(values []int64) Distribution {
	t := newTally(tallyHighest)
	for _, v := range values {
		t.add(v)
	}
	return t.distribution()
}
