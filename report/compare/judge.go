package compare

import "math"

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
			if f.Finding == Unjudged {
				ask(padded(f.Base.each, n.base), padded(f.Other.each, n.other), func(p float64) {
					f.P, f.Finding = &p, Within
					if p <= FalsePositiveShare {
						f.Finding = Beyond
					}
				})
			}
			if f.Base.Count*f.Other.Seeds != f.Other.Count*f.Base.Seeds {
				// A seed that the strategy did not come to is no seed without a value.
				ask(padded(presence(f.Base.each), n.base), padded(presence(f.Other.each), n.other), func(p float64) { f.CountP = &p })
			}
		}
	}
	for _, p := range pairs {
		p.askWords(func(base, other []float64, tell func(p float64)) {
			ask(padded(base, n.base), padded(other, n.other), tell)
		})
	}
	for i, chance := range n.chances() {
		told[i](min(1, float64(chance*families)))
	}
}

// askWords holds verdicts and flags against noise: in how many seeds each word was said.
func (p *Pair) askWords(ask func(base, other []float64, tell func(p float64))) {
	if p.VerdictFinding != Equal {
		p.VerdictFinding = Within
		base, other := headlines(p.Base), headlines(p.Other)
		for _, v := range verdictsOf(repeats(p.Base).Verdicts, repeats(p.Other).Verdicts) {
			ask(hasVerdict(base, v), hasVerdict(other, v), func(chance float64) {
				if chance <= FalsePositiveShare {
					p.VerdictFinding = Beyond
				}
			})
		}
	}
	for i := range p.Flags {
		f := &p.Flags[i]
		if f.Finding == Equal {
			continue
		}
		ask(f.base, f.other, func(chance float64) {
			f.P, f.Finding = &chance, Within
			if chance <= FalsePositiveShare {
				f.Finding = Beyond
			}
		})
	}
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
	for i := range p.Flags {
		if f := &p.Flags[i]; f.Finding == Unjudged {
			f.Finding = Unknown
			if p.Grounds == ByPlan {
				f.Finding = Certain
			}
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
