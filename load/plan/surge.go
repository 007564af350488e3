package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stormtest/load/pace"
)

// surgeShape is the form of a surge.
const surgeShape = "FROM..TO=xFACTOR"

const surgeFactorMost = 1000

// parseSurge reads a surge.
func parseSurge(text string) (Surge, string) {
	window, factor, ok := strings.Cut(text, "=x")
	from, to, twoTimes := strings.Cut(window, "..")
	if !ok || !twoTimes {
		return Surge{}, surgeShape + ", such as 10s..15s=x3"
	}
	var s Surge
	var want string
	if s.From, want = parseDuration(from); want != "" {
		return Surge{}, surgeShape + ", with FROM as " + want
	}
	if s.To, want = parseDuration(to); want != "" {
		return Surge{}, surgeShape + ", with TO as " + want
	}
	number, numeric := parseNumber(factor)
	if !numeric || number < 0 || number > surgeFactorMost {
		return Surge{}, surgeShape + ", with FACTOR as a number 0..1000"
	}
	s.Factor = number
	if s.From < 0 || s.To <= s.From || s.To > day {
		return Surge{}, surgeShape + ", with FROM before TO, and TO at most 24h"
	}
	return s, ""
}

func formatSurge(s Surge) string {
	return formatDuration(s.From) + ".." + formatDuration(s.To) + "=x" + formatNumber(s.Factor)
}

// Schedule returns when the operations of an open loop are due. The plan must be valid and have a rate.
func (p Plan) Schedule() pace.Config {
	c := pace.Config{
		PerSecond: p.RatePerSecond,
		Poisson:   p.Arrivals == ArrivalsPoisson,
		Total:     p.Operations,
		Until:     p.Duration,
	}
	for _, s := range p.surges() {
		c.Surges = append(c.Surges, pace.Surge{From: s.From, To: s.To, Factor: s.Factor})
	}
	return c
}

// surges returns the surges in the order of their windows.
func (p *Plan) surges() []Surge {
	return slices.SortedStableFunc(slices.Values(p.Surges), func(a, b Surge) int { return cmp.Compare(a.From, b.From) })
}

// A Trigger is what a fleet may fail together by: an outage, or a surge that raises the rate.
type Trigger struct {
	From, To time.Duration
	Surge    bool
}

// Triggers returns the plan's triggers in the order of their ends, those of its layers too. A surge to a lower rate is
// none.
func (p Plan) Triggers() []Trigger {
	var list []Trigger
	for _, l := range p.Chain() {
		for _, o := range l.Plan.Outages {
			list = append(list, Trigger{From: o.From, To: o.To})
		}
	}
	for _, s := range p.Surges {
		if s.Factor > 1 {
			list = append(list, Trigger{From: s.From, To: s.To, Surge: true})
		}
	}
	slices.SortStableFunc(list, func(a, b Trigger) int { return cmp.Compare(a.To, b.To) })
	return list
}

// failure is when the clients first fail together.
func (p *Plan) failure() time.Duration {
	var first Trigger
	for i, t := range p.Triggers() {
		if i == 0 || first.Surge && !t.Surge || first.Surge == t.Surge && t.From < first.From {
			first = t
		}
	}
	return first.From
}

// overlappingSurges returns two surges of which one begins before the other has ended.
func (p *Plan) overlappingSurges() (before, after Surge, found bool) {
	list := p.surges()
	for i := range list[min(1, len(list)):] {
		if list[i+1].From < list[i].To {
			return list[i], list[i+1], true
		}
	}
	return Surge{}, Surge{}, false
}
