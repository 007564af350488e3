package record

// notProbed is why a figure of the probe is absent.
const notProbed = "the target was not probed"

// probeMetrics are of the healthy target before the storm: one figure for all runs and seeds.
var probeMetrics = tabled("Probe: what the healthy target could do before the storm", append([]Metric{
	{Name: "probe_capacity", Unit: UnitRate, Meaning: "most good answers that the target keeps up", Absent: notProbed + ", or something else ended the search for its capacity",
		probe: func(p *Probe) *float64 { return p.CapacityPerSecond }},
	{Name: "probe_best", Unit: UnitRate, Meaning: "most good answers of any step, which its capacity is at least", Absent: notProbed + ", or no answer was good",
		probe: (*Probe).Best},
	{Name: "probe_requests", Unit: UnitCount, Meaning: "requests that the probe sent", Absent: notProbed,
		probe: func(p *Probe) *float64 { return count(p.Requests) }},
	{Name: "probe_errors", Unit: UnitCount, Meaning: "of the probe's requests those without an answer, whatever the error", Absent: notProbed + ", or nothing was sent",
		probe: probeErrors},
	{Name: "probe_connections", Unit: UnitCount, Meaning: "connections that the probe opened", Absent: notProbed,
		probe: func(p *Probe) *float64 { return count(p.Connections) }},
	{Name: "probe_duration", Unit: UnitDuration, Meaning: "how long the probe took", Absent: notProbed,
		probe: func(p *Probe) *float64 { return count(p.Duration) }},
}, probeLatencies()...)...)

func probeErrors(p *Probe) *float64 {
	if p.Requests == 0 {
		return nil
	}
	return count(sumOf(p.Errors))
}

func probeLatencies() []Metric {
	var list []Metric
	for _, s := range statistics {
		m := Metric{Name: "probe_latency_" + s.name, Unit: UnitDuration, Meaning: s.meaning + " of a good answer below the limit", Absent: notProbed + ", or no answer was good", Histogram: "probe_latency"}
		m.probe = func(p *Probe) *float64 {
			if p.Latency.Beyond(s.quantile) {
				return nil
			}
			return s.of(&p.Latency)
		}
		if s.name == "count" {
			m.Unit, m.Meaning, m.Absent = UnitCount, "how many there are of a good answer below the limit", notProbed
		}
		list = append(list, m)
	}
	return list
}

// ProbeMetrics returns the metrics of a result's Probe, in the order of the documentation: not of its runs, in which none of
// them has a value. The slice is the caller's.
func ProbeMetrics() []Metric { return append([]Metric{}, probeMetrics...) }

// OfProbe says that the metric is of the result's Probe and not of a run.
func (m Metric) OfProbe() bool { return m.probe != nil }

// ProbeValue is Value of a probe, which may be nil.
func (m Metric) ProbeValue(p *Probe) *float64 {
	if p == nil || m.probe == nil {
		return nil
	}
	return known(m.probe(p))
}
