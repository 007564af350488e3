package backoff

import "time"

// FixedUp adds noise of one width on top of every delay: c + U[0, Noise).
//
// Mean c + Noise/2, variance Noise^2/12, whatever the retry. Range [c, c+Noise), under
// CapCeiling also at the cap, which a delay may pass by Noise. No atom at the cap but under
// CapFixed and CapClamp (all, from raw = cap on).
//
// Wrong: as Fixed with half the spread; where Noise is below the bucket width the first
// wave is as sharp as without jitter.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' "plus up to fifty milliseconds"; tenacity wait_exponential_jitter.
type FixedUp struct{ schedule }

var fixedUpShape = shape{raw: (*Params).exponential, jitter: upByNoise}

func newFixedUp(p Params) Ranged { return &FixedUp{newSchedule(p, &fixedUpShape)} }

func upByNoise(p *Params, raw time.Duration) window {
	return window{lo: int64(raw), width: uint64(p.noise())}
}
