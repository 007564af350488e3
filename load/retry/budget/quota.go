package budget

import "time"

// A quota pays for retries with tokens that only successes bring back:
//
//	tokens   Size at the start, never more
//	allowed  if tokens >= cost of the failure, which is then taken
//	success  of a first attempt brings Credit, of a retry what that retry took
//
// A failure costs Cost; one that the target gave for being asked too often CostThrottled, and
// one that it gave no answer to CostTimeout, each in the kind that reads it. A retry that fails
// brings nothing back, also where the next one succeeds, and nothing comes back with time.
// 500 tokens are worth 35 retries of 14 one after another; of the first attempts that
// succeed, 14 pay for one retry.
//
// Which failures are throttling the services of the source say by an error code; of a status
// alone only 429 is one. Operations that wait for work (long polls) still sleep there when
// the quota is empty; here they end at once as all do.
// Source: aws-sdk-go-v2 1.48.0 and botocore 1.43.67 ("Retry Behavior 2.1"), their standard
// mode before it (aws-legacy); the domain reference, 3.1.
type quota struct {
	size, credit int64
	costs        [outcomeCount]int64

	tokens int64
}

func newQuota(c Config) *quota {
	q := &quota{size: int64(c.Size), credit: int64(c.Credit), tokens: int64(c.Size)}
	for o := range q.costs {
		q.costs[o] = int64(c.Cost)
	}
	switch c.Kind {
	case AWS, AWSAdaptive:
		q.costs[Throttled] = int64(c.CostThrottled)
	case AWSLegacy:
		q.costs[TimedOut] = int64(c.CostTimeout)
	}
	return q
}

func (q *quota) note(_ time.Duration, e event, o Outcome, t *Ticket) {
	switch {
	case e == returned, e == answered && o == Succeeded && t.state() == retrying:
		q.gain(t.mark())
	case e == answered && o == Succeeded:
		q.gain(q.credit)
	}
}

func (q *quota) take(_ time.Duration, o Outcome, t *Ticket) bool {
	cost := q.costs[o]
	if q.tokens < cost {
		return false
	}
	q.tokens -= cost
	t.keep(cost)
	return true
}

func (q *quota) balance(time.Duration) int64 { return q.tokens / q.costs[Failed] }

func (q *quota) gain(tokens int64) { q.tokens = min(q.size, q.tokens+tokens) }
