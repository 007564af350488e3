package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"stormtest/load/record"
	"stormtest/report/literal"
)

// A global is one family that belongs to no run.
type global struct {
	name   string
	labels []string
	help   string
	of     func(r *record.Result, over bool) []point
}

// globals are these families. What is known only when all is over has no sample before.
var globals = []global{
	{"stormtest_build_info", []string{"version"}, "1, with the version that measured as a label.", func(r *record.Result, _ bool) []point {
		return []point{labelled(literal.Text(r.Tool.Version), 1)}
	}},
	{"stormtest_plan_info", []string{"plan_hash", "seed"}, "1, with what repeats the run as labels.", func(r *record.Result, _ bool) []point {
		return []point{{labels: []string{literal.Text(r.PlanHash), strconv.FormatUint(r.Seed, 10)}, sample: Sample{Value: 1}}}
	}},
	{"stormtest_label_info", []string{"label"}, "1, with the label that the run was given; absent without one.", func(r *record.Result, _ bool) []point {
		if text := literal.Text(labelOf(r)); text != "" {
			return []point{labelled(text, 1)}
		}
		return nil
	}},
	{"stormtest_start_timestamp_seconds", nil, "When the first run began, in Unix time.", func(r *record.Result, _ bool) []point {
		if r.StartedAt.IsZero() {
			return nil
		}
		return one(float64(r.StartedAt.UnixMilli()) / 1e3)
	}},
	{"stormtest_valid", nil, "1 where the load generator kept up in every run, 0 where the figures are this machine's and not the target's.", func(r *record.Result, over bool) []point {
		return when(over, func() []point { return yes(r.Valid) })
	}},
	{"stormtest_interrupted", nil, "1 where the runs were cut before their end.", func(r *record.Result, over bool) []point {
		return when(over, func() []point { return yes(r.Interrupted) })
	}},
	{"stormtest_gate_passed", []string{"gate"}, "1 for a gate that passed, 0 for one that did not.", gates},
}

// labelOf is the label of a result's plan; empty for none.
func labelOf(r *record.Result) string {
	var plan struct {
		Label string `json:"label"`
	}
	if json.Unmarshal(r.Plan, &plan) != nil || plan.Label == "none" {
		return ""
	}
	return plan.Label
}

// gates returns what came of each gate. One that stands twice passed where it did each time.
func gates(r *record.Result, over bool) []point {
	if !over {
		return nil
	}
	var list []point
	for _, g := range r.Gates {
		p := labelled(literal.Text(g.Gate), yes(g.OK)[0].sample.Value)
		if i := slices.IndexFunc(list, func(q point) bool { return q.labels[0] == p.labels[0] }); i >= 0 {
			list[i].sample.Value = min(list[i].sample.Value, p.sample.Value)
			continue
		}
		list = append(list, p)
	}
	return list
}

// Of returns every metric of a result. Runs of one strategy, which no invocation has two of, are told apart by a
// number behind its name.
func Of(r *record.Result) []Family {
	all := blank()
	names := namer{used: map[string]bool{}, last: map[string]int{}}
	for i := range r.Runs {
		join(all, ofRun(&r.Runs[i], names.distinct(r.Runs[i].Strategy)))
	}
	return filled(append(all, ofResult(r, true)...))
}

// A namer gives names that differ.
type namer struct {
	used map[string]bool
	last map[string]int // the last number behind a name: those below it are used
}

// distinct returns a strategy's name as a label that is none of the others.
func (m *namer) distinct(strategy string) string {
	plain := cmp.Or(literal.Text(strategy), "unnamed")
	name := plain
	for n := max(1, m.last[plain]); m.used[name]; name = fmt.Sprintf("%s (%d)", plain, n) {
		n++
		m.last[plain] = n
	}
	m.used[name] = true
	return name
}

// ofResult returns the families that belong to no run.
func ofResult(r *record.Result, over bool) []Family {
	var list []Family
	for _, g := range globals {
		f := Family{Name: g.name, Kind: Gauge, Help: g.help, Labels: g.labels}
		for _, p := range g.of(r, over) {
			p.sample.Labels = p.labels
			f.Samples = append(f.Samples, p.sample)
		}
		list = append(list, f)
	}
	return list
}

// blank returns the families of the table without a sample.
func blank() []Family {
	list := make([]Family, len(table))
	for i, r := range table {
		list[i] = Family{Name: r.name, Kind: r.kind, Help: r.help, Labels: append([]string{StrategyLabel}, r.labels...)}
	}
	return list
}

// ofRun returns the families of the table with the samples of one run.
func ofRun(run *record.Run, strategy string) []Family {
	list := blank()
	for i, r := range table {
		for _, p := range r.of(reading{run}) {
			if r.kind == Counter && p.sample.Value < 0 { // a count that nobody counted
				continue
			}
			p.sample.Labels = append([]string{strategy}, p.labels...)
			list[i].Samples = append(list[i].Samples, p.sample)
		}
	}
	return list
}

// join adds the samples of more, which are of other runs, to all.
func join(all, more []Family) {
	for i := range all {
		all[i].Samples = append(all[i].Samples, more[i].Samples...)
	}
}

// filled leaves out what has no sample.
func filled(list []Family) []Family {
	return slices.DeleteFunc(list, func(f Family) bool { return len(f.Samples) == 0 })
}

// Names returns the name of every family, in the order of their documentation.
func Names() []string {
	var list []string
	for _, r := range table {
		list = append(list, r.name)
	}
	for _, g := range globals {
		list = append(list, g.name)
	}
	return list
}
