package record

// rank returns the place, in 1..n, of the quantile q in 0..1 among n values in order: q*n
// rounded, as the library has it.
func rank(q float64, n int64) int64 {
	return min(max(1, int64(float64(float64(100*q)/100*float64(n))+0.5)), n)
}

// percentile is what to ask the library for, so that it finds that place. Asked for 100*q it would
// work the place out itself, and add the half in one step with the product where the machine can:
// with q*n near half a number two machines would find two values.
func percentile(q float64, n int64) float64 { return 100 * float64(rank(q, n)) / float64(n) }
