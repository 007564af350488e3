package breaker

import "time"

// A window counts outcomes, and forgets them. now never goes back. Not safe for concurrent use.
type window interface {
	add(now time.Duration, failed bool)
	// sum is of what is in the window since the last add.
	sum() (calls, failures int64)
	clear()
}

// A ring is a window of the last outcomes, one bit each.
type ring struct {
	bits     []uint64 // 1 is a failure
	size     int
	next     int // place of the next outcome
	calls    int
	failures int
}

func ringWords(size int) int { return (size + 63) / 64 }

func (r *ring) add(_ time.Duration, failed bool) {
	word, bit := &r.bits[r.next/64], uint64(1)<<(r.next%64)
	if *word&bit != 0 { // of the outcome that is forgotten
		r.failures--
		*word &^= bit
	}
	if failed {
		r.failures++
		*word |= bit
	}
	r.calls = min(r.calls+1, r.size)
	if r.next++; r.next == r.size {
		r.next = 0
	}
}

func (r *ring) sum() (calls, failures int64) { return int64(r.calls), int64(r.failures) }

func (r *ring) clear() {
	clear(r.bits)
	r.next, r.calls, r.failures = 0, 0, 0
}

// slotCount is how many slots a window of time has.
const slotCount = 10

// A sliding is a window of time, of ten slots, the newest still filling: an outcome counts for nine to ten tenths
// of it. The slots count from t0; those of Polly begin with the first outcome in each.
type sliding struct {
	width           time.Duration // of a slot
	slot            int64         // number of the newest, counted from t0
	calls, failures int64         // of all slots
	slots           [slotCount]struct{ calls, failures int32 }
}

func (s *sliding) add(now time.Duration, failed bool) {
	s.advance(int64(now / s.width))
	at := &s.slots[s.slot%slotCount]
	at.calls++
	s.calls++
	if failed {
		at.failures++
		s.failures++
	}
}

// advance empties the slots that have expired.
func (s *sliding) advance(slot int64) {
	if slot >= s.slot+slotCount {
		s.clear()
		s.slot = slot
		return
	}
	for s.slot < slot {
		s.slot++
		oldest := &s.slots[s.slot%slotCount]
		s.calls -= int64(oldest.calls)
		s.failures -= int64(oldest.failures)
		*oldest = struct{ calls, failures int32 }{}
	}
}

func (s *sliding) sum() (calls, failures int64) { return s.calls, s.failures }

func (s *sliding) clear() { *s = sliding{width: s.width, slot: s.slot} }
