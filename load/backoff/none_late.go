package backoff

// NoneLate does not wait before the first retry, and is None from the second one on: 0 at n = 0, then c.
//
// Variance 0, range one point. With a FirstExponent of 1 it is None. At the cap as None.
//
// Wrong: the first retries double the load inside one round trip, and what comes after them is as None: everyone who
// failed together returns together.
//
// No draw. Immutable, so safe for concurrent use.
// Source: urllib3 2.7.0 with a backoff_factor, which waits 0 where its history holds one failure; azure-core (Python), whose
// retry policy has the formula from there.
type NoneLate struct{ late }

func newNoneLate(p Params) Ranged { return &NoneLate{newLate(p, &noneShape, 0)} }
