package metrics

import (
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Path is where a Handler has the metrics.
const Path = "/metrics"

// Limits of a scrape.
const (
	scrapeMost     = 10 * time.Second
	scrapesAtATime = 4
)

// Handler serves the metrics on Path, as OpenMetrics to those who accept it, and says on / where they are.
func (l *Live) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(registry(l.Families), promhttp.HandlerOpts{
		ErrorHandling:       promhttp.HTTPErrorOnError,
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: scrapesAtATime,
		CoalesceGather:      true,
		Timeout:             scrapeMost,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "stormtest: the metrics are at "+Path+"\n")
	})
	return mux
}
