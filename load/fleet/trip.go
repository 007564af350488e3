package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stormtest/load/retry"
	"stormtest/target"
)

// directMostBytes is the longest request, with its head, that the dispatcher writes itself: less
// than what an idle socket takes at once, so that it never waits.
const directMostBytes = 16 << 10

// alwaysTrips reports whether no attempt can be written by the dispatcher.
func (c *Config) alwaysTrips() bool {
	return c.HTTP2 || len(c.Request.Body) > directMostBytes || c.Request.longest() > directMostBytes
}

// tripsOver reports whether attempts over conn go through net/http: where it speaks HTTP/2, and
// where the request is long.
func (f *Fleet) tripsOver(conn net.Conn) bool { return f.trips || speaksHTTP2(conn) }

func speaksHTTP2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// A trip sends one client's attempts through net/http, one at a time over one connection of the
// client's own, whatever the number of streams that HTTP/2 could share it for: a fleet is
// of processes, and each has its own connection.
//
// Over HTTP/1.1 nothing is sent twice. Over HTTP/2 net/http sends a request again that the
// server has said it did not handle; that is counted.
type trip struct {
	c         *client
	transport *http.Transport
	scheme    string
	http2     bool
	filled    bool             // the body is a template
	single    *http.ClientConn // of HTTP/1.1

	dials sync.WaitGroup // of the attempt under way; see dial

	mu      sync.Mutex
	spare   net.Conn  // opened already, for the next who dials
	opened  time.Time // when the spare was
	last    net.Conn  // handed out last
	attempt int       // of this trip, so that a late word of one before does not count
	fresh   bool      // the spare was opened for the attempt that comes
	dialled bool      // a connection had to be opened for the attempt
	writing bool      // the attempt has its connection
	writes  int       // of the request under way
}

// spareMost is how long a connection may wait for its first request: servers give up those
// that say nothing, Go's after 10 s where they speak HTTP/2.
const spareMost = 8 * time.Second

func newTrip(c *client, conn net.Conn) *trip {
	t := &trip{c: c, spare: conn, opened: time.Now(), scheme: "http", http2: c.f.cfg.HTTP2 || speaksHTTP2(conn), filled: c.f.cfg.Request.bodyTemplate()}
	if _, ok := conn.(*tls.Conn); ok {
		t.scheme = "https"
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx) }
	t.transport = &http.Transport{
		DialContext:            dial,
		DialTLSContext:         dial,
		DisableCompression:     true,
		DisableKeepAlives:      c.f.cfg.Request.CloseEach,
		MaxResponseHeaderBytes: headMaxBytes,
		Protocols:              new(http.Protocols),
	}
	t.transport.Protocols.SetHTTP1(!t.http2)
	t.transport.Protocols.SetHTTP2(t.http2)
	t.transport.Protocols.SetUnencryptedHTTP2(t.http2)
	return t
}

// A dialError is a failure to get a connection.
type dialError struct{ err error }

func (e dialError) Error() string { return e.err.Error() }
func (e dialError) Unwrap() error { return e.err }

// An attemptKey finds the attempt that a request is of in its context.
type attemptKey struct{}

type attemptOf struct {
	number int
	ctx    context.Context //nolint:containedctx // net/http dials with the values of a request's context, and without its end
}

// errOver is for who dials for an attempt that has ended.
var errOver = errors.New("fleet: the attempt is over")

// dial hands out the connection that is there already, or opens one. It ends with the attempt
// that it is for, where net/http would go on for those that may come.
func (t *trip) dial(ctx context.Context) (net.Conn, error) {
	of, ok := ctx.Value(attemptKey{}).(attemptOf)
	if !ok {
		panic("fleet: BUG: a dial for no attempt")
	}
	t.mu.Lock()
	if of.number != t.attempt {
		t.mu.Unlock()
		return nil, errOver
	}
	t.dials.Add(1) // never after end has begun to wait
	defer t.dials.Done()
	conn := t.spare
	t.spare = nil
	if conn != nil && time.Since(t.opened) > spareMost {
		_ = conn.Close()
		conn = nil
	}
	t.dialled = t.dialled || conn == nil
	t.mu.Unlock()
	if conn == nil {
		begun := t.c.f.now()
		var err error
		if conn, err = t.c.f.dial(of.ctx, t.c.id); err != nil {
			return nil, dialError{err}
		}
		t.c.f.cfg.Recorder.Waited(uint32(t.c.id), t.c.f.now()-begun)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		_ = t.last.Close() // nobody asks for a new one while it is of use
	}
	t.last = conn
	return conn, nil
}

// close gives up every connection.
func (t *trip) close() {
	t.transport.CloseIdleConnections()
	if t.single != nil {
		_ = t.single.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, conn := range []net.Conn{t.spare, t.last} { // net/http keeps one whose answer did not come
		if conn != nil {
			_ = conn.Close()
		}
	}
	t.spare, t.last = nil, nil
}

// travel makes the attempt that is due, from the client's goroutine.
func (c *client) travel(ctx context.Context) (retry.Outcome, time.Duration, ending) {
	t := c.trip
	number := t.begin()
	attempt, cancel := c.until(ctx)
	o, err := t.do(attempt, number)
	over := attempt.Err() != nil
	cancel()
	t.end()
	if err != nil {
		return c.failed(ctx, t.outcome(over, err))
	}
	at := c.f.now()
	c.reached = c.arrived()
	return o, at, answered
}

// do sends one attempt and reads its answer to the end.
func (t *trip) do(ctx context.Context, number int) (retry.Outcome, error) {
	ctx = context.WithValue(ctx, attemptKey{}, attemptOf{number, ctx})
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { t.connected(number) },
		WroteHeaders: func() { t.wrote(number) },
	})
	answer, err := t.send(t.request(ctx), number)
	if err != nil {
		return retry.Outcome{}, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return retry.Outcome{}, err
	}
	o := retry.Outcome{Kind: retry.Responded, Status: answer.StatusCode}
	if after := answer.Header.Get("Retry-After"); len(answer.Header["Retry-After"]) > 0 {
		o.Hint = retry.ParseRetryAfter(after, answer.Header.Get("Date"), time.Now(), retryAfterMax)
	}
	return o, nil
}

func (t *trip) send(r *http.Request, number int) (*http.Response, error) {
	if t.http2 {
		return t.transport.RoundTrip(r)
	}
	if t.single == nil || t.single.Err() != nil || t.c.f.cfg.Request.CloseEach {
		if t.single != nil {
			_ = t.single.Close()
		}
		single, err := t.transport.NewClientConn(r.Context(), t.scheme, "target:1")
		if err != nil {
			t.single = nil
			return nil, err
		}
		t.single = single
	}
	t.connected(number)
	return t.single.RoundTrip(r)
}

// begin opens a new attempt and returns its number.
func (t *trip) begin() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attempt++
	t.writes, t.dialled, t.fresh, t.writing = 0, t.fresh, false, false
	if !t.dialled {
		t.c.sentAt = t.c.f.now()
	}
	return t.attempt
}

// end closes the attempt, whose context has ended: what is written later does not count, and
// nobody dials for it any more.
func (t *trip) end() {
	t.mu.Lock()
	t.attempt++
	again := int64(max(0, t.writes-1))
	t.c.f.replayed.Add(again)
	if part := t.c.f.part(t.c.id); part != nil {
		part.replayed.Add(again)
	}
	t.mu.Unlock()
	t.dials.Wait()
}

// connected is told when the attempt has its connection.
func (t *trip) connected(number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writing = t.writing || number == t.attempt
}

// wrote is told when the request's head has been written.
func (t *trip) wrote(number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if number != t.attempt {
		return
	}
	if t.writes++; t.writes > 1 {
		return
	}
	now := t.c.f.now()
	if !t.dialled { // what a connection takes is the target's time and not ours
		t.c.sentAt = now
	}
	t.c.depart(now)
}

// malformedWords are in the errors of net/http that say that what came is no HTTP; they have no
// types. An answer that ends inside a line of its head is among them.
var malformedWords = []string{"malformed", "bad Content-Length", "chunk length", "chunked", "transfer encoding", "HTTP/1.1 header", "http2: frame too large"}

// outcome is what the error of an attempt, which has ended, means; over says that its time was.
func (t *trip) outcome(over bool, err error) retry.Outcome {
	var dial dialError
	switch {
	case errors.As(err, &dial):
		return t.c.f.dialOutcome(dial.err)
	case (over || errors.Is(err, context.DeadlineExceeded)) && !t.c.departed && !t.writing:
		return retry.Outcome{Kind: retry.ConnectTimeout}
	case over, errors.Is(err, context.DeadlineExceeded):
		return retry.Outcome{Kind: retry.Timeout}
	case refusedTLS(err):
		return retry.Outcome{Kind: retry.TLSFailed}
	case errors.As(err, new(*textproto.ProtocolError)), slices.ContainsFunc(malformedWords, func(word string) bool { return strings.Contains(err.Error(), word) }):
		return retry.Outcome{Kind: retry.Malformed}
	}
	return retry.Outcome{Kind: retry.Reset}
}

// request builds the attempt for net/http.
func (t *trip) request(ctx context.Context) *http.Request {
	template := &t.c.f.cfg.Request
	p := places{t.c.id, t.c.operation, t.c.number()}
	r := &http.Request{
		Method:     template.Method,
		URL:        t.url(p.fill(template.Target)),
		Header:     http.Header{},
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
	}
	for _, h := range template.fields(p) {
		if h.Name == "Host" {
			r.Host = h.Value
			continue
		}
		r.Header.Add(h.Name, h.Value)
	}
	r.Header.Set(template.AttemptHeader, strconv.Itoa(p.attempt))
	if template.TimeoutHeader != "" {
		r.Header.Set(template.TimeoutHeader, string(target.AppendTimeout(nil, t.c.timeLeft(t.c.f.now()))))
	}
	if template.KeyPrefix != "" {
		var operation [operationDigits]byte
		putDecimal(operation[:], p.operation)
		r.Header.Set("Idempotency-Key", `"`+template.keyOf(p.client)+string(operation[:])+`"`)
	}
	t.body(r, p, template)
	return r.WithContext(ctx)
}

// url says where a request goes. Its path stands in it as it is written, so that net/http does
// not write it in another way.
func (t *trip) url(target string) *url.URL {
	path, query, found := strings.Cut(target, "?")
	u := &url.URL{Scheme: t.scheme, Host: t.c.f.cfg.Request.Host, Opaque: path, RawQuery: query, ForceQuery: found && query == ""}
	if strings.HasPrefix(path, "//") { // a host would be read in it
		if plain, err := url.PathUnescape(path); err == nil {
			u.Opaque, u.Path, u.RawPath = "", plain, path
		}
	}
	return u
}

// body gives every attempt a reader of its own over the one body that the fleet shares.
func (t *trip) body(r *http.Request, p places, template *Request) {
	body := template.Body
	if t.filled {
		body = []byte(p.fill(string(body)))
	}
	if len(body) == 0 {
		if template.hasBody() {
			r.Body = http.NoBody
		}
		return
	}
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}
