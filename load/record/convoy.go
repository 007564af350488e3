package record

import (
	"math"
	"time"
)

// The three distances that the convoy index compares: short against middle, middle against long.
const (
	scaleShort  = 10 * time.Millisecond
	scaleMiddle = 100 * time.Millisecond
	scaleLong   = time.Second
)

// What a convoy index needs, and where it begins to mean something (domain 5.2). With these the
// false positives of Poisson traffic are at most 0.6 % at ThresholdPartial and 0.01 % at
// ThresholdConvoy.
const (
	ConvoyArrivalsMin = 100
	ConvoyWindowMin   = time.Second
	ThresholdPartial  = 0.10
	ThresholdConvoy   = 0.25
)

// Pairs counts the pairs of arrivals that lie closer together than each scale. A distance of exactly
// the scale is not closer.
type Pairs struct {
	Within10ms, Within100ms, Within1s float64
}

// CountPairs counts the pairs of times, which must be in ascending order, exactly. O(len(times)).
func CountPairs(times []time.Duration) Pairs {
	return Pairs{
		Within10ms:  countPairs(times, scaleShort),
		Within100ms: countPairs(times, scaleMiddle),
		Within1s:    countPairs(times, scaleLong),
	}
}

func countPairs(times []time.Duration, w time.Duration) float64 {
	var pairs float64
	first := 0 // of those closer than w to the current one
	for i, at := range times {
		for at-times[first] >= w {
			first++
		}
		pairs += float64(i - first)
	}
	return pairs
}

// ConvoyIndex returns the convoy index of pairs counted in a window of the given length: the larger
// excess of the two pairs of scales, 10 ms in 100 ms and 100 ms in 1 s.
//
// 0 is what a constant rate gives on average, 1 is every near pair very near; chance makes it
// negative as often as positive, and a report shows that as 0. A pair of scales without a value (no
// pair within the longer one, or a window no longer than the shorter one) is left out; without
// either the index has none and ok is false. It judges neither the number of arrivals nor the
// length of the window: see ConvoyArrivalsMin.
// Source: domain 5.2.
func (p Pairs) ConvoyIndex(window time.Duration) (index float64, ok bool) {
	index = math.Inf(-1)
	for _, s := range []struct {
		near, far float64
		w, l      time.Duration
	}{
		{p.Within10ms, p.Within100ms, scaleShort, scaleMiddle},
		{p.Within100ms, p.Within1s, scaleMiddle, scaleLong},
	} {
		if s.far == 0 || window <= s.w {
			continue
		}
		expected := expectedShare(s.w, s.l, window)
		index = max(index, (s.near/s.far-expected)/(1-expected))
		ok = true
	}
	if !ok {
		return 0, false
	}
	return index, true
}

// expectedShare returns what part of the pairs closer than l is closer than w where arrivals come at
// a constant rate over a window t > w: (wt - w²/2)/(lt - l²/2), with l at most t.
func expectedShare(w, l, t time.Duration) float64 {
	ws, ts := w.Seconds(), t.Seconds()
	ls := min(l.Seconds(), ts)
	return (float64(ws*ts) - ws*ws/2) / (float64(ls*ts) - ls*ls/2)
}

// ConvoyIndexExact returns the convoy index of the arrivals of times that lie in [from, to). The times
// must be in ascending order. It is what a Recorder estimates from cells. O(len(times)).
func ConvoyIndexExact(times []time.Duration, from, to time.Duration) (index float64, ok bool) {
	return CountPairs(between(times, from, to)).ConvoyIndex(to - from)
}

// between returns the part of times, in ascending order, that lies in [from, to).
func between(times []time.Duration, from, to time.Duration) []time.Duration {
	lo := 0
	for lo < len(times) && times[lo] < from {
		lo++
	}
	hi := lo
	for hi < len(times) && times[hi] < to {
		hi++
	}
	return times[lo:hi]
}
