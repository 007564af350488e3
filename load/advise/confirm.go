package advise

import (
	"context"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// ConfirmMost bounds a run in real time.
const ConfirmMost = 2 * time.Minute

// Confirm runs a plan that was found in real time, over sockets, and returns what it measured beside what
// was predicted of it. The run is ended after ConfirmMost at the latest. An interrupted run is what it
// was until then.
func Confirm(ctx context.Context, p plan.Plan, predicted record.Advised, env load.Env) (record.Confirmed, error) {
	c := record.Confirmed{Predicted: predicted}
	p.Gates = nil
	p.Duration = min(p.Duration, ConfirmMost)
	if err := p.Validate(); err != nil {
		return c, err
	}
	r, err := load.Run(ctx, p, env)
	if err != nil {
		return c, err
	}
	if len(r.Runs) > 0 {
		c.Measured = record.MeasuredOf(&r.Runs[0])
		c.Cut = r.Interrupted || r.Runs[0].Operations.Unfinished > 0
	}
	c.Valid, c.Reasons = r.Valid, r.InvalidReasons
	return c, nil
}
