package backoff

import (
	"time"

	"stormtest/target/exact"
)

// A Lawful is a Strategy whose delays have a distribution that follows from its formula. Every strategy of Table
// is one.
type Lawful interface {
	// Below returns for each edge the share, in 0..1, of the delays before the retry with index k that are shorter than
	// it. The edges are in ascending order.
	//
	// Where Entry.Chained says that a delay depends on those before it, it is that of an operation that is retried so
	// often whatever its delays were. In a fleet of which the target serves some, those that are still being
	// retried are no fair sample of that.
	//
	// It draws nothing, and its error is less than 0.0001. Some 0.1 ms for 1000 edges, and up to 2 where delays are chained.
	Below(k int, edges []time.Duration) []float64
}

// below returns the share of the delays of w that are shorter than x.
func (w window) below(x time.Duration) float64 {
	switch {
	case x <= 0 || x <= w.floor:
		return 0
	case w.width <= 1:
		return step(w.at(0), x)
	}
	return portion((float64(x) - float64(w.lo)) / float64(w.width))
}

// step returns the share of a single point that is below x.
func step(point, x time.Duration) float64 {
	if point < x {
		return 1
	}
	return 0
}

// portion returns x brought into 0..1; 0 for NaN.
func portion(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

// law returns below for each edge.
func law(edges []time.Duration, below func(x time.Duration) float64) []float64 {
	shares := make([]float64, len(edges))
	for i, x := range edges {
		shares[i] = below(x)
	}
	return shares
}

// lawCaps is how many caps stand for all that CapRandom may draw.
const lawCaps = 256

// middles returns n points that stand for all of a window.
func (w window) middles(n int) []time.Duration {
	points := make([]time.Duration, n)
	for i := range points {
		points[i] = w.at(uint64((float64(i) + 0.5) / float64(n) * float64(w.width)))
	}
	return points
}

// windows returns windows of one weight that stand for what draw takes one from, but for the cap that CapClamp puts
// over them.
func (p *Params) windows(raw time.Duration, j jitter) []window {
	if p.CapMode != CapRandom {
		return []window{p.window(raw, j)}
	}
	if capMin, _ := p.capWindow().ends(); raw <= capMin {
		return []window{j(p, raw)}
	}
	list := make([]window, lawCaps)
	for i, limit := range p.capWindow().middles(lawCaps) {
		list[i] = j(p, min(raw, limit))
	}
	return list
}

// Below implements Lawful.
func (s *schedule) Below(k int, edges []time.Duration) []float64 {
	windows := s.windows(s.raw(k), s.shape.jitter)
	return law(edges, func(x time.Duration) float64 {
		if x > s.limit {
			return 1
		}
		var sum float64
		for _, w := range windows {
			sum += w.below(x)
		}
		return sum / float64(len(windows))
	})
}

// lidBelow returns the share of delays below x where under it are those that would be without a limit, which is that of
// lid.
func (p *Params) lidBelow(raw, x time.Duration, under float64) float64 {
	switch {
	case p.CapMode == CapFixed && raw >= p.Cap:
		return step(p.Cap, x)
	case p.CapMode == CapRandom: // the limit is drawn apart
		return 1 - float64((1-under)*(1-p.capWindow().below(x)))
	}
	return max(step(p.Cap, x), under)
}

// exponentAt returns the exponent of m that gives a delay of just under x, from which a power is rounded to x.
func (c *curve) exponentAt(x time.Duration) float64 {
	return exact.Log((float64(x)-0.5)/float64(c.Base)) / c.logMultiplier
}

// Below implements Lawful.
func (s *Exponent) Below(k int, edges []time.Duration) []float64 {
	n := s.step(k)
	raw := s.exponential(n)
	return law(edges, func(x time.Duration) float64 {
		var under float64
		switch {
		case x <= s.Base:
		case x > raw:
			under = 1
		default:
			under = portion(s.exponentAt(x) / float64(n))
		}
		return s.lidBelow(raw, x, under)
	})
}

// Below implements Lawful.
func (s *ExponentNoisy) Below(k int, edges []time.Duration) []float64 {
	n := s.step(k)
	raw := s.exponential(n)
	return law(edges, func(x time.Duration) float64 {
		under := step(s.Base, x) // all there is where the multiplier is 1
		if s.logMultiplier > 0 {
			under = portion((s.exponentAt(x) - float64(n) + 1) / 2)
		}
		return s.lidBelow(raw, x, under)
	})
}

// Below implements Lawful.
func (s *MersenneScaled) Below(k int, edges []time.Duration) []float64 {
	raw := s.mersenne(s.step(k))
	return law(edges, func(x time.Duration) float64 { return s.lidBelow(raw, x, aroundAbove(raw).below(x)) })
}

// Below implements Lawful.
func (s *LinearJitter) Below(k int, edges []time.Duration) []float64 {
	w := s.between(k)
	return law(edges, func(x time.Duration) float64 {
		if s.CapMode == CapCeiling {
			return w.below(x)
		}
		return s.lidBelow(time.Duration(w.lo), x, w.below(x))
	})
}

// Below implements Lawful.
func (s *Constant) Below(_ int, edges []time.Duration) []float64 {
	return law(edges, func(x time.Duration) float64 { return step(s.Base, x) })
}

// Below implements Lawful.
func (s *Immediate) Below(_ int, edges []time.Duration) []float64 {
	return law(edges, func(x time.Duration) float64 { return step(0, x) })
}
