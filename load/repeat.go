package load

import (
	"context"
	"fmt"

	"stormtest/load/record"
)

// A seedRuns is what the seeds of one strategy measured in real time.
type seedRuns struct {
	first   *record.Run     // nil where it could not run
	invalid []string        // why the first seed's generator did not keep up
	ended   []record.Seed   // of each seed that came to its end; none without a repeat
	parts   [][]record.Seed // of a mixed fleet: of each of these, its parts

	othersInvalid int    // of how many other seeds the generator did not keep up
	otherReason   string // the first of these, and why
}

// runSeeds runs the storm with one seed after another, until one cannot run or ctx is cancelled. The run
// that the latter cuts counts only where it is the first. Trace and log are of the first.
func (s *storm) runSeeds(ctx context.Context) (seedRuns, error) {
	var all seedRuns
	for i := 0; i < s.plan.Repeat && ctx.Err() == nil; i++ {
		one := *s
		one.plan.Seed.Value += uint64(i)
		one.seed, one.detail = i, i == 0 || s.env.Progress != nil
		if i > 0 {
			one.trace, one.log = nil, nil
		}
		if s.site != nil && (s.index > 0 || i > 0 || s.site.probe != nil) {
			one.rest = []string{s.site.calm(ctx, s.plan, s.env)}
		}
		run, reasons, err := one.run(ctx)
		if err != nil {
			return all, err
		}
		whole := ctx.Err() == nil
		markWhole(&run, whole)
		one.shown.end(&run)
		switch {
		case i == 0:
			all.first, all.invalid = &run, reasons
		case whole && len(reasons) > 0:
			if all.othersInvalid++; all.othersInvalid == 1 {
				all.otherReason = fmt.Sprintf("seed %d: %s", one.plan.Seed.Value, reasons[0])
			}
		}
		if whole && s.plan.Repeat > 1 {
			all.ended, all.parts = append(all.ended, record.SeedOf(&run)), append(all.parts, seedsOfParts(&run))
		}
	}
	return all, nil
}

// reasons says why the figures are not the target's, of all seeds in one line for those after the first.
func (all *seedRuns) reasons() []string {
	if all.othersInvalid == 0 {
		return all.invalid
	}
	return append(all.invalid, fmt.Sprintf("the generator did not keep up in %d of the other seeds' runs, first with %s", all.othersInvalid, all.otherReason))
}
