package backoff

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"stormtest/target/exact"
)

// settleStepsMax bounds the search for the step at which a schedule settles. A schedule
// that takes longer waits at least a million times: no run sees its end.
const settleStepsMax = 1 << 20

// FirstCeiling returns the ceiling of the first retry on the exponential schedule of p:
// min(Cap, Base*Multiplier^FirstExponent). A tool prints it, because published snippets
// disagree about the first exponent. Entry.Ceiling is the same for one strategy.
func FirstCeiling(p Params) time.Duration { return p.Ceiling(0) }

// Ceiling returns c_k = min(Cap, Base*Multiplier^(k+FirstExponent)), the k-th delay of the
// exponential schedule without jitter. Exact where the multiplier is a whole number,
// otherwise rounded to the nearest ns.
func (p Params) Ceiling(k int) time.Duration {
	return min(p.Cap, p.exponential(p.step(k)))
}

// CapReachedAt returns the elapsed time of an operation at which the exponential schedule
// without jitter plans its first delay of Cap: the sum of the ceilings below Cap. From then
// on retries that are not jittered at the cap repeat every Cap. With the parameters of
// Defaults it is 25.5 s.
//
// It is the longest time.Duration where that never happens (Multiplier 1 and Base below
// Cap), takes longer than 292 years or takes more than a million retries.
// Attempts are taken to last no time. Entry.PeriodFrom is the same for one strategy.
func (p Params) CapReachedAt() time.Duration { return settledAt(p.Ceiling, p.Cap) }

// settledAt returns the sum of the ceilings before the first that has reached level, or
// forever.
func settledAt(ceiling func(k int) time.Duration, level time.Duration) time.Duration {
	sum := time.Duration(0)
	for k := range settleStepsMax {
		c := ceiling(k)
		if c >= level {
			return sum
		}
		if sum = add(sum, c); sum == forever {
			break
		}
	}
	return forever
}

// step returns n = k + FirstExponent, the position on the schedule of retry index k.
func (p *Params) step(k int) int {
	if k < 0 {
		panic(fmt.Sprintf("backoff: BUG: retry index %d is negative", k))
	}
	if k > math.MaxInt-p.FirstExponent {
		return math.MaxInt
	}
	return k + p.FirstExponent
}

// exponential returns b*m^n, or forever.
func (p *Params) exponential(n int) time.Duration {
	if n == 0 || p.Multiplier == 1 {
		return p.Base
	}
	m, whole := p.wholeMultiplier()
	if !whole {
		return round(float64(float64(p.Base) * exact.Pow(p.Multiplier, n)))
	}
	x := p.Base
	for range n { // at most 63 times: m >= 2
		if x = times(m, x); x == forever {
			break
		}
	}
	return x
}

// mersenne returns b*(1 + m + ... + m^n), or forever; for m = 2 that is b*(2^(n+1) - 1).
func (p *Params) mersenne(n int) time.Duration {
	if p.Multiplier == 1 {
		return p.linear(n)
	}
	if n == 0 {
		return p.Base
	}
	m, whole := p.wholeMultiplier()
	if !whole {
		return round(float64(float64(p.Base) * geometric(p.Multiplier, n)))
	}
	x := p.Base
	for range n { // at most 63 times: m >= 2
		if x = add(times(m, x), p.Base); x == forever {
			break
		}
	}
	return x
}

// geometric returns 1 + m + ... + m^n, by doubling: the first 2k powers are the first k and
// m^k times as much.
func geometric(m float64, n int) float64 {
	count := uint64(n) + 1
	sum, power := 0.0, 1.0 // of the first k powers, and m^k, where k are the bits of count so far
	for bit := bits.Len64(count) - 1; bit >= 0; bit-- {
		sum += float64(power * sum)
		power = float64(power * power)
		if count>>bit&1 == 1 {
			sum += power
			power = float64(power * m)
		}
	}
	return sum
}

// linear returns (n+1)*b, or forever.
func (p *Params) linear(n int) time.Duration { return times(uint64(n)+1, p.Base) }

// twice returns 2b at every step, or forever.
func (p *Params) twice(int) time.Duration { return times(2, p.Base) }

// fibonacci returns F(n+1)*b with F = 1, 1, 2, 3, 5, ..., or forever.
func (p *Params) fibonacci(n int) time.Duration {
	if n > 91 { // F(93) > 2^63
		return forever
	}
	f, next := uint64(1), uint64(1)
	for range n {
		f, next = next, f+next
	}
	return times(f, p.Base)
}

// wholeMultiplier returns the multiplier as an integer, where it is one. One that is too
// large for a Duration comes back as the largest: any product with it is forever anyhow.
func (p *Params) wholeMultiplier() (m uint64, whole bool) {
	if p.Multiplier >= math.MaxInt64 {
		return math.MaxUint64, true
	}
	m = uint64(p.Multiplier)
	return m, float64(m) == p.Multiplier
}
