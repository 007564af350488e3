package otlp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"stormtest/report/metrics"
)

// A Source says what to send.
type Source struct {
	Families func() []metrics.Family // safe to call from any goroutine
	Version  string                  // the tool's
}

// A Sender sends metrics until it is closed. Nil sends none.
type Sender struct {
	provider *metric.MeterProvider
	watched  *watched
}

// Start begins to send every OTEL_METRIC_EXPORT_INTERVAL, which is 60 s unless set. The exporters read the process'
// environment, not s. An error says that nothing is sent; a collector that cannot be reached is none.
func Start(ctx context.Context, s Settings, from Source) (*Sender, error) {
	if !s.On {
		return nil, nil
	}
	w := &watched{}
	// What a collector took in part, and what the SDK cannot read in the environment, is told by no other way.
	otel.SetErrorHandler(w)
	otel.SetLogger(logr.New(sink{w}))
	var err error
	if w.Exporter, err = newExporter(ctx, s.protocol); err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "stormtest"), attribute.String("service.version", from.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		w.Handle(err)
	}
	reader := metric.NewPeriodicReader(w, metric.WithProducer(&producer{from: from, start: time.Now()}))
	return &Sender{provider: metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(described)), watched: w}, nil
}

func newExporter(ctx context.Context, protocol string) (metric.Exporter, error) {
	if protocol == protocolGRPC {
		return otlpmetricgrpc.New(ctx)
	}
	return otlpmetrichttp.New(ctx)
}

// Close sends the metrics a last time, unless ctx is done before, and says in words what was not sent.
func (s *Sender) Close(ctx context.Context) (warnings []string) {
	if s == nil {
		return nil
	}
	err := s.provider.Shutdown(ctx)
	warnings = s.watched.warnings()
	if err != nil && len(warnings) == 0 {
		warnings = append(warnings, fmt.Sprintf("OTLP: the metrics were not sent a last time: %v", err))
	}
	return warnings
}

// A watched exporter takes note of what fails, so that a collector that is away is told of once and not with every export.
type watched struct {
	metric.Exporter
	mu     sync.Mutex
	tries  int
	failed int
	last   error // of an export
	others []string
}

// othersMost bounds what else is told.
const othersMost = 3

// Export is metric.Exporter.
func (w *watched) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	err := w.Exporter.Export(ctx, m)
	if errors.Is(err, context.Canceled) {
		return nil // the last export takes its place
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries++
	if err != nil {
		w.failed++
		w.last = err
	}
	return nil
}

// Handle is otel.ErrorHandler.
func (w *watched) Handle(err error) {
	if errors.Is(err, context.Canceled) {
		return // as in Export: the reader was closed while it collected
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	told := slices.ContainsFunc(w.others, func(text string) bool { return strings.HasSuffix(text, err.Error()) })
	if !told && len(w.others) < othersMost {
		w.others = append(w.others, err.Error())
	}
}

func (w *watched) warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	if w.failed > 0 {
		list = append(list, fmt.Sprintf("OTLP: %d of %d exports of the metrics failed, the last with: %v", w.failed, w.tries, w.last))
	}
	for _, text := range w.others {
		list = append(list, "OTLP: "+text)
	}
	return list
}

// A sink takes what the SDK logs: its errors, without the values beside them, among which may be secrets.
type sink struct{ to *watched }

func (sink) Init(logr.RuntimeInfo)            {}
func (sink) Enabled(int) bool                 { return false }
func (sink) Info(int, string, ...any)         {}
func (s sink) WithValues(...any) logr.LogSink { return s }
func (s sink) WithName(string) logr.LogSink   { return s }

// Error is logr.LogSink. What it says of lengths of time does not name the variable; Settings.Warnings do.
func (s sink) Error(err error, text string, _ ...any) {
	if strings.Contains(text, "duration") {
		return
	}
	s.to.Handle(fmt.Errorf("%s: %w", text, err))
}
