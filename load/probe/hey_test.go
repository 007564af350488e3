package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Each test here is named after the fence in hey.go that it watches, and fails without it.

// drive puts one shape on a target and returns what came of it, the relay's counts folded in.
func drive(t *testing.T, c Config, s shape) batch {
	t.Helper()
	b, err := driveWith(t, t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func driveWith(t *testing.T, ctx context.Context, c Config, s shape) (batch, error) {
	t.Helper()
	c = c.withDefaults()
	r, err := newRelay(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	request, err := c.request(r.address())
	if err != nil {
		t.Fatal(err)
	}
	d := driver{request: request, body: c.Body, timeout: c.Timeout, opened: r.admit}
	b, err := d.drive(ctx, s)
	r.hangUp()
	b.fold(r.take())
	return b, err
}

// once is so many requests, one after another on one connection.
func once(requests int) shape {
	return shape{mode: closed, workers: 1, requests: requests, length: 5 * time.Second}
}

func ok(http.ResponseWriter, *http.Request) {}

// statuses counts the answers by status.
func (b batch) statuses() map[int]int {
	m := map[int]int{}
	for _, a := range b.samples {
		m[a.status]++
	}
	return m
}

func TestPrinting(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log.SetOutput(&logged)
	stdout := os.Stdout
	os.Stdout = w
	drive(t, to(serve(t, ok)), once(3))
	os.Stdout = stdout
	log.SetOutput(os.Stderr)
	_ = w.Close()
	if b, err := io.ReadAll(r); err != nil || len(b) > 0 || logged.Len() > 0 {
		t.Errorf("printed %q, logged %q, error %v; want nothing", b, &logged, err)
	}
}

// Four decimals of a second are 100 µs: of a few answers one has a finer figure.
func TestResolution(t *testing.T) {
	b := drive(t, to(serve(t, ok)), once(10))
	if !slices.ContainsFunc(b.samples, func(a sample) bool { return a.took%(100*time.Microsecond) != 0 }) {
		t.Errorf("every one of %d answers took a multiple of 100 µs", len(b.samples))
	}
}

func TestSummary(t *testing.T) {
	var n atomic.Int64
	b := drive(t, to(serve(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1)%10 == 0 {
			time.Sleep(30 * time.Millisecond)
		}
	})), once(100))
	times := b.times(true)
	if least, most := times[0], times[len(times)-1]; least >= 30e6 || most < 30e6 || !slices.IsSorted(times) {
		t.Errorf("least %d, most %d ns, sorted %v; want them on either side of 30 ms", least, most, slices.IsSorted(times))
	}
}

func TestFailures(t *testing.T) {
	var n atomic.Int64
	c := to(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%4 == 0 {
			hijack(t, w, "")
		}
	}))
	c.Method = http.MethodPost // or net/http would send it again
	b := drive(t, c, once(40))
	if got := b.errors[errorClosed] + b.errors[errorReset]; got != 10 || len(b.samples) != 30 {
		t.Errorf("errors = %v and %d answers, want 10 and 30", b.errors, len(b.samples))
	}
	for text, want := range map[string]string{
		`Get "http://127.0.0.1:1/": read tcp 127.0.0.1:53412->127.0.0.1:80: read: connection reset by peer`: errorReset,
		`Get "http://127.0.0.1:1/EOF": something else`:                                                      errorOther,
		`Get "http://127.0.0.1:1/": EOF`:                                                                    errorClosed,
		`Get "http://127.0.0.1:1/": context deadline exceeded`:                                              errorTimeout,
		`Get "http://127.0.0.1:1/": net/http: HTTP/1.x transport connection broken: malformed HTTP status`:  errorMalformed,
		`Get "http://127.0.0.1:1/": context canceled`:                                                       "",
	} {
		if got, _ := kindOf(text); got != want {
			t.Errorf("kindOf(%q) = %q, want %q", text, got, want)
		}
	}
}

// hijack writes raw bytes and closes the connection.
func hijack(t *testing.T, w http.ResponseWriter, raw string) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(c, raw)
	_ = c.Close()
}

func TestResults(t *testing.T) {
	c := Config{Host: "h", Dial: func(context.Context) (net.Conn, error) { return nil, io.EOF }, MaxRequests: resultsMost + 1}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "1000000") {
		t.Errorf("error = %v, want one that names 1000000", err)
	}
	d := driver{request: httptest.NewRequest(http.MethodGet, "http://h/", nil), timeout: time.Second}
	if w := d.worker(t.Context(), once(resultsMost+1), 0, time.Now(), new(atomic.Bool)); w.work.N != resultsMost {
		t.Errorf("N = %d, want %d", w.work.N, resultsMost)
	}
	for printed, fault := range map[string]bool{
		"[1]\n[0]\n[0]\n[200]\n{}\n1\n":          false,
		"[1]\n[0]\n[0]\n[200]\n{\"EOF\":2}\n3\n": false,
		"[1]\n[0]\n[0]\n[200]\n{}\n2\n":          true, // forgot one
		"[1,2]\n[0]\n[0]\n[200]\n{}\n2\n":        true,
		"[1]\n[0]\n":                             true,
	} {
		if _, err := readRun(bytes.NewBufferString(printed)); (err != nil) != fault {
			t.Errorf("readRun(%q): error %v, want one: %v", printed, err, fault)
		}
	}
}

func TestRemainder(t *testing.T) {
	for _, s := range []struct{ workers, requests int }{{3, 10}, {8, 8}, {8, 3}, {1, 7}, {7, 48}} {
		var n atomic.Int64
		server := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
		b := drive(t, to(server), shape{mode: closed, workers: s.workers, requests: s.requests, length: 5 * time.Second})
		if int(n.Load()) != s.requests || len(b.samples) != s.requests || int(b.requests) != s.requests {
			t.Errorf("%d by %d: served %d, told %d of %d", s.requests, s.workers, n.Load(), len(b.samples), b.requests)
		}
	}
}

// The race detector sees workers that share a client.
func TestRace(t *testing.T) {
	b := drive(t, to(serve(t, ok)), shape{mode: closed, workers: 8, requests: 80, length: 5 * time.Second})
	if len(b.samples) != 80 {
		t.Errorf("%d answers, want 80", len(b.samples))
	}
}

// Of ten workers at 200 a second in all, each sends every 50 ms, and begins 5 ms after the one before. When
// they then send is up to the machine, so that is only counted.
func TestPace(t *testing.T) {
	s := shape{mode: paced, workers: 10, perSecond: 200, requests: 1000, length: 600 * time.Millisecond}
	d := driver{request: httptest.NewRequest(http.MethodGet, "http://h/", nil), timeout: time.Second}
	for i := range s.workers {
		w := d.worker(t.Context(), s, i, time.Now(), new(atomic.Bool))
		if want := time.Duration(i) * 5 * time.Millisecond; (w.wait-want).Abs() > time.Microsecond || math.Abs(w.work.QPS-20) > 1e-9 {
			t.Errorf("worker %d: waits %v and sends %v a second, want %v and 20", i, w.wait, w.work.QPS, want)
		}
	}
	b := drive(t, to(serve(t, ok)), s)
	if got := float64(len(b.sends)) / 0.55; got > 240 || got < 100 {
		t.Errorf("offered %.0f a second, want 200, or fewer on a busy machine", got)
	}
}

// Every worker waits for its turn when the time is up.
func TestOverrun(t *testing.T) {
	var n atomic.Int64
	server := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
	b := drive(t, to(server), shape{mode: paced, workers: 10, perSecond: 50, requests: 1000, length: 100 * time.Millisecond})
	if n.Load() != 0 || b.requests != 0 || len(b.errors) != 0 || len(b.sends) != 0 {
		t.Errorf("after the end: %d served, %d sent, errors %v", n.Load(), b.requests, b.errors)
	}
}

// The end of a context before, in and between the requests.
func TestStop(t *testing.T) {
	server := serve(t, ok)
	for _, after := range []time.Duration{0, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		began := time.Now()
		b, err := driveWith(t, ctx, to(server), shape{mode: closed, workers: 4, requests: 1 << 18, length: time.Hour})
		cancel()
		if took := time.Since(began); err != nil || took > 2*time.Second || len(b.errors) != 0 {
			t.Errorf("stopped after %v: took %v, errors %v, error %v", after, took, b.errors, err)
		}
	}
}

// A worker may be stopped before it has begun.
func TestStopBeforeTheBeginning(t *testing.T) {
	d := driver{request: httptest.NewRequest(http.MethodGet, "http://h/", nil), timeout: time.Second}
	w := d.worker(t.Context(), once(1), 0, time.Now(), new(atomic.Bool))
	stopped := make(chan struct{})
	go func() {
		w.work.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(time.Second):
		t.Error("Stop blocks")
	}
}

func TestHang(t *testing.T) {
	release := make(chan struct{})
	server := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	b, err := driveWith(t, ctx, to(server), shape{mode: closed, workers: 4, requests: 100, length: time.Hour})
	if took := time.Since(began); err != nil || took > 2*time.Second || b.requests == 0 {
		t.Errorf("took %v for %d requests, error %v; want an end at once", took, b.requests, err)
	}
}

func TestTimeout(t *testing.T) {
	head := func(http.ResponseWriter, *http.Request) { time.Sleep(600 * time.Millisecond) }
	body := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		head(w, r)
	}
	for name, h := range map[string]http.HandlerFunc{"head": head, "body": body} {
		c := to(serve(t, h))
		c.Timeout = 50 * time.Millisecond
		b := drive(t, c, once(2))
		if b.errors[errorTimeout] != 2 || len(b.samples) != 0 || b.elapsed > 500*time.Millisecond {
			t.Errorf("%s: errors %v, %d answers in %v; want 2 timeouts after 50 ms each", name, b.errors, len(b.samples), b.elapsed)
		}
	}
}

func TestCut(t *testing.T) {
	for name, raw := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		b := drive(t, to(serve(t, func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, raw) })), once(3))
		if s := b.figures(); b.errors[errorCut] != 3 || s.goodCount != 0 || s.badShare != 1 {
			t.Errorf("%s: errors %v, %d good, bad %v; want 3 cut and all bad", name, b.errors, s.goodCount, s.badShare)
		}
	}
	whole := "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end"
	if b := drive(t, to(serve(t, func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, whole) })), once(3)); len(b.errors) != 0 || len(b.samples) != 3 {
		t.Errorf("until the end: errors %v, %d answers; want 3 whole ones", b.errors, len(b.samples))
	}
}

// hey's clock runs since the program began.
func TestOffset(t *testing.T) {
	var n atomic.Int64
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%3 == 1 {
			hijack(t, w, "")
		}
	})
	time.Sleep(20 * time.Millisecond) // so that the program is older than a request takes
	b := drive(t, to(server), once(9))
	slices.SortFunc(b.samples, func(x, y sample) int { return int(x.sent - y.sent) })
	if first := b.samples[0].sent; first < b.sends[0] || first > b.sends[1]+5*time.Millisecond {
		t.Errorf("first answer's request left at %v, want near %v", first, b.sends[1])
	}
	for _, a := range b.samples {
		if a.sent < 0 || a.done() > b.elapsed {
			t.Errorf("answer in [%v, %v), of a batch that took %v", a.sent, a.done(), b.elapsed)
		}
	}
}

func TestRedirects(t *testing.T) {
	var followed atomic.Int64
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	b := drive(t, to(serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	})), once(3))
	if followed.Load() != 0 || b.statuses()[http.StatusFound] != 3 {
		t.Errorf("followed %d, statuses %v; want three of 302", followed.Load(), b.statuses())
	}
}

func TestCompression(t *testing.T) {
	drive(t, to(serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if got := r.Header.Values("Accept-Encoding"); len(got) != 0 {
			t.Errorf("Accept-Encoding = %q, want none", got)
		}
	})), once(1))
}

// A certificate that nobody signed is accepted by hey and not by the caller's connection.
func TestTLS(t *testing.T) {
	var served atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			served.Add(1)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	dialer := func(c *tls.Config) Config {
		return Config{Host: "example.com", Dial: func(ctx context.Context) (net.Conn, error) {
			return (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", s.Listener.Addr().String())
		}}
	}
	if b := drive(t, dialer(&tls.Config{ServerName: "example.com"}), once(3)); served.Load() != 0 || b.errors[errorConnect] != 3 {
		t.Errorf("unknown signer: served %d, errors %v; want none and 3", served.Load(), b.errors)
	}
	if _, err := Run(t.Context(), dialer(&tls.Config{ServerName: "example.com"})); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Run: error = %v, want one about the certificate", err)
	}
	known := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	known.ServerName = "example.com"
	if b := drive(t, dialer(known), once(3)); served.Load() != 3 || len(b.samples) != 3 {
		t.Errorf("known signer: served %d, errors %v; want 3", served.Load(), b.errors)
	}
}

// A unix socket, which hey cannot dial.
func TestTLSRelayToUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(ok), ReadHeaderTimeout: time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	defer wg.Wait()
	defer func() { _ = s.Close() }()
	b := drive(t, Config{Host: "h", Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}, once(3))
	if len(b.samples) != 3 {
		t.Errorf("%d answers, errors %v; want 3", len(b.samples), b.errors)
	}
}

// Nobody but hey gets the caller's connection.
func TestTLSRelayIsOurs(t *testing.T) {
	var served atomic.Int64
	c := to(serve(t, func(http.ResponseWriter, *http.Request) { served.Add(1) })).withDefaults()
	r, err := newRelay(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Dial("tcp", r.address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	_, _ = io.WriteString(stranger, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	time.AfterFunc(50*time.Millisecond, r.close)
	if b, _ := io.ReadAll(stranger); len(b) != 0 || served.Load() != 0 {
		t.Errorf("a stranger was answered %q", b)
	}
	r.close()
}

func TestProxy(t *testing.T) {
	var asked atomic.Int64
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	b := drive(t, to(serve(t, ok)), once(2))
	if asked.Load() != 0 || len(b.samples) != 2 {
		t.Errorf("proxy asked %d times, %d answers; want 0 and 2", asked.Load(), len(b.samples))
	}
	d := driver{request: httptest.NewRequest(http.MethodGet, "http://h/", nil), timeout: time.Second}
	var none *url.URL
	if w := d.worker(t.Context(), once(1), 0, time.Now(), new(atomic.Bool)); w.work.ProxyAddr != none || w.work.H2 {
		t.Errorf("proxy %v, HTTP/2 %v; want neither", w.work.ProxyAddr, w.work.H2)
	}
}

// A service that closes without saying so makes net/http send again on another connection.
func TestAgain(t *testing.T) {
	b := drive(t, to(serve(t, func(w http.ResponseWriter, r *http.Request) {
		hijack(t, w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})), once(20))
	ended := int64(len(b.samples))
	for _, n := range b.errors {
		ended += n
	}
	if b.requests < ended || len(b.samples) < 10 {
		t.Errorf("%d written for %d answers and errors %v: what was sent again is missing", b.requests, len(b.samples), b.errors)
	}
}

func TestConnecting(t *testing.T) {
	c := to(serve(t, ok))
	dial := c.Dial
	c.Dial = func(ctx context.Context) (net.Conn, error) {
		time.Sleep(50 * time.Millisecond)
		return dial(ctx)
	}
	b := drive(t, c, shape{mode: closed, workers: 2, requests: 20, length: 5 * time.Second})
	fresh := 0
	for _, a := range b.samples {
		if a.fresh {
			fresh++
		}
	}
	if warm := b.times(true); fresh != 2 || len(warm) != 18 || warm[len(warm)-1] > 40e6 {
		t.Errorf("%d first answers, %d later ones up to %d ns; want 2, and 18 without the 50 ms of connecting", fresh, len(warm), warm[len(warm)-1])
	}
}

// What is sent is what was asked for, and the body is whole in each request.
func TestRequest(t *testing.T) {
	var n atomic.Int64
	c := to(serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got := fmt.Sprintf("%s %s %s %s %q %d", r.Method, r.RequestURI, r.Host, r.Header["X-A"], b, r.ContentLength)
		if want := `PUT /a%2fb/../c?x=1&y=%20 service.test [1 2] "body" 4`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		n.Add(1)
	}))
	c.Method, c.RequestTarget, c.Body = http.MethodPut, "/a%2fb/../c?x=1&y=%20", []byte("body")
	c.Header = http.Header{"X-A": {"1", "2"}}
	if drive(t, c, once(3)); n.Load() != 3 {
		t.Errorf("%d requests, want 3", n.Load())
	}
}
