package backoff

// FullMersenne is Full under the ceilings c = min(Cap, Base*(1 + m + ... + m^n)), which for
// m = 2 are Base*(2^(n+1) - 1): 1, 3, 7, 15, ... times Base.
//
// Mean c/2, variance c^2/12, range [0, c). At the cap as Full.
//
// Wrong: as Full; it reaches the cap a retry earlier.
//
// One draw. Immutable, so safe for concurrent use.
// Source: Envoy's documentation of retries ((2^N - 1)*B; its code has B*2^(N-1)). The source
// has no other multiplier than 2; the sum is what keeps the first ceiling at Base.
type FullMersenne struct{ schedule }

var fullMersenneShape = shape{raw: (*Params).mersenne, jitter: fromZero}

func newFullMersenne(p Params) Ranged { return &FullMersenne{newSchedule(p, &fullMersenneShape)} }
