package otlp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"stormtest/report/metrics"
)

// A producer gives the SDK the families of now.
type producer struct {
	from  Source
	start time.Time // of all that counts
}

// Produce is metric.Producer.
func (p *producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	c := converter{start: p.start, now: time.Now()}
	scope := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: "stormtest", Version: p.from.Version}}
	for _, f := range p.from.Families() {
		scope.Metrics = append(scope.Metrics, metricdata.Metrics{Name: f.Name, Description: f.Help, Unit: unit(&f), Data: c.data(&f)})
	}
	return []metricdata.ScopeMetrics{scope}, nil
}

// unit is the unit by UCUM. It is told only where the name ends in it already: a receiver that makes Prometheus' names
// of these would add it to the guides' fixed ones, and "_ratio" to those that have none.
func unit(f *metrics.Family) string {
	if f.Unit() == "seconds" {
		return "s"
	}
	return ""
}

// A converter makes OpenTelemetry's data of one moment.
type converter struct{ start, now time.Time }

func (c converter) data(f *metrics.Family) metricdata.Aggregation {
	switch f.Kind {
	case metrics.Counter:
		sum := metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
		for i := range f.Samples {
			s := &f.Samples[i]
			sum.DataPoints = append(sum.DataPoints, metricdata.DataPoint[int64]{
				Attributes: attributes(f, s), StartTime: c.start, Time: c.now, Value: int64(s.Value),
			})
		}
		return sum
	case metrics.Histogram:
		h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
		for i := range f.Samples {
			h.DataPoints = append(h.DataPoints, c.histogram(f, &f.Samples[i]))
		}
		return h
	case metrics.Summary:
		var summary metricdata.Summary
		for i := range f.Samples {
			s := &f.Samples[i]
			point := metricdata.SummaryDataPoint{Attributes: attributes(f, s), StartTime: c.start, Time: c.now, Count: s.Count, Sum: s.Sum}
			for _, q := range s.Quantiles {
				point.QuantileValues = append(point.QuantileValues, metricdata.QuantileValue{Quantile: q.At, Value: q.Value})
			}
			summary.DataPoints = append(summary.DataPoints, point)
		}
		return summary
	}
	var gauge metricdata.Gauge[float64]
	for i := range f.Samples {
		s := &f.Samples[i]
		gauge.DataPoints = append(gauge.DataPoints, metricdata.DataPoint[float64]{Attributes: attributes(f, s), Time: c.now, Value: s.Value})
	}
	return gauge
}

// histogram returns a sample with the counts of each bucket alone.
func (c converter) histogram(f *metrics.Family, s *metrics.Sample) metricdata.HistogramDataPoint[float64] {
	point := metricdata.HistogramDataPoint[float64]{Attributes: attributes(f, s), StartTime: c.start, Time: c.now, Count: s.Count, Sum: s.Sum}
	var below uint64
	for _, b := range s.Buckets {
		point.Bounds = append(point.Bounds, b.UpTo)
		point.BucketCounts = append(point.BucketCounts, b.Count-below)
		below = b.Count
	}
	point.BucketCounts = append(point.BucketCounts, s.Count-below)
	return point
}

func attributes(f *metrics.Family, s *metrics.Sample) attribute.Set {
	list := make([]attribute.KeyValue, len(f.Labels))
	for i, name := range f.Labels {
		list[i] = attribute.String(name, s.Labels[i])
	}
	return attribute.NewSet(list...)
}
