package budget

import (
	"math/rand/v2"
	"time"
)

// An sre rejects attempts as a Throttle does: first attempts before they leave, and then their operation has
// ended, and retries when they are asked for, before their sleep. Requests are all of them, let out or rejected; accepts
// are successes and the failures that are the request's own fault: of both the target did the work.
//
// Ratio below 1 is the source's rule beside it: no retry while Ratio or more of the attempts that were let out in
// the window were retries. With 10 % there are at most 1.11 attempts for each operation, where the other rule beside it,
// three attempts for each operation, which is a policy's MaxRetries of 2, allows 3.
//
// A retry counts from the decision that allowed it, so also while it sleeps; one that does not leave is taken back. One
// draw for each attempt that is asked for. An account without a history lets its first request out for certain, and
// those that come before the answer to it with chances of 1/2, 1/3 and so on: a fleet that shares one and begins all at
// once is rejected nearly whole.
// Source: the domain reference, 3.6.
type sre struct {
	throttle Throttle
	chance   *rand.Rand
	parts    int64   // of the share of retries, in RatioParts
	sent     *recent // attempts that were let out, and the retries among them; nil: they are not bounded
}

func newSRE(c Config, chance *rand.Rand) *sre {
	s := &sre{throttle: *NewThrottle(c.TTL, c.K), chance: chance, parts: c.parts()}
	if s.parts < RatioParts {
		s.sent = &recent{width: s.throttle.slotWidth}
	}
	return s
}

func (s *sre) note(now time.Duration, e event, o Outcome, t *Ticket) {
	switch {
	case e == opened:
		s.throttle.Request(now)
		s.sent.add(now, 0)
	case e == returned:
		s.throttle.cancel(now, t.mark())
		s.sent.takeBack(now, t.mark())
	case e == answered && (o == Succeeded || o == Final):
		s.throttle.Accept(now)
	}
}

// admit rejects a first attempt, or does not. A retry has been let through when it was asked for.
func (s *sre) admit(now, _ time.Duration, t *Ticket) time.Duration {
	if t.state() != idle || !s.throttle.Rejects(now, s.chance.Uint64()) {
		return 0
	}
	s.throttle.Request(now)
	return -1
}

func (s *sre) take(now time.Duration, _ Outcome, t *Ticket) bool {
	rejected := s.throttle.Rejects(now, s.chance.Uint64())
	allowed := !rejected && s.sent.allows(now, s.parts) > 0
	s.throttle.Request(now)
	if allowed {
		s.sent.add(now, 1)
	}
	t.keep(s.throttle.slot) // the shortest slot is 83 ms, so that a day has a million
	return allowed
}

// balance is how many retries it would allow for certain.
func (s *sre) balance(now time.Duration) int64 {
	return min(s.throttle.Certain(now), s.sent.allows(now, s.parts))
}

// A recent counts the attempts of a sliding window and the retries among them. nil counts nothing and allows all.
type recent struct {
	width             time.Duration // of a slot
	slot              int64         // number of the newest, counted from t0
	attempts, retries int64         // of the window
	attempted, again  [throttleSlots]int32
}

// add counts an attempt, of which so many are a retry.
func (r *recent) add(now time.Duration, retries int32) {
	if r == nil {
		return
	}
	r.advance(now)
	r.into(r.slot, 1, retries)
}

// takeBack takes back a retry that was counted in a slot, unless that has expired.
func (r *recent) takeBack(now time.Duration, slot int64) {
	if r == nil {
		return
	}
	if r.advance(now); slot > r.slot-throttleSlots {
		r.into(slot, -1, -1)
	}
}

func (r *recent) into(slot int64, attempts, retries int32) {
	r.attempts += int64(attempts)
	r.retries += int64(retries)
	r.attempted[slot%throttleSlots] += attempts
	r.again[slot%throttleSlots] += retries
}

// allows returns how many retries one after another would find fewer retries than parts of all attempts before them.
func (r *recent) allows(now time.Duration, parts int64) int64 {
	if r == nil {
		return 1 << 62
	}
	r.advance(now)
	// The i-th finds retries+i of attempts+i: (retries+i) * RatioParts < parts * (attempts+i).
	room := parts*r.attempts - r.retries*RatioParts
	if room <= 0 {
		return 0
	}
	each := RatioParts - parts
	return (room + each - 1) / each
}

// advance empties the slots that now expire.
func (r *recent) advance(now time.Duration) {
	slot := int64(now / r.width)
	if slot >= r.slot+throttleSlots {
		*r = recent{width: r.width, slot: slot}
		return
	}
	for r.slot < slot {
		r.slot++
		i := r.slot % throttleSlots
		r.into(r.slot, -r.attempted[i], -r.again[i])
	}
}
