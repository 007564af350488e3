package retry

import "time"

// A Class says what an outcome means for its operation.
type Class uint8

// The classes.
const (
	Success   Class = iota // the operation has what it wanted
	Retryable              // a retry may succeed
	Final                  // a failure that a retry would only repeat
)

// Classify returns the class of o under the set s. No other code judges a status:
//
//	outcome                                 listed in s   not listed   listed by default
//	2xx, 3xx                                Retryable     Success      none
//	4xx                                     Retryable     Final        408 429
//	5xx                                     Retryable     Final        502 503 504
//	1xx (only 101 can end an attempt)       Retryable     Final        none
//	status outside 100..599                 cannot be     Final        none
//	Refused ... LookupFailed                Retryable     Final        all ("connect")
//	Timeout                                 Retryable     Final        yes
//	Reset, Malformed                        Retryable     Final        none
//	ShortCircuited                          cannot be     Retryable    none
//
// A 3xx is a success because nothing here follows redirects: the target has answered. An
// answer 2xx or 3xx that is listed, such as a 202 that means "not yet", is a failure.
// 500 and resets are opt-in, because there the work may have been done; 501 never helps.
//
// What a breaker did not let out is always worth a retry: nobody has been asked yet.
//
// On which statuses Retry-After counts: on every one that is Retryable.
func (s Set) Classify(o Outcome) Class { return s.classify(o.Kind, o.Status) }

// classify is Classify without a copy of the set.
func (s *Set) classify(k Kind, status int) Class {
	switch {
	case k != Responded:
		if s.kinds>>k&1 == 1 || k == ShortCircuited {
			return Retryable
		}
	case s.hasStatus(status):
		return Retryable
	case status >= 200 && status < 400:
		return Success
	}
	return Final
}

// repeatable reports whether sending the same request again is safe after an outcome of
// kind k: the method is idempotent, the server knows repeats by their key, the user says so,
// or the server did no work. A 429 and a 503 do not prove that it did none.
func (p *Policy) repeatable(k Kind) bool {
	return p.IdempotencyKey || p.RetryNonIdempotent || idempotent(p.Method) || kinds[k].idle
}

// idempotent reports whether RFC 9110 (9.2.2) calls the method idempotent. Methods are
// case-sensitive; "" is GET.
func idempotent(method string) bool {
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}

// floor returns the time that the server asked to be left alone after o, in
// [0, NoLimit]. 0 means that it named none: "Retry-After: 0" and a date in the past leave
// the strategy's own delay as it is.
func (p *Policy) floor(o Outcome) time.Duration {
	if !p.HonourRetryAfter || o.Kind != Responded || !o.Hint.Valid {
		return 0
	}
	return min(max(o.Hint.After, 0), NoLimit)
}
