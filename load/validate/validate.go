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
	Checks         []Check
	Passed, Failed int
	// Interrupted says that the context ended first; there are no checks then.
	Interrupted bool
}

// A Group is some checks that belong together.
type Group struct {
	Name    string
	Summary string // one line, no full stop
	Source  string // section of the domain reference
	trials  func(Config) []trial
}

// Groups returns all groups, in their order.
func Groups() []Group {
	return []Group{
		{"analytic", "delays of each formula: mean, deviation, ends, share at the cap", "6.4", analytic},
		{"budgets", "retries in a row that each kind of budget allows", "6.4", budgets},
		{"closed", "closed forms of strategies without jitter, to the nanosecond", "6.1", closedForms},
		{"guide", "attempts and completion of the guides' model, every strategy", "6.1", guideTables},
		{"published", "what the guides print of their model, and what it gives", "6.2", published},
		{"recovery", "how fleets of 1,000 come back from outages of 10 s and 60 s", "4.3", recovery},
		{"metastable", "which policies let a service recover from 5 s of standstill", "4.4", metastable},
		{"waves", "peak of the k-th retry's own wave", "5.5", waves},
		{"convoy", "convoy index by strategy and window", "5.6", convoy},
		{"index", "worked numbers of the convoy index and its false positives", "5.2", index},
		{"measures", "the measures beside it, of arrivals at a constant rate", "5.3", measures},
		{"occ", "writers of one versioned row, as in the AWS simulator", "6.3", occ},
		{"retry-after", "Retry-After with a spread of 0 to 5 s", "3.12", retryAfter},
		{"cap-modes", "what a cap does to a fleet: dispersion and periodicity", "1.3", capModes},
	}
}

// CheckNames returns the error of a name that no group has; nil where all are known.
func CheckNames(names []string) error {
	known := make([]string, 0, len(Groups()))
	for _, g := range Groups() {
		known = append(known, g.Name)
	}
	for _, name := range names {
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
	var r Result
	if r.Interrupted = ctx.Err() != nil; r.Interrupted {
		return r
	}
	for _, s := range spans {
		for i := s.from; i < s.to; i++ {
			for _, check := range trials[i].judge(transposed(results[i])) {
				check.Group = s.group.Name
				if check.Source == "" {
					check.Source = s.group.Source
				}
				r.add(check)
			}
		}
	}
	return r
}

func (r *Result) add(c Check) {
	r.Checks = append(r.Checks, c)
	if c.OK {
		r.Passed++
	} else {
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
