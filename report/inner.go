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
	layer   string // which service
}

// outages are those of the target of the run.
func (x *innerRun) outages(plan planFields) []outage {
	if x.service {
		return plan.layerOutages(x.layer)
	}
	return plan.outages()
}

// withInner lists the runs of a result, each followed by those that are in it. Their buckets are shared.
func withInner(runs []record.Run) []innerRun {
	var list []innerRun
	for i := range runs {
		run := &runs[i]
		list = append(list, innerRun{run: *run, outer: i})
		number := 0
		add := func(name string, inside *record.Run, layer *record.Layer) {
			if inside == nil {
				return
			}
			number++
			one := innerRun{run: *inside, outer: i, number: number}
			one.run.Strategy = name
			if layer != nil {
				one.service, one.layer = true, clean(layer.Name)
			}
			list = append(list, one)
		}
		for k := range run.Parts {
			add("part "+cmp.Or(run.Parts[k].Name, "unnamed"), run.Parts[k].Run, nil)
		}
		for k := range run.Layers {
			add("service "+cmp.Or(run.Layers[k].Name, "unnamed"), run.Layers[k].Run, &run.Layers[k])
		}
	}
	return list
}

// hasInner says that some run has runs in it.
func hasInner(r *record.Result) bool {
	return slices.ContainsFunc(withInner(r.Runs), func(x innerRun) bool { return x.number > 0 })
}
