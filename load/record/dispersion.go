package record

import "time"

// Fano returns the dispersion of counts, s²/mean with the unbiased variance: 1 under Poisson, n where
// all n arrivals of many fall into one bucket. It grows with the size of the fleet, so compare it at
// equal fleets only. ok is false for fewer than two counts or when all are 0. Source: domain 5.4.
func Fano(counts []int64) (f float64, ok bool) {
	mean := meanOf(counts)
	if len(counts) < 2 || mean == 0 {
		return 0, false
	}
	return squaresAround(counts, mean) / float64(len(counts)-1) / mean, true
}

// PeakOverMean returns the largest count over the mean count. It is strongly biased upward for small
// counts: 2.3 at 5 a bucket over 100 buckets of Poisson traffic. ok is false when all are 0.
// Source: domain 5.4.
func PeakOverMean(counts []int64) (ratio float64, ok bool) {
	mean := meanOf(counts)
	if mean == 0 {
		return 0, false
	}
	return float64(peakOf(counts)) / mean, true
}

// peakOverMean is PeakOverMean of buckets of which the last may be cut: the mean is of the time that they cover.
func peakOverMean(counts []int64, covered, bucket time.Duration) (ratio float64, ok bool) {
	ratio, ok = PeakOverMean(counts)
	if whole := bucket * time.Duration(len(counts)); ok && covered > 0 && covered < whole {
		ratio = float64(ratio * float64(max(covered, bucket)) / float64(whole))
	}
	return ratio, ok
}

// meanOf returns the mean of counts, 0 of none.
func meanOf(counts []int64) float64 {
	if len(counts) == 0 {
		return 0
	}
	var sum int64
	for _, x := range counts {
		sum += x
	}
	return float64(sum) / float64(len(counts))
}

// peakOf returns the largest of counts, 0 of none.
func peakOf(counts []int64) int64 {
	var peak int64
	for _, x := range counts {
		peak = max(peak, x)
	}
	return peak
}

// squaresAround returns the sum of the squared deviations from mean.
func squaresAround(counts []int64, mean float64) float64 {
	var sum float64
	for _, x := range counts {
		d := float64(x) - mean
		sum += float64(d * d)
	}
	return sum
}
