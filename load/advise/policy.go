package advise

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stormtest/load/plan"
)

// A policy is one point of the space.
type policy struct {
	strategy    string
	base, limit time.Duration // limit is the cap
	hint        time.Duration // the target's Retry-After: 0 is none, plan.AutoRetryAfter
	jitter      time.Duration // after a hint; plan.ByStrategy
}

// searched are the strategies that are tried. The others leave a convoy (no jitter, noise of one width),
// pile up on a point (clamps, exponents) or are one of these with other numbers.
var searched = []string{"full", "equal", "full-floor", "decorrelated", "polly", "constant-full"}

// apply returns the plan under the policy. What the policy says of a strategy is all that it has.
func (q policy) apply(p plan.Plan) plan.Plan {
	d := plan.Default()
	p.Strategies = []string{q.strategy}
	p.Base, p.Cap = q.base, q.limit
	p.Multiplier, p.FirstExponent = d.Multiplier, d.FirstExponent
	p.CapMode, p.CapJitterShare = d.CapMode, d.CapJitterShare
	p.Noise, p.SpreadShare, p.Floor = d.Noise, d.SpreadShare, d.Floor
	if q.hint == 0 && p.RetryAfter == plan.RetryAfterIgnore {
		return p // what the target sends is the target's, and nobody listens
	}
	p.SendRetryAfter, p.RetryAfterJitter = q.hint, q.jitter
	if q.hint != 0 {
		p.RetryAfter = plan.RetryAfterHonour
	}
	return p
}

// compare puts policies into an order of no other meaning.
func (q policy) compare(r policy) int {
	return cmp.Or(
		cmp.Compare(slices.Index(searched, q.strategy), slices.Index(searched, r.strategy)), cmp.Compare(q.hint, r.hint),
		cmp.Compare(q.base, r.base), cmp.Compare(q.limit, r.limit), cmp.Compare(q.jitter, r.jitter), cmp.Compare(q.strategy, r.strategy))
}

// A space is where policies are looked for.
type space struct {
	plan  *plan.Plan
	hint  bool          // the target's Retry-After is the plan's, and none other is tried
	drain time.Duration // clients over capacity
	until time.Duration // the end of the last outage
}

// The grid: bases from a 32nd of the time that the target takes for all clients to twice that, and caps
// up to 32 times the base.
const (
	gridStep     = 2
	basesBelow   = 32
	basesAbove   = 2
	outageParts  = 512 // no base is a smaller part of the outage: it would send too much to be wished
	smallestBase = time.Millisecond
)

var capSteps = []float64{1, 2, 4, 8, 32}

// own are the policies in which the target has no part, or that which the plan says it has.
func (s *space) own() []policy {
	hint := s.plan.SendRetryAfter
	if s.plan.RetryAfter == plan.RetryAfterIgnore || !s.hint {
		hint = 0
	}
	var list []policy
	if hint != 0 {
		list = s.following(hint)
	}
	lo := max(smallestBase, s.drain/basesBelow, s.until/outageParts)
	hi := max(s.drain*basesAbove, lo*basesBelow*basesAbove)
	for base := lo; base <= hi; base = base * gridStep {
		for _, strategy := range searched {
			for _, step := range capSteps {
				if q, ok := s.tidy(policy{strategy, base, scaled(base, step), hint, plan.ByStrategy}); ok {
					list = append(list, q)
				}
			}
		}
	}
	return distinct(list)
}

// helped are the policies that follow a Retry-After that the target sends, none where the plan says what
// it sends or that nobody listens.
func (s *space) helped() []policy {
	if s.hint || s.plan.RetryAfter == plan.RetryAfterIgnore {
		return nil
	}
	var hints []time.Duration
	for _, h := range []time.Duration{time.Second, s.until, s.drain / 4, s.drain / 2, s.drain} {
		hints = append(hints, seconds(h))
	}
	slices.Sort(hints)
	var list []policy
	for _, hint := range slices.Compact(hints) {
		list = append(list, s.following(hint)...)
	}
	return distinct(list)
}

// following are the policies that spread a hint by a width of its own. What is no answer carries no hint:
// there the strategy decides, for which there is one.
func (s *space) following(hint time.Duration) (list []policy) {
	for _, part := range []float64{0.25, 0.5, 1, 1.5, 2} {
		if q, ok := s.tidy(policy{searched[0], s.drain, s.drain, hint, scaled(s.drain, part)}); ok {
			list = append(list, q)
		}
	}
	return list
}

// current is the plan's own policy: all of it, also what the search would not say.
func (s *space) current() policy {
	return policy{s.plan.Strategies[0], s.plan.Base, s.plan.Cap, s.plan.SendRetryAfter, s.plan.RetryAfterJitter}
}

// around are the policies one step away from q.
func (s *space) around(q policy, step float64) []policy {
	var list []policy
	vary := func(change func(r *policy)) {
		r := q
		change(&r)
		if r, ok := s.tidy(r); ok && r != q {
			list = append(list, r)
		}
	}
	for _, by := range []float64{step, 1 / step} {
		if q.jitter != plan.ByStrategy && q.hint != 0 {
			vary(func(r *policy) { r.jitter = scaled(r.jitter, by) })
			if !s.hint {
				vary(func(r *policy) { r.hint = seconds(scaled(r.hint, by)) })
			}
			continue
		}
		vary(func(r *policy) { r.base, r.limit = scaled(r.base, by), scaled(r.limit, by) })
		vary(func(r *policy) { r.base = scaled(r.base, by) })
		vary(func(r *policy) { r.limit = scaled(r.limit, by) })
	}
	return distinct(list)
}

const (
	longest       = 24 * time.Hour
	constantsName = "constant-full"
)

// tidy rounds the numbers of q, and reports whether it is a policy of the space: a strategy without growth
// has one cap, which is above twice its base, where it does nothing.
func (s *space) tidy(q policy) (policy, bool) {
	q.base, q.limit = round(q.base), round(q.limit)
	if q.jitter > 0 {
		q.jitter = round(q.jitter)
	}
	if q.strategy == constantsName {
		q.limit = max(round(2*q.base), plan.Default().Cap)
	}
	if q.limit < q.base {
		q.limit = q.base
	}
	return q, q.base >= smallestBase && q.limit <= longest && q.jitter <= longest && q.hint <= longest
}

// distinct sorts the list and leaves out what is in it twice.
func distinct(list []policy) []policy {
	slices.SortFunc(list, policy.compare)
	return slices.Compact(list)
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// seconds is d in whole seconds, at least one, rounded up: what a Retry-After can say.
func seconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}

// round keeps two digits of d, and a half of the second below 20: 1.05 s, 8.5 s, 130 ms.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d >= 100*unit {
		unit *= 10
	}
	if d < 20*unit && unit > 1 {
		unit /= 2
	}
	return d.Round(unit)
}

// roundUp is the next length that a person would write: 15 s, 40 s, 2 m.
func roundUp(d time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour} {
		if d <= 20*step {
			return time.Duration(math.Ceil(float64(d)/float64(step))) * step
		}
	}
	return min(longest, time.Duration(math.Ceil(d.Hours()))*time.Hour)
}
