package backoff

import "time"

// FullFloor is Full with a least wait, drawn above it: U[Floor, max(Floor, c)).
//
// Mean (Floor+c)/2, variance (c-Floor)^2/12, range [Floor, c); no atom at the floor, unless
// c <= Floor, where every delay is the floor. At the cap as Full.
//
// Wrong: little; the first waves are narrower than those of Full by the floor.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' "full jitter with a floor", as a range. FullClamp is the other reading.
type FullFloor struct{ schedule }

var fullFloorShape = shape{raw: (*Params).exponential, jitter: fromFloor}

func newFullFloor(p Params) Ranged { return &FullFloor{newSchedule(p, &fullFloorShape)} }

func fromFloor(p *Params, raw time.Duration) window {
	return window{lo: int64(p.floor()), width: uint64(max(0, raw-p.floor()))}
}
