package budget

// An Outcome is how an attempt ended, as far as any rule cares.
type Outcome uint8

// The outcomes.
const (
	Succeeded Outcome = iota // the operation has what it wanted
	Final                    // a failure of the request: the target did its work, and a retry would only repeat it
	Broken                   // a failure of the target that nobody retries
	Curbed                   // the same, and the target said that it is asked too often
	Failed                   // one that is worth a retry
	Throttled                // the same, and the target said that it is asked too often
	TimedOut                 // the same, and it said nothing in time
	outcomeCount
)

// Retryable reports whether o is worth a retry.
func (o Outcome) Retryable() bool { return o >= Failed }
