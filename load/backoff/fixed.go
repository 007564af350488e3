package backoff

import "time"

// Fixed adds noise of one width to every delay: max(0, c + U[-Noise, Noise)).
//
// Mean c, variance Noise^2/3, whatever the retry; where c < Noise the mean is higher and
// (1 - c/Noise)/2 of the delays are exactly 0. Range [c-Noise, c+Noise), under CapCeiling
// also at the cap, which a delay may pass by Noise. No atom at the cap but under CapFixed
// (all) and CapClamp (half at raw = cap, all from raw = cap+Noise on).
//
// Wrong: the spread does not grow with the delay. After j retries it is Noise*sqrt(j/3),
// so the peak load falls only as 1/sqrt(j): with 50 ms, 1,000 clients need about 191 waves
// to fit into 1,000 a second.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the guides' anti-pattern "plus or minus 50 ms"; avast/retry-go, ioredis, nats.go.
type Fixed struct{ schedule }

var fixedShape = shape{raw: (*Params).exponential, jitter: aroundByNoise}

func newFixed(p Params) Ranged { return &Fixed{newSchedule(p, &fixedShape)} }

func aroundByNoise(p *Params, raw time.Duration) window {
	return window{lo: int64(raw - p.noise()), width: 2 * uint64(p.noise())}
}
