package record

import "math"

// Thresholds of the flag PERIODIC.
const (
	// PeriodicMin is the autocorrelation from which traffic is called periodic (domain 5.4).
	PeriodicMin = 0.3
	// PeriodicLags is how many lags of traffic it takes to tell.
	PeriodicLags = 3
	// PeriodicLevelMin is how full the emptiest whole lag must be against the fullest.
	PeriodicLevelMin = 0.5
	// periodicDeviations is how many standard deviations of Poisson traffic's r it takes, unless r is at
	// least periodicCertain; 4 of them come by chance at a rate of 3e-5.
	periodicDeviations = 4
	periodicCertain    = 0.8
	// periodicDispersionMin is the least dispersion that a pattern must have: less is the rounding of a
	// steady rate to whole arrivals, which has a pattern of its own.
	periodicDispersionMin = 0.1
)

// Autocorrelation returns how far counts resemble themselves lag buckets later:
//
//	r = Σ(x_i - m)(x_{i+lag} - m) / Σ(x_i - m)² · K/(K - lag)
//
// with K counts of mean m. 0 under Poisson (sd about 0.07 for K = 600, lag = 200), 1 for a pattern that
// repeats. ok is false unless 0 < lag < K and the counts differ. Source: domain 5.4.
func Autocorrelation(counts []int64, lag int) (r float64, ok bool) {
	values := make([]float64, len(counts))
	for i, x := range counts {
		values[i] = float64(x)
	}
	return autocorrelation(values, lag)
}

func autocorrelation(x []float64, lag int) (r float64, ok bool) {
	k := len(x)
	if lag <= 0 || lag >= k {
		return 0, false
	}
	var mean float64
	for _, v := range x {
		mean += v
	}
	mean /= float64(k)
	var own, lagged float64
	for i, v := range x {
		own += float64((v - mean) * (v - mean))
		if i+lag < k {
			lagged += float64((v - mean) * (x[i+lag] - mean))
		}
	}
	// Counts that differ by rounding alone have no pattern.
	if own <= 1e-18*float64(k)*mean*mean {
		return 0, false
	}
	return lagged / own * float64(k) / float64(k-lag), true
}

// Periodic says whether counts repeat every lag buckets, as traffic does behind an unjittered cap.
//
// Autocorrelation alone does not tell: any decaying series resembles itself one lag later, and in a short one
// chance does. So this is asked of at least PeriodicLags lags of counts:
//
//  1. Autocorrelation >= PeriodicMin, and beyond what chance does: 4/sqrt(K - lag), which is less than
//     PeriodicMin from K - lag = 178 on, or 0.8.
//  2. The level is steady: of the whole lags counted from the end, the emptiest holds at least
//     PeriodicLevelMin of what the fullest holds. This refuses a fleet that is still backing off or
//     already being served.
//  3. The same as in 1 for the counts divided by their own moving average over one lag. A slope, straight or
//     exponential, is one constant after that and a pattern is not.
//  4. What is left after that varies at least a tenth as much as Poisson traffic does.
//
// r is the autocorrelation of the counts as they are; ok is false where it has no value or the counts
// are too few. O(len(counts)).
func Periodic(counts []int64, lag int) (r float64, periodic, ok bool) {
	if lag <= 0 || len(counts) < PeriodicLags*lag {
		return 0, false, false
	}
	r, ok = Autocorrelation(counts, lag)
	if !ok || !beyondChance(r, len(counts)-lag) || !steady(counts, lag) {
		return r, false, ok
	}
	ratios := overMovingAverage(counts, lag)
	level, valid := autocorrelation(ratios, lag)
	periodic = valid && beyondChance(level, len(ratios)-lag) && varianceOf(ratios)*meanOf(counts) >= periodicDispersionMin
	return r, periodic, true
}

// beyondChance says whether an autocorrelation over so many products is more than Poisson traffic has: its
// standard deviation is 1/sqrt(products).
func beyondChance(r float64, products int) bool {
	return r >= max(PeriodicMin, min(periodicCertain, periodicDeviations/math.Sqrt(float64(products))))
}

// varianceOf returns the mean squared deviation of x from its mean.
func varianceOf(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += float64(v * v)
	}
	mean := sum / float64(len(x))
	return max(0, squares/float64(len(x))-float64(mean*mean))
}

// steady says whether the whole lags of counts, from the end backwards, hold about the same.
func steady(counts []int64, lag int) bool {
	emptiest, fullest := int64(math.MaxInt64), int64(0)
	for end := len(counts); end >= lag; end -= lag {
		var sum int64
		for _, x := range counts[end-lag : end] {
			sum += x
		}
		emptiest, fullest = min(emptiest, sum), max(fullest, sum)
	}
	return fullest > 0 && float64(emptiest) >= PeriodicLevelMin*float64(fullest)
}

// overMovingAverage returns each count that has half a lag of neighbours on both sides, divided by the
// mean of the lag around it. Where lag is even the two outermost neighbours count half, so that the
// mean is centred. 0/0 is 1: nothing, where nothing is usual.
func overMovingAverage(counts []int64, lag int) []float64 {
	reach := lag / 2
	prefix := make([]int64, len(counts)+1)
	for i, x := range counts {
		prefix[i+1] = prefix[i] + x
	}
	ratios := make([]float64, 0, max(0, len(counts)-2*reach))
	for i := reach; i+reach < len(counts); i++ {
		sum := float64(prefix[i+reach+1] - prefix[i-reach])
		if lag%2 == 0 {
			sum -= float64(counts[i-reach]+counts[i+reach]) / 2
		}
		if sum == 0 {
			ratios = append(ratios, 1)
			continue
		}
		ratios = append(ratios, float64(counts[i])*float64(lag)/sum)
	}
	return ratios
}
