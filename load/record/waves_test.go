package record

import (
	"math"
	"slices"
	"testing"
)

func TestWaves(t *testing.T) {
	for _, c := range []struct {
		name     string
		counts   []int64
		capacity float64
		want     []int64
	}{
		{"none", nil, 10, []int64{}},
		{"at capacity is no wave", []int64{10, 10, 0}, 10, []int64{}},
		{"one bucket", []int64{0, 11, 0}, 10, []int64{11}},
		{"a run is one wave with its fullest bucket", []int64{11, 30, 12, 10, 15}, 10, []int64{30, 15}},
		{"to the end", []int64{0, 0, 20}, 10, []int64{20}},
		{"none at 0 capacity where nothing comes", []int64{0, 1, 0, 2, 3}, 0, []int64{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Waves(c.counts, c.capacity); !slices.Equal(got, c.want) || got == nil {
				t.Errorf("Waves(%v, %v) = %v, want %v", c.counts, c.capacity, got, c.want)
			}
		})
	}
}

func TestHalfLife(t *testing.T) {
	for _, c := range []struct {
		name  string
		peaks []int64
		want  float64
		ok    bool
	}{
		{"none", nil, 0, false},
		{"one wave has no slope", []int64{100}, 0, false},
		{"full jitter halves each wave", []int64{800, 400, 200, 100}, 1, true},
		{"half of that slope", []int64{400, 400, 200, 200, 100, 100}, 0, true}, // by the formula below
		{"a quarter each", []int64{4096, 1024, 256, 64}, 0.5, true},
		{"never: equal peaks", []int64{1000, 1000, 1000, 1000, 1000, 1000, 1000}, 0, false},
		{"never: growing", []int64{100, 200}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := HalfLife(c.peaks)
			if c.ok && c.want == 0 {
				// Slope of -(0,0,1,1,2,2) on 0..5: Σ(i-2.5)(y-ȳ)/Σ(i-2.5)² = -8/17.5.
				c.want = 17.5 / 8
			}
			if ok != c.ok || !(math.Abs(got-c.want) <= 1e-9) {
				t.Errorf("HalfLife(%v) = %v, %t, want %v, %t", c.peaks, got, ok, c.want, c.ok)
			}
		})
	}
}

// Domain 5.5's own-wave peaks: the half-life of each strategy over its waves k = 1..6, from the published peaks.
func TestHalfLifeByStrategy(t *testing.T) {
	for _, c := range []struct {
		name     string
		peaks    []int64 // hundredths of capacity
		from, to float64
	}{
		{"fixed +-50", []int64{510, 490, 470, 450, 430, 420, 400}, 15, 20},
		{"prop +-20 %", []int64{490, 310, 170, 89, 49, 29}, 1, 1.3},
		{"equal", []int64{750, 480, 250, 135, 74, 41, 24}, 1, 1.3},
		{"full", []int64{1000, 500, 250, 135, 74, 41, 25}, 1, 1.2},
	} {
		got, ok := HalfLife(c.peaks)
		if got = value(t, c.name, got, ok); got < c.from || got > c.to {
			t.Errorf("half-life of %s = %.2f waves, want %v to %v", c.name, got, c.from, c.to)
		}
	}
}
