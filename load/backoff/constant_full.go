package backoff

// ConstantFull is Full under one ceiling for all retries: U[0, 2*Base).
//
// Mean Base, variance Base^2/3, range [0, 2*Base): as Constant, without the convoy. The
// cap matters only where it is below 2*Base, and then acts on that ceiling as it does for
// Full. Multiplier and FirstExponent are not read.
//
// Wrong: no convoy, but a storm: it finishes first and makes the most attempts, about 600 a
// client in an outage of 60 s with 100 ms. The two are different properties.
//
// One draw. Immutable, so safe for concurrent use.
// Source: the control case of this project's strategy table.
type ConstantFull struct{ schedule }

var constantFullShape = shape{raw: (*Params).twice, jitter: fromZero}

func newConstantFull(p Params) Ranged { return &ConstantFull{newSchedule(p, &constantFullShape)} }
