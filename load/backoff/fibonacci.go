package backoff

// Fibonacci waits exactly min(Cap, F*Base) with F = 1, 1, 2, 3, 5, ... at n = 0, 1, 2, ...
//
// Mean c, variance 0, range one point. Cap modes as None. Multiplier is not read: the
// growth tends to 1.618.
//
// Wrong: as None; and the first two delays are equal.
//
// No draw (one under CapRandom). Immutable, so safe for concurrent use.
// Source: sethvargo/go-retry, NewFibonacci (which starts 1, 2, 3); unjittered everywhere.
type Fibonacci struct{ schedule }

var fibonacciShape = shape{raw: (*Params).fibonacci, jitter: exactly}

func newFibonacci(p Params) Ranged { return &Fibonacci{newSchedule(p, &fibonacciShape)} }
