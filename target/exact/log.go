package exact

import "math"

// logTerms are 2/3, 2/5, 2/7, ...: with z = s², log((1+s)/(1-s)) = s*(2 + 2z/3 + 2z²/5 + ...).
var logTerms = [...]float64{
	2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23,
}

// Log returns the natural logarithm of x, less than 1 ulp off. Special cases are as in
// math.Log.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	// x = 2^k*(1 + f) with 1+f in [sqrt(1/2), sqrt(2)).
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m += m
		exponent--
	}
	f, k := m-1, float64(exponent)
	// log(1+f) = s*(2+R) with s = f/(2+f), here as f - (f²/2 - s*(f²/2 + R)), since 2s = f - s*f.
	s := f / (2 + f)
	z := float64(s * s)
	tail := float64(z * polynomial(z, logTerms[:]))
	half := float64(f*f) / 2
	return float64(k*ln2Hi) - ((half - (float64(s*(half+tail)) + float64(k*ln2Lo))) - f)
}

// Log2 returns the binary logarithm of x, less than 1 ulp off where that is 1 or more, and exact for powers of
// two. Special cases are as in math.Log2.
func Log2(x float64) float64 {
	m, exponent := math.Frexp(x)
	if m == 0.5 { // and 0.5*2^exponent
		return float64(exponent - 1)
	}
	return float64(exponent) + Log(m)/math.Ln2
}
