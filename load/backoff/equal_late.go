package backoff

// EqualLate waits exactly Base before the first retry, and is Equal from the second one on.
//
// With a FirstExponent of 1 it is Equal. At the cap as Equal; the source clamps, so CapClamp is its mode.
//
// Wrong: the first retry of everyone who failed together comes at one moment, however wide the later ones are spread.
//
// One draw, none for the first. Immutable, so safe for concurrent use.
// Source: Finagle 24.5, Backoff.equalJittered, whose first value is its start and whose last is its maximum.
type EqualLate struct{ late }

func newEqualLate(p Params) Ranged { return &EqualLate{newLate(p, &equalShape, p.Base)} }
