package record

import (
	"time"

	"stormtest/target/exact"
)

// Waves returns the peak of each wave of counts, in order. A wave is a maximal run of buckets that
// each hold more than capacity, which is what one bucket's width can serve. Source: domain 5.5.
func Waves(counts []int64, capacity float64) []int64 {
	peaks := []int64{}
	inside := false
	for _, x := range counts {
		switch above := float64(x) > capacity; {
		case above && inside:
			peaks[len(peaks)-1] = max(peaks[len(peaks)-1], x)
		case above:
			peaks = append(peaks, x)
			inside = true
		default:
			inside = false
		}
	}
	return peaks
}

// WavesOf returns the waves of a run, of first attempts and retries alike: as many as run.Convoy.Waves says, all of
// them. Nil where nobody knows the capacity, empty where no bucket was above it. PeakAt is where the
// fullest bucket begins, and of equals the first. O(buckets).
func WavesOf(run *Run) []Wave {
	if run.CapacityPerSecond == nil {
		return nil
	}
	capacity := capacityOf(*run.CapacityPerSecond, run.Bucket)
	waves := []Wave{}
	inside := false
	for i := range run.Buckets {
		b := &run.Buckets[i]
		if float64(b.Arrivals) <= capacity {
			inside = false
			continue
		}
		if !inside {
			waves = append(waves, Wave{From: b.At})
			inside = true
		}
		w := &waves[len(waves)-1]
		w.To = b.At + run.Bucket
		w.Arrivals += b.Arrivals
		if b.Arrivals > w.PeakArrivals {
			w.PeakArrivals, w.PeakAt = b.Arrivals, b.At
		}
	}
	return waves
}

// capacityOf is what one bucket's width can serve.
func capacityOf(perSecond float64, bucket time.Duration) float64 {
	return perSecond * float64(bucket) / float64(time.Second)
}

// HalfLife returns how many waves it takes to halve the peak, from the least-squares slope of log2
// peak on the number of the wave: -1/slope. Full jitter has 1, a fleet without jitter never halves.
//
// ok is false where it has no value: fewer than two waves have no slope, and peaks that stay or grow
// have an infinite half-life. A slope that differs from 0 by rounding alone counts as 0.
// Source: domain 5.5.
func HalfLife(peaks []int64) (waves float64, ok bool) {
	n := float64(len(peaks))
	if n < 2 {
		return 0, false
	}
	var meanLog float64
	for _, p := range peaks {
		if p <= 0 {
			return 0, false
		}
		meanLog += exact.Log2(float64(p)) / n
	}
	meanWave := (n - 1) / 2
	var both, own float64
	for i, p := range peaks {
		d := float64(i) - meanWave
		both += float64(d * (exact.Log2(float64(p)) - meanLog))
		own += float64(d * d)
	}
	slope := both / own
	if slope > -1e-9 {
		return 0, false
	}
	return -1 / slope, true
}
