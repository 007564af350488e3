package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/budget"
	"stormtest/target/station"
)

// drain is how long the target takes for all clients when it works all the time, at most a day.
func drain(p *plan.Plan) time.Duration {
	if p.CapacityPerSecond <= 0 {
		return longest
	}
	seconds := float64(p.Clients) / p.CapacityPerSecond
	return max(1, time.Duration(min(seconds, longest.Seconds())*1e9))
}

// outageEnd is when the last outage is over.
func outageEnd(p *plan.Plan) (end time.Duration) {
	for _, o := range p.Outages {
		end = max(end, o.To)
	}
	return end
}

// speed is the part of its capacity at which the target works at the moment, and whether it turns away
// what arrives: then it only goes on with what it took before.
func speed(p *plan.Plan, at time.Duration) (part float64, closed bool) {
	for _, o := range p.Outages {
		if at < o.From || at >= o.To {
			continue
		}
		switch o.Mode {
		case station.ModeSlow:
			return 1 / o.Factor, false
		case station.ModeCapacity:
			return o.Factor, false
		}
		return 1, true
	}
	return 1, false
}

// servedBy is how many operations the target can have served by a moment, if it never was without work.
// With service times that are drawn it is their mean: see lucky.
func servedBy(p *plan.Plan, end time.Duration) (served float64) {
	moments := []time.Duration{0, end}
	for _, o := range p.Outages {
		for _, at := range []time.Duration{o.From, o.To} {
			if at < end {
				moments = append(moments, at)
			}
		}
	}
	slices.Sort(moments)
	room := float64(p.Workers + p.Queue)
	if p.Model == plan.ModelTokenBucket {
		// The bucket is full at the start, and fills again while nobody gets a token: that counts
		// like jobs which are served then.
		room = float64(p.Burst)
		served = room
	}
	inside := 0.0 // taken and not served, at most
	for i := range moments[1:] {
		length := (moments[i+1] - moments[i]).Seconds()
		if length == 0 {
			continue
		}
		part, closed := speed(p, moments[i])
		work := part * p.CapacityPerSecond * length
		if closed {
			work = min(work, inside)
			inside -= work
		} else {
			inside = room
		}
		served += work
	}
	return served
}

// lucky is what a target can serve in place of so many on average, in all but one of a million runs.
func lucky(p *plan.Plan, served float64) float64 {
	if p.Service != plan.ServiceExp || p.Model == plan.ModelTokenBucket {
		return served
	}
	const deviations = 5
	return served + deviations*math.Sqrt(served) + deviations*deviations // for the tail of a few is longer
}

// earliest is when the target can have served everybody, whatever they do; false for not within a day.
func earliest(p *plan.Plan) (time.Duration, bool) {
	clients := float64(p.Clients)
	if servedBy(p, longest) < clients {
		return 0, false
	}
	lo, hi := time.Duration(0), longest
	for hi-lo > time.Microsecond {
		if mid := (lo + hi) / 2; servedBy(p, mid) < clients {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, true
}

// sizing is the rule of thumb with the user's numbers and the best policy's.
func (s *search) sizing() record.Sizing {
	z := record.Sizing{Clients: int64(s.plan.Clients), CapacityPerSecond: s.plan.CapacityPerSecond, Drain: s.space.drain}
	if at, ok := earliest(&s.plan); ok {
		z.Earliest = &at
	}
	if !s.met || s.best[0].hint != 0 {
		return z
	}
	p := s.best[0].apply(s.plan)
	entry, ok := backoff.Lookup(s.best[0].strategy)
	if !ok {
		panic("advise: BUG: an unknown strategy was found best")
	}
	ceiling := entry.Ceiling(p.Params(), 0)
	waves := int64(max(0, math.Ceil(math.Log2(s.space.drain.Seconds()/ceiling.Seconds())-1e-9)))
	z.FirstCeiling, z.Waves = &ceiling, &waves
	return z
}

// impossible says for each wish that no policy can keep why.
func (s *search) impossible() (list []string) {
	p := &s.plan
	served := fmt.Sprintf("%d clients at %s", p.Clients, rate(p.CapacityPerSecond))
	for _, w := range s.wishes {
		switch w.Name {
		case record.WishCompletion:
			at, ok := earliest(p)
			switch {
			case lucky(p, servedBy(p, time.Duration(w.Limit)+time.Microsecond)) >= float64(p.Clients): // it is possible
			case !ok:
				list = append(list, w.text()+" is impossible: the target never serves "+served+" within a day")
			case at-s.space.drain > time.Millisecond:
				list = append(list, fmt.Sprintf("%s is impossible: %s take %s (N/C) beside the outage, %s in all, whatever the policy",
					w.text(), served, length(float64(s.space.drain)), length(float64(at))))
			default:
				list = append(list, fmt.Sprintf("%s is impossible: %s alone take %s (N/C), whatever the policy", w.text(), served, length(float64(at))))
			}
		case record.WishSuccess:
			list = append(list, s.deadlineTooShort(w, served)...)
		}
	}
	if w, ok := s.wish(record.WishCompletion); ok && len(list) == 0 && p.MaxElapsed > 0 {
		list = append(list, s.deadlineTooShort(Wish{Name: record.WishSuccess, Limit: 1}, served+", all of which "+w.text()+" needs,")...)
	}
	return list
}

// deadlineTooShort says that the deadline leaves no time for so many to succeed.
func (s *search) deadlineTooShort(w Wish, served string) []string {
	p := &s.plan
	deadline := p.MaxElapsed
	if deadline == 0 {
		return nil
	}
	succeeded := servedBy(p, p.Ramp+deadline) // an attempt ends with its operation
	if succeeded > 0 {
		succeeded = lucky(p, succeeded)
	}
	most := min(1, succeeded/float64(p.Clients))
	switch {
	case most >= w.Limit:
		return nil
	case most == 0:
		return []string{fmt.Sprintf("the deadline of %s is shorter than the outage, which is over after %s: nobody can succeed, whatever the policy",
			length(float64(deadline)), length(float64(outageEnd(p))))}
	}
	return []string{fmt.Sprintf("%s is impossible with a deadline of %s: of %s the target can serve %s by then, whatever the policy",
		w.text(), length(float64(deadline)), served, percent(most))}
}

// hopeless reports whether some wish cannot be kept by any policy.
func (s *search) hopeless() bool { return len(s.impossible()) > 0 }

func (s *search) wish(name string) (Wish, bool) {
	for _, w := range s.wishes {
		if w.Name == name {
			return w, true
		}
	}
	return Wish{}, false
}

// obstacles finds out what each wish alone comes to, and with the others kept, and says which is in the
// way. Where one of the policies that are looked at on the way keeps them all it is the best.
func (s *search) obstacles(ctx context.Context) error {
	s.haste(0)
	pool := append(s.space.own(), s.space.helped()...)
	s.reasons = s.impossible()
	s.alone, s.others = make([]*float64, len(s.wishes)), make([]*float64, len(s.wishes))
	s.expected += s.cost(2*len(s.wishes)*len(steps)*keptOfStep*6, fine) + s.cost(2*3*len(s.wishes), full)
	for _, alone := range []bool{true, false} {
		for i, w := range s.wishes {
			o := objective{least: w.figure}
			if !alone {
				if o.must = s.wishes.without(i); len(o.must) == 0 {
					continue // there are no others
				}
			}
			t, ok, err := s.extreme(ctx, pool, o)
			if err != nil {
				return err
			}
			if !ok {
				continue // the others are not to be had without it either
			}
			if done, err := s.edge(ctx, t, w, o.must); done || err != nil {
				return err
			}
		}
	}
	s.reasons = append(s.reasons, s.limits()...)
	seen := map[*trial]bool{}
	s.best = slices.DeleteFunc(s.best, func(t *trial) bool {
		again := seen[t]
		seen[t] = true
		return again
	})
	return nil
}

// edge says how far the policy that is best for a wish gets while others are kept, none for alone. done
// says that it keeps all wishes, and is what was looked for.
func (s *search) edge(ctx context.Context, t *trial, w Wish, others wishes) (done bool, err error) {
	figure := objective{least: w.figure}.judge(t.at(full)).least
	i := slices.Index(s.wishes, w)
	if others == nil {
		s.alone[i] = w.shown(figure)
	} else {
		s.others[i] = w.shown(figure)
	}
	s.best = append(s.best, t)
	has := func(ws wishes) bool { return objective{must: ws, least: w.figure}.judge(t.at(full)).gap == 0 }
	var text string
	switch {
	case has(s.wishes):
		if sure, err := s.surely(ctx, t); sure || err != nil {
			s.met, s.best = sure, []*trial{t}
			s.reasons, s.alone, s.others = nil, nil, nil
			return true, err
		}
		text = fmt.Sprintf("%s is on the edge: the best found keeps it in %d of %d seeds, too few to promise", joined(s.wishes), s.kept(t), len(t.known()))
	case others != nil:
		text = "with " + joined(others) + " kept, the best is " + w.value(figure) + ", not " + w.text()
	case has(wishes{w}):
		text = "alone, " + w.text() + " can be had: the best found is " + w.value(figure)
	default:
		text = "even alone, " + w.text() + " cannot be had: the best found is " + w.value(figure)
	}
	if others == nil {
		s.reasons = append(s.reasons, text+" ("+s.describe(t)+s.priceOf(t, w)+")")
	} else {
		s.reasons = append(s.reasons, text+" ("+s.describe(t)+")")
	}
	return false, nil
}

// limits says what of the plan ends operations that a wish would have go on, or holds them up. The search
// leaves it as it is.
func (s *search) limits() (list []string) {
	p := &s.plan
	if s.config.Duration && slices.ContainsFunc(s.best, func(t *trial) bool {
		return slices.ContainsFunc(t.known(), func(o outcome) bool { return o.unfinished > 0 })
	}) {
		list = append(list, "duration "+length(float64(p.Duration))+" ends the runs before all operations are over: the search leaves it as it is")
	}
	if s.hangsTooLong() {
		list = append(list, "timeout "+length(float64(p.Timeout))+" is how long an attempt waits that hangs in the outage, whatever the policy: the search leaves it as it is")
	}
	if p.MaxRetries != plan.Unlimited {
		list = append(list, fmt.Sprintf("max-retries %d ends operations whatever the policy: the search leaves it as it is", p.MaxRetries))
	}
	if p.Budget.Kind != budget.None {
		list = append(list, "budget "+p.Budget.Kind.String()+" refuses retries whatever the policy: the search leaves it as it is")
	}
	if p.RetryOn.Classify(retry.Outcome{Status: p.Status}) != retry.Retryable {
		list = append(list, fmt.Sprintf("status %d is not in retry-on: what the target refuses is never retried", p.Status))
	}
	return list
}

// hangsTooLong reports whether an attempt that hangs in an outage is known to have failed too late for a
// wish or the deadline.
func (s *search) hangsTooLong() bool {
	return slices.ContainsFunc(s.plan.Outages, func(o station.Outage) bool {
		if o.Mode != station.ModeHang {
			return false
		}
		w, wished := s.wish(record.WishCompletion)
		late := wished && float64(o.From)+float64(s.plan.Timeout) >= w.Limit
		return late || s.plan.MaxElapsed > 0 && s.plan.Timeout >= s.plan.MaxElapsed
	})
}

// extreme returns the policy that is best for an objective, tried at the level full, and whether it keeps
// what it must. It is looked for with a margin, so that it does.
func (s *search) extreme(ctx context.Context, pool []policy, o objective) (*trial, bool, error) {
	o.margin = margins[0]
	found, err := s.look(ctx, pool, o)
	if err != nil {
		return nil, false, err
	}
	found = found[:min(3, len(found))]
	if err := s.try(ctx, found, full); err != nil {
		return nil, false, err
	}
	o.margin = 0
	t := o.sorted(found, full)[0]
	return t, o.judge(t.at(full)).gap == 0, nil
}

// priceOf says what a policy that is best for one wish does to the others.
func (s *search) priceOf(t *trial, w Wish) string {
	var prices []string
	for _, other := range s.wishes {
		if other.Name == w.Name {
			continue
		}
		o := objective{must: wishes{other}, least: other.figure}
		if j := o.judge(t.at(full)); j.gap > 0 {
			prices = append(prices, other.value(j.least))
		}
	}
	if prices == nil {
		return ""
	}
	return ", at the price of " + strings.Join(prices, " and ")
}

// describe names a policy.
func (s *search) describe(t *trial) string {
	text := fmt.Sprintf("%s, base %s, cap %s", t.strategy, length(float64(t.base)), length(float64(t.limit)))
	switch {
	case t.hint == 0:
		return text
	case t.hint > 0:
		text += ", Retry-After " + length(float64(t.hint))
	default:
		text += ", Retry-After auto"
	}
	if t.jitter == plan.ByStrategy {
		return text + " and the strategy's draw"
	}
	return text + " and a jitter of " + length(float64(t.jitter))
}

// joined names wishes.
func joined(ws wishes) string {
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = w.text()
	}
	return strings.Join(texts, " and ")
}

// wished are the wishes with what was found of each.
func (s *search) wished() []record.Wish {
	list := make([]record.Wish, len(s.wishes))
	for i, w := range s.wishes {
		list[i] = record.Wish{Name: w.Name, Limit: w.Limit}
		if s.alone != nil {
			list[i].Alone, list[i].WithOthers = s.alone[i], s.others[i]
		}
	}
	return list
}

// rate is a capacity as a flag takes it.
func rate(perSecond float64) string { return cmp.Or(significantRate(perSecond), "0") + "/s" }

func significantRate(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", v), "0"), ".")
}
