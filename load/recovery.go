package load

import (
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

const (
	// recoveryDrains is how many times the time that the backlog takes without retries a target is watched before it is
	// called METASTABLE (domain 4.4).
	recoveryDrains = 3
	// recoveryWatchMost bounds that: a plan lasts no longer.
	recoveryWatchMost = 24 * time.Hour
)

// recoveryWatch is how long the target must be watched after the last trigger before a run without recovery is called
// METASTABLE: 120 s, and three times as long as it would take to recover without retries.
//
// That time is not known without a run of its own; it is at most what the largest possible backlog takes: all that is
// due in the triggers, as far as the queue holds it, worked off by the capacity that the load leaves. Of a chain it is the
// longest such time of its services, for the backlog may be at any. Where the load leaves none there is no such time, and 120 s
// stand.
func recoveryWatch(p *plan.Plan) time.Duration {
	if p.RatePerSecond <= 0 {
		return record.RecoveryWatchDefault
	}
	links := p.Chain()
	due := 0.0
	for _, l := range links {
		for _, o := range l.Plan.Outages {
			due += float64(p.RatePerSecond * (o.To - o.From).Seconds())
		}
	}
	for _, s := range p.Surges {
		due += float64(p.RatePerSecond * max(1, s.Factor) * (s.To - s.From).Seconds())
	}
	drain := 0.0
	for _, l := range links {
		spare := l.Plan.CapacityPerSecond - p.RatePerSecond
		if spare <= 0 {
			return record.RecoveryWatchDefault
		}
		drain = max(drain, min(due, float64(l.Plan.Queue))/spare)
	}
	watch := min(float64(recoveryDrains*drain), recoveryWatchMost.Seconds())
	return max(record.RecoveryWatchDefault, time.Duration(float64(watch*float64(time.Second))).Round(time.Second))
}
