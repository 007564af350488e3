package exact

import "math"

const (
	// ln2Hi + ln2Lo is ln 2. The first part has 32 bits: with any exponent of a float64 its
	// product is exact.
	ln2Hi = 0x1.62e42feep-1
	ln2Lo = 0x1.a39ef35793c76p-33

	expMax = 0x1.62e42fefa39efp+9  // the largest x with a finite e^x, 709.78
	expMin = -0x1.74910d52d3052p+9 // below e^x is 0, -745.13
)

// expTerms are those of x*coth(x/2) - 2 = x²/6 - x⁴/360 + ..., the numbers 2*B(2n)/(2n)!.
var expTerms = [...]float64{
	1.0 / 6, -1.0 / 360, 1.0 / 15120, -1.0 / 604800, 1.0 / 23950080, -691.0 / 653837184000, 1.0 / 37362124800,
}

// Exp returns e^x, less than 1 ulp off. Special cases are as in math.Exp.
func Exp(x float64) float64 {
	switch {
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	case x != x:
		return x
	}
	// x = k*ln 2 + r with |r| <= ln(2)/2, where r = hi - lo and hi is exact.
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	// With w = r*coth(r/2): e^r = 1 + 2r/(w - r), here as 1 + (r + r*c/(2 - c)), c = r - (w - 2).
	z := float64(r * r)
	c := r - float64(z*polynomial(z, expTerms[:]))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return scale(y, int(k))
}

// Exp2 returns 2^x, less than 2 ulp off. Special cases are as in math.Exp2.
func Exp2(x float64) float64 {
	switch {
	case x >= 1024:
		return math.Inf(1)
	case x < -1075:
		return 0
	case x != x:
		return x
	}
	k := math.Floor(x)
	return scale(Exp(float64((x-k)*math.Ln2)), int(k))
}

// scale returns y*2^k, for y around 1.
func scale(y float64, k int) float64 {
	if -1000 < k && k < 1000 {
		return float64(y * math.Float64frombits(uint64(k+1023)<<52))
	}
	return math.Ldexp(y, k)
}

// polynomial returns terms[0] + terms[1]*z + terms[2]*z² + ...
func polynomial(z float64, terms []float64) float64 {
	sum := 0.0
	for i := len(terms) - 1; i >= 0; i-- {
		sum = float64(sum*z) + terms[i]
	}
	return sum
}

// Pow returns x^n for an n of 0 or more, by squaring: exact while the powers fit into 53 bits,
// otherwise at most 2n ulp off. It agrees with math.Pow where that has no overflow on its way.
func Pow(x float64, n int) float64 {
	power := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			power = float64(power * x)
		}
		x = float64(x * x)
	}
	return power
}
