package station

import (
	"math"
	"math/big"
	"math/bits"
	"time"
)

// work is an amount of service: ns and frac/2^64 nanoseconds of one slot at full speed.
// It also is a reading of the clock that runs at the target's speed (see script).
type work struct{ ns, frac uint64 }

const (
	// grain is how far, in 2^-64 ns, a moment may lie behind a whole nanosecond and
	// still count as on it: 2^-20 ns. Rounding stays far below it (2^-65 ns a job), and
	// no service time, which is 1 ns at least, is shortened by more than a millionth.
	grain = 1 << 44
	// demandMin is the least a job may need, in 2^-64 ns: above grain, so that no job
	// ends before it starts, nor before the thaw if it starts while all work is frozen.
	demandMin = 4 * grain
	// never is the moment that does not come.
	never = time.Duration(math.MaxInt64)
)

// workMax is where sums of work stop growing, 584 years.
var workMax = work{math.MaxUint64, math.MaxUint64}

func (a work) add(b work) work {
	frac, carry := bits.Add64(a.frac, b.frac, 0)
	ns, over := bits.Add64(a.ns, b.ns, carry)
	if over != 0 {
		return workMax
	}
	return work{ns, frac}
}

// sub returns a-b, or nothing where b is more.
func (a work) sub(b work) work {
	frac, borrow := bits.Sub64(a.frac, b.frac, 0)
	ns, under := bits.Sub64(a.ns, b.ns, borrow)
	if under != 0 {
		return work{}
	}
	return work{ns, frac}
}

func (a work) times(n uint64) work {
	carry, frac := bits.Mul64(a.frac, n)
	over, ns := bits.Mul64(a.ns, n)
	ns, more := bits.Add64(ns, carry, 0)
	if over != 0 || more != 0 {
		return workMax
	}
	return work{ns, frac}
}

// scale returns a*num/den, rounded down.
func (a work) scale(num, den uint64) work {
	if num == den {
		return a
	}
	hi, mid := bits.Mul64(a.ns, num)
	carry, lo := bits.Mul64(a.frac, num)
	mid, over := bits.Add64(mid, carry, 0)
	if hi += over; hi >= den {
		return workMax
	}
	ns, rest := bits.Div64(hi, mid, den)
	frac, _ := bits.Div64(rest, lo, den)
	return work{ns, frac}
}

func (a work) less(b work) bool {
	return a.ns < b.ns || a.ns == b.ns && a.frac < b.frac
}

// nanoseconds returns a as the nearest float.
func (a work) nanoseconds() float64 {
	return float64(a.ns) + math.Ldexp(float64(a.frac), -64)
}

// workOf returns ns, at least demandMin. It is exact: a float has 53 bits, of which none
// lies below 2^-64 where the value is at least 2^-11.
func workOf(ns float64) work {
	whole, part := math.Modf(ns)
	w := work{uint64(whole), uint64(math.Ldexp(part, 64))}
	if w.less(work{frac: demandMin}) {
		return work{frac: demandMin}
	}
	return w
}

// serviceWork returns jobs/perSecond seconds, rounded to the nearest 2^-64 ns.
func serviceWork(jobs int64, perSecond float64) work {
	ns := new(big.Rat).SetFrac64(jobs*int64(time.Second), 1)
	ns.Quo(ns, exactRate(perSecond))
	steps := new(big.Int).Lsh(ns.Num(), 65)
	steps.Quo(steps, ns.Denom())
	steps.Add(steps, big.NewInt(1)).Rsh(steps, 1)
	whole := new(big.Int).Rsh(steps, 64)
	part := new(big.Int).And(steps, new(big.Int).SetUint64(math.MaxUint64))
	return work{whole.Uint64(), part.Uint64()}
}

// exactRate returns the rate that was meant. People state a rate as a decimal number of
// jobs a second, a minute or an hour; 100 a minute and 0.3 a second have no float64 of
// their own. So where perSecond is the float nearest to, or next to the nearest to, a whole
// number of millionths of a job an hour, that number is taken, otherwise perSecond itself.
func exactRate(perSecond float64) *big.Rat {
	const perHour = 3600e6
	n := math.Round(perSecond * perHour)
	if n >= 1 && n < 1<<53 && math.Abs(n/perHour-perSecond) <= perSecond*0x1p-52 {
		return new(big.Rat).SetFrac64(int64(n), perHour)
	}
	return new(big.Rat).SetFloat64(perSecond)
}
