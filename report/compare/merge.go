package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stormtest/load/record"
)

// Merge makes one result of several of one plan with different seeds, by one engine and one version of the program: that
// of the least seed, with the figures of all seeds beside it, as --repeat would have given it. It is the same in whatever
// order the results come, and whichever of them were merged before. The inputs are not changed; the result shares
// their parts. Its gates are left out, since they were held against one of its seeds. What is not of one plan is
// refused, and so are two results of one seed: an error is a *Refusal.
func Merge(inputs []Input, fields []Field) (*record.Result, error) {
	var faults Refusal
	if len(inputs) < 2 {
		faults.add("%d results: want two or more to merge", len(inputs))
	}
	for _, in := range inputs {
		refuseToMerge(in, &faults)
	}
	for _, in := range inputs[min(1, len(inputs)):] {
		refuseOtherPlan(inputs[0], in, fields, &faults)
	}
	if faults.Problems == nil {
		refuseTwice(inputs, &faults)
	}
	if faults.Problems != nil {
		return nil, &faults
	}
	ordered := slices.Clone(inputs)
	slices.SortFunc(ordered, func(a, b Input) int { return cmp.Compare(a.Result.Seed, b.Result.Seed) })
	return merged(ordered), nil
}

// refuseToMerge refuses a result that is not whole, or whose seeds say nothing.
func refuseToMerge(in Input, faults *Refusal) {
	r := in.Result
	refuseAlone(in, faults)
	for i := range r.Runs {
		run := &r.Runs[i]
		rep := run.Repeats
		switch {
		case run.FromLog != nil:
			faults.add("%s was made from a log, which holds arrivals and no figures", in.Name)
		case run.Outside != nil:
			faults.add("%s is of clients that are not stormtest's, of which a seed says nothing", in.Name)
		case rep != nil && rep.Count > 0 && !kept(rep):
			faults.add("%s is from before the values of each seed were kept: run it again", in.Name)
		case rep != nil && rep.Count > 0 && rep.Seeds[0] > rep.Seeds[1]:
			faults.add("%s has seeds on both sides of the largest, from %d to %d", in.Name, rep.Seeds[0], rep.Seeds[1])
		default:
			continue
		}
		return
	}
}

// refuseOtherPlan refuses results that were not asked the same.
func refuseOtherPlan(a, b Input, fields []Field, faults *Refusal) {
	x, xKnown := planOf(a.Result)
	y, yKnown := planOf(b.Result)
	if !xKnown || !yKnown {
		faults.add("%s and %s: one of them holds no plan, so nobody knows whether it is the same", a.Name, b.Name)
		return
	}
	var names []string
	for _, c := range diff(x, y, fields) {
		names = append(names, "--"+c.Name+" "+c.Base+" and "+c.Other)
	}
	if x[fieldStrategy] != y[fieldStrategy] {
		names = append(names, "--"+fieldStrategy+" "+x[fieldStrategy]+" and "+y[fieldStrategy])
	}
	if names != nil {
		faults.add("%s and %s are not of one plan: %s; compare them instead", a.Name, b.Name, strings.Join(names, ", "))
	}
	if a.Result.Tool.Version != b.Result.Tool.Version {
		faults.add("%s and %s are of stormtest %s and %s: compare them instead", a.Name, b.Name, a.Result.Tool.Version, b.Result.Tool.Version)
	}
	if len(a.Result.Runs) > 0 && len(b.Result.Runs) > 0 && a.Result.Runs[0].Engine != b.Result.Runs[0].Engine {
		faults.add("%s and %s: one is of real time and one of virtual time; compare them instead", a.Name, b.Name)
	}
}

// MergedMost is how many seeds a result may have.
const MergedMost = 10_000

// refuseTwice refuses a seed that counts twice, and more of them than a result may have.
func refuseTwice(inputs []Input, faults *Refusal) {
	first := map[uint64]string{}
	for _, in := range inputs {
		for _, seed := range seedsOf(in.Result) {
			if other, twice := first[seed]; twice {
				faults.add("%s and %s both have seed %d: the same draws again are no other run", other, in.Name, seed)
				return
			}
			first[seed] = in.Name
		}
	}
	if len(first) > MergedMost {
		faults.add("%d seeds: want at most %d in one result", len(first), MergedMost)
	}
}

// seedsOf returns the seeds that any strategy of a result ran, ascending.
func seedsOf(r *record.Result) []uint64 {
	var seeds []uint64
	for i := range r.Runs {
		if of := seedsOfRun(r, &r.Runs[i]); len(of) > len(seeds) {
			seeds = of
		}
	}
	return seeds
}

func seedsOfRun(r *record.Result, run *record.Run) []uint64 {
	if run.Repeats == nil || run.Repeats.Count == 0 {
		return []uint64{r.Seed}
	}
	return run.Repeats.List()
}

// merged merges results in the order of their first seeds.
func merged(ordered []Input) *record.Result {
	out := *ordered[0].Result
	out.Merged, out.Runs, out.Gates, out.InvalidReasons = 0, nil, []record.Gate{}, []string{}
	var names []string
	for _, in := range ordered {
		r := in.Result
		out.Merged += max(1, r.Merged)
		out.Valid = out.Valid && r.Valid
		out.Interrupted = out.Interrupted || r.Interrupted
		out.StartedAt = earlier(out.StartedAt, r.StartedAt)
		for i := range r.Runs {
			if name := r.Runs[i].Strategy; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	out.InvalidReasons = reasons(ordered)
	inPlanOrder(names, ordered[0].Result)
	for _, name := range names {
		out.Runs = append(out.Runs, mergedRun(name, ordered))
	}
	return &out
}

// inPlanOrder sorts strategies as the plan has them; an interrupted result may lack some.
func inPlanOrder(names []string, r *record.Result) {
	plan, _ := planOf(r)
	asked := strings.Split(plan[fieldStrategy], ",")
	place := func(name string) int {
		if i := slices.Index(asked, name); i >= 0 {
			return i
		}
		return len(asked)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
}

// mergedRun is the run of the least seed with the figures of all.
func mergedRun(name string, ordered []Input) record.Run {
	type row struct {
		seed uint64
		of   record.Seed
	}
	var rows []row
	var out *record.Run
	var asked int64
	verdicts := map[record.Verdict]int64{}
	for _, in := range ordered {
		i := slices.IndexFunc(in.Result.Runs, func(run record.Run) bool { return run.Strategy == name })
		if i < 0 { // cut before this strategy came on: its seeds were asked for all the same
			asked += askedOf(in.Result)
			continue
		}
		run := &in.Result.Runs[i]
		if out == nil {
			out = run
		}
		for k, seed := range seedsOfRun(in.Result, run) {
			rows = append(rows, row{seed, seedOf(run, k)})
		}
		if rep := run.Repeats; rep != nil && rep.Count > 0 {
			asked += max(rep.Asked, rep.Count)
			for v, n := range rep.Verdicts {
				verdicts[v] += n
			}
			continue
		}
		asked++
		verdicts[run.Headline()]++
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.seed, b.seed) })
	seeds, each := make([]uint64, len(rows)), make([]record.Seed, len(rows))
	for i, r := range rows {
		seeds[i], each[i] = r.seed, r.of
	}
	merged := *out
	merged.Repeats = record.RepeatsOf(seeds[0], int(asked), each)
	merged.Repeats.SetSeeds(seeds)
	merged.Repeats.Verdicts = verdicts
	return merged
}

// askedOf is how many seeds a result was asked for.
func askedOf(r *record.Result) int64 {
	asked := int64(1)
	for i := range r.Runs {
		if rep := r.Runs[i].Repeats; rep != nil {
			asked = max(asked, rep.Asked, rep.Count)
		}
	}
	return asked
}

// seedOf returns what is known of one seed of a run.
func seedOf(run *record.Run, seed int) record.Seed {
	if run.Repeats == nil || run.Repeats.Count == 0 {
		return record.SeedOf(run)
	}
	return run.Repeats.Seed(seed)
}

// seedName names the seeds of a result.
func seedName(r *record.Result) string {
	seeds := seedsOf(r)
	if len(seeds) == 1 {
		return fmt.Sprintf("seed %d", seeds[0])
	}
	return fmt.Sprintf("seeds %d to %d", seeds[0], seeds[len(seeds)-1])
}

// earlier is the earlier of two moments; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// reasons says of each seed why it is not valid.
func reasons(ordered []Input) []string {
	list := []string{}
	for _, in := range ordered {
		for _, reason := range in.Result.InvalidReasons {
			if in.Result.Merged == 0 {
				reason = seedName(in.Result) + ": " + reason
			}
			list = append(list, reason)
		}
	}
	slices.Sort(list)
	return list
}
