package load

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"stormtest/load/plan"
	"stormtest/load/probe"
	"stormtest/load/record"
	"stormtest/load/remote"
)

// Probe takes the healthy baseline of the plan's URL, which must not be empty, and nothing else: it sends
// some thousand requests at most for some 8 s. The end of ctx ends it, with what was measured until then.
//
// Its requests are HTTP/1.1, so that a plan of HTTP/2 alone is refused. IsUsage tells the plan's faults from
// those of the target.
func Probe(ctx context.Context, p plan.Plan, env Env) (*record.Probe, error) {
	if p.HTTP == plan.HTTP2 {
		return nil, &remote.FieldError{Field: "http", Got: p.HTTP, Want: "auto or 1.1: a probe speaks HTTP/1.1"}
	}
	e, err := newElsewhere(ctx, p, env)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return e.baseline(ctx, p, env)
}

// measure takes the baseline before the first storm. A target that cannot be probed can still
// be stormed; why there is no capacity then is noted.
func (e *elsewhere) measure(ctx context.Context, p plan.Plan, env Env) {
	if p.HTTP == plan.HTTP2 && e.tls == nil {
		e.unprobed = "a probe speaks HTTP/1.1, and --http 2 was asked for"
		return
	}
	if env.Probing != nil {
		env.Probing()
	}
	found, err := e.baseline(ctx, p, env)
	if err != nil {
		e.unprobed = err.Error()
		return
	}
	e.probe, e.capacity = found, found.CapacityPerSecond
}

// baseline probes the target over connections that are verified as the storm's are, in turn at all of its
// addresses.
func (e *elsewhere) baseline(ctx context.Context, p plan.Plan, env Env) (*record.Probe, error) {
	spoken := *e
	if spoken.tls = e.tls.Clone(); spoken.tls != nil {
		spoken.tls.NextProtos = []string{remoteHTTP1}
	}
	var client atomic.Int32
	first := strings.NewReplacer("{client}", "0", "{operation}", "0", "{attempt}", "0")
	c := probe.Config{
		Method:        p.Method,
		RequestTarget: first.Replace(e.site.RequestTarget()),
		Host:          e.site.Authority(),
		Header:        http.Header{"User-Agent": {"stormtest/" + env.Version}},
		Body:          []byte(first.Replace(string(e.body))),
		Timeout:       p.Timeout,
		Dial: func(ctx context.Context) (net.Conn, error) {
			return spoken.dial(ctx, int(client.Add(1)-1), false)
		},
	}
	if !p.KeepAlive {
		c.Header.Set("Connection", "close")
	}
	given := http.Header{}
	for _, h := range p.Headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.EqualFold(name, "Host") {
			c.Host = first.Replace(value)
			continue
		}
		given.Add(name, first.Replace(value))
	}
	for name, values := range given {
		c.Header[name] = values
	}
	return probe.Run(ctx, c)
}

// remoteHTTP1 is HTTP/1.1 in ALPN's words.
const remoteHTTP1 = "http/1.1"
