// Package otlp sends metrics to an OpenTelemetry collector, as the standard environment variables ask for: none is
// sent unless OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT or OTEL_METRICS_EXPORTER=otlp is set.
//
// The metrics are those of report/metrics by the same names, so that one dashboard shows both. They are ready-made
// (cumulative counts, histograms and summaries of runs that record for themselves), and the SDK's instruments would aggregate them once
// more; so they come in by a metric.Producer, and the SDK's reader, resource and exporters do the rest.
package otlp
