package record

import (
	"math"
	"slices"
	"time"
)

// A Unit says what the figure of a Metric is.
type Unit string

// The units.
const (
	UnitCount    Unit = "count"    // a plain number, 0 or more
	UnitRatio    Unit = "ratio"    // a plain number, which may be negative
	UnitShare    Unit = "share"    // a plain number in 0..1
	UnitDuration Unit = "duration" // a length of time in ns
	UnitRate     Unit = "rate"     // a number per second, 0 or more
	UnitWord     Unit = "word"     // the place of a word in Metric.Words, from 0
)

// A Metric is one figure of a run by its flat name: what a gate can bound, and what is
// compared between seeds.
type Metric struct {
	Name    string
	Aliases []string
	Group   string // the title under which it is listed
	Unit    Unit
	Words   []string // of UnitWord, from bad to good; nil for every other
	Meaning string
	// Absent says in words when a run that did something has no such figure; empty where it always has.
	Absent string
	// Histogram is the name of the Distribution that the figure is a statistic of; empty where it is of none.
	Histogram string
	// AtTarget says that the target knows the figure without its clients, so that it has a value where these are
	// not ours.
	AtTarget bool
	// InLog says that a histogram log of the arrivals is enough to know the figure.
	InLog bool
	// OnlyServe says that it has a value where the clients are not ours alone.
	OnlyServe bool

	value func(*Run) *float64 // nil of a metric of the probe
	probe func(*Probe) *float64
	// beyond reports whether the figure is beyond its histogram, so that the value is too low; nil
	// where that cannot be.
	beyond func(*Run) bool
	// why is Absent with the figures of the run; nil where there is no more to say.
	why func(*Run) string
	// family is that of a keyed metric, nil for every other.
	family *Family
	key    string
}

// Value returns the figure in its unit (durations in ns), or nil where the run has none. A
// figure that is NaN or infinite is no figure, nor is one that is only known to be beyond its histogram. Nothing was
// measured in a run that started no operation, so there only operations_started has a value: a gate on nothing must not
// pass. A run from a log
// has those of its arrivals alone. Where the clients were not ours, arrivals stand for operations, and what the target
// does not know has no value.
func (m Metric) Value(r *Run) *float64 {
	if m.closed(r) != "" {
		return nil
	}
	if m.beyond != nil && m.beyond(r) {
		return nil
	}
	return known(m.value(r))
}

// known is v, nil where it is NaN or infinite.
func known(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// closed says why a run has no figures of the kind, whatever its fields hold; empty where it has.
func (m Metric) closed(r *Run) string {
	switch {
	case m.probe != nil:
		return "it is of the target before the storm, not of a run"
	case r.FromLog != nil && !m.InLog:
		return "a log of arrivals does not hold it"
	case r.FromLog != nil && r.Books.Arrivals == 0 && m.Name != "arrivals":
		return nothingArrived
	case r.FromLog != nil:
		return ""
	case r.Outside != nil && !m.AtTarget:
		return "only the clients know it, and they were not ours"
	case r.Outside != nil && r.Books.Arrivals == 0 && m.Name != "arrivals":
		return "nothing arrived"
	case r.Outside == nil && r.Operations.Started == 0 && m.Name != "operations_started":
		return "no operation was started"
	}
	return ""
}

// Why says in words why Value is nil of this run.
func (m Metric) Why(r *Run) string {
	switch why := m.closed(r); {
	case why != "":
		return why
	case m.beyond != nil && m.beyond(r):
		return "it is beyond the histogram, which ends at " + m.highest() + "; " + m.Histogram + "_max is exact"
	case m.why != nil:
		return m.why(r)
	case m.Absent != "":
		return m.Absent
	}
	return "the result does not hold it"
}

// WhySeed says in words when a seed may have no value, of whose run no more is known.
func (m Metric) WhySeed() string {
	switch why := m.Absent; {
	case m.beyond != nil:
		return why + ", or it is beyond the histogram, which ends at " + m.highest()
	case why != "":
		return why
	}
	return "no operation was started"
}

// highest is the end of the metric's histogram in words.
func (m Metric) highest() string {
	if m.Unit == UnitDuration {
		return time.Duration(tallyHighest).Round(time.Second).String()
	}
	return "10000000"
}

// metrics is the table of all metrics of a run but the keyed ones.
var metrics = slices.Concat(operationMetrics, attemptMetrics, targetMetrics, synchronyMetrics, recoveryMetrics, phaseMetrics, policyMetrics,
	breakerMetrics, hedgingMetrics, effectMetrics, machineMetrics, distributionMetrics(), outsideMetrics)

// Metrics returns every metric of a run in the order of the documentation, but for those of a [Family]. The slice is the
// caller's.
func Metrics() []Metric { return slices.Clone(metrics) }

// MetricNamed finds a metric by its name or an alias, those of families and of the probe too.
func MetricNamed(name string) (Metric, bool) {
	for _, table := range [][]Metric{metrics, probeMetrics} {
		for _, m := range table {
			if m.Name == name || slices.Contains(m.Aliases, name) {
				return m, true
			}
		}
	}
	for i := range families {
		if m, ok := families[i].named(name); ok {
			return m, true
		}
	}
	return Metric{}, false
}

// tabled gives each row of a table its group.
func tabled(group string, rows ...Metric) []Metric {
	for i := range rows {
		rows[i].Group = group
	}
	return rows
}

func count(n int64) *float64 {
	v := float64(n)
	return &v
}

func whole(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return count(*n)
}

func length(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return count(int64(*d))
}

func share(part, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	v := float64(part) / float64(all)
	return &v
}

// ratio is nil where one of the two is, or the lower is 0.
func ratio(upper, lower *float64) *float64 {
	if upper == nil || lower == nil || *lower == 0 {
		return nil
	}
	v := *upper / *lower
	return &v
}

// yesNo are the words of what is either good or bad: "bad" is the first of them.
func yesNo(bad, good string) []string { return []string{bad, good} }

// wordAt returns the place of the word, nil where it is none of them.
func wordAt(words []string, word string) *float64 {
	if i := slices.Index(words, word); i >= 0 {
		return count(int64(i))
	}
	return nil
}
