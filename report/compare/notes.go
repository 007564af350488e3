package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stormtest/load/record"
)

// notes say what a reader must know before the figures.
func notes(base side, m matched, o *Other) []string {
	list := []string{}
	add := func(holds bool, format string, args ...any) {
		if holds {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	a, b := m.pairs[0].base, m.pairs[0].other
	for _, s := range []side{base, m.side} {
		_, known := planOf(s.result)
		add(!known, "%s holds no plan, so nobody knows what was asked differently", s.name)
	}
	for _, s := range []side{base, m.side} {
		add(s.result.Interrupted && s.runs[0].Outside == nil && repeats(s.runs[0]) != nil,
			"%s was interrupted: the seeds that came to their end count", s.name)
	}
	add(a.Engine != b.Engine, "real time against virtual time: there no socket is opened and nobody is late, so that lateness and start spread are this machine's part, and neither better nor worse")
	add((a.Outside == nil) != (b.Outside == nil), "the clients of one side are not stormtest's: what the target knows is compared, and nothing else")
	add(a.FromLog != nil, "made from logs, which hold arrivals alone")
	var amounts []string
	for _, c := range o.PlanChanges {
		if slices.Contains(extents, c.Name) {
			amounts = append(amounts, c.Name)
		}
	}
	watched := slices.ContainsFunc(o.Pairs, func(p Pair) bool { return p.watchedOtherwise(o) })
	add(watched, "duration: one side was watched for longer, and most figures grow or fall with that, so that none is better or worse but %s", strings.Join(whateverWatchedFigures(), ", "))
	add(amounts != nil, "%s: there was not as much to do on both sides, so that counts are neither better nor worse; shares, amplification and times compare", strings.Join(amounts, ", "))
	if p := o.moved(); p != nil {
		add(true, "the window in which retries are judged is 10 to 100 times base after the failure, and moved: verdict, %s are %s, so that none of them is better or worse", strings.Join(ofWindow, ", "), p.Windows())
	}
	add(differ(a.CapacityPerSecond, b.CapacityPerSecond), "the capacities differ, and peak_over_capacity and waves are by that of each")
	if n := sharedRuns(m); n > 0 && o.Same {
		add(true, "%d of the runs are on both sides, seeds and figures alike, so that the sides are more like each other than two that know nothing of each other, and less comes out as beyond noise", n)
	}
	if o.certain() {
		x, y := base.result.Tool.Version, m.result.Tool.Version
		versions := x + " and " + y
		if x == y {
			versions = "two builds, though both say " + x
		}
		add(true, "one plan and one seed in virtual time: there is no chance in a difference, which can only come from stormtest: %s", versions)
	}
	return list
}

// moved is a pair whose windows moved; nil where none is.
func (o *Other) moved() *Pair {
	for i := range o.Pairs {
		if o.Pairs[i].WindowsMoved() {
			return &o.Pairs[i]
		}
	}
	return nil
}

// whateverWatchedFigures are those that have a direction.
func whateverWatchedFigures() []string {
	return slices.DeleteFunc(slices.Clone(whateverWatched), func(name string) bool {
		m, _ := record.MetricNamed(name)
		d, _ := directionOf(m)
		return d == either && m.Unit != record.UnitWord
	})
}

// sharedRuns counts the seeds that a strategy has on both sides with the same figures, as those of a result and of one
// that it was merged into; 0 where all are, as in a result beside itself.
func sharedRuns(m matched) int {
	for _, p := range m.pairs {
		a, b := repeats(p.base), repeats(p.other)
		if a == nil || b == nil || !kept(a) || !kept(b) || sameSeeds(a, b) {
			continue
		}
		shared := 0
		theirs := b.List()
		for i, seed := range a.List() {
			if k := slices.Index(theirs, seed); k >= 0 && sameFigures(a.Seed(i), b.Seed(k)) {
				shared++
			}
		}
		if shared > 0 {
			return shared
		}
	}
	return 0
}

// sameFigures reports whether two seeds have the same figures, and so are one run.
func sameFigures(a, b record.Seed) bool {
	return slices.EqualFunc(a.Figures, b.Figures, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// certain reports whether something differs where there is no chance.
func (o *Other) certain() bool {
	for i := range o.Pairs {
		p := &o.Pairs[i]
		differs := func(f Figure) bool { return f.Finding == Unjudged }
		if p.Grounds == ByPlan && (!p.ArrivalsEqual || slices.ContainsFunc(p.Figures, differs)) {
			return true
		}
	}
	return false
}

// differ reports whether two capacities are not the same, or only one is known.
func differ(a, b *float64) bool {
	if a == nil || b == nil {
		return a != b
	}
	return *a != *b
}
