package backoff

import "time"

// FullAbove is Full on top of a least wait: Floor + U[0, c).
//
// Mean Floor + c/2, variance c^2/12, range [Floor, Floor+c), under CapCeiling also at the cap, which a delay may pass by
// the floor. No atom there; under CapClamp all that Full would draw above Cap-Floor.
//
// Wrong: as Full, but for its short waits.
//
// One draw. Immutable, so safe for concurrent use.
// Source: go-redis 9.23.0, RetryBackoff, with a base and a floor of 10 ms, a first exponent of 1 and a cap of 1 s, which it
// clamps to.
type FullAbove struct{ schedule }

var fullAboveShape = shape{raw: (*Params).exponential, jitter: aboveFloor}

func newFullAbove(p Params) Ranged { return &FullAbove{newSchedule(p, &fullAboveShape)} }

func aboveFloor(p *Params, raw time.Duration) window {
	return window{lo: int64(p.floor()), width: uint64(raw)}
}
