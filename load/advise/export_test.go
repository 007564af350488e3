package advise

import (
	"context"
	"time"

	"stormtest/load/plan"
)

// What the tests look at beside Find.

// Earliest is earliest.
func Earliest(p plan.Plan) (time.Duration, bool) { return earliest(&p) }

// Policies returns the plans of every policy of the space, and of all around them.
func Policies(c Config) (list []plan.Plan) {
	s := newSearch(c)
	for _, q := range append(s.space.own(), s.space.helped()...) {
		list = append(list, q.apply(s.plan))
		for _, step := range steps {
			for _, r := range s.space.around(q, step) {
				list = append(list, r.apply(s.plan))
			}
		}
	}
	return list
}

// An Outcome is an outcome, with its fields for the tests.
type Outcome struct{ Completion, Attempts, Success float64 }

// BothWays returns what becomes of a plan where nothing is recorded, and where all is.
func BothWays(p plan.Plan) (bare, recorded Outcome, err error) {
	s := newSearch(Config{Plan: p, Wishes: []Wish{Completion(time.Minute)}})
	of := func(o outcome) Outcome { return Outcome{o.completion, o.attempts, o.success} }
	a, err := s.once(context.Background(), p, 7, coarse)
	if err != nil {
		return bare, recorded, err
	}
	b, err := s.once(context.Background(), p, 7, last)
	return of(a), of(b), err
}

// Round and RoundUp are round and roundUp.
func Round(d time.Duration) time.Duration { return round(d) }

// RoundUp is roundUp.
func RoundUp(d time.Duration) time.Duration { return roundUp(d) }

// Impossible are the wishes of which it is said that no policy keeps them.
func Impossible(c Config) []string { return newSearch(c).impossible() }
