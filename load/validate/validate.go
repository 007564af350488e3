package validate

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A Config says what to check.
type Config struct {
	// Groups are names of Groups to check, in any order; empty means all.
	Groups []string
	// Full adds what takes minutes: fleets of 10,000 clients, and more runs.
	Full bool
	// Seed is that of the first run of everything; the i-th run has Seed+i.
	Seed uint64
	// Fresh are two seeds as two processes draw them when they start.
	Fresh [2]uint64
	// Progress, where set, is called when some of the work is done, from any goroutine, never twice at a time.
	Progress func(Progress)
}

// A Progress is how far a validation is.
type Progress struct {
	DoneShare float64 // of the work, about; at the end 1, but for rounding
}

// A Result is what was found: the checks in the order of Groups.
type Result struct {
	Checks []Check
	// Passed, Failed and NotJudged sum up to all. Not judged are those of RunReal in which this machine was the
	// bottleneck.
	Passed, Failed, NotJudged int
	// Interrupted says that the context ended first. The checks are then those of the parts that were finished.
	Interrupted bool
	// Parts are what is run and judged as a whole, such as one strategy of a group; PartsNotRun were not finished.
	Parts, PartsNotRun int
}

// A Group is some checks that belong together.
type Group struct {
	Name    string
	Summary string // one line, no full stop
	Source  string // where the expected numbers come from, but for checks that say otherwise
	trials  func(Config) []trial
}

// Groups returns all groups, in their order.
func Groups() []Group {
	return []Group{
		{"analytic", "delays of each formula: mean, deviation, ends, share at the cap", sourceFormula, analytic},
		{"budgets", "retries in a row that each kind of budget allows", sourceFormula, budgets},
		{"closed", "closed forms of strategies without jitter, to the nanosecond", sourceFormula, closedForms},
		{"guide", "attempts and completion of the guides' model, every strategy", sourceModel, guideTables},
		{"published", "what the guides print of their model, and what it gives", sourceGuides, published},
		{"recovery", "how fleets of 1,000 come back from outages of 10 s and 60 s", sourceModel, recovery},
		{"metastable", "which policies let a service recover from 5 s of standstill", sourceModel, metastable},
		{"waves", "peak of the k-th retry's own wave", sourceModel, waves},
		{"convoy", "convoy index by strategy and window", sourceModel, convoy},
		{"index", "worked numbers of the convoy index and its false positives", sourceFormula, index},
		{"measures", "the measures beside it, of arrivals at a constant rate", sourceDraws, measures},
		{"occ", "writers of one versioned row, as in the AWS simulator", sourceSimulator, occ},
		{"retry-after", "Retry-After with a spread of 0 to 5 s", sourceModel, retryAfter},
		{"cap-modes", "what a cap does to a fleet: dispersion and periodicity", sourceModel, capModes},
	}
}

// CheckNames returns the error of a name that no group has; nil where all are known.
func CheckNames(names []string) error {
	known := make([]string, 0, len(Groups()))
	for _, g := range Groups() {
		known = append(known, g.Name)
	}
	for _, name := range names {
		if name == "" {
			return fmt.Errorf("validate: a group without a name, as an empty text and two commas in a row have it; want %s", strings.Join(known, ", "))
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("validate: group %q, want %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Run checks what c says, on all cores. The names of c must be known. Equal seeds give equal results,
// whatever the number of cores.
func Run(ctx context.Context, c Config) Result {
	type span struct {
		group Group
		from  int // of trials
		to    int
	}
	var trials []trial
	var spans []span
	for _, g := range Groups() {
		if len(c.Groups) > 0 && !slices.Contains(c.Groups, g.Name) {
			continue
		}
		from := len(trials)
		trials = append(trials, g.trials(c)...)
		spans = append(spans, span{g, from, len(trials)})
	}
	tell := counter(c.Progress, costOf(trials))
	results := pool{workers: runtime.GOMAXPROCS(0), done: tell}.run(ctx, trials)
	r := Result{Parts: len(trials)}
	for _, s := range spans {
		for i := s.from; i < s.to; i++ {
			if results[i] == nil {
				r.PartsNotRun++
				continue
			}
			for _, check := range trials[i].judge(transposed(results[i])) {
				check.Group = s.group.Name
				if check.Source == "" {
					check.Source = s.group.Source
				}
				r.add(check)
			}
		}
	}
	r.Interrupted = r.PartsNotRun > 0
	return r
}

func (r *Result) add(c Check) {
	r.Checks = append(r.Checks, c)
	switch {
	case c.NotJudged:
		r.NotJudged++
	case c.OK:
		r.Passed++
	default:
		r.Failed++
	}
}

// runCost is added to the cost of every run, so that even next to nothing counts.
const runCost = 100

// costOf sums up the costs of all runs.
func costOf(trials []trial) float64 {
	var total float64
	for _, t := range trials {
		total += float64(t.runs) * (t.cost + runCost)
	}
	return total
}

// counter returns what tells progress after a run, of so much work.
func counter(progress func(Progress), total float64) func(cost float64) {
	if progress == nil {
		return func(float64) {}
	}
	var mu sync.Mutex
	var done float64
	return func(cost float64) {
		mu.Lock()
		defer mu.Unlock()
		done += cost + runCost
		progress(Progress{DoneShare: done / total})
	}
}
