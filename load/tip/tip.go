// Package tip finds the tipping point of a plan: the value of one of its numbers from which on the service does not come
// back after its outage, by bisection in virtual time.
//
// Each value is judged by the rule of metastable failure (domain 4.4) with the same seeds: a seed has recovered when
// goodput is back at 90 % for 5 s, within 120 s or three times what it takes without retries. The package reads no clock.
package tip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

const (
	// SeedsDefault is at how many seeds each value is tried.
	SeedsDefault = 10
	// StepsMost bounds the values between the ends.
	StepsMost = 1_000_000
	// StepsDefault is how many there are where nobody says.
	StepsDefault = 100
)

// A Config says what is searched. Plan must be valid and have a seed; its Repeat is how many seeds there are.
type Config struct {
	Plan plan.Plan
	Axis Axis
	// From and To are the ends, and Precision how close to the tip the search goes, in the axis's units: From < To.
	From, To, Precision int64
	Version             string
	// Progress, where set, is told how much of the work is done, as a share, before each value.
	Progress func(share float64)
}

// Check returns what of the plan a search has no answer to, a *plan.FieldError for each, joined.
func (c Config) Check() error {
	p := c.Plan
	var faults []error
	refuse := func(name, want string) {
		f, _ := plan.FieldNamed(name)
		faults = append(faults, &plan.FieldError{Field: name, Got: strings.Join(f.Get(&p), "; "), Want: want})
	}
	if p.RatePerSecond == 0 {
		refuse("rate", "a rate, such as 500/s: a fleet that fails together runs out of work and falls quiet by itself, so that it has no tipping point")
	}
	if p.Operations != 0 {
		refuse("operations", "auto: the load goes on for as long as the service is watched")
	}
	if names := p.RunNames(); len(names) > 1 {
		refuse("strategy", "one policy, not "+strings.Join(names, ", "))
	}
	from, end := trouble(&p)
	switch {
	case c.Axis.Name == "outage" && len(p.Outages) != 1:
		refuse("outage", "one outage, whose length is varied")
	case end == 0:
		refuse("outage", "an outage, or a surge, after which the service is to recover, such as 10s..15s=capacity:0%")
	case from < record.RecoveryBaselineMin:
		refuse("outage", "a healthy phase before it, at least 1s and better 10s: the goodput then is what the service is to come back to")
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for _, v := range []int64{c.From, c.To} {
		q := c.at(v)
		if err := errors.Join(q.Validate(), q.For(plan.Virtual)); err != nil {
			return err
		}
	}
	return nil
}

// at is the plan at a value, watched for as long as the rule needs at least.
func (c Config) at(v int64) plan.Plan {
	p := c.Axis.with(c.Plan, v)
	p.Gates = nil
	p.Duration = watchEnd(&p, record.RecoveryWatchDefault)
	return p
}

// watchEnd is the end of a run that is watched for so long after the trouble, with the seconds that goodput must hold.
func watchEnd(p *plan.Plan, watch time.Duration) time.Duration {
	_, end := trouble(p)
	return end + watch + record.RecoverySeconds*time.Second
}

// trouble returns when the first outage or surge begins, of a layer's too, and when the last one is over; 0, 0 without one.
func trouble(p *plan.Plan) (from, end time.Duration) {
	for i, t := range p.Triggers() {
		if i == 0 || t.From < from {
			from = t.From
		}
		end = max(end, t.To)
	}
	return from, end
}

func asFault(err error, fault **plan.FieldError) bool { return errors.As(err, fault) }

// A search is one invocation.
type search struct {
	Config
	last   int64                      // the step of To
	points map[int64]*record.TipPoint // by step
	runs   int64
	tries  int // values that are expected in all
	// measure runs the seeds of a value.
	measure func(ctx context.Context, v int64) (*record.TipPoint, error)
}

func newSearch(c Config) *search {
	s := &search{Config: c, last: steps(c.From, c.To, c.Precision), points: map[int64]*record.TipPoint{}}
	s.tries = 5 + bits.Len64(uint64(s.last/4))
	s.measure = s.point
	return s
}

// Find searches. When ctx is cancelled it returns what is known until then, marked as interrupted.
func Find(ctx context.Context, c Config) (*record.Tip, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return newSearch(c).result(ctx)
}

// result searches and says what was found.
func (s *search) result(ctx context.Context) (*record.Tip, error) {
	c := s.Config
	text, err := json.Marshal(c.Plan.Redacted())
	if err != nil {
		return nil, fmt.Errorf("tip: write the plan: %w", err)
	}
	t := &record.Tip{
		Schema: record.TipSchema, Tool: record.Tool{Version: c.Version}, Plan: text, PlanHash: c.Plan.Hash(),
		Seed: c.Plan.Seed.Value, Seeds: int64(c.Plan.Repeat), Vary: c.Axis.Name,
		From: c.text(c.From), To: c.text(c.To), Precision: c.text(c.Precision), Notes: []string{},
	}
	err = s.find(ctx)
	t.Interrupted = ctx.Err() != nil
	if t.Interrupted {
		err = nil
	}
	s.conclude(t)
	return t, err
}

func (c Config) text(v int64) string { return c.Axis.Text(&c.Plan, v) }

// value is that of a step.
func (s *search) value(step int64) int64 { return min(s.From+step*s.Precision, s.To) }

// find tries the ends and three values between them, which shows where the service changes sides and whether it does so
// more than once; halves the first such stretch until it is one step; and then looks for where seeds begin to disagree.
func (s *search) find(ctx context.Context) error {
	for _, quarter := range []int64{0, 4, 2, 1, 3} {
		if err := s.try(ctx, s.last*quarter/4); err != nil {
			return err
		}
	}
	low, high, found := s.tip()
	if !found {
		return nil
	}
	good := s.points[low].Recovers()
	low, high, err := s.halve(ctx, low, high, func(p *record.TipPoint) bool { return p.Recovers() == good })
	if err != nil {
		return err
	}
	all := func(p *record.TipPoint) bool { return p.Recovered == p.Seeds }
	none := func(p *record.TipPoint) bool { return p.Recovered == 0 }
	lower, upper := all, none
	if !good {
		lower, upper = none, all
	}
	if err := s.edge(ctx, low, false, lower); err != nil {
		return err
	}
	return s.edge(ctx, high, true, upper)
}

// halve brings two values, of which holds is true at low and false at high, as near to each other as the precision
// says.
func (s *search) halve(ctx context.Context, low, high int64, holds func(*record.TipPoint) bool) (int64, int64, error) {
	for high-low > 1 {
		middle := low + (high-low)/2
		if err := s.try(ctx, middle); err != nil {
			return low, high, err
		}
		if holds(s.points[middle]) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high, nil
}

// edge looks, from a side of the tip away from it, for the nearest value at which all seeds agree.
func (s *search) edge(ctx context.Context, side int64, up bool, agree func(*record.TipPoint) bool) error {
	if agree(s.points[side]) {
		return nil
	}
	list := s.tried()
	if !up {
		slices.Reverse(list)
	}
	for _, step := range list {
		var err error
		switch {
		case !agree(s.points[step]) || step == side || step > side != up:
			continue
		case up:
			_, _, err = s.halve(ctx, side, step, func(p *record.TipPoint) bool { return !agree(p) })
		default:
			_, _, err = s.halve(ctx, step, side, agree)
		}
		return err
	}
	return nil // not up to this end
}

// try judges the value of a step, unless that was done.
func (s *search) try(ctx context.Context, step int64) error {
	if s.points[step] != nil {
		return ctx.Err()
	}
	v := s.value(step)
	if s.Progress != nil {
		s.tries = max(s.tries, len(s.points)+1) // with edges
		s.Progress(float64(len(s.points)) / float64(s.tries))
	}
	point, err := s.measure(ctx, v)
	if err == nil {
		s.points[step] = point
	}
	return err
}

// tried are the steps that were tried, ascending.
func (s *search) tried() []int64 {
	list := make([]int64, 0, len(s.points))
	for step := range s.points {
		list = append(list, step)
	}
	slices.Sort(list)
	return list
}

// tip returns the first two neighbours that were tried of which one recovers and the other does not.
func (s *search) tip() (low, high int64, found bool) {
	list := s.tried()
	for i := 1; i < len(list); i++ {
		if s.points[list[i]].Recovers() != s.points[list[i-1]].Recovers() {
			return list[i-1], list[i], true
		}
	}
	return 0, 0, false
}

// conclude says what the values come to.
func (s *search) conclude(t *record.Tip) {
	list := s.tried()
	t.Runs, t.Points, t.Outcome = s.runs, []record.TipPoint{}, record.TipUnknown
	changes := 0
	for i, step := range list {
		t.Points = append(t.Points, *s.points[step])
		if i > 0 && s.points[step].Recovers() != s.points[list[i-1]].Recovers() {
			changes++
		}
	}
	whole := s.points[0] != nil && s.points[s.last] != nil
	low, high, found := s.tip()
	switch {
	case !found && whole && !t.Interrupted:
		t.Outcome = record.TipStays
		if s.points[0].Recovers() {
			t.Outcome = record.TipRecovers
		}
	case found && changes%2 == 1:
		t.Outcome = record.TipFound
	case found:
		t.Outcome = record.TipUnsteady
	}
	t.Returns = changes > 1
	if found {
		s.sides(t, list, low, high)
	}
	s.notes(t)
}

// sides names the two values at the tip, and those around it at which all seeds agree.
func (s *search) sides(t *record.Tip, list []int64, low, high int64) {
	t.Recovers, t.Stays = s.points[low], s.points[high]
	good := t.Recovers.Recovers()
	if !good {
		t.Recovers, t.Stays = t.Stays, t.Recovers
	}
	for _, step := range list {
		p := s.points[step]
		switch {
		case step <= low && good && p.Recovered == p.Seeds, step >= high && !good && p.Recovered == p.Seeds && t.All == nil:
			t.All = p
		case step <= low && !good && p.Recovered == 0, step >= high && good && p.Recovered == 0 && t.None == nil:
			t.None = p
		}
	}
}
