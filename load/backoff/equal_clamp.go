package backoff

import "time"

// EqualClamp is Equal with a least wait, put under it: max(Floor, c/2 + U[0, c/2)).
//
// Where the floor is at most c/2 it is Equal. From there to c: mean
// 3c/4 + (Floor - c/2)^2/c, range [Floor, c), and a share of 2*Floor/c - 1 of all clients
// waits exactly the floor. Beyond c all do. At the cap as Equal.
//
// Wrong: where the floor is the first ceiling, every first retry is exactly that, without
// randomness: the Stripe SDKs with their 500 ms. From the second retry on it is Equal.
//
// One draw. Immutable, so safe for concurrent use.
// Source: stripe-python 15.3.1, sleep time of the retry loop, with a base and a floor of
// 500 ms and a cap of 5 s. (stripe-go 82.5.1 grows by the square of the retry and draws from
// the upper quarter; its first retry is the same.)
type EqualClamp struct{ schedule }

var equalClampShape = shape{raw: (*Params).exponential, jitter: upperHalfAboveFloor}

func newEqualClamp(p Params) Ranged { return &EqualClamp{newSchedule(p, &equalClampShape)} }

func upperHalfAboveFloor(p *Params, raw time.Duration) window {
	w := upperHalf(p, raw)
	w.floor = p.floor()
	return w
}
