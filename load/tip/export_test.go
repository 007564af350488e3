package tip

import (
	"context"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// FindBy is Find of values of which outcomes tell how many seeds recover.
func FindBy(ctx context.Context, c Config, recovered func(v int64) int64) (*record.Tip, error) {
	s := newSearch(c)
	s.measure = func(_ context.Context, v int64) (*record.TipPoint, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one := 1.0
		return &record.TipPoint{Value: s.text(v), Seeds: int64(c.Plan.Repeat), Recovered: recovered(v), Before: &one}, nil
	}
	return s.result(ctx)
}

// Burden is what is said of the plan's load and of its policies.
func Burden(p plan.Plan) (load, worst *float64) {
	var point record.TipPoint
	burden(&point, &p)
	return point.Load, point.Worst
}
