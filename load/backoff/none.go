package backoff

import "time"

// None waits exactly the ceiling: min(Cap, Base*Multiplier^n).
//
// Mean c, variance 0, range one point. At the cap every delay is the cap. CapCeiling,
// CapClamp and CapFixed are the same here; CapRandom draws the cap and so jitters the
// delays that have reached it, and only those.
//
// Wrong: every client that failed together returns together. A target that refuses while
// it is busy serves one client a wave, so N clients need N(N+1)/2 attempts.
//
// No draw (one under CapRandom). Immutable, so safe for concurrent use.
// Source: the "exponential backoff" of most libraries; the guides' strategy "none".
type None struct{ schedule }

var noneShape = shape{raw: (*Params).exponential, jitter: exactly}

func newNone(p Params) Ranged { return &None{newSchedule(p, &noneShape)} }

// exactly is the jitter of strategies that have none.
func exactly(_ *Params, raw time.Duration) window {
	return window{lo: int64(raw)}
}
