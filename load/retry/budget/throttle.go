package budget

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// A Throttle is the client-side throttling of Google's SRE book: over a sliding window it
// counts requests R and accepts A, and rejects a request before it is sent with probability
//
//	p = max(0, (R - K*A) / (R + 1))
//
// Rejected requests count into R like those that are sent, so p falls back only as the window
// slides or the target accepts again. Where the target accepts all, R = A and nobody is
// rejected while K >= 1; where it accepts nothing, R requests are sent H_R = 1 + 1/2 + ... + 1/R
// times on average (2.9, 5.2, 7.5, 9.8 of 10, 100, 1000, 10,000); between, it sees about
// K times what it accepts.
//
// The window is of twelve slots, the newest still filling, so a count lasts for 11/12 of the
// window at least. now never goes back. Not safe for concurrent use.
// Source: "Site Reliability Engineering", chapter "Handling Overload": window 2 minutes, K = 2.
type Throttle struct {
	slotWidth time.Duration
	k         int64 // in thousandths

	slot                int64 // number of the newest slot, counted from t0
	requests, accepts   int64 // of the window
	requested, accepted [throttleSlots]int32
}

const (
	throttleSlots = 12
	throttleParts = 1000
)

// NewThrottle returns a throttle without a history. The window is at least 12 ns; k is 0 or more,
// rounded to three decimals.
func NewThrottle(window time.Duration, k float64) *Throttle {
	if window < throttleSlots || !(k >= 0 && k <= math.MaxInt32) {
		panic(fmt.Sprintf("budget: BUG: no throttle of window %v and K = %v", window, k))
	}
	return &Throttle{slotWidth: window / throttleSlots, k: int64(math.Round(k * throttleParts))}
}

// RejectShare returns p of a throttle that has counted so many requests and accepts, in [0, 1).
func RejectShare(requests, accepts int64, k float64) float64 {
	return max(0, (float64(requests)-float64(k*float64(accepts)))/(float64(requests)+1))
}

// Request counts a request.
func (t *Throttle) Request(now time.Duration) {
	t.advance(now)
	t.requests++
	t.requested[t.slot%throttleSlots]++
}

// Accept counts an accept.
func (t *Throttle) Accept(now time.Duration) {
	t.advance(now)
	t.accepts++
	t.accepted[t.slot%throttleSlots]++
}

// Rejects reports whether the next request is rejected, with probability p where chance is a
// uniform random number. It counts nothing. The comparison is exact.
func (t *Throttle) Rejects(now time.Duration, chance uint64) bool {
	t.advance(now)
	excess := t.excess()
	if excess <= 0 {
		return false
	}
	whole, _ := bits.Mul64(chance, uint64(t.requests+1)*throttleParts)
	return whole < uint64(excess)
}

// RejectShare returns p at now.
func (t *Throttle) RejectShare(now time.Duration) float64 {
	t.advance(now)
	return RejectShare(t.requests, t.accepts, float64(t.k)/throttleParts)
}

// Certain returns how many requests in a row would be let through for certain, if none of them
// were accepted.
func (t *Throttle) Certain(now time.Duration) int64 {
	t.advance(now)
	excess := t.excess()
	if excess > 0 {
		return 0
	}
	return 1 - excess/throttleParts
}

// excess is R - K*A in thousandths: the numerator of p.
func (t *Throttle) excess() int64 { return t.requests*throttleParts - t.k*t.accepts }

// cancel takes back a request that was counted in a slot, unless that has expired.
func (t *Throttle) cancel(now time.Duration, slot int64) {
	t.advance(now)
	if slot > t.slot-throttleSlots {
		t.requests--
		t.requested[slot%throttleSlots]--
	}
}

// advance empties the slots that now expire.
func (t *Throttle) advance(now time.Duration) {
	slot := int64(now / t.slotWidth)
	if slot >= t.slot+throttleSlots {
		*t = Throttle{slotWidth: t.slotWidth, k: t.k, slot: slot}
		return
	}
	for t.slot < slot {
		t.slot++
		i := t.slot % throttleSlots
		t.requests -= int64(t.requested[i])
		t.accepts -= int64(t.accepted[i])
		t.requested[i], t.accepted[i] = 0, 0
	}
}
