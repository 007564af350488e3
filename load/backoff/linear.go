package backoff

// Linear waits exactly min(Cap, (n+1)*Base).
//
// Mean c, variance 0, range one point. Cap modes as None. Multiplier is not read.
//
// Wrong: as None; only the growth differs. LinearJitter is the jittered form in use.
//
// No draw (one under CapRandom). Immutable, so safe for concurrent use.
// Source: the "linear" backoff of hashicorp/go-retryablehttp and others, without jitter.
type Linear struct{ schedule }

var linearShape = shape{raw: (*Params).linear, jitter: exactly}

func newLinear(p Params) Ranged { return &Linear{newSchedule(p, &linearShape)} }
