package otlp

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The environment variables that are read here; the SDK's exporters read the others themselves.
const (
	envDisabled        = "OTEL_SDK_DISABLED"
	envExporter        = "OTEL_METRICS_EXPORTER"
	envEndpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envMetricsEndpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	envProtocol        = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envMetricsProtocol = "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"
	envTemporality     = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	envTimeout         = "OTEL_EXPORTER_OTLP_TIMEOUT"
	envMetricsTimeout  = "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT"
	envInterval        = "OTEL_METRIC_EXPORT_INTERVAL"
	envIntervalTimeout = "OTEL_METRIC_EXPORT_TIMEOUT"
	envAggregation     = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"
)

// The protocols.
const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// Settings are what the environment asks for.
type Settings struct {
	On       bool
	protocol string
	// Warnings say what is asked for and not done.
	Warnings []string
}

// Read reads an environment as os.Environ returns it. An empty variable is one that is not set, as the specification
// wants it.
func Read(environ []string) Settings {
	env := func(names ...string) (name, value string) {
		for _, name := range names {
			for _, pair := range slices.Backward(environ) {
				if n, v, _ := strings.Cut(pair, "="); n == name && strings.TrimSpace(v) != "" {
					return name, strings.TrimSpace(v)
				}
			}
		}
		return "", ""
	}
	var s Settings
	if _, v := env(envDisabled); strings.EqualFold(v, "true") {
		return s
	}
	exporter, wanted := env(envExporter)
	if s.On = wanted == ""; s.On {
		_, endpoint := env(envMetricsEndpoint, envEndpoint)
		s.On = endpoint != ""
	}
	for word := range strings.SplitSeq(wanted, ",") {
		switch word = strings.TrimSpace(word); word {
		case "otlp":
			s.On = true
		case "", "none":
		default:
			s.warn("%s: %q: want otlp or none (--listen-metrics is what Prometheus can scrape)", exporter, word)
		}
	}
	if !s.On {
		return s
	}
	switch name, protocol := env(envMetricsProtocol, envProtocol); protocol {
	case "", protocolHTTP:
		s.protocol = protocolHTTP
	case protocolGRPC:
		s.protocol = protocolGRPC
	default:
		s.On = false
		s.warn("%s: %q: want %s or %s; no metrics are sent", name, protocol, protocolHTTP, protocolGRPC)
		return s
	}
	if name, v := env(envMetricsEndpoint, envEndpoint); v != "" && !s.reaches(v) {
		s.On = false
		s.warn("%s: %s: want a URL, such as http://127.0.0.1:4318; no metrics are sent", name, shown(v))
		return s
	}
	for _, name := range []string{envTimeout, envMetricsTimeout, envInterval, envIntervalTimeout} {
		_, v := env(name)
		n, err := strconv.Atoi(v)
		positive := name == envInterval || name == envIntervalTimeout
		if v != "" && (err != nil || positive && n <= 0) {
			s.warn("%s: %q: want a number of milliseconds, such as 5000; it is as if it were not set", name, v)
		}
	}
	if name, v := env(envTemporality); v != "" && !strings.EqualFold(v, "cumulative") {
		s.warn("%s: %q: the counts are cumulative all the same", name, v)
	}
	if name, v := env(envAggregation); v != "" && !strings.EqualFold(v, "explicit_bucket_histogram") {
		s.warn("%s: %q: the histograms have explicit buckets all the same", name, v)
	}
	return s
}

// reaches reports whether the exporter can make an address of an endpoint. Of what it cannot read it takes no notice, and
// sends to one that nobody named.
func (s *Settings) reaches(endpoint string) bool {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return false
	case s.protocol == protocolGRPC: // host:port, and other schemes, are its resolver's
		return true
	}
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// shown is an endpoint for people, without what may be a password.
func shown(endpoint string) string {
	if i := strings.LastIndexByte(endpoint, '@'); i >= 0 {
		endpoint = "..." + endpoint[i:]
	}
	return strconv.Quote(endpoint)
}

func (s *Settings) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}
