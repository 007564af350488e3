package backoff

import (
	"math"
	"slices"
	"time"
)

// lawPoints is how many delays of one weight stand for all that there may be before the next one.
const lawPoints = 4096

// A fan is a mixture of uniform delays that all begin at from and end at one of tops, above from and in ascending order,
// beside the shares of those that are exactly from and exactly the cap. The tops share the rest evenly.
type fan struct {
	from        float64
	tops        []float64
	atFrom      float64
	atCap       float64
	cap         float64 // what is above it is at it
	cumulative  []float64
	slopeBefore []float64 // of the shares below, up to each top
}

// newFan takes tops in ascending order, of which those up to from are points, and how many more are at the cap.
func newFan(from, cap float64, tops []float64, capped int) *fan {
	all := float64(len(tops) + capped)
	points, _ := slices.BinarySearchFunc(tops, from, func(top, from float64) int {
		if top <= from {
			return -1
		}
		return 1
	})
	f := &fan{from: from, cap: cap, tops: tops[points:], atFrom: float64(points) / all, atCap: float64(capped) / all}
	n := len(f.tops)
	f.cumulative, f.slopeBefore = make([]float64, n), make([]float64, n)
	slope := 0.0
	for i := n - 1; i >= 0; i-- {
		slope += 1 / all / (f.tops[i] - from)
		f.slopeBefore[i] = slope
	}
	sum, last := f.atFrom, from
	for i, top := range f.tops {
		sum += float64((top - last) * f.slopeBefore[i])
		f.cumulative[i], last = sum, top
	}
	return f
}

// below returns the share of delays that are shorter than x.
func (f *fan) below(x float64) float64 {
	switch {
	case x <= f.from:
		return 0
	case x > f.cap:
		return 1
	}
	i, _ := slices.BinarySearch(f.tops, x)
	switch {
	case len(f.tops) == 0:
		return f.atFrom
	case i == len(f.tops):
		return portion(f.cumulative[i-1])
	}
	return portion(f.cumulative[i] - float64((f.tops[i]-x)*f.slopeBefore[i]))
}

// points returns n delays in ascending order that stand for all.
func (f *fan) points(n int) []float64 {
	list := make([]float64, n)
	i := 0
	for k := range list {
		share := (float64(k) + 0.5) / float64(n)
		for i < len(f.tops) && f.cumulative[i] < share {
			i++
		}
		switch {
		case share < f.atFrom:
			list[k] = f.from
		case i == len(f.tops):
			list[k] = f.cap
		default:
			list[k] = min(f.cap, f.tops[i]-(f.cumulative[i]-share)/f.slopeBefore[i])
		}
	}
	return list
}

// Below implements Lawful: from the delays before the first retry to those before the next, and so on.
func (s *Decorrelated) Below(k int, edges []time.Duration) []float64 {
	_ = s.step(k)
	before := []float64{float64(s.Base)}
	if s.CapMode == CapRandom {
		before = slices.Repeat(before, lawPoints) // each for a cap of its own
	}
	f := s.fanAfter(before)
	for range k {
		f = s.fanAfter(f.points(lawPoints))
	}
	return law(edges, func(x time.Duration) float64 { return f.below(float64(x)) })
}

// fanAfter returns the delays that follow those of a list in ascending order.
func (s *Decorrelated) fanAfter(before []float64) *fan {
	limit := float64(s.Cap)
	tops, capped := make([]float64, 0, len(before)), 0
	for i, p := range before {
		top := float64(3 * p)
		switch s.CapMode {
		case CapCeiling:
			top = min(top, limit)
		case CapFixed:
			if top >= limit {
				capped++
				continue
			}
		case CapRandom:
			top = min(top, s.capFor(i))
		}
		tops = append(tops, top)
	}
	slices.Sort(tops)
	return newFan(float64(s.Base), limit, tops, capped)
}

// capFor returns a cap for the i-th delay, so that those of any stretch of neighbours are spread over all that CapRandom may
// draw: multiples of the golden ratio, whose fractions are as even as any.
func (p *Params) capFor(i int) float64 {
	w := p.capWindow()
	_, share := math.Modf(float64(i) * (math.Phi - 1))
	return float64(w.lo) + float64(share*float64(w.width))
}

// lawSteps is how finely Polly's curve is followed.
const lawSteps = 512

// Below implements Lawful. It is the mean over what the delay before may have left in Carry.
func (s *Polly) Below(k int, edges []time.Duration) []float64 {
	n := s.step(k)
	if n > pollyStepMax {
		return law(edges, func(x time.Duration) float64 { return step(s.Cap, x) })
	}
	raw, share := s.doubled(n), newPollyShare(n)
	starts := []float64{0}
	if k > 0 {
		starts = starts[:0]
		for i := range lawCaps {
			starts = append(starts, pollyLevel(float64(n)-1+(float64(i)+0.5)/lawCaps))
		}
	}
	return law(edges, func(x time.Duration) float64 {
		distance, under := (float64(x)-0.5)/(float64(s.Base)*pollyScale), 0.0
		for _, start := range starts {
			under += share.below(start + distance)
		}
		return s.lidBelow(raw, x, under/float64(len(starts)))
	})
}

// A pollyShare says which share of the levels p(n+u), with u uniform in 0..1, are below a level, at so many levels from the
// least to the greatest.
type pollyShare struct {
	from, to float64
	shares   [lawSteps + 1]float64
}

func newPollyShare(n int) *pollyShare {
	s := &pollyShare{from: pollyLevel(float64(n)), to: pollyLevel(float64(n) + 1)}
	for i := range s.shares { // the curve rises, so that each level is found from the one before
		level, lo, hi := s.from+float64((s.to-s.from)*float64(i)/lawSteps), 0.0, 1.0
		for range 30 {
			if middle := (lo + hi) / 2; pollyLevel(float64(n)+middle) < level {
				lo = middle
			} else {
				hi = middle
			}
		}
		s.shares[i] = (lo + hi) / 2
	}
	return s
}

func (s *pollyShare) below(level float64) float64 {
	at := float64((level - s.from) / (s.to - s.from) * lawSteps)
	switch {
	case !(at > 0):
		return 0
	case at >= lawSteps:
		return 1
	}
	i := int(at)
	return s.shares[i] + float64((at-float64(i))*(s.shares[i+1]-s.shares[i]))
}
