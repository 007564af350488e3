package retry

import "stormtest/load/retry/budget"

// statusThrottled is Too Many Requests: the one status by which an answer says that it is given for
// too many requests, and not for a fault (a 503 may be either).
const statusThrottled = 429

// failure is what an outcome that is worth a retry means to an account.
func failure(o Outcome) budget.Outcome {
	switch o.Kind {
	case Responded:
		if o.Status == statusThrottled {
			return budget.Throttled
		}
	case Timeout, ConnectTimeout:
		return budget.TimedOut
	}
	return budget.Failed
}

// known is what the last outcome means to an account where the operation ends for r.
func (s *State) known(r Reason) budget.Outcome {
	switch r {
	case Succeeded:
		return budget.Succeeded
	case NotRetryable:
		if s.kind == Responded && s.status < 500 && s.status != statusThrottled {
			return budget.Final
		}
		if s.kind == Responded && s.status == statusThrottled {
			return budget.Curbed
		}
		return budget.Broken
	}
	return failure(s.Last())
}
