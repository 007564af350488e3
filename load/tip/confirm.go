package tip

import (
	"context"
	"fmt"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// ConfirmMost bounds each run in real time.
const ConfirmMost = 5 * time.Minute

// confirmLeast is how long a side that recovers is watched at least.
const confirmLeast = 30 * time.Second

// confirmBucket is at least the width of buckets in real time. Recovery is judged by whole seconds: a generator that is late by
// less than a tenth of that keeps up with it.
const confirmBucket = time.Second

// Sides returns the plans of the two sides that a run in real time can confirm: those nearest to the tip at which all
// seeds agree, else the tip's own. Each is run with the first seed. None where there is no tip.
func Sides(c Config, t *record.Tip) []Side {
	if t.Recovers == nil || t.Stays == nil {
		return nil
	}
	side := func(own, agreed *record.TipPoint) Side {
		if agreed != nil {
			own = agreed
		}
		v, _ := c.Axis.Read(&c.Plan, own.Value)
		p := c.at(v)
		p.Repeat, p.Bucket = 1, max(p.Bucket, confirmBucket)
		watch := own.Watched
		if own.Recovers() { // three times the slowest seed's time is plenty
			watch = min(watch, max(confirmLeast, watchTimes*slowest(own)))
		}
		p.Duration = watchEnd(&p, watch)
		return Side{Plan: p, Value: own.Value, Recovers: own.Recovers(), Watch: watch}
	}
	return []Side{side(t.Recovers, t.All), side(t.Stays, t.None)}
}

// slowest is how long the slowest seed of those that recovered took.
func slowest(p *record.TipPoint) time.Duration {
	longest := time.Duration(0)
	for _, v := range p.After.Values {
		if v != nil {
			longest = max(longest, time.Duration(*v))
		}
	}
	return longest
}

// A Side is one run in real time.
type Side struct {
	Plan     plan.Plan
	Value    string
	Recovers bool          // in virtual time
	Watch    time.Duration // after the outage
}

// Check says why the run cannot be made.
func (s Side) Check() error {
	if s.Plan.Duration > ConfirmMost {
		return fmt.Errorf("it would take %s, and a run in real time is ended after %s", s.Plan.Duration, ConfirmMost)
	}
	return s.Plan.For(plan.Real)
}

// Confirm runs the side over sockets against the built-in target, for at most ConfirmMost, and says whether it does as in
// virtual time.
func (s Side) Confirm(ctx context.Context, env load.Env) (record.TipConfirmed, error) {
	c := record.TipConfirmed{Value: s.Value, Predicted: s.Recovers, Seed: s.Plan.Seed.Value, Watched: s.Watch, Reasons: []string{}}
	if err := s.Check(); err != nil {
		c.Reasons = append(c.Reasons, err.Error())
		return c, nil
	}
	r, err := load.Run(ctx, s.Plan, env)
	if err != nil {
		return c, err
	}
	run := &r.Runs[0]
	c.Recovered, c.Watched = run.Recovery.RecoveredAt, run.Recovery.Watched
	switch {
	case r.Interrupted && c.Recovered == nil:
		c.Reasons = append(c.Reasons, "the run was ended before its time")
	case !r.Valid:
		c.Reasons = append(c.Reasons, r.InvalidReasons...)
	default:
		agrees := (c.Recovered != nil) == s.Recovers
		c.Agrees = &agrees
	}
	return c, nil
}
