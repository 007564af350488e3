package check

import "stormtest/load/record"

// A Metric is one figure of a run that a gate can bound, and a Unit says how its value is written in
// a gate.
type (
	Metric = record.Metric
	Unit   = record.Unit
)

// The units, as a gate writes them.
const (
	Count    = record.UnitCount    // a plain number, 0 or more
	Ratio    = record.UnitRatio    // a plain number, which may be negative
	Share    = record.UnitShare    // a plain number in 0..1; percent is refused
	Duration = record.UnitDuration // a number with a unit as time.ParseDuration reads it
	Rate     = record.UnitRate     // a number, and behind it /s, /m or /h
	Word     = record.UnitWord     // one of Metric.Words
)

// Metrics returns every metric of a run in the order of the documentation. The slice is the caller's.
func Metrics() []Metric { return record.Metrics() }

// All returns Metrics and those of the probe. The slice is the caller's.
func All() []Metric { return append(record.Metrics(), record.ProbeMetrics()...) }

// Lookup finds a metric by its name or an alias.
func Lookup(name string) (Metric, bool) { return record.MetricNamed(name) }

// Names lists every name and alias, in the order of the documentation; of a status there is no name.
func Names() []string {
	var names []string
	for _, m := range All() {
		names = append(append(names, m.Name), m.Aliases...)
	}
	for _, f := range record.Families() {
		names = append(names, f.Names()...)
	}
	return names
}
