package otlp_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	data "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"stormtest/report/metrics"
	"stormtest/report/otlp"
)

// families are one of each kind, as report/metrics gives them.
func families() []metrics.Family {
	labels := []string{metrics.StrategyLabel}
	return []metrics.Family{
		{Name: "convoy_index", Kind: metrics.Gauge, Help: "synchrony", Labels: labels, Samples: []metrics.Sample{
			{Labels: []string{"none"}, Value: 1}, {Labels: []string{"full"}, Value: 0.25},
		}},
		{Name: "stormtest_attempts_ended_total", Kind: metrics.Counter, Labels: append(labels, "outcome"), Samples: []metrics.Sample{
			{Labels: []string{"full", "503"}, Value: 7}, {Labels: []string{"full", "a\nb"}, Value: 9},
		}},
		{Name: "retry_delay_ms", Kind: metrics.Histogram, Labels: labels, Samples: []metrics.Sample{
			{Labels: []string{"full"}, Count: 10, Sum: 900, Buckets: []metrics.Bucket{{UpTo: 10, Count: 2}, {UpTo: 100, Count: 9}}},
		}},
		{Name: "stormtest_lateness_quantiles_seconds", Kind: metrics.Summary, Labels: labels, Samples: []metrics.Sample{
			{Labels: []string{"full"}, Count: 10, Sum: 0.5, Quantiles: []metrics.Quantile{{At: 0.5, Value: 0.05}, {At: 1, Value: 0.1}}},
		}},
	}
}

// A receiver is what a collector was sent.
type receiver struct {
	collector.UnimplementedMetricsServiceServer
	mu       sync.Mutex
	requests []*collector.ExportMetricsServiceRequest
	headers  []string
	answer   *collector.ExportMetricsServiceResponse
}

// ServeHTTP takes OTLP over HTTP.
func (x *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	b, err := io.ReadAll(body)
	var request collector.ExportMetricsServiceRequest
	if err != nil || proto.Unmarshal(b, &request) != nil || r.URL.Path != "/v1/metrics" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "no OTLP", http.StatusBadRequest)
		return
	}
	x.take(&request, r.Header.Get("X-Token"))
	answer, _ := proto.Marshal(x.answer)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

// Export takes OTLP over gRPC.
func (x *receiver) Export(ctx context.Context, request *collector.ExportMetricsServiceRequest) (*collector.ExportMetricsServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	x.take(request, strings.Join(md.Get("x-token"), ","))
	return &collector.ExportMetricsServiceResponse{}, nil
}

func (x *receiver) take(request *collector.ExportMetricsServiceRequest, token string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.requests = append(x.requests, request)
	x.headers = append(x.headers, token)
}

// environment sets variables for the SDK and returns them for Read.
func environment(t *testing.T, pairs ...string) []string {
	t.Helper()
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	return pairs
}

// send starts a sender and closes it.
func send(t *testing.T, environ []string) []string {
	t.Helper()
	s := otlp.Read(environ)
	sender, err := otlp.Start(t.Context(), s, otlp.Source{Families: families, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return append(s.Warnings, sender.Close(t.Context())...)
}

// TestWhatIsSent: over either protocol a collector gets every kind of family whole, with the resource that the
// environment names.
func TestWhatIsSent(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			var got receiver
			environ := environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+serve(t, protocol, &got), "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
				"OTEL_EXPORTER_OTLP_HEADERS=x-token=secret", "OTEL_SERVICE_NAME=storms", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment=ci", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip")
			if warnings := send(t, environ); len(warnings) > 0 {
				t.Errorf("warnings: %q", warnings)
			}
			if len(got.requests) != 1 || got.headers[0] != "secret" {
				t.Fatalf("%d requests, headers %q", len(got.requests), got.headers)
			}
			sent := got.requests[0].GetResourceMetrics()[0]
			resource := pairs(sent.GetResource().GetAttributes())
			for _, want := range []string{"service.name=storms", "service.version=1.2.3", "deployment.environment=ci", "telemetry.sdk.name=opentelemetry"} {
				if !slices.Contains(resource, want) {
					t.Errorf("the resource %q has no %s", resource, want)
				}
			}
			check(t, sent.GetScopeMetrics()[0].GetMetrics())
		})
	}
}

// serve starts a collector on loopback and returns its URL.
func serve(t *testing.T, protocol string, r *receiver) string {
	t.Helper()
	if protocol != "grpc" {
		s := httptest.NewServer(r)
		t.Cleanup(s.Close)
		return s.URL
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	collector.RegisterMetricsServiceServer(s, r)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(ln) })
	t.Cleanup(func() { s.Stop(); wg.Wait() })
	return "http://" + ln.Addr().String()
}

func pairs(list []*common.KeyValue) []string {
	var all []string
	for _, kv := range list {
		all = append(all, kv.GetKey()+"="+kv.GetValue().GetStringValue())
	}
	return all
}

// check compares what arrived with families.
func check(t *testing.T, got []*data.Metric) {
	t.Helper()
	if len(got) != 4 {
		t.Fatalf("%d metrics: %v", len(got), got)
	}
	gauge := got[0]
	if points := gauge.GetGauge().GetDataPoints(); gauge.GetName() != "convoy_index" || gauge.GetDescription() != "synchrony" || gauge.GetUnit() != "" || len(points) != 2 ||
		points[1].GetAsDouble() != 0.25 || !slices.Equal(pairs(points[1].GetAttributes()), []string{"backoff_strategy=full"}) {
		t.Errorf("gauge %v", gauge)
	}
	sum := got[1].GetSum()
	if points := sum.GetDataPoints(); !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != data.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
		points[1].GetAsInt() != 9 || !slices.Contains(pairs(points[1].GetAttributes()), "outcome=a\nb") || points[0].GetStartTimeUnixNano() == 0 || points[0].GetStartTimeUnixNano() > points[0].GetTimeUnixNano() {
		t.Errorf("counter %v", got[1])
	}
	if h := got[2].GetHistogram().GetDataPoints()[0]; h.GetCount() != 10 || h.GetSum() != 900 || !slices.Equal(h.GetExplicitBounds(), []float64{10, 100}) ||
		!slices.Equal(h.GetBucketCounts(), []uint64{2, 7, 1}) {
		t.Errorf("histogram %v", got[2])
	}
	if s := got[3].GetSummary().GetDataPoints()[0]; got[3].GetUnit() != "s" || s.GetCount() != 10 || s.GetSum() != 0.5 || s.GetQuantileValues()[1].GetValue() != 0.1 {
		t.Errorf("summary %v", got[3])
	}
}

// TestEveryInterval: metrics are sent while the run goes on too.
func TestEveryInterval(t *testing.T) {
	var got receiver
	arrived := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.ServeHTTP(w, r)
		arrived <- struct{}{}
	}))
	defer server.Close()
	environ := environment(t, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+server.URL+"/v1/metrics", "OTEL_METRIC_EXPORT_INTERVAL=5")
	sender, err := otlp.Start(t.Context(), otlp.Read(environ), otlp.Source{Families: families})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-arrived
	}
	if warnings := sender.Close(t.Context()); len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
}

// TestACollectorThatIsAway costs a warning and no more time than is given.
func TestACollectorThatIsAway(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer refusing.Close()
	for _, tt := range []struct{ name, protocol, endpoint, want string }{
		{"nobody listens", "http/protobuf", "http://" + closed.Addr().String(), "1 of 1 exports of the metrics failed"},
		{"nobody answers", "http/protobuf", "http://" + silent.Addr().String(), "OTLP: "},
		{"nobody answers gRPC", "grpc", "http://" + silent.Addr().String(), "OTLP: "},
		{"it refuses", "http/protobuf", refusing.URL, "403"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			environ := environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+tt.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL="+tt.protocol)
			sender, err := otlp.Start(t.Context(), otlp.Read(environ), otlp.Source{Families: families})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			warnings := sender.Close(ctx)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], tt.want) {
				t.Errorf("warnings %q, want one with %q", warnings, tt.want)
			}
		})
	}
}

// TestPartOfItWasRefused: what a collector took in part is told.
func TestPartOfItWasRefused(t *testing.T) {
	got := receiver{answer: &collector.ExportMetricsServiceResponse{PartialSuccess: &collector.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "too many"}}}
	warnings := send(t, environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+serve(t, "http", &got)))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "too many") {
		t.Errorf("warnings %q", warnings)
	}
}

// TestSettings: nothing is sent unless the environment asks for it, and what it asks for in vain is told.
func TestSettings(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"
	for _, tt := range []struct {
		name    string
		environ []string
		on      bool
		warning string
	}{
		{"nothing", nil, false, ""},
		{"an endpoint", []string{endpoint}, true, ""},
		{"an endpoint for metrics", []string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:4318/v1/metrics"}, true, ""},
		{"an endpoint for traces alone", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:4318"}, false, ""},
		{"an empty endpoint", []string{"OTEL_EXPORTER_OTLP_ENDPOINT="}, false, ""},
		{"the exporter", []string{"OTEL_METRICS_EXPORTER=otlp"}, true, ""},
		{"no exporter", []string{endpoint, "OTEL_METRICS_EXPORTER=none"}, false, ""},
		{"disabled", []string{endpoint, "OTEL_SDK_DISABLED=TRUE"}, false, ""},
		{"not disabled", []string{endpoint, "OTEL_SDK_DISABLED=1"}, true, ""},
		{"another exporter", []string{endpoint, "OTEL_METRICS_EXPORTER=prometheus"}, false, "--listen-metrics"},
		{"two exporters", []string{"OTEL_METRICS_EXPORTER=console, otlp"}, true, `"console"`},
		{"gRPC", []string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, true, ""},
		{"the metrics' protocol counts", []string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=nonsense", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc"}, true, ""},
		{"JSON", []string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, false, "want http/protobuf or grpc"},
		{"deltas", []string{endpoint, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta"}, true, "cumulative"},
		{"exponential histograms", []string{endpoint, "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram"}, true, "explicit buckets"},
		{"no scheme", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:1"}, false, `OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:1": want a URL`},
		{"a host alone", []string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=localhost:4318"}, false, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"},
		{"no secret is told", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=user:secret@localhost:4318"}, false, `"...@localhost:4318"`},
		{"a host alone for gRPC", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, true, ""},
		{"an address alone for gRPC", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, false, "want a URL"},
		{"no length", []string{endpoint, "OTEL_METRIC_EXPORT_INTERVAL=abc"}, true, `OTEL_METRIC_EXPORT_INTERVAL: "abc": want a number of milliseconds`},
		{"the last counts", []string{"OTEL_METRICS_EXPORTER=otlp", "OTEL_METRICS_EXPORTER=none"}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := otlp.Read(tt.environ)
			if s.On != tt.on || (len(s.Warnings) > 0) != (tt.warning != "") || !strings.Contains(strings.Join(s.Warnings, "\n"), tt.warning) {
				t.Errorf("on %v, warnings %q; want %v, %q", s.On, s.Warnings, tt.on, tt.warning)
			}
		})
	}
	sender, err := otlp.Start(t.Context(), otlp.Settings{}, otlp.Source{})
	if err != nil || sender != nil || sender.Close(t.Context()) != nil {
		t.Errorf("a sender that is off: %v, %v", sender, err)
	}
}

// TestWhatTheSDKCannotRead is told once, without what it may hold of secrets, and is no reason not to run.
func TestWhatTheSDKCannotRead(t *testing.T) {
	var got receiver
	warnings := send(t, environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+serve(t, "http", &got), "OTEL_EXPORTER_OTLP_TIMEOUT=soon",
		"OTEL_EXPORTER_OTLP_HEADERS=token%ZZ=secret", "OTEL_RESOURCE_ATTRIBUTES=bare"))
	text := strings.Join(warnings, "\n")
	for _, want := range []string{`OTEL_EXPORTER_OTLP_TIMEOUT: "soon": want a number of milliseconds`, "missing value: [bare]"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q says %s %d times", text, want, strings.Count(text, want))
		}
	}
	if strings.Contains(text, "secret") || len(got.requests) != 1 {
		t.Errorf("%d requests; %s", len(got.requests), text)
	}
}
