package budget

import (
	"math/rand/v2"
	"time"
)

// An sre rejects retries as a Throttle does. Requests are all attempts, and the retries that
// were rejected; accepts are successes and the failures that are the request's own fault: of
// both the target did the work.
//
// Where we differ from the source: it rejects first attempts, too. Here a budget is what a
// retry needs, so first attempts are always sent, and counted.
//
// A retry counts from the decision that allowed it, so also while it sleeps; one that is
// cancelled is taken back. One draw for each retry that is asked for.
// Source: the domain reference, 3.6.
type sre struct {
	throttle Throttle
	chance   *rand.Rand
}

func newSRE(c Config, chance *rand.Rand) *sre {
	return &sre{throttle: *NewThrottle(c.TTL, c.K), chance: chance}
}

func (s *sre) note(now time.Duration, e event, o Outcome, t *Ticket) {
	switch {
	case e == opened:
		s.throttle.Request(now)
	case e == returned:
		s.throttle.cancel(now, t.mark())
	case e == answered && (o == Succeeded || o == Final):
		s.throttle.Accept(now)
	}
}

func (s *sre) take(now time.Duration, _ Outcome, t *Ticket) bool {
	rejected := s.throttle.Rejects(now, s.chance.Uint64())
	s.throttle.Request(now)
	t.keep(s.throttle.slot) // an account lives for less than 2^31 slots: the shortest is 83 ms
	return !rejected
}

// balance is how many retries it would allow for certain.
func (s *sre) balance(now time.Duration) int64 { return s.throttle.Certain(now) }
