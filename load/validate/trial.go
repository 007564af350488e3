package validate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// A trial is a number of independent runs of one thing, and what their figures must be.
type trial struct {
	// runs is how many; run is called once with each of 0..runs-1, from any goroutine, and returns the
	// figures of that run, always as many.
	runs int
	run  func(ctx context.Context, i int) []float64
	// cost is how long a run takes about, in attempts simulated; it orders the work and tells how much is
	// done. 0 is next to nothing.
	cost float64
	// judge is given the figures of all runs, [figure][run].
	judge func(figures [][]float64) []Check
}

// costOfDraws is that of a check that draws a million times.
const costOfDraws = 500_000

// once is a trial of one run that judges itself.
func once(run func(ctx context.Context) []Check) trial {
	var checks []Check
	return trial{
		runs:  1,
		run:   func(ctx context.Context, _ int) []float64 { checks = run(ctx); return nil },
		judge: func([][]float64) []Check { return checks },
	}
}

// A pool runs trials on a number of goroutines.
type pool struct {
	workers int
	// done is called after every run with its cost, from any goroutine.
	done func(cost float64)
}

// run runs all trials and returns their figures, [trial][run][figure]. It returns early where ctx ends; a trial
// that was not finished then has none, nil.
func (p pool) run(ctx context.Context, trials []trial) [][][]float64 {
	results := make([][][]float64, len(trials))
	finished := make([]atomic.Int64, len(trials)) // runs of each
	type task struct{ trial, run int }
	var tasks []task // the longest first, so that no core waits long for another's last
	for t := range trials {
		results[t] = make([][]float64, trials[t].runs)
		for i := range trials[t].runs {
			tasks = append(tasks, task{t, i})
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(trials[b.trial].cost, trials[a.trial].cost) })
	var next atomic.Int64
	var wg sync.WaitGroup
	for range p.workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(tasks) {
					return
				}
				k := tasks[i]
				results[k.trial][k.run] = trials[k.trial].run(ctx, k.run)
				if ctx.Err() != nil {
					return // what a run has that was cut means nothing
				}
				finished[k.trial].Add(1)
				p.done(trials[k.trial].cost)
			}
		})
	}
	wg.Wait()
	for t := range trials {
		if finished[t].Load() < int64(trials[t].runs) {
			results[t] = nil
		}
	}
	return results
}

// transposed turns [run][figure] into [figure][run].
func transposed(runs [][]float64) [][]float64 {
	if len(runs) == 0 {
		return nil
	}
	figures := make([][]float64, len(runs[0]))
	for k := range figures {
		figures[k] = make([]float64, len(runs))
		for i := range runs {
			figures[k][i] = runs[i][k]
		}
	}
	return figures
}
