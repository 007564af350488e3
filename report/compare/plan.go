package compare

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"stormtest/load/record"
)

// Fields of a plan by their flag.
const (
	fieldStrategy = "strategy"
	fieldPreset   = "preset"
	fieldFleet    = "fleet"
	fieldSeed     = "seed"
	fieldRepeat   = "repeat"
	fieldGate     = "gate"
	fieldLabel    = "label"
	fieldDuration = "duration"
	fieldRate     = "rate"
)

// notOfTheStorm are the fields that change nothing in what is measured of one seed. The strategies are compared
// by themselves.
var notOfTheStorm = []string{fieldSeed, fieldRepeat, fieldGate, fieldLabel, fieldStrategy}

// extents are the fields that say how much there is to do, by which every count grows. The duration is weighed by itself:
// see watchedOtherwise.
var extents = []string{"clients", "operations", "rate"}

// rated reports whether a plan asks for a rate, whose fields a reader knows.
func rated(r *record.Result) bool {
	fields, _ := planOf(r)
	rate, has := fields[fieldRate]
	return has && rate != "off"
}

// planChanges lists what the plans ask differently, the strategy first where it is what changed. known is false
// where one of the results holds no plan.
func planChanges(base side, m matched, fields []Field) (list []Change, known bool) {
	list = []Change{}
	a, aKnown := planOf(base.result)
	b, bKnown := planOf(m.result)
	var policies []Change
	if m.strategyChanged {
		policies = policyChanges(m, namedBy(a), namedBy(b))
	}
	list = append(list, policies...)
	if !aKnown || !bKnown {
		return list, false
	}
	for _, c := range diff(a, b, fields) {
		if !slices.ContainsFunc(policies, func(p Change) bool { return p.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list, true
}

// namedBy is the field that the runs of a plan have their names from: a preset or a fleet stands in place of a strategy.
func namedBy(plan map[string]string) string {
	for _, name := range []string{fieldFleet, fieldPreset} {
		if text := plan[name]; text != "" && text != listNone {
			return name
		}
	}
	return fieldStrategy
}

// policyChanges says by what flag a run has another name. Where the two have their names from different fields, what a
// side does not ask for is "".
func policyChanges(m matched, base, other string) []Change {
	x, y := m.pairs[0].base.Strategy, m.pairs[0].other.Strategy
	if base == other {
		return []Change{{Name: base, Base: x, Other: y}}
	}
	return []Change{{Name: base, Base: x}, {Name: other, Other: y}}
}

// diff lists the fields whose texts differ, in the order of fields. A field that one plan does not have is at its
// default there: the plan was saved before the field came.
func diff(a, b map[string]string, fields []Field) []Change {
	var list []Change
	add := func(name string, fallback *string) {
		x, xHas := a[name]
		y, yHas := b[name]
		if fallback != nil {
			if !xHas {
				x = *fallback
			}
			if !yHas {
				y = *fallback
			}
		}
		if x == y && (fallback != nil || xHas == yHas) || slices.Contains(notOfTheStorm, name) {
			return
		}
		at := func(text string) bool { return fallback != nil && text == *fallback }
		list = append(list, Change{Name: name, Base: x, Other: y, BaseDefault: at(x), OtherDefault: at(y)})
	}
	for _, f := range fields {
		add(f.Name, &f.Default)
	}
	var rest []string
	for _, plan := range []map[string]string{a, b} {
		for name := range plan {
			if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) && !slices.Contains(rest, name) {
				rest = append(rest, name)
			}
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(name, nil)
	}
	return list
}

// listNone is an empty list, as it stands for the default.
const listNone = "none"

// planOf returns the texts of a plan by field; groups of fields are read as if they were not grouped.
func planOf(r *record.Result) (fields map[string]string, known bool) {
	decoder := json.NewDecoder(bytes.NewReader(r.Plan))
	decoder.UseNumber()
	var top map[string]any
	if decoder.Decode(&top) != nil || top == nil {
		return nil, false
	}
	fields = map[string]string{}
	for name, value := range top {
		if group, ok := value.(map[string]any); ok {
			for inner, v := range group {
				fields[inner] = planText(v)
			}
			continue
		}
		fields[name] = planText(value)
	}
	return fields, true
}

// planText writes a value as a flag takes it.
func planText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		if len(v) == 0 {
			return listNone
		}
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = planText(v[i])
		}
		return strings.Join(texts, "; ")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// otherChanges lists what differs beside the plans: by what it was measured, and where.
func otherChanges(base side, m matched) []Change {
	list := []Change{}
	add := func(name, x, y string) {
		if x != y {
			list = append(list, Change{Name: name, Base: x, Other: y})
		}
	}
	a, b := m.pairs[0].base, m.pairs[0].other
	add("stormtest", base.result.Tool.Version, m.result.Tool.Version)
	add("engine", a.Engine, b.Engine)
	add("clients", owner(a), owner(b))
	if a.Engine == b.Engine {
		add("timer", a.Generator.TimerSource, b.Generator.TimerSource)
	}
	add("addresses", strings.Join(base.result.Addresses, ", "), strings.Join(m.result.Addresses, ", "))
	return list
}

func owner(run *record.Run) string {
	if run.Outside != nil {
		return "not those of stormtest"
	}
	return "those of stormtest"
}
