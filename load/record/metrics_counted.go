package record

import (
	"maps"
	"slices"
)

// Counted returns the metrics of every [Family] that one of the runs, or a seed of one, counts something of, by name.
func Counted(runs ...*Run) []Metric {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range keyed(r) {
			names[name] = true
		}
		if r.Repeats != nil {
			for name := range r.Repeats.Figures {
				names[name] = true
			}
		}
	}
	var list []Metric
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if m, ok := MetricNamed(name); ok && m.family != nil {
			list = append(list, m)
		}
	}
	return list
}
