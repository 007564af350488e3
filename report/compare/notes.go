package compare

import (
	"fmt"
	"slices"
	"strings"
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
	add(amounts != nil, "%s: there was not as much to do on both sides, so that counts are neither better nor worse; shares, amplification and times compare", strings.Join(amounts, ", "))
	add(differ(a.CapacityPerSecond, b.CapacityPerSecond), "the capacities differ, and peak_over_capacity and waves are by that of each")
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
