package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/remote"
	"stormtest/target"
)

// Material is what a plan names by a path, read by the caller. Nil is an absent file.
type Material struct {
	Body              []byte // of body-file
	CACert, Cert, Key []byte // PEM
}

// An elsewhere is a target that is not ours, for all runs of a plan.
type elsewhere struct {
	site     *remote.Site
	tls      *tls.Config // nil for http
	body     []byte
	capacity *float64 // per second; nil where nobody knows it
	probe    *record.Probe
	unprobed string       // why there is no probe
	asked    *atomic.Bool // the target asked for a client's certificate, and there is none
}

// Check finds every fault of a plan's URL and files that shows without the network; nil where
// there is none, or no URL. They are the user's to mend.
func Check(p plan.Plan, m Material) error {
	if p.URL == "" {
		return nil
	}
	_, err := remote.New(siteOf(p, m, Env{}))
	return err
}

func siteOf(p plan.Plan, m Material, env Env) remote.Config {
	return remote.Config{
		URL:        p.URL,
		UnixSocket: p.UnixSocket,
		AllowHosts: p.AllowHosts,
		CACertPEM:  m.CACert,
		CertPEM:    m.Cert,
		KeyPEM:     m.Key,
		Insecure:   p.Insecure,
		HTTP:       p.HTTP,
		Lookup:     env.Lookup,
		Connect:    env.Connect,
	}
}

// newElsewhere checks the plan's URL and looks its name up.
func newElsewhere(ctx context.Context, p plan.Plan, env Env) (*elsewhere, error) {
	site, err := remote.New(siteOf(p, env.Material, env))
	if err != nil {
		return nil, err
	}
	if err := site.Resolve(ctx); err != nil {
		return nil, err
	}
	e := &elsewhere{site: site, tls: site.TLS(), body: env.Material.Body, asked: new(atomic.Bool)}
	if p.BodyFile == "" {
		e.body = []byte(p.Body)
	}
	if e.tls != nil && len(e.tls.Certificates) == 0 {
		e.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			e.asked.Store(true)
			return new(tls.Certificate), nil
		}
	}
	return e, nil
}

// destinations is how many addresses clients connect to by ports.
func (e *elsewhere) destinations(p plan.Plan) int {
	if p.UnixSocket != "" {
		return 0
	}
	return len(e.site.Addresses())
}

// dial opens a client's connection, with TLS where the URL says so. A failure of TLS, and not
// of the connection under it, is a fleet.ErrTLS.
func (e *elsewhere) dial(ctx context.Context, client int, http2 bool) (net.Conn, error) {
	conn, err := e.site.Dial(ctx, client)
	if err != nil || e.tls == nil {
		return conn, err
	}
	secure := tls.Client(conn, e.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if text := remote.Explain(err); text != "" {
			err = misfit{text, err}
		}
		return nil, fmt.Errorf("%w: %w", fleet.ErrTLS, err)
	}
	if http2 && secure.ConnectionState().NegotiatedProtocol != "h2" {
		_ = secure.Close()
		return nil, fmt.Errorf("%w: %w", fleet.ErrTLS, misfit{"the target does not speak HTTP/2 over TLS: leave out --http, or give --http 1.1", nil})
	}
	return secure, nil
}

// A misfit is an error of TLS that the user has to mend, in a sentence. It is a fleet.ErrMisfit.
type misfit struct {
	text string
	err  error // what it explains; may be nil
}

func (e misfit) Error() string        { return e.text }
func (e misfit) Unwrap() error        { return e.err }
func (e misfit) Is(target error) bool { return target == fleet.ErrMisfit }

// failure is a strategy's error. One that holds a misfit is the sentence alone, for it is the same with
// every strategy.
func failure(strategy string, err error) error {
	var m misfit
	if errors.As(err, &m) {
		return fmt.Errorf("load: %w", m)
	}
	return fmt.Errorf("load: strategy %s: %w", strategy, err)
}

// runElsewhere lets a fleet meet a target that is not ours.
func (s *storm) runElsewhere(ctx context.Context) (record.Run, []string, error) {
	s.record()
	cfg := s.fleet()
	cfg.Dial = func(ctx context.Context, client int) (net.Conn, error) {
		return s.site.dial(ctx, client, s.plan.HTTP == plan.HTTP2)
	}
	cfg.Foreign, cfg.Secure = true, s.site.tls != nil
	cfg.HTTP2 = s.plan.HTTP == plan.HTTP2 && s.site.tls == nil
	cfg.Request.Host = s.site.site.Authority()
	cfg.Request.Target = s.site.site.RequestTarget()
	cfg.Request.Body = s.site.body
	cfg.Request.CloseEach = !s.plan.KeepAlive
	for _, h := range s.plan.Headers {
		name, value, _ := strings.Cut(h, ": ")
		cfg.Request.Header = append(cfg.Request.Header, fleet.Field{Name: name, Value: value})
	}
	stats, err := s.meet(ctx, cfg, func(time.Time) error { return nil })
	if err != nil {
		return record.Run{}, nil, err
	}
	run := s.summarise(stats, slices.Concat(s.site.notes(s.plan, stats), s.rest, s.notes(stats.Unstarted)))
	s.log.end(s.recorder, &run, ctx.Err() != nil)
	return run, append(record.Validity(run), exhaustion(stats)...), nil
}

// notes is what a reader must know of a storm on a target that is not ours.
func (e *elsewhere) notes(p plan.Plan, stats fleet.Stats) []string {
	notes := []string{"arrivals are counted at the client, at the moment an attempt was sent: what the network and the target's own backlog add is not in them"}
	if p.Insecure {
		notes = append([]string{"INSECURE: the target's certificate was not verified, so nobody knows who answered"}, notes...)
	}
	if e.asked.Load() {
		notes = append(notes, "the target asked for a client's certificate and got none: --cert FILE --key FILE gives one")
	}
	if !p.KeepAlive {
		notes = append(notes, "keepalive false: every attempt opened a connection of its own, and that is inside its latency")
	}
	if stats.Unconnected > 0 && p.KeepAlive {
		notes = append(notes, fmt.Sprintf("the target took no connection of %d of %d clients before the start: they dialled again when their first attempt was due", stats.Unconnected, p.Clients))
	}
	if stats.Hurried > 0 && p.KeepAlive {
		notes = append(notes, fmt.Sprintf("%d of %d clients had no connection yet when the %v for connecting were over: they dialled when their first attempt was due", stats.Hurried, p.Clients, fleet.ConnectTime(p.Clients)))
	}
	if stats.Replayed > 0 {
		notes = append(notes, fmt.Sprintf("%d requests were replayed by transport, because the target said that it had not handled them (HTTP/2): it saw so many more than there were attempts", stats.Replayed))
	}
	if len(p.Outages) > 0 {
		notes = append(notes, "outages are yours to make here: stormtest does nothing to the target, and what is said of an outage goes by the windows that the plan declares")
	}
	if e.unprobed != "" {
		notes = append(notes, "no probe: "+e.unprobed)
	}
	if e.capacity == nil {
		notes = append(notes, "nobody knows the target's capacity, so there is no capacity line, and the verdict rests on the convoy index alone")
	}
	return notes
}

// A Lookup gives the addresses of a name, and a Connect opens a connection to one; see
// remote.Config.
type (
	Lookup  = func(ctx context.Context, name string) ([]netip.Addr, error)
	Connect = func(ctx context.Context, network, address string) (net.Conn, error)
)

// IsUsage reports whether an error of Run is one of the plan's, found before anything was sent.
func IsUsage(err error) bool {
	return errors.As(err, new(*remote.FieldError)) || errors.As(err, new(*plan.FieldError))
}

// headers by which a request says who sends it.
const (
	clientHeader  = target.HeaderClient
	timeoutHeader = target.HeaderTimeout
	attemptHeader = target.HeaderAttempt
)
