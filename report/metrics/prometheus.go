package metrics

import (
	"bytes"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"stormtest/load/record"
)

// A collector gives Prometheus' library the families of now.
type collector func() []Family

// Describe says nothing: which families there are is known only when they are looked at.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect is prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, f := range c() {
		desc := prometheus.V2.NewDesc(f.Name, f.Help, prometheus.UnconstrainedLabels(f.Labels), nil, units(f.Unit())...)
		for i := range f.Samples {
			m, err := constant(desc, f.Kind, &f.Samples[i])
			if err != nil {
				m = prometheus.NewInvalidMetric(desc, err)
			}
			out <- m
		}
	}
}

// units are the options of a family with that unit.
func units(unit string) []prometheus.DescOpt {
	if unit == "" {
		return nil
	}
	return []prometheus.DescOpt{prometheus.WithUnit(unit)}
}

// constant returns a sample as the library knows it.
func constant(desc *prometheus.Desc, kind Kind, s *Sample) (prometheus.Metric, error) {
	switch kind {
	case Histogram:
		buckets := make(map[float64]uint64, len(s.Buckets))
		for _, b := range s.Buckets {
			buckets[b.UpTo] = b.Count
		}
		return prometheus.NewConstHistogram(desc, s.Count, s.Sum, buckets, s.Labels...)
	case Summary:
		quantiles := make(map[float64]float64, len(s.Quantiles))
		for _, q := range s.Quantiles {
			quantiles[q.At] = q.Value
		}
		return prometheus.NewConstSummary(desc, s.Count, s.Sum, quantiles, s.Labels...)
	case Counter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, s.Value, s.Labels...)
	}
	return prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.Value, s.Labels...)
}

// registry returns a registry of its own for what now returns.
func registry(now func() []Family) *prometheus.Registry {
	r := prometheus.NewPedanticRegistry() // which checks what it gathers
	r.MustRegister(collector(now))
	return r
}

// Text writes every metric of a result in Prometheus' text format.
func Text(w io.Writer, r *record.Result) error {
	return write(w, r, expfmt.NewFormat(expfmt.TypeTextPlain))
}

// OpenMetrics writes every metric of a result as OpenMetrics text, version 1.0.0.
func OpenMetrics(w io.Writer, r *record.Result) error {
	return write(w, r, expfmt.NewFormat(expfmt.TypeOpenMetrics))
}

func write(w io.Writer, r *record.Result, format expfmt.Format) error {
	families, err := registry(func() []Family { return Of(r) }).Gather()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return err
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	_, err = w.Write(text.Bytes())
	return err
}
