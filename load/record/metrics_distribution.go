package record

// distributionMetrics builds the metrics of every histogram: one row of the first table times one
// of the second.
func distributionMetrics() []Metric {
	histograms := []struct {
		name, meaning, absent string
		unit                  Unit
		of                    func(*Run) *Distribution
	}{
		{"latency", "an answered attempt, from when it was due", "no attempt was answered", UnitDuration, func(r *Run) *Distribution { return &r.Latency }},
		{"operation_latency", "a succeeded operation, its sleeps included", "no operation succeeded", UnitDuration, func(r *Run) *Distribution { return &r.OperationLatency }},
		{"delay", "a planned sleep before a retry", noDelays, UnitDuration, func(r *Run) *Distribution { return &r.Delay }},
		{"elapsed", "an ended operation, succeeded or not", "no operation ended", UnitDuration, func(r *Run) *Distribution { return &r.Elapsed }},
		{"lateness", "a send, behind the moment it was due", "nothing was sent", UnitDuration, func(r *Run) *Distribution { return &r.Lateness }},
		{"lateness_rest", "a send after the first bucket, behind the moment it was due", "nothing was sent after the first bucket", UnitDuration, func(r *Run) *Distribution { return &r.Generator.LatenessRest }},
		{"connection_wait", "an attempt's wait for a connection that had to be opened", "every attempt found its connection open", UnitDuration, func(r *Run) *Distribution { return &r.Generator.ConnectionWait }},
		{"attempt_at_success", "the try at which an operation succeeded; 1 is the first, and a try that a breaker or throttle did not let out counts", "no operation succeeded", UnitCount, func(r *Run) *Distribution { return &r.AttemptAtSuccess }},
	}
	var all []Metric
	for _, h := range histograms {
		for _, s := range statistics {
			m := Metric{Name: h.name + "_" + s.name, Unit: h.unit, Meaning: s.meaning + " of " + h.meaning, Absent: h.absent, Histogram: h.name}
			m.value = func(r *Run) *float64 { return s.of(h.of(r)) }
			if s.quantile < 1 { // the others are exact
				m.beyond = func(r *Run) bool { return h.of(r).Beyond(s.quantile) }
			}
			if s.name == "count" {
				m.Unit, m.Meaning, m.Absent = UnitCount, "how many there are of "+h.meaning, ""
			}
			if h.name == "latency" && s.name != "count" {
				m.Aliases = []string{s.name}
			}
			all = append(all, m)
		}
	}
	return tabled("Distributions", all...)
}

// statistics are what each histogram comes to.
var statistics = []struct {
	name, meaning string
	quantile      float64 // 1 for what is exact
	of            func(*Distribution) *float64
}{
	{"min", "smallest", 1, func(d *Distribution) *float64 { return whole(d.Min) }},
	{"p50", "median", 0.5, func(d *Distribution) *float64 { return whole(d.P50) }},
	{"p90", "90th percentile", 0.9, func(d *Distribution) *float64 { return whole(d.P90) }},
	{"p99", "99th percentile", 0.99, func(d *Distribution) *float64 { return whole(d.P99) }},
	{"p999", "99.9th percentile", 0.999, func(d *Distribution) *float64 { return whole(d.P999) }},
	{"max", "largest", 1, func(d *Distribution) *float64 { return whole(d.Max) }},
	{"mean", "mean", 1, func(d *Distribution) *float64 { return d.Mean }},
	{"count", "number", 1, func(d *Distribution) *float64 { return count(d.Count) }},
}
