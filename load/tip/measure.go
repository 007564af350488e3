package tip

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry/budget"
)

// How long the service is watched where nobody retries: the first is enough for most, and for the rule's least watch.
const (
	aloneWatch     = 45 * time.Second
	aloneWatchMost = 4 * time.Minute
	aloneSeeds     = 3
	// watchTimes is how many times as long as without retries a service is watched.
	watchTimes = 3
	// fewPerSecond is a rate under which two operations fewer in a second are more than a second may lack: RecoveryShare.
	fewPerSecond = 20
)

// point runs the seeds of a value.
func (s *search) point(ctx context.Context, v int64) (*record.TipPoint, error) {
	p := s.at(v)
	point := &record.TipPoint{Value: s.text(v)}
	if err := s.alone(ctx, &p, point); err != nil {
		return nil, err
	}
	point.Watched = max(record.RecoveryWatchDefault, point.AloneWatched)
	if point.Alone != nil {
		point.Watched = max(record.RecoveryWatchDefault, watchTimes**point.Alone)
	}
	p.Duration = watchEnd(&p, point.Watched)
	run, err := s.simulate(ctx, p)
	if err != nil {
		return nil, err
	}
	judge(point, run, &p)
	burden(point, &p)
	return point, nil
}

// simulate runs the plan with all its seeds.
func (s *search) simulate(ctx context.Context, p plan.Plan) (*record.Run, error) {
	r, err := load.Simulate(ctx, p, load.Env{})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	s.runs += int64(p.Repeat)
	return &r.Runs[0], nil
}

// judge says of a point what its seeds did. A run is as long as the rule allows and no longer, so that who recovered did
// so in time.
func judge(point *record.TipPoint, run *record.Run, p *plan.Plan) {
	figure := func(name string) record.Spread {
		m, known := record.MetricNamed(name)
		if !known {
			panic("tip: BUG: no metric " + name)
		}
		if run.Repeats != nil {
			return run.Repeats.Figures[m.Name]
		}
		v := m.Value(run)
		one := record.Spread{Mean: v, P5: v, P95: v, Values: []*float64{v}}
		if v != nil {
			one.Count = 1
		}
		return one
	}
	point.Seeds = int64(p.Repeat)
	point.After = figure("recovered_after")
	point.Recovered = point.After.Count
	point.ShareLow, point.ShareHigh = record.Wilson(point.Recovered, point.Seeds)
	point.Amplification = figure("amplification_last_minute").Mean
	if before := figure("goodput_before").Mean; before != nil {
		over := *before / p.RatePerSecond
		point.Before = &over
	}
	if unstarted := figure("operations_unstarted").Mean; unstarted != nil {
		point.Unstarted = *unstarted
	}
}

// alone finds how long the service takes to come back where nobody retries.
func (s *search) alone(ctx context.Context, p *plan.Plan, point *record.TipPoint) error {
	quiet := withoutRetries(p)
	quiet.Repeat = min(aloneSeeds, p.Repeat)
	for _, watch := range []time.Duration{aloneWatch, aloneWatchMost} {
		quiet.Duration = watchEnd(&quiet, watch)
		point.AloneWatched = watch
		run, err := s.simulate(ctx, quiet)
		if err != nil {
			return err
		}
		var measured record.TipPoint
		judge(&measured, run, &quiet)
		if measured.Recovered == measured.Seeds {
			longest := 0.0
			for _, v := range measured.After.Values {
				longest = math.Max(longest, *v)
			}
			after := time.Duration(longest)
			point.Alone = &after
			return nil
		}
	}
	return nil
}

// withoutRetries is the plan of clients, and services, that send every operation once. Of a mixed fleet it has the first
// part's timeout.
func withoutRetries(p *plan.Plan) plan.Plan {
	q := *p.Variants()[0].Parts[0].Plan
	q.Presets, q.Mix = nil, nil
	q.MaxRetries, q.Hedge, q.Budget = 0, plan.Hedge{}, budget.Config{}
	q.Layers = nil
	for _, l := range p.Layers {
		quiet := plan.Layer{Name: l.Name}
		for _, text := range l.Texts {
			if key, _, _ := strings.Cut(text, "="); key != "max-retries" && key != "hedge" && key != "budget" {
				quiet.Texts = append(quiet.Texts, text)
			}
		}
		q.Layers = append(q.Layers, quiet)
	}
	return q
}

// burden says how heavy the load is, of a chain on the service that can serve least, and how heavy retries can make it.
func burden(point *record.TipPoint, p *plan.Plan) {
	least := p.CapacityPerSecond
	for _, l := range p.Chain() {
		least = min(least, l.Plan.CapacityPerSecond)
	}
	if least > 0 && p.Model != plan.ModelOCC {
		rho := p.RatePerSecond / least
		point.Load = &rho
	}
	worst := 0.0
	for _, part := range p.Variants()[0].Parts {
		own := *part.Plan // whose clients and operations are the whole fleet's
		own.Clients = max(1, int(math.Round(float64(part.Share*float64(p.Clients)))))
		own.RatePerSecond = float64(part.Share * p.RatePerSecond)
		a := worstOf(&own)
		if a == 0 || len(p.Layers) > 0 {
			return
		}
		worst += float64(part.Share * a)
	}
	point.Worst = &worst
	if point.Load != nil {
		both := float64(*point.Load * worst)
		point.LoadWorst = &both
	}
}

// worstOf is the most attempts of an operation that the policy allows in the long run, while nothing succeeds; 0 where
// there is no such number: a budget that successes fill has none, and one of what is under way at a time bounds none, for the
// faster retries fail the more of them there are.
func worstOf(p *plan.Plan) float64 {
	most := math.Inf(1)
	if p.MaxRetries != plan.Unlimited {
		most = float64(1 + p.MaxRetries + p.Hedge.Most)
	}
	switch p.Budget.Kind {
	case budget.Finagle:
		most = math.Min(most, 1+p.Budget.Ratio+p.BudgetFloor()/p.RatePerSecond)
	case budget.None, budget.Envoy:
	default:
		return 0
	}
	if math.IsInf(most, 1) {
		return 0
	}
	return most
}

// notes says what a reader must know beside the values.
func (s *search) notes(t *record.Tip) {
	add := func(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }
	var sick, alone, small, few []string
	for i, step := range s.tried() {
		p := &t.Points[i]
		if p.Before == nil || *p.Before < record.RecoveryShare {
			sick = append(sick, p.Value)
		}
		if p.Alone == nil {
			alone = append(alone, p.Value)
		}
		if p.Unstarted > 0 {
			small = append(small, p.Value)
		}
		if q := s.at(s.value(step)); q.RatePerSecond < fewPerSecond {
			few = append(few, p.Value)
		}
	}
	if sick != nil {
		add("not well to begin with at %s: goodput before the outage is under %.0f %% of the rate, so that there the outage is not what decides", span(sick), 100*record.RecoveryShare)
	}
	if alone != nil {
		add("at %s the service does not come back within %s without any retry either", span(alone), record.Short(aloneWatchMost))
	}
	if few != nil {
		add("at %s so few operations are due, under %d/s, that one or two fewer in a second break the row of %d good seconds: chance alone can do that, and delay the moment of recovery", span(few), fewPerSecond, record.RecoverySeconds)
	}
	if small != nil {
		add("at %s the fleet is too small to start every operation while the service is down, which takes load off it: more clients would show the service as more would call it", span(small))
	}
}

// span names the first and the last of some values.
func span(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return values[0] + " to " + values[len(values)-1]
}
