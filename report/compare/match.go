package compare

import (
	"slices"

	"stormtest/load/record"
)

// A side is a result of which some runs are compared, by the name it is shown by.
type side struct {
	name   string
	result *record.Result
	runs   []*record.Run
}

// A match2 is two runs to compare.
type match2 struct{ base, other *record.Run }

// A matched is one result, or one strategy, and its runs beside those of the base.
type matched struct {
	side
	pairs               []match2
	onlyBase, onlyOther []string
	strategyChanged     bool // the one strategy of each has another name
}

// matches is everything that is compared.
type matches struct {
	base   side
	others []matched
}

// match finds what to compare with what, and refuses what cannot be compared.
func match(inputs []Input, o Options) (matches, error) {
	var faults Refusal
	if len(inputs) == 0 {
		faults.add("nothing to compare: want a result, or several")
	}
	if n := len(inputs); n > ResultsMost {
		faults.add("%d results: want at most %d", n, ResultsMost)
	}
	for _, in := range inputs {
		refuseAlone(in, &faults)
	}
	if o.Against != "" && len(inputs) > 1 {
		faults.add("against %s: this is for the strategies of one result; of several results those of one name are compared", o.Against)
	}
	if faults.Problems != nil {
		return matches{}, &faults
	}
	var m matches
	if len(inputs) == 1 {
		m = matchInside(inputs[0], o.Against, &faults)
	} else {
		m = matchResults(inputs, &faults)
	}
	if faults.Problems != nil {
		return matches{}, &faults
	}
	return m, nil
}

// matchInside holds the strategies of a result against one of them.
func matchInside(in Input, against string, faults *Refusal) matches {
	runs := in.Result.Runs
	names := strategies(runsOf(in.Result))
	if len(runs) == 1 {
		faults.add("%s has one strategy, %s: want another result to compare it with", in.Name, names[0])
		return matches{}
	}
	at := 0
	if against != "" {
		if at = slices.Index(names, against); at < 0 {
			faults.add("%s has no strategy %q, but %s", in.Name, against, list(names))
			return matches{}
		}
	}
	one := func(i int) side { return side{names[i], in.Result, []*record.Run{&runs[i]}} }
	m := matches{base: one(at)}
	for i := range runs {
		if i != at {
			m.others = append(m.others, matched{side: one(i), pairs: []match2{{&runs[at], &runs[i]}}, strategyChanged: true})
		}
	}
	return m
}

// matchResults holds every other result against the first.
func matchResults(inputs []Input, faults *Refusal) matches {
	m := matches{base: side{inputs[0].Name, inputs[0].Result, runsOf(inputs[0].Result)}}
	for _, in := range inputs[1:] {
		one := matched{side: side{in.Name, in.Result, runsOf(in.Result)}}
		one.pair(m.base)
		if len(one.pairs) == 0 {
			faults.add("%s and %s have no strategy in common: %s in the one, %s in the other; where each has one, these are compared",
				m.base.name, one.name, list(strategies(m.base.runs)), list(strategies(one.runs)))
			continue
		}
		for _, p := range one.pairs {
			refusePair(m.base.name, one.name, p, faults)
		}
		m.others = append(m.others, one)
	}
	return m
}

// pair finds the runs that are compared.
func (m *matched) pair(base side) {
	if len(base.runs) == 1 && len(m.runs) == 1 {
		m.pairs = []match2{{base.runs[0], m.runs[0]}}
		m.strategyChanged = base.runs[0].Strategy != m.runs[0].Strategy
		return
	}
	names := strategies(base.runs)
	for _, run := range m.runs {
		if i := slices.Index(names, run.Strategy); i >= 0 {
			m.pairs = append(m.pairs, match2{base.runs[i], run})
		} else {
			m.onlyOther = append(m.onlyOther, run.Strategy)
		}
	}
	for _, name := range names {
		if !slices.Contains(strategies(m.runs), name) {
			m.onlyBase = append(m.onlyBase, name)
		}
	}
}

func runsOf(r *record.Result) []*record.Run {
	runs := make([]*record.Run, len(r.Runs))
	for i := range r.Runs {
		runs[i] = &r.Runs[i]
	}
	return runs
}

func strategies(runs []*record.Run) []string {
	names := make([]string, len(runs))
	for i, run := range runs {
		names[i] = run.Strategy
	}
	return names
}

// side is what a reader is told of it.
func (s side) side() Side {
	r := s.result
	out := Side{
		Name: s.name, Version: r.Tool.Version, Engine: s.runs[0].Engine, PlanHash: r.PlanHash, Seed: r.Seed, StartedAt: r.StartedAt,
		Valid: r.Valid, InvalidReasons: append([]string{}, r.InvalidReasons...), Interrupted: r.Interrupted, FromLog: s.runs[0].FromLog != nil,
		Strategies: strategies(s.runs), Seeds: 1, Plan: r.Plan,
	}
	for _, run := range s.runs {
		if rep := repeats(run); rep != nil {
			if rep.Count > out.Seeds || out.Seeds == 1 {
				out.Seeds, out.Each = rep.Count, rep.Each
			}
		}
	}
	return out
}

// repeats returns the seeds of a run where there are several; nil where it stands for one alone.
func repeats(run *record.Run) *record.Repeats {
	if run.Repeats == nil || run.Repeats.Count < 2 {
		return nil
	}
	return run.Repeats
}
