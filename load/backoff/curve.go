package backoff

import (
	"math"
	"time"

	"stormtest/target/exact"
)

// A curve is an exponential schedule that is asked between its steps, too.
type curve struct {
	Params
	logMultiplier float64
}

func newCurve(p Params) curve { return curve{p, exact.Log(p.Multiplier)} }

// power returns b*m^x for any real x, rounded to the nearest ns, or forever. It works on
// logarithms, so that nothing becomes infinite on the way.
func (c *curve) power(x float64) time.Duration {
	exponent := float64(x * c.logMultiplier)
	if exponent >= 64*math.Ln2 {
		return forever
	}
	return round(float64(float64(c.Base) * exact.Exp(exponent)))
}
