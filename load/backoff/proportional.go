package backoff

import "time"

// Proportional spreads the delay by a share of itself: c*(1 + U[-p, p)), p = SpreadShare.
//
// Mean c, variance c^2*p^2/3, range [(1-p)c, (1+p)c), under CapCeiling also at the cap,
// which a delay may pass by the share. No atom there; under CapClamp a share of
// ((1+p)raw - cap)/(2p*raw) of the delays, all from raw = cap/(1-p) on.
//
// Wrong: the first wave is only 2p*Base wide, 40 ms with 0.2 and 100 ms.
//
// One draw. Immutable, so safe for concurrent use.
// Source: p = 0.2 gRPC (A6) and Kafka; p = 0.5 cenkalti/backoff and resilience4j, whose
// randomization factor it is; the first and third cap before, the others after the jitter.
type Proportional struct{ schedule }

var proportionalShape = shape{raw: (*Params).exponential, jitter: aroundByShare}

func newProportional(p Params) Ranged { return &Proportional{newSchedule(p, &proportionalShape)} }

func aroundByShare(p *Params, raw time.Duration) window {
	spread := share(raw, p.spreadShare())
	return window{lo: int64(uint64(raw) - spread), width: 2 * spread}
}
