package record

import (
	"math"
	"slices"
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
	Unit    Unit
	Words   []string // of UnitWord, from bad to good; nil for every other
	Meaning string

	value func(*Run) *float64
	// beyond reports whether the figure is beyond its histogram, so that the value is too low; nil
	// where that cannot be.
	beyond func(*Run) bool
}

// Value returns the figure in its unit (durations in ns), or nil where the run has none. A
// figure that is NaN or infinite is no figure. Nothing was measured in a run that started no
// operation, so there only operations_started has a value: a gate on nothing must not pass. A run from
// a log has none. Where the clients were not ours, arrivals stand for operations, and what the target
// does not know has no value.
func (m Metric) Value(r *Run) *float64 {
	switch {
	case r.FromLog != nil:
		return nil
	case r.Outside != nil && (!m.AtTarget() || r.Books.Arrivals == 0 && m.Name != "arrivals"):
		return nil
	case r.Outside == nil && r.Operations.Started == 0 && m.Name != "operations_started":
		return nil
	}
	v := m.value(r)
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// atTarget are the metrics that the target knows without its clients.
var atTarget = []string{
	"arrivals", "convoy_index", "retry_synchronisation_index", "peak_over_capacity", "peak_over_mean",
	"waves", "dispersion", "periodicity", "wasted_share",
}

// AtTarget reports whether the target knows the figure without its clients, so that it has a
// value where these are not ours.
func (m Metric) AtTarget() bool { return slices.Contains(atTarget, m.Name) }

// Metrics returns every metric in the order of the documentation. The slice is the caller's.
func Metrics() []Metric {
	return slices.Concat(figures(), distributions())
}

// MetricNamed finds a metric by its name or an alias.
func MetricNamed(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name || slices.Contains(m.Aliases, name) {
			return m, true
		}
	}
	return Metric{}, false
}

func figures() []Metric {
	rows := []struct {
		name    string
		aliases []string
		unit    Unit
		meaning string
		value   func(*Run) *float64
	}{
		{"success_share", []string{"success_rate"}, UnitShare, "operations that succeeded, of those started", successShare},
		{"operations_started", nil, UnitCount, "operations that began", func(r *Run) *float64 { return count(r.Operations.Started) }},
		{"operations_succeeded", nil, UnitCount, "operations that ended in a success", func(r *Run) *float64 { return count(r.Operations.Succeeded) }},
		{"operations_gave_up", nil, UnitCount, "operations that ended without one, whatever the reason", gaveUp},
		{"operations_unfinished", nil, UnitCount, "operations still waiting when the run ended", func(r *Run) *float64 { return count(r.Operations.Unfinished) }},
		{"attempts_sent", nil, UnitCount, "requests sent, first attempts and retries", func(r *Run) *float64 { return count(r.Attempts.Sent) }},
		{"arrivals", nil, UnitCount, "attempts that reached the target", func(r *Run) *float64 { return count(r.Books.Arrivals) }},
		{"amplification", nil, UnitRatio, "attempts sent for each operation started", func(r *Run) *float64 { return r.Amplification }},
		{"completion", nil, UnitDuration, "moment of the last success; no data unless every operation succeeded", func(r *Run) *float64 { return whole(r.Completion) }},
		{"convoy_index", nil, UnitRatio, "synchrony of the retries: 0 is Poisson, 1 is perfect clumps", func(r *Run) *float64 { return r.Convoy.ConvoyIndex }},
		{"retry_synchronisation_index", []string{"sync_index"}, UnitRatio, "synchrony inside a bucket by variance: 0 is uniform, 1 is one moment", func(r *Run) *float64 { return r.Convoy.RSI }},
		{"peak_over_capacity", nil, UnitRatio, "fullest bucket over what the target can serve in a bucket", func(r *Run) *float64 { return r.Convoy.PeakOverCapacity }},
		{"peak_over_mean", nil, UnitRatio, "fullest bucket over the mean bucket", func(r *Run) *float64 { return r.Convoy.PeakOverMean }},
		{"waves", nil, UnitCount, "runs of buckets above capacity; no data where the capacity is unknown", waves},
		{"dispersion", nil, UnitRatio, "variance over mean of the retries in a bucket: 1 is Poisson", func(r *Run) *float64 { return r.Convoy.Dispersion }},
		{"periodicity", nil, UnitRatio, "autocorrelation of the buckets at the lag of the cap, -1..1", func(r *Run) *float64 { return r.Convoy.Periodicity }},
		{"wasted_share", nil, UnitShare, "finished work whose answer reached nobody, of all finished work", wastedShare},
		{"start_spread", nil, UnitDuration, "p99 - p1 of the first wave's arrivals; no data with a ramp or a rate", func(r *Run) *float64 { return whole(r.Generator.StartSpread) }},
	}
	list := make([]Metric, len(rows))
	for i, r := range rows {
		list[i] = Metric{Name: r.name, Aliases: r.aliases, Unit: r.unit, Meaning: r.meaning, value: r.value}
	}
	return list
}

// distributions builds the metrics of every histogram: one row of the first table times one
// of the second.
func distributions() []Metric {
	histograms := []struct {
		name, meaning string
		unit          Unit
		of            func(*Run) *Distribution
	}{
		{"latency", "an answered attempt, from when it was due", UnitDuration, func(r *Run) *Distribution { return &r.Latency }},
		{"operation_latency", "a succeeded operation, its sleeps included", UnitDuration, func(r *Run) *Distribution { return &r.OperationLatency }},
		{"delay", "a planned sleep before a retry", UnitDuration, func(r *Run) *Distribution { return &r.Delay }},
		{"elapsed", "an ended operation, succeeded or not", UnitDuration, func(r *Run) *Distribution { return &r.Elapsed }},
		{"lateness", "a send, behind the moment it was due", UnitDuration, func(r *Run) *Distribution { return &r.Lateness }},
		{"attempt_at_success", "the attempt that succeeded; 1 is the first", UnitCount, func(r *Run) *Distribution { return &r.AttemptAtSuccess }},
	}
	statistics := []struct {
		name, meaning string
		quantile      float64 // 1 for what is exact
		of            func(*Distribution) *float64
	}{
		{"p50", "median", 0.5, func(d *Distribution) *float64 { return whole(d.P50) }},
		{"p90", "90th percentile", 0.9, func(d *Distribution) *float64 { return whole(d.P90) }},
		{"p99", "99th percentile", 0.99, func(d *Distribution) *float64 { return whole(d.P99) }},
		{"p999", "99.9th percentile", 0.999, func(d *Distribution) *float64 { return whole(d.P999) }},
		{"max", "largest", 1, func(d *Distribution) *float64 { return whole(d.Max) }},
		{"mean", "mean", 1, func(d *Distribution) *float64 { return d.Mean }},
	}
	var all []Metric
	for _, h := range histograms {
		for _, s := range statistics {
			m := Metric{Name: h.name + "_" + s.name, Unit: h.unit, Meaning: s.meaning + " of " + h.meaning}
			m.value = func(r *Run) *float64 { return s.of(h.of(r)) }
			m.beyond = func(r *Run) bool { return h.of(r).Beyond(s.quantile) }
			if h.name == "latency" {
				m.Aliases = []string{s.name}
			}
			all = append(all, m)
		}
	}
	return all
}

func successShare(r *Run) *float64 {
	return share(r.Operations.Succeeded, r.Operations.Started)
}

func gaveUp(r *Run) *float64 {
	var sum int64
	for _, n := range r.Operations.GaveUp {
		sum += n
	}
	return count(sum)
}

// waves has no value where nothing arrived: calm needs traffic to be a finding.
func waves(r *Run) *float64 {
	if r.Books.Arrivals == 0 {
		return nil
	}
	return whole(r.Convoy.Waves)
}

// wastedShare has no value where the clients alone measured: they do not know what a target does.
func wastedShare(r *Run) *float64 {
	if r.ArrivalsMeasuredAt == "client" {
		return nil
	}
	var wasted, served int64
	for i := range r.Buckets {
		wasted += r.Buckets[i].Wasted
		served += r.Buckets[i].Served
	}
	return share(wasted, served)
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

func share(part, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	v := float64(part) / float64(all)
	return &v
}
