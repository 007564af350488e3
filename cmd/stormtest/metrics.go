package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/report/metrics"
	"stormtest/report/otlp"
)

// metricsFlag says where the metrics of a run under way are served.
const metricsFlag = "listen-metrics"

// metricsDefault is where a Prometheus is most likely to look for them.
const metricsDefault = "127.0.0.1:9464"

// Limits of the server of the metrics, so that no client of it can hold the run up.
const (
	metricsHeadMost   = 5 * time.Second
	metricsReadMost   = 10 * time.Second
	metricsWriteMost  = 20 * time.Second
	metricsIdleMost   = 2 * time.Minute
	metricsHeadBytes  = 16 << 10
	metricsConnsMost  = 16
	metricsClosedMost = time.Second
)

// otlpLastMost bounds how long a collector that does not answer holds up the end of a run.
const otlpLastMost = 5 * time.Second

// addMetricsFlag defines the flag of the commands that run in real time.
func (o *outputs) addMetricsFlag(cmd *cobra.Command) {
	cmd.Flags().Var(newWord(&o.listenMetrics, "", "ADDRESS:PORT"), metricsFlag,
		"where "+metrics.Path+" has the metrics of the run while it goes on, such as "+metricsDefault+"; a port alone is of this machine, 0 a free one")
	cmd.Flags().Lookup(metricsFlag).Annotations = map[string][]string{groupAnnotation: {groupOutput}}
	complete(cmd, metricsFlag, []string{metricsDefault})
}

// refuseMetricsFlag defines the flag where it is refused, so that it says why.
func refuseMetricsFlag(cmd *cobra.Command) {
	cmd.Flags().Var(noMetricsInVirtual, metricsFlag, "")
	cmd.Flags().Lookup(metricsFlag).Hidden = true
}

// noMetricsInVirtual says why a run in virtual time serves none.
const noMetricsInVirtual refusal = "virtual time is over before anybody could look; --prom writes the metrics to a file"

// A refusal is a pflag.Value that takes none, and says why; it is the error, too.
type refusal string

func (r refusal) Error() string    { return string(r) }
func (r refusal) Set(string) error { return r }
func (r refusal) String() string   { return "" }
func (r refusal) Type() string     { return "" }

// A meter is who tells others of an invocation's metrics while it goes on: by --listen-metrics, and by OTLP where the
// environment asks for that.
type meter struct {
	w      world
	live   *metrics.Live
	sender *otlp.Sender
	server *http.Server
	wg     sync.WaitGroup
}

// startMeter begins to tell of what head is known of. Close ends it.
func startMeter(ctx context.Context, w world, outs *outputs, head record.Result) (*meter, error) {
	m := &meter{w: w, live: metrics.NewLive(head)}
	if outs.listenMetrics != "" {
		if err := m.listen(outs.listenMetrics); err != nil {
			var user usageError
			if errors.As(err, &user) {
				err = usage("%s: %w", outs.named(metricsFlag), user.err)
			}
			return nil, err
		}
	}
	settings := otlp.Read(w.env)
	m.warn(settings.Warnings)
	sender, err := otlp.Start(ctx, settings, otlp.Source{Families: m.live.Families, Version: version})
	if err != nil {
		m.warn([]string{err.Error()})
	}
	m.sender = sender
	return m, nil
}

// listen serves the metrics.
func (m *meter) listen(text string) error {
	addr, want := listenAddress(text)
	if want != "" {
		return usage("%q: want %s", text, strings.ReplaceAll(want, listenDefault, metricsDefault))
	}
	network := "tcp"
	if addr.Addr().Is4() { // of "tcp" 0.0.0.0 is every address of IPv6 too, which nobody named
		network = "tcp4"
	}
	ln, err := net.ListenTCP(network, net.TCPAddrFromAddrPort(addr))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return usage("%s: the address is in use; name another one, or port 0 for a free one", text)
	case err != nil:
		return usage("%s: %w", text, err)
	}
	m.server = &http.Server{
		Handler:           m.live.Handler(),
		ReadHeaderTimeout: metricsHeadMost,
		ReadTimeout:       metricsReadMost,
		WriteTimeout:      metricsWriteMost,
		IdleTimeout:       metricsIdleMost,
		MaxHeaderBytes:    metricsHeadBytes,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	if !addr.Addr().IsLoopback() {
		m.warn([]string{fmt.Sprintf("%v is not loopback: whoever reaches this machine's network can read the metrics", addr)})
	}
	m.wg.Go(func() { _ = m.server.Serve(limited{ln, make(chan struct{}, metricsConnsMost)}) })
	fmt.Fprintf(m.w.err, "stormtest: metrics at http://%v%s until the reports are written\n", ln.Addr(), metrics.Path)
	return nil
}

// A limited listener has so many connections at most, for the run needs the descriptors; others wait.
type limited struct {
	net.Listener
	places chan struct{} // one for each
}

// Accept is net.Listener.
func (l limited) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// A placed connection gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close is net.Conn.
func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// watched says that somebody may look.
func (m *meter) watched() bool { return m.server != nil || m.sender != nil }

// stage is load.Env.Progress.
func (m *meter) stage(s load.Stage) {
	if m.watched() && s.Interim != nil { // without it time is virtual, and the end tells
		m.live.Begin(s.Strategy, s.Interim)
	}
}

// finished is load.Env.Finished.
func (m *meter) finished(run record.Run) {
	if m.watched() {
		m.live.Finished(run)
	}
}

// close sends the metrics a last time and stops serving them.
func (m *meter) close() {
	flushing, stop := context.WithTimeout(context.Background(), otlpLastMost)
	defer stop()
	m.warn(m.sender.Close(flushing))
	if m.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), metricsClosedMost)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close()
	}
	m.wg.Wait()
}

func (m *meter) warn(list []string) {
	for _, text := range list {
		for line := range strings.Lines(text) {
			fmt.Fprintf(m.w.err, "stormtest: WARNING: %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

// telling calls each of several where one may be called.
func telling(all ...func(load.Stage)) func(load.Stage) {
	return func(s load.Stage) {
		for _, tell := range all {
			tell(s)
		}
	}
}
