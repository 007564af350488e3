package budget

import "time"

// An envoy bounds how many retries there are at a time:
//
//	allowed  if retries < max(Min, Ratio * operations)
//
// An operation counts from its first attempt to its end, so also while it sleeps; a retry
// counts from the decision that allowed it to its outcome, so also while it sleeps. The retry
// whose failure is being judged counts no more, its operation still does.
//
// A Ratio of 0 is Envoy's older rule, max_retries: at most Min at a time.
// Source: envoyproxy/envoy, retry_budget; failsafe-go, budget; the domain reference, 3.5.
//
// Where we differ from Envoy: it compares with the whole part of the product, which the reference does
// not; and its ratio is of the requests that are active or pending, while here an operation whose retry
// sleeps counts too. Where many sleep this is the larger budget.
type envoy struct {
	parts, least        int64 // Ratio in RatioParts, Min
	retries, operations int64
}

func newEnvoy(c Config) *envoy { return &envoy{parts: c.parts(), least: int64(c.Min)} }

func (v *envoy) note(_ time.Duration, e event, _ Outcome, t *Ticket) {
	switch e {
	case opened, blocked:
		v.operations++
	case returned:
		v.retries--
	case answered, dropped:
		if t.state() == retrying {
			v.retries--
		}
	case closed:
		v.operations--
	}
}

func (v *envoy) take(time.Duration, Outcome, *Ticket) bool {
	if v.retries >= v.limit() {
		return false
	}
	v.retries++
	return true
}

func (v *envoy) balance(time.Duration) int64 { return max(v.limit()-v.retries, 0) }

// limit is the least whole number of retries that is not allowed one more.
func (v *envoy) limit() int64 {
	return max(v.least, (v.operations*v.parts+RatioParts-1)/RatioParts)
}
