package backoff

import "time"

// FullClamp is Full with a least wait, put under it: max(Floor, U[0, c)).
//
// Mean c/2 + Floor^2/(2c), range [Floor, c). At the cap as Full.
//
// Wrong: a share Floor/c of all clients waits exactly the floor. Where the floor is the
// first ceiling, every first retry is exactly that, without randomness; EqualClamp is how
// the Stripe SDKs do it. FullFloor has no such atom.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' "full jitter with a floor", as a clamp. FullFloor is the other reading.
type FullClamp struct{ schedule }

var fullClampShape = shape{raw: (*Params).exponential, jitter: fromZeroUnderFloor}

func newFullClamp(p Params) Ranged { return &FullClamp{newSchedule(p, &fullClampShape)} }

func fromZeroUnderFloor(p *Params, raw time.Duration) window {
	return window{width: uint64(raw), floor: p.floor()}
}
