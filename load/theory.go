package load

import (
	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// addTheory puts beside what a strategy drew how its formula spreads such delays.
func addTheory(run *record.Run, policy *plan.Plan) {
	d := run.Detail
	if d == nil || policy.ThrottledBase > 0 && run.Attempts.ByOutcome["429"] > 0 { // which is a mixture of two formulas
		return
	}
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
