package report

import (
	"cmp"
	"slices"

	"stormtest/load/record"
)

// An inner run is a part of a mixed fleet or a service of a chain, drawn under the run that it is in.
type innerRun struct {
	run     record.Run // with a name that says what it is
	outer   int        // index of the run that it is in
	number  int        // from 1 inside it; 0 is the run itself
	service bool
}

// withInner lists the runs of a result, each followed by those that are in it. Their buckets are shared.
func withInner(runs []record.Run) []innerRun {
	var list []innerRun
	for i := range runs {
		run := &runs[i]
		list = append(list, innerRun{run: *run, outer: i})
		number := 0
		add := func(name string, inside *record.Run, service bool) {
			if inside == nil {
				return
			}
			number++
			one := *inside
			one.Strategy = name
			list = append(list, innerRun{run: one, outer: i, number: number, service: service})
		}
		for k := range run.Parts {
			add("part "+cmp.Or(run.Parts[k].Name, "unnamed"), run.Parts[k].Run, false)
		}
		for k := range run.Layers {
			add("service "+cmp.Or(run.Layers[k].Name, "unnamed"), run.Layers[k].Run, true)
		}
	}
	return list
}

// hasInner says that some run has runs in it.
func hasInner(r *record.Result) bool {
	return slices.ContainsFunc(withInner(r.Runs), func(x innerRun) bool { return x.number > 0 })
}
