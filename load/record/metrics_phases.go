package record

import (
	"strings"
	"time"
)

// Why a figure of a phase is absent.
const noPhase = "the plan has no outage and no surge, or the run no such phase"

// stretches are the parts of a run that figures are told of.
var stretches = []struct {
	name, words string
	holds       func(p *Phase) bool
}{
	{"before", "before the first outage or surge", func(p *Phase) bool { return p.Name == PhaseBefore }},
	{"during", "in the outages and surges, all together", (*Phase).during},
	{"after", "after the last outage or surge", func(p *Phase) bool { return p.Name == PhaseAfter }},
}

// during says whether something was wrong in the phase.
func (p *Phase) during() bool {
	return p.Name != PhaseBefore && p.Name != PhaseAfter && !strings.HasPrefix(p.Name, phaseBetween)
}

var phaseMetrics = tabled("Phases: before, during and after the outages", stretchMetrics()...)

// stretchMetrics are the figures of each stretch. That of goodput before is in the recovery's, which is what the goodput after
// is held against.
func stretchMetrics() []Metric {
	var list []Metric
	for _, s := range stretches {
		row := func(name string, unit Unit, meaning, absent string, value func([]*Phase) *float64) {
			list = append(list, Metric{Name: name + "_" + s.name, Unit: unit, Meaning: meaning + " " + s.words, Absent: noPhase + absent, AtTarget: true,
				value: func(r *Run) *float64 { return value(phasesThat(r, s.holds)) }})
		}
		if s.name != "before" {
			row("goodput", UnitRate, "mean goodput", "", goodputIn)
		}
		row("amplification", UnitRatio, "arrivals for each first attempt that arrived", ", or no first attempt arrived in it", countsIn(arrivalsOf, firstOf))
		row("rejected_share", UnitShare, "arrivals rejected, of those", ", or nothing arrived in it", countsIn(rejectedOf, arrivalsOf))
		row("wasted_share", UnitShare, "finished work whose answer reached nobody, of all that was finished", ", nothing was finished in it, or the target is a URL, which does not tell", countsIn(wastedOf, servedOf))
		list[len(list)-1].value = atTarget(list[len(list)-1].value)
	}
	return list
}

func arrivalsOf(p *Phase) int64 { return p.Arrivals }
func firstOf(p *Phase) int64    { return p.First }
func rejectedOf(p *Phase) int64 { return p.Rejected }
func servedOf(p *Phase) int64   { return p.Served }
func wastedOf(p *Phase) int64   { return p.Wasted }

// phasesThat lists the phases of which holds is true.
func phasesThat(r *Run, holds func(p *Phase) bool) []*Phase {
	var list []*Phase
	for i := range r.Phases {
		if holds(&r.Phases[i]) {
			list = append(list, &r.Phases[i])
		}
	}
	return list
}

// goodputIn is the mean over the phases by their length; nil without one that has a goodput.
func goodputIn(list []*Phase) *float64 {
	if len(list) == 1 {
		return list[0].GoodputPerSecond
	}
	var served float64
	var length time.Duration
	for _, p := range list {
		if p.GoodputPerSecond != nil {
			served += float64(*p.GoodputPerSecond * (p.To - p.From).Seconds())
			length += p.To - p.From
		}
	}
	if length <= 0 {
		return nil
	}
	v := served / length.Seconds()
	return &v
}

// atTarget has no value where the clients alone measured: they do not know what a target does.
func atTarget(value func(*Run) *float64) func(*Run) *float64 {
	return func(r *Run) *float64 {
		if r.ArrivalsMeasuredAt == "client" {
			return nil
		}
		return value(r)
	}
}

// countsIn is one count of the phases over another one.
func countsIn(upper, lower func(p *Phase) int64) func([]*Phase) *float64 {
	return func(list []*Phase) *float64 {
		var part, all int64
		for _, p := range list {
			part, all = part+upper(p), all+lower(p)
		}
		return share(part, all)
	}
}
