package backoff

import "time"

// Subtractive takes a share of the delay off it: c - U[0, j*c), j = SpreadShare.
//
// Mean (1 - j/2)c, variance j^2*c^2/12, range ((1-j)c, c]. No atom at the cap; under CapClamp a share of the delays is
// exactly that, all from raw = cap/(1-j) on.
//
// Wrong: as Proportional with half the width: the first wave is j*Base wide.
//
// One draw. Immutable, so safe for concurrent use.
// Source: openai-go 1.12.0 and openai-python 3.3.1, with j = 0.25, a base of 500 ms and a cap of 8 s.
type Subtractive struct{ schedule }

var subtractiveShape = shape{raw: (*Params).exponential, jitter: downByShare}

func newSubtractive(p Params) Ranged { return &Subtractive{newSchedule(p, &subtractiveShape)} }

func downByShare(p *Params, raw time.Duration) window {
	width := max(1, share(raw, p.spreadShare()))
	return window{lo: int64(uint64(raw) - width + 1), width: width}
}
