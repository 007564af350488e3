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
	law, ok := t.plan.Backoff(t.strategy).(backoff.Lawful)
	if !ok {
		return
	}
	edges, chained := record.DrawEdges(), t.entry().Chained
	for i := range d.Draws {
		if x := &d.Draws[i]; !x.Beyond {
			x.Theory = record.TheoryOf(law.Below(int(x.Retry), edges), chained && x.Retry > 0)
		}
	}
}
