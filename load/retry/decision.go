package retry

import (
	"strconv"
	"time"
)

// A Reason says why an operation goes on or ended. The zero Reason is Retrying.
type Reason uint8

// The reasons, in the order in which Decide looks for them.
const (
	Retrying        Reason = iota // the operation goes on
	Succeeded                     // it has what it wanted
	NotRetryable                  // the outcome is not in RetryOn
	NotIdempotent                 // the outcome is, but a repeat might do the work twice
	MaxRetries                    // all retries are used up
	MaxElapsed                    // the next attempt would start at MaxElapsed or later
	RefusedByBudget               // the client's account allows no retry now
	CallerGone                    // of a call that a service makes for a request: its client gave that up, and the service with it
	Throttled                     // the same, but the account did not let the first attempt out: no delay was asked for
	ReasonCount                   // of reasons: the length of a table indexed by Reason
)

var reasonKeys = [ReasonCount]string{
	Retrying:        "retrying",
	Succeeded:       "succeeded",
	NotRetryable:    "not_retryable",
	NotIdempotent:   "not_idempotent",
	MaxRetries:      "max_retries",
	MaxElapsed:      "max_elapsed",
	RefusedByBudget: "refused_by_budget",
	CallerGone:      "caller_gone",
	Throttled:       "refused_by_budget",
}

// Drew reports whether the strategy was asked for a delay: for a retry, and for one that was forbidden when its delay
// was known.
func (r Reason) Drew() bool { return r == Retrying || r == MaxElapsed || r == RefusedByBudget }

// String returns the reason's key in gave_up of a result, such as "max_elapsed". Retrying
// and Succeeded never appear there.
func (r Reason) String() string {
	if r >= ReasonCount {
		return "Reason(" + strconv.Itoa(int(r)) + ")"
	}
	return reasonKeys[r]
}

// A Decision says what follows an outcome: a retry after Delay, or the end of the
// operation for Reason. Delay and Hinted are zero unless Retry, Draw unless Reason.Drew.
type Decision struct {
	Verdict
	// Delay is how long to sleep, counted from the now of the decision: 0..NoLimit, never
	// below an honoured hint.
	Delay time.Duration
	// Draw is what the strategy alone said. With Retry it equals Delay unless Hinted.
	Draw time.Duration
}

// A Verdict is the part of a Decision that is no length of time. It is apart because the
// compiler keeps a struct of at most four fields in registers: with five a decision costs
// a third more, and its caller as much again.
type Verdict struct {
	Retry  bool
	Reason Reason // Retrying if Retry
	// Hinted says that the server's hint set the delay, not the strategy alone.
	Hinted bool
}

// ended is the decision that there is no retry.
func ended(r Reason) Decision { return Decision{Verdict: Verdict{Reason: r}} }
