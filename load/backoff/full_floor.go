package backoff

import (
	"math/rand/v2"
	"time"
)

// FullFloor is Full with a least wait, drawn above it: U[Floor, max(Floor, c)).
//
// Mean (Floor+c)/2, variance (c-Floor)^2/12, range [Floor, c); no atom at the floor, unless
// c <= Floor, where every delay is the floor. At the cap as Full.
//
// Wrong: little; the first waves are narrower than those of Full by the floor.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' "full jitter with a floor", as a range. FullClamp is the other reading.
type FullFloor struct{ Params }

// Delay implements Strategy.
func (s *FullFloor) Delay(r *rand.Rand, a Attempt) time.Duration {
	return s.draw(r, s.exponential(s.step(a.Retry)), fromFloor)
}

// Range implements Ranged.
func (s *FullFloor) Range(a Attempt) (lo, hi time.Duration) {
	return s.reach(s.exponential(s.step(a.Retry)), fromFloor)
}

func fromFloor(p *Params, raw time.Duration) window {
	return window{lo: int64(p.floor()), width: uint64(max(0, raw-p.floor()))}
}
