package budget

import "time"

// A finagle pays for retries with first attempts, and forgets both after a while:
//
//	deposit   1000 for each first attempt (0 where Ratio is 0)
//	withdraw  the whole part of 1000 / Ratio for each retry (1 where Ratio is 0)
//	reserve   Min * TTL in seconds * withdraw
//	allowed   if the sum over the window + reserve >= withdraw
//
// The window is TTL in ten slots, the newest of them still filling, so that a deposit counts
// for 0.9 to 1 TTL. Withdrawals are negative deposits and expire like them: what was spent
// comes back after TTL, but only as far as there are new deposits. The whole reserve may be
// spent at once. Nothing but the window bounds the store: it is full at Ratio * (first
// attempts of the window) + Min * TTL.
//
// A cancelled retry gives its units back to the slot it took them from, or to none where that
// has expired: the balance is then what it would be without it. (The original has no cancel.)
// Source: twitter/finagle, RetryBudget.apply; the domain reference, 3.4.
type finagle struct {
	slotWidth                  time.Duration
	deposit, withdraw, reserve int64

	slot  int64 // number of the newest slot, counted from t0
	slots [finagleSlots]int64
	sum   int64 // of slots
}

const (
	finagleSlots = 10
	finagleScale = 1000
)

func newFinagle(c Config) *finagle {
	f := &finagle{slotWidth: c.TTL / finagleSlots, withdraw: 1}
	if c.Ratio > 0 {
		f.deposit = finagleScale
		f.withdraw = finagleScale * RatioParts / c.parts()
	}
	f.reserve = int64(c.Min) * int64(c.TTL/time.Second) * f.withdraw
	return f
}

func (f *finagle) note(now time.Duration, e event, _ Outcome, t *Ticket) {
	f.advance(now)
	switch e {
	case opened:
		f.add(f.slot, f.deposit)
	case returned:
		if slot := t.mark(); slot > f.slot-finagleSlots {
			f.add(slot, f.withdraw)
		}
	case blocked, answered, dropped, closed:
	}
}

func (f *finagle) take(now time.Duration, _ Outcome, t *Ticket) bool {
	f.advance(now)
	if f.sum+f.reserve < f.withdraw {
		return false
	}
	f.add(f.slot, -f.withdraw)
	t.keep(f.slot) // a day has 864,000 slots at most
	return true
}

func (f *finagle) balance(now time.Duration) int64 {
	f.advance(now)
	return max(f.sum+f.reserve, 0) / f.withdraw
}

// advance empties the slots that now expire.
func (f *finagle) advance(now time.Duration) {
	slot := int64(now / f.slotWidth)
	if slot >= f.slot+finagleSlots {
		f.slot, f.sum, f.slots = slot, 0, [finagleSlots]int64{}
		return
	}
	for f.slot < slot {
		f.slot++
		oldest := &f.slots[f.slot%finagleSlots]
		f.sum -= *oldest
		*oldest = 0
	}
}

func (f *finagle) add(slot, units int64) {
	f.slots[slot%finagleSlots] += units
	f.sum += units
}
