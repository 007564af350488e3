package backoff

import "time"

// Additive adds a share of the delay on top of it: c + U[0, j*c), j = SpreadShare.
//
// Mean (1 + j/2)c, variance j^2*c^2/12, range [c, (1+j)c), under CapCeiling also at the
// cap, which a delay may pass by the share. No atom there; under CapClamp all delays from
// raw = cap on. The jitter of one delay does not enter the next.
//
// Wrong: as Proportional with half the width.
//
// One draw. Immutable, so safe for concurrent use.
// Source: Kubernetes wait.Backoff, Jitter; its Reflector waits [30, 60) s with j = 1.
type Additive struct{ schedule }

var additiveShape = shape{raw: (*Params).exponential, jitter: upByShare}

func newAdditive(p Params) Ranged { return &Additive{newSchedule(p, &additiveShape)} }

func upByShare(p *Params, raw time.Duration) window {
	return window{lo: int64(raw), width: share(raw, p.spreadShare())}
}
