package compare

import (
	"math"

	"stormtest/load/record"
)

// judgeNoise says of every difference whether it is more than chance. Several results are a family each, and p is
// multiplied by their number.
func judgeNoise(c *Comparison) {
	families := 0
	for i := range c.Others {
		if c.Others[i].bySeeds() != nil {
			families++
		}
	}
	for i := range c.Others {
		o := &c.Others[i]
		judgeSeeds(o.bySeeds(), float64(families))
		for k := range o.Pairs {
			o.Pairs[k].judge()
		}
	}
}

// bySeeds returns the pairs with the values of several seeds on both sides.
func (o *Other) bySeeds() []*Pair {
	var list []*Pair
	for i := range o.Pairs {
		if o.Pairs[i].Grounds == BySeeds {
			list = append(list, &o.Pairs[i])
		}
	}
	return list
}

// judgeSeeds holds all figures of the pairs against noise.
func judgeSeeds(pairs []*Pair, families float64) {
	var n noise
	for _, p := range pairs {
		n.base, n.other = max(n.base, int(repeats(p.Base).Count)), max(n.other, int(repeats(p.Other).Count))
	}
	if n.base == 0 {
		return
	}
	if n.chanceLeast()*families > FalsePositiveShare {
		for _, p := range pairs {
			p.Grounds = FewSeeds
		}
		return
	}
	var told []func(p float64)
	ask := func(base, other sample, tell func(p float64)) {
		n.samples = append(n.samples, append(base, other...))
		told = append(told, tell)
	}
	for _, p := range pairs {
		for i := range p.Figures {
			f := &p.Figures[i]
			base, other := padded(f.Base.each, n.base), padded(f.Other.each, n.other)
			if f.Finding == Unjudged {
				ask(base, other, func(p float64) {
					f.P, f.Finding = &p, Within
					if p <= FalsePositiveShare {
						f.Finding = Beyond
					}
				})
			}
			if f.Base.Count*f.Other.Seeds != f.Other.Count*f.Base.Seeds {
				ask(presence(base), presence(other), func(p float64) { f.CountP = &p })
			}
		}
	}
	for _, p := range pairs {
		if p.VerdictFinding == Equal {
			continue
		}
		// The words go from bad to good; a seed without one was not judged.
		base, other := padded(verdicts(p.Base), n.base), padded(verdicts(p.Other), n.other)
		p.VerdictFinding = Within
		for _, samples := range [][2]sample{{base, other}, {presence(base), presence(other)}} {
			ask(samples[0], samples[1], func(chance float64) {
				if chance <= FalsePositiveShare {
					p.VerdictFinding = Beyond
				}
			})
		}
	}
	for i, chance := range n.chances() {
		told[i](min(1, float64(chance*families)))
	}
}

// presence is 1 for a seed that has a value, and 0 for one without.
func presence(s sample) sample {
	out := make(sample, len(s))
	for i, v := range s {
		if !math.IsNaN(v) {
			out[i] = 1
		}
	}
	return out
}

// verdicts are those of every seed as numbers, NaN for a seed that was not judged.
func verdicts(run *record.Run) []float64 {
	m, _ := record.MetricNamed("verdict")
	var list []float64
	for _, v := range repeats(run).Values(m) {
		list = append(list, orNaN(v))
	}
	return list
}

// padded returns the values with NaN for seeds that a strategy did not come to.
func padded(values []float64, n int) sample {
	out := make(sample, n)
	for i := range out {
		out[i] = math.NaN()
	}
	copy(out, values)
	return out
}

// judge fills in what the seeds of both sides do not tell.
func (p *Pair) judge() {
	if p.VerdictFinding == Unjudged {
		p.VerdictFinding = Unknown
		if p.Grounds == ByPlan {
			p.VerdictFinding = Certain
		}
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		if f.Finding != Unjudged {
			continue
		}
		switch p.Grounds {
		case ByPlan:
			f.Finding = Certain
		case ByRange:
			f.Finding = rangeFinding(f.Base, f.Other)
		default:
			f.Finding = Unknown
		}
	}
}

// rangeFinding says whether the one value lies among those of the seeds of the other side.
func rangeFinding(a, b Value) Finding {
	if len(a.each) == 1 {
		a, b = b, a
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range a.each {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if v := *b.Value; v < lo || v > hi {
		return Outside
	}
	return Inside
}
