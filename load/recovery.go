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
// due in the triggers, as far as the queue holds it, worked off by the capacity that the load leaves. Where the load leaves none
// there is no such time, and 120 s stand.
func recoveryWatch(p *plan.Plan) time.Duration {
	spare := p.CapacityPerSecond - p.RatePerSecond
	if p.RatePerSecond <= 0 || spare <= 0 {
		return record.RecoveryWatchDefault
	}
	due := 0.0
	for _, o := range p.Outages {
		due += float64(p.RatePerSecond * (o.To - o.From).Seconds())
	}
	for _, s := range p.Surges {
		due += float64(p.RatePerSecond * max(1, s.Factor) * (s.To - s.From).Seconds())
	}
	drain := min(due, float64(p.Queue)) / spare
	watch := min(float64(recoveryDrains*drain), recoveryWatchMost.Seconds())
	return max(record.RecoveryWatchDefault, time.Duration(float64(watch*float64(time.Second))).Round(time.Second))
}
