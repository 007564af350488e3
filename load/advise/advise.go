// Package advise finds a retry policy for a fleet that fails together: it tries strategies, bases, caps
// and the use of Retry-After in virtual time, against the user's clients, target and outage, and says
// which keep what is wished, or which wish is in the way.
//
// A policy is judged by seeds of their own: a wish is kept where nearly all of them keep it, with a margin.
// The one that is best is proven by others, by which no other policy was tried. So what is found holds for
// new seeds, too.
//
// Of the policies that keep all wishes the one that sends the fewest attempts is best. One that the
// target has to help with a Retry-After comes only where no other keeps the wishes.
package advise

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// A Config says what is known and wished.
type Config struct {
	// Plan holds what is known: clients, target and outages, with a seed, which is the search's. Its
	// one strategy and the numbers of it are the user's current policy. It must be valid. See Check.
	Plan plan.Plan
	// Wishes are what is asked for, each at most once; at least one.
	Wishes []Wish
	// Current says that the plan's policy is the user's own, so that it is measured beside the others.
	Current bool
	// Hint says that the plan's Retry-After is what the target sends, so that none other is tried.
	Hint bool
	// Duration says that the plan's duration is meant; else it is chosen.
	Duration bool
	// Version is the tool's.
	Version string
	// Progress, where set, is told from any goroutine which share of the search is done, 0..1.
	Progress func(share float64)
}

// Found is what a search has found.
type Found struct {
	Advice *record.Advice
	// Plan is the scenario of the best policy; nil unless the wishes are met.
	Plan *plan.Plan
	// Current is the scenario of the user's own policy under the same conditions; nil where there is none.
	Current *plan.Plan
}

// Find searches. The config must be one that Check has no fault in. The error is ctx's.
func Find(ctx context.Context, c Config) (*Found, error) {
	s := newSearch(c)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.found(), nil
}

// run tries policies until some keep the wishes, or it is known what is in the way.
func (s *search) run(ctx context.Context) error {
	for _, p := range [][]policy{s.space.own(), s.space.helped()} {
		best, err := s.winner(ctx, p)
		if err != nil {
			return err
		}
		if s.best = best; len(best) > 0 {
			s.met = true
			break
		}
	}
	if s.met {
		s.expected += s.cost(len(s.best)+1, last)
	} else if err := s.obstacles(ctx); err != nil {
		return err
	}
	shown := slices.Clone(s.best)
	if s.config.Current {
		s.current = &trial{policy: s.space.current()} // whatever the search knows of its like
		shown = append(shown, s.current)
	}
	return s.try(ctx, shown, last)
}

// found makes the advice of what the search knows.
func (s *search) found() *Found {
	a := &record.Advice{
		Schema:    record.AdviceSchema,
		Tool:      record.Tool{Version: s.config.Version},
		Situation: text(s.plan),
		Seed:      s.plan.Seed.Value,
		Policies:  s.tried + int64(len(s.trials)),
		Runs:      s.runs,
		Sizing:    s.sizing(),
		Wishes:    s.wished(),
		Met:       s.met,
		Obstacles: s.reasons,
		Best:      []record.Advised{},
		Plan:      json.RawMessage("null"),
	}
	if a.Obstacles == nil {
		a.Obstacles = []string{}
	}
	f := &Found{Advice: a}
	for _, t := range s.best {
		a.Best = append(a.Best, s.advised(t))
	}
	if s.current != nil {
		current, p := s.advised(s.current), s.scenario(s.current)
		a.Current, f.Current = &current, &p
	}
	if s.met {
		p := s.scenario(s.best[0])
		for _, w := range s.config.Wishes {
			p.Gates = append(p.Gates, w.gate()...)
		}
		f.Plan, a.Plan = &p, text(p)
	}
	return f
}

// text is a plan as JSON.
func text(p plan.Plan) json.RawMessage {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("advise: BUG: a plan has no JSON: %v", err))
	}
	return b
}

// advised is a policy with the figures of its last trials.
func (s *search) advised(t *trial) record.Advised {
	outcomes := t.known()
	a := record.Advised{
		Strategy: t.strategy, Base: t.base, Cap: t.limit, SendRetryAfter: t.hint, RetryAfterJitter: t.jitter,
		Seeds: int64(len(outcomes)), Meets: s.keeps(t),
	}
	column := func(of func(*outcome) float64) record.Spread {
		values := make([]float64, len(outcomes))
		for i := range outcomes {
			values[i] = of(&outcomes[i])
		}
		return record.SpreadOf(values)
	}
	a.Completion = column(func(o *outcome) float64 { return o.completion })
	a.Peak = column(func(o *outcome) float64 { return o.peak })
	a.Attempts = column(func(o *outcome) float64 { return o.attempts })
	a.ConvoyIndex = column(func(o *outcome) float64 { return o.convoy })
	a.SuccessShare = column(func(o *outcome) float64 { return o.success })
	a.Kept = int64(s.kept(t))
	return a
}

// scenario is the plan of one policy, as long as it needs.
func (s *search) scenario(t *trial) plan.Plan {
	p := s.planOf(t, s.plan)
	p.Seed = plan.Seed{}
	if s.config.Duration {
		return p
	}
	done := 0.0
	if w, ok := s.wish(record.WishCompletion); ok {
		done = w.Limit
	}
	for _, o := range t.known() {
		if !o.whole() {
			p.Duration = s.plan.Duration
			return p
		}
		done = max(done, o.completion)
	}
	p.Duration = min(s.plan.Duration, roundUp(max(time.Duration(1.5*done), s.space.until+time.Second)))
	return p
}
