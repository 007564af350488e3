package backoff

import "time"

// QuadraticClamp grows by the square of the retry, takes a share of the delay off it, and keeps a least wait:
// max(Floor, c - U[0, j*c)), c = min(Cap, Base*(1 + n^2)), j = SpreadShare.
//
// Where the floor is at most (1-j)c: mean (1 - j/2)c, range ((1-j)c, c]. Where the floor is c or more it is exactly that.
// Multiplier is not read. At the cap as Subtractive.
//
// Wrong: where the floor is the base, every first retry is exactly that, without randomness; and later waves are a
// quarter of their delay wide.
//
// One draw. Immutable, so safe for concurrent use.
// Source: stripe-go 82.5.1, sleep time of the backend, with a base and a floor of 500 ms, a cap of 5 s and j = 0.25.
type QuadraticClamp struct{ schedule }

var quadraticClampShape = shape{raw: (*Params).quadratic, jitter: downByShareAboveFloor}

func newQuadraticClamp(p Params) Ranged { return &QuadraticClamp{newSchedule(p, &quadraticClampShape)} }

func downByShareAboveFloor(p *Params, raw time.Duration) window {
	w := downByShare(p, raw)
	w.floor = p.floor()
	return w
}

// quadratic returns b*(1 + n^2), or forever.
func (p *Params) quadratic(n int) time.Duration {
	const most = 1 << 31   // the square of which no Duration holds
	if uint64(n) >= most { // an int may have 32 bits
		return forever
	}
	return times(1+uint64(n)*uint64(n), p.Base)
}
