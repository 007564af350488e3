package backoff

import "time"

// Equal waits half the ceiling and a uniform time in the other half: c/2 + U[0, c/2).
//
// Mean 3c/4, variance c^2/48, range [c/2, c). No atom at the cap; under CapClamp
// 2(1 - cap/raw) of the delays while raw <= 2*cap, then all.
//
// Use it where a least wait matters, such as the quiet period of a breaker. Wrong: the gaps
// between the first waves stay, so it needs one wave more than Full to get under capacity.
//
// One draw. Immutable, so safe for concurrent use.
// Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015, "Equal Jitter".
type Equal struct{ schedule }

var equalShape = shape{raw: (*Params).exponential, jitter: upperHalf}

func newEqual(p Params) Ranged { return &Equal{newSchedule(p, &equalShape)} }

func upperHalf(_ *Params, raw time.Duration) window {
	half := raw / 2
	return window{lo: int64(half), width: uint64(raw - half)}
}
