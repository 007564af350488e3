package load

import (
	"stormtest/load/backoff"
	"stormtest/load/record"
)

// addTheory puts beside what a strategy drew how its formula spreads such delays.
func (t *trial) addTheory(d *record.Detail) {
	if d == nil {
		return
	}
	policy := t.policy()
	law, ok := policy.Backoff(policy.Strategies[0]).(backoff.Lawful)
	if !ok {
		return
	}
	edges, chained := record.DrawEdges(), entryOf(policy).Chained
	for i := range d.Draws {
		if x := &d.Draws[i]; !x.Beyond {
			x.Theory = record.TheoryOf(law.Below(int(x.Retry), edges), chained && x.Retry > 0)
		}
	}
}
