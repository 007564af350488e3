// Package metrics turns runs into metrics, as Prometheus and OpenTelemetry know them: for a file, for /metrics while a
// storm is going on, and for whoever pushes them elsewhere.
//
// There is one table of families (table.go). What is asked of a run that has ended and of one under way is the
// same, so the last scrape of a storm and its file agree.
//
// Names: the five that the retry guides fix (retry_delay_ms, retry_attempt_number, retry_total_elapsed_seconds,
// retry_synchronisation_index and the label backoff_strategy), convoy_index, peak_over_capacity and
// circuit_breaker_reopen_total stand as they are. All else begins with stormtest_ and follows
// Prometheus' conventions. Units are seconds, but where a fixed name says otherwise. A figure without a value has no
// sample, never NaN.
//
// A file is written in Prometheus' text format, version 0.0.4: promtool, node_exporter's textfile collector and the
// Pushgateway read that one, and OpenMetrics only as far as it is the same, so that counters become untyped. OpenMetrics is what /metrics gives to those who accept it, and what
// [OpenMetrics] writes; neither has _created lines, which older servers take for series.
package metrics
