package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The names of phases. What lies between is named after the numbers of the two triggers, and a trigger after what it was.
const (
	PhaseBefore  = "before"
	PhaseAfter   = "after"
	phaseBetween = "between "
)

// A Trigger is a window [From, To) after which the question is whether the target comes back: an outage, or a surge of
// the load.
type Trigger struct {
	From, To time.Duration
	Surge    bool // of the load; otherwise the target failed
}

// A trouble is one Trigger, or several that overlap.
type trouble struct {
	from, to      time.Duration
	outage, surge bool
}

func (t trouble) String() string {
	switch {
	case t.outage && t.surge:
		return "outage and surge"
	case t.surge:
		return "surge"
	}
	return "outage"
}

// troubles puts the triggers in order and makes one of those that overlap. Two that only touch stay two.
func troubles(triggers []Trigger) []trouble {
	sorted := slices.SortedFunc(slices.Values(triggers), func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var list []trouble
	for _, t := range sorted {
		if t.To <= t.From {
			continue
		}
		if last := len(list) - 1; last >= 0 && t.From < list[last].to {
			list[last].to = max(list[last].to, t.To)
			list[last].outage, list[last].surge = list[last].outage || !t.Surge, list[last].surge || t.Surge
			continue
		}
		list = append(list, trouble{from: t.From, to: t.To, outage: !t.Surge, surge: t.Surge})
	}
	return list
}

// around returns when the first trigger began and when the last one ended; 0, 0 without one.
func around(triggers []Trigger) (from, to time.Duration) {
	for i, t := range troubles(triggers) {
		if i == 0 {
			from = t.from
		}
		to = max(to, t.to)
	}
	return from, to
}

// phases divides the run that ended at end into what lay before, in, between and after the triggers. It has none where
// no trigger began before the end, and none without length.
//
// A bucket belongs to the phase that it begins in, so that a boundary that cuts one leaves all of it to the phase before:
// no count is divided, and over all phases they add up to the buckets'. A rate is over the time of the phase's buckets, which is From..To but for
// less than a bucket at either end.
func phases(triggers []Trigger, list []Bucket, width, end time.Duration) []Phase {
	named := namedPhases(troubles(triggers), end)
	for i := range named {
		p := &named[i]
		first, last := bucketsUntil(p.From, width), bucketsUntil(p.To, width)
		if i == len(named)-1 {
			last = len(list) // with what came in after the end
		}
		first, last = min(first, len(list)), min(last, len(list))
		p.count(list[first:max(first, last)])
		span := min(time.Duration(last)*width, end) - time.Duration(first)*width
		if span > 0 {
			p.GoodputPerSecond = ptr(float64(p.Served-p.Wasted) / span.Seconds())
		}
	}
	return named
}

// namedPhases are the phases without their counts.
func namedPhases(list []trouble, end time.Duration) []Phase {
	var named []Phase
	add := func(name string, from, to time.Duration) {
		if to = min(to, end); from < to {
			named = append(named, Phase{Name: name, From: from, To: to})
		}
	}
	if len(list) == 0 || list[0].from >= end {
		return nil
	}
	add(PhaseBefore, 0, list[0].from)
	for i, t := range list {
		name := t.String()
		if len(list) > 1 {
			name += fmt.Sprintf(" %d", i+1)
		}
		add(name, t.from, t.to)
		if i+1 < len(list) {
			add(fmt.Sprintf("%s%d and %d", phaseBetween, i+1, i+2), t.to, list[i+1].from)
		}
	}
	add(PhaseAfter, list[len(list)-1].to, end)
	return named
}

// count adds up the buckets and what follows from the sums.
func (p *Phase) count(list []Bucket) {
	for i := range list {
		b := &list[i]
		p.Arrivals += b.Arrivals
		p.First += b.First
		p.Retries += b.Retries
		p.Served += b.Served
		p.Wasted += b.Wasted
		p.Rejected += b.Rejected
	}
	p.Amplification, p.WastedShare = share(p.Arrivals, p.First), share(p.Wasted, p.Served)
}

// lastMinute is the span of which a recovery tells amplification and wasted share (domain 4.4).
const lastMinute = time.Minute

// addLast fills what the last minute of a run that ended at end was like, of it no more than lies after the moment
// from.
func (r *Recovery) addLast(list []Bucket, width, from, end time.Duration) {
	var p Phase
	first := min(bucketsUntil(max(from, end-lastMinute), width), len(list))
	p.count(list[first:])
	r.AmplificationLast, r.WastedShareLast = p.Amplification, p.WastedShare
}

// forgetWasted takes back what was said of wasted work where the clients alone measured: they do not know it.
func forgetWasted(r *Run) {
	for i := range r.Phases {
		r.Phases[i].WastedShare = nil
	}
	r.Recovery.WastedShareLast = nil
}
