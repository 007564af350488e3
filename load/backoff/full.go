package backoff

import "time"

// Full waits a uniform time below the ceiling: U[0, c).
//
// Mean c/2, variance c^2/12, range [0, c). No atom at the cap; under CapClamp a share of
// 1 - cap/raw, which is 22, 61, 80 % at k = 8, 9, 10 of the guides' parameters.
//
// Wrong: some clients hardly wait. A share q/c of the delays is below q, half of the first
// ones below 50 ms with a base of 100 ms; they reopen a breaker that has just half-closed.
//
// One draw. Immutable, so safe for concurrent use.
// Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015, "Full Jitter".
type Full struct{ schedule }

var fullShape = shape{raw: (*Params).exponential, jitter: fromZero}

func newFull(p Params) Ranged { return &Full{newSchedule(p, &fullShape)} }

func fromZero(_ *Params, raw time.Duration) window {
	return window{width: uint64(raw)}
}
