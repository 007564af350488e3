package compare

import (
	"slices"

	"stormtest/load/record"
)

// innerPairs are the parts of a mixed fleet and the services of a chain that both runs have, by their names. Of several of one
// name the first is compared.
func innerPairs(p match2) []match2 {
	var pairs []match2
	others := innerRuns(p.other)
	for _, base := range innerRuns(p.base) {
		i := slices.IndexFunc(others, func(o innerRun) bool { return o.name == base.name })
		if i < 0 {
			continue
		}
		pairs = append(pairs, match2{base.under(p.base), others[i].under(p.other)})
	}
	return pairs
}

// An innerRun is a run inside another one, with the name that no other there has.
type innerRun struct {
	name string
	run  *record.Run
}

// innerRuns lists them, of several of one name the first.
func innerRuns(run *record.Run) []innerRun {
	var list []innerRun
	add := func(name string, inner *record.Run) {
		if inner != nil && !slices.ContainsFunc(list, func(o innerRun) bool { return o.name == name }) {
			list = append(list, innerRun{name, inner})
		}
	}
	for i := range run.Parts {
		add("part "+run.Parts[i].Name, run.Parts[i].Run)
	}
	for i := range run.Layers {
		add("service "+run.Layers[i].Name, run.Layers[i].Run)
	}
	return list
}

// under is a copy of the run whose name says inside which other one it is.
func (r innerRun) under(outer *record.Run) *record.Run {
	run := *r.run
	run.Strategy = outer.Strategy + ", " + r.name
	return &run
}
