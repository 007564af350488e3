package compare

import (
	"slices"

	"stormtest/load/record"
)

// innerPairs are the parts of a mixed fleet and the services of a chain that both runs have, by their names. Of several of one
// name the first is compared.
func innerPairs(p match2) []innerPair {
	var pairs []innerPair
	others := innerRuns(p.other)
	for _, base := range innerRuns(p.base) {
		i := slices.IndexFunc(others, func(o innerRun) bool { return o.name == base.name })
		if i < 0 {
			continue
		}
		pairs = append(pairs, innerPair{match2{base.under(p.base), others[i].under(p.other)}, base.service})
	}
	return pairs
}

// An innerPair is two runs inside others, and which service of a chain both are; nil for none.
type innerPair struct {
	match2
	service *string
}

// An innerRun is a run inside another one, with the name that no other there has.
type innerRun struct {
	name    string
	run     *record.Run
	service *string // which service of a chain it is; nil for none
}

// innerRuns lists them, of several of one name the first.
func innerRuns(run *record.Run) []innerRun {
	var list []innerRun
	add := func(name string, inner *record.Run, service *string) {
		if inner != nil && !slices.ContainsFunc(list, func(o innerRun) bool { return o.name == name }) {
			list = append(list, innerRun{name, inner, service})
		}
	}
	for i := range run.Parts {
		add("part "+run.Parts[i].Name, run.Parts[i].Run, nil)
	}
	for i := range run.Layers {
		add("service "+run.Layers[i].Name, run.Layers[i].Run, &run.Layers[i].Name)
	}
	return list
}

// under is a copy of the run whose name says inside which other one it is.
func (r innerRun) under(outer *record.Run) *record.Run {
	run := *r.run
	run.Strategy = outer.Strategy + ", " + r.name
	return &run
}
