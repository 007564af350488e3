package retry

import "time"

// A Row is one attempt that ended, as an engine hands it to a trace. Moments count from t0.
type Row struct {
	Client    int
	Operation int64 // of this client, from 0
	Attempt   int   // 0 is the first
	Due       time.Duration
	Sent      time.Duration // negative: it was not
	Arrived   time.Duration // at the target; negative: it did not, or nobody knows
	End       time.Duration
	Outcome   Outcome
	Decision  Decision
}
