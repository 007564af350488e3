package advise

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// A search knows every policy that was tried.
type search struct {
	config Config
	plan   plan.Plan // the situation, with a duration in which a policy that is worth a word is done
	wishes wishes
	space  space
	trials map[policy]*trial // under the deadline of the search
	hurry  float64           // by which part that is earlier than the deadline
	tried  int64             // policies under other deadlines

	met     bool
	best    []*trial
	current *trial   // the user's own; nil without one
	reasons []string // what is in the way
	alone   []*float64
	others  []*float64

	proofs   uint32 // that were begun, each with seeds of its own
	runs     int64
	expected int64 // clients of all runs, as far as it can be told
	mu       sync.Mutex
	spent    int64
}

// What the search keeps from one stage to the next, and how far from a policy it looks for a better one.
const (
	keptOfCoarse   = 24
	keptOfStrategy = 6 // of the former
	keptOfStep     = 5
	finalists      = 8
	rows           = 4 // policies that are told of
)

var steps = []float64{1.41, 1.19, 1.08}

// margins are how much tighter the wishes are made while policies are chosen: more where the last trials
// of those that were chosen did not keep them, and at last not at all, where only the edge is left.
var margins = []float64{0.04, 0.10, 0.18, 0}

// The parts of the last trials, and of the proof, in which a policy has to keep the wishes. One that keeps
// them with a chance of 0.93, and would break the promise of nine in ten for 50 new seeds in a quarter of
// the cases, passes a proof of 120 seeds with a chance of 0.016; one of 0.99 with 0.97. Fleets above 20,000 are proven by fewer
// seeds, down to 12 that all have to keep them with half of the first margin. Of the policies that are sent to a proof, one
// after another, the first that passes is taken: a few weak ones in a row would have that chance each.
const (
	keptShare   = 0.96
	provenShare = 0.97
)

func newSearch(c Config) *search {
	s := &search{config: c, plan: c.Plan, wishes: c.Wishes, trials: map[policy]*trial{}}
	s.plan.Repeat = 1
	s.plan.Gates = nil
	s.wishes = s.ended()
	s.space = space{plan: &s.plan, hint: c.Hint, drain: drain(&s.plan), until: outageEnd(&s.plan)}
	if !c.Duration {
		s.plan.Duration = s.horizon()
	}
	s.expected = s.cost(len(s.space.own())+len(s.space.helped()), coarse) +
		s.cost(keptOfCoarse+16+len(steps)*keptOfStep*6, fine) + s.cost(2*finalists, full) + s.cost(rows+1, last) + s.cost(2, proof)
	return s
}

// ended are the wishes where nothing else has the operations end: a peak is not kept by putting them off
// until nobody watches.
func (s *search) ended() wishes {
	_, success := s.wish(record.WishSuccess)
	list := slices.Clone(s.wishes)
	for i := range list {
		list[i].ended = !success && s.plan.MaxElapsed == 0
	}
	return list
}

// An objective is what a policy is wanted for.
type objective struct {
	must   wishes
	least  func(o *outcome) float64 // the smaller the better, once must is kept
	margin float64
}

// wanted is what is least in the best of the policies that keep all wishes: the attempts, where something
// bounds how long it may take, else the time that it takes.
func (s *search) wanted() func(o *outcome) float64 {
	if _, bounded := s.wish(record.WishCompletion); bounded || s.plan.MaxElapsed > 0 {
		return func(o *outcome) float64 { return o.attempts }
	}
	return Completion(0).figure
}

// A score sorts trials: first by what is missing, then by what is left to be wished.
type score struct{ gap, least float64 }

// judge returns the score of a trial's outcomes: of the 95 % that come out best, the worst.
func (o objective) judge(outcomes []outcome) score {
	gaps, least := make([]float64, len(outcomes)), make([]float64, len(outcomes))
	for i := range outcomes {
		gaps[i] = o.must.gap(&outcomes[i], o.margin)
		least[i] = o.least(&outcomes[i])
	}
	return score{high(gaps), high(least)}
}

// high is the value at rank 95 % of the values, which it sorts; of fewer than 20 the largest.
func high(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)*95+99)/100-1]
}

// sorted returns the trials with the best first.
func (o objective) sorted(trials []*trial, l level) []*trial {
	scores := make(map[*trial]score, len(trials))
	for _, t := range trials {
		scores[t] = o.judge(t.at(l))
	}
	list := slices.Clone(trials)
	slices.SortFunc(list, func(a, b *trial) int {
		x, y := scores[a], scores[b]
		return cmp.Or(cmp.Compare(x.gap, y.gap), cmp.Compare(x.least, y.least), a.compare(b.policy))
	})
	return list
}

// trial returns the one trial of a policy.
func (s *search) trial(q policy) *trial {
	t := s.trials[q]
	if t == nil {
		t = &trial{policy: q}
		s.trials[q] = t
	}
	return t
}

func (s *search) trialsOf(list []policy) []*trial {
	trials := make([]*trial, len(list))
	for i, q := range list {
		trials[i] = s.trial(q)
	}
	return trials
}

// look returns what there is of the best policies around the given ones, the best first, tried at the
// level fine.
func (s *search) look(ctx context.Context, from []policy, o objective) ([]*trial, error) {
	pool := s.trialsOf(from)
	if err := s.try(ctx, pool, coarse); err != nil {
		return nil, err
	}
	pool = fewOfEach(o.sorted(pool, coarse), keptOfCoarse, keptOfStrategy)
	if err := s.try(ctx, pool, fine); err != nil {
		return nil, err
	}
	for _, step := range steps {
		pool = o.sorted(pool, fine)
		seen := map[*trial]bool{}
		for _, t := range pool {
			seen[t] = true
		}
		for _, t := range fewOfEach(pool, keptOfStep, 2) {
			for _, near := range s.trialsOf(s.space.around(t.policy, step)) {
				if !seen[near] {
					seen[near] = true
					pool = append(pool, near)
				}
			}
		}
		if err := s.try(ctx, pool, fine); err != nil {
			return nil, err
		}
	}
	return o.sorted(pool, fine), nil
}

// fewOfEach returns the first n trials, and of one strategy the first few.
func fewOfEach(trials []*trial, n, few int) []*trial {
	var list []*trial
	of := map[string]int{}
	for _, t := range trials {
		if len(list) < n && of[t.strategy] < few {
			of[t.strategy]++
			list = append(list, t)
		}
	}
	return list
}

// winner returns the policies of the pool that keep the wishes, with the best of all first and then the
// best of other strategies; none where none does.
func (s *search) winner(ctx context.Context, from []policy) ([]*trial, error) {
	if len(from) == 0 {
		return nil, nil
	}
	if s.hopeless() {
		return nil, nil
	}
	for _, margin := range margins {
		s.haste(margin)
		o := objective{must: s.wishes, least: s.wanted(), margin: margin}
		pool, err := s.look(ctx, from, o)
		if err != nil {
			return nil, err
		}
		pool = fewOfEach(pool, finalists, 3)
		if err := s.try(ctx, pool, full); err != nil {
			return nil, err
		}
		best, err := s.proven(ctx, o, o.sorted(pool, full))
		if len(best) > 0 || err != nil {
			return best, err
		}
	}
	return nil, nil
}

// likely reports whether a policy keeps the wishes in its last trials.
func (s *search) likely(ctx context.Context, t *trial) (bool, error) {
	err := s.try(ctx, []*trial{t}, last)
	return err == nil && s.keeps(t), err
}

// surely reports whether it also does in a proof.
func (s *search) surely(ctx context.Context, t *trial) (bool, error) {
	if ok, err := s.likely(ctx, t); !ok {
		return false, err
	}
	if t.at(proof) == nil {
		if err := s.try(ctx, []*trial{t}, proof); err != nil {
			return false, err
		}
		s.proofs++
	}
	return s.keeps(t) && float64(s.kept(t)) >= provenShare*float64(len(t.known())), nil
}

// haste makes the deadline under which policies are chosen earlier by a part, where a share of the
// operations is to succeed by then. What was tried under another deadline is forgotten.
func (s *search) haste(part float64) {
	if _, wished := s.wish(record.WishSuccess); !wished || s.plan.MaxElapsed == 0 || s.hurry == part {
		return
	}
	s.hurry = part
	s.tried += int64(len(s.trials))
	s.trials = map[policy]*trial{}
}

// proven returns those of the sorted trials that keep the wishes in their last trials, one of each strategy.
// The first also did in a proof, of seeds by which no other was judged: of several that pass one test the
// first may owe it to luck. The others were judged by the same seeds, and by nothing else.
func (s *search) proven(ctx context.Context, o objective, sorted []*trial) (best []*trial, err error) {
	for _, t := range fewOfEach(sorted, finalists, 2) {
		if o.judge(t.at(full)).gap > 0 || len(best) == rows || slices.ContainsFunc(best, func(b *trial) bool { return b.strategy == t.strategy }) {
			continue
		}
		keeps := s.surely
		if len(best) > 0 {
			keeps = s.likely
		}
		ok, err := keeps(ctx, t)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		best = append(best, t)
	}
	return best, nil
}

// kept is in how many of the trials that are known of a policy it keeps the wishes.
func (s *search) kept(t *trial) (n int) {
	for _, o := range t.known() {
		if s.wishes.kept(&o) {
			n++
		}
	}
	return n
}

// keeps reports whether the last trials of a policy keep the wishes: all of many, or nearly all and with
// half of the first margin.
func (s *search) keeps(t *trial) bool {
	const many = 50
	kept, outcomes := s.kept(t), t.known()
	if kept == len(outcomes) && kept >= many {
		return true
	}
	o := objective{must: s.wishes, least: s.wanted(), margin: margins[0] / 2}
	return float64(kept) >= keptShare*float64(len(outcomes)) && o.judge(outcomes).gap == 0
}

// horizon is how long a trial may take: a policy that is not done by then is not worth a word.
func (s *search) horizon() time.Duration {
	const drains, slack = 20, time.Minute
	end := outageEnd(&s.plan) + max(drains*s.space.drain, slack)
	if fastest, ok := earliest(&s.plan); ok {
		end = max(end, 2*fastest)
	}
	for _, w := range s.wishes {
		switch {
		case w.Name == record.WishCompletion:
			end = max(end, time.Duration(math.Min(2*w.Limit, float64(longest))))
		case w.Name == record.WishPeak && w.Limit < 1: // which takes as much longer, as far as it can be watched
			slow := min(float64(end)/max(w.Limit, 0.1), float64(bucketsMost)*float64(s.plan.Bucket), float64(longest))
			end = max(end, time.Duration(slow))
		}
	}
	if s.plan.MaxElapsed > 0 { // nobody is there after that, but for the first attempts of a ramp
		end = min(end, s.plan.Ramp+s.plan.MaxElapsed+s.plan.Timeout)
	}
	return roundUp(min(end, longest))
}
