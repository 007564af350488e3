package load_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// A certificate is a pair that signed itself, for a client or a server.
type certificate struct {
	cert, key []byte // PEM
	pair      tls.Certificate
}

// signed makes a certificate for 127.0.0.1 and localhost, valid for an hour around now, that
// change may alter.
func signed(t *testing.T, change func(*x509.Certificate)) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
	}
	if change != nil {
		change(&form)
	}
	der, err := x509.CreateCertificate(rand.Reader, &form, &form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := certificate{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
	if c.pair, err = tls.X509KeyPair(c.cert, c.key); err != nil {
		t.Fatal(err)
	}
	return c
}

// A goServer is Go's own server in memory, and what it saw.
type goServer struct {
	http.Server
	network targettest.Network

	requests, opened, open atomic.Int64
}

// start serves handler on 127.0.0.1:443 of the network, with TLS where config is not nil, until stop.
func (s *goServer) start(t *testing.T, config *tls.Config, handler http.HandlerFunc) (stop func()) {
	t.Helper()
	listener, err := s.network.Listen("127.0.0.1:443")
	if err != nil {
		t.Fatal(err)
	}
	s.ErrorLog = log.New(io.Discard, "", 0)
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	})
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.opened.Add(1)
			s.open.Add(1)
		case http.StateClosed:
			s.open.Add(-1)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if config == nil {
			_ = s.Serve(listener)
			return
		}
		s.TLSConfig = config
		_ = s.ServeTLS(listener, "", "")
	}()
	return func() {
		_ = s.Close()
		<-done
	}
}

// versions are the ways to speak HTTP to a goServer that speaks all of them.
var versions = []struct {
	name, url, http string
	major           int
}{
	{"https, chosen by ALPN", "https://127.0.0.1/", "auto", 2},
	{"https 1.1", "https://127.0.0.1/", "1.1", 1},
	{"https 2", "https://127.0.0.1/", "2", 2},
	{"http 1.1", "http://127.0.0.1:443/", "1.1", 1},
	{"h2c", "http://127.0.0.1:443/", "2", 2},
}

// every returns the protocols of a server that speaks all.
func every() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// Each version of HTTP, with and without TLS and keep-alive, over bodies of 64 KiB each way:
// the same counts, one connection a client or one an attempt, and none left open. 429 and 503
// never share a row.
func TestEveryVersionOfHTTP(t *testing.T) {
	for _, v := range versions {
		for _, keepAlive := range []bool{true, false} {
			t.Run(fmt.Sprint(v.name, ", keep-alive ", keepAlive), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s goServer
					s.Protocols = every()
					c := signed(t, nil)
					var config *tls.Config
					if strings.HasPrefix(v.url, "https") {
						config = &tls.Config{Certificates: []tls.Certificate{c.pair}}
					}
					var wrong atomic.Int64
					stop := s.start(t, config, func(w http.ResponseWriter, r *http.Request) {
						n, _ := strconv.Atoi(r.Header.Get("Stormtest-Attempt"))
						got, err := io.ReadAll(r.Body)
						if r.ProtoMajor != v.major || (r.TLS != nil) != (config != nil) || err != nil || len(got) != 64<<10 {
							wrong.Add(1)
						}
						w.WriteHeader([]int{429, 503, 200}[n])
						_, _ = w.Write(got)
					})
					defer stop()
					p := scenario(t, "url: "+v.url, "http: "+v.http, "clients: 20", "max-retries: 2", "method: PUT", "body-file: b", fmt.Sprint("keepalive: ", keepAlive))
					material := load.Material{Body: bytes.Repeat([]byte("x"), 64<<10)}
					if config != nil {
						material.CACert = c.cert
					}
					result := visit(t.Context(), t, p, load.Env{Connect: s.network.DialContext, Material: material})
					synctest.Wait()
					want := int64(20)
					if !keepAlive {
						want = 60
					}
					run := &result.Runs[0]
					if got := outcomes(result); got != "map[200:20 429:20 503:20] map[]" || s.requests.Load() != 60 || wrong.Load() != 0 {
						t.Errorf("%s of %d requests, %d of them not as they should be", got, s.requests.Load(), wrong.Load())
					}
					if s.opened.Load() != want || run.Generator.Connections != want || s.open.Load() != 0 {
						t.Errorf("%d connections, %d by the report, %d open afterwards; want %d and 0", s.opened.Load(), run.Generator.Connections, s.open.Load(), want)
					}
				})
			})
		}
	}
}

// A certificate that does not hold, and what else no retry mends, ends the run before any
// request, with one sentence that says what to do, also without keep-alive.
func TestWhatNoRetryMends(t *testing.T) {
	good := func(*x509.Certificate) {}
	tests := []struct {
		name   string
		change func(*x509.Certificate)
		config func(*tls.Config)
		trust  bool
		http   string
		want   []string
	}{
		{"nobody signed it", good, nil, false, "auto", []string{"signed by nobody trusted here", "--cacert FILE"}},
		{"another name", func(c *x509.Certificate) { c.IPAddresses = nil }, nil, true, "auto", []string{"is for localhost, not for 127.0.0.1", "--insecure"}},
		{"expired", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, nil, true, "auto", []string{"expired", "--insecure"}},
		{"HTTP/1.1 alone", good, func(c *tls.Config) {
			alone := &tls.Config{Certificates: c.Certificates, NextProtos: []string{"http/1.1"}}
			c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return alone, nil }
		}, true, "2", []string{"HTTP", "--http"}},
		{"no ALPN", good, func(c *tls.Config) {
			c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return &tls.Config{Certificates: c.Certificates}, nil }
		}, true, "2", []string{"does not speak HTTP/2", "--http 1.1"}},
		{"no TLS", nil, nil, true, "auto", []string{"does not speak TLS", "http://"}},
		{"a client's certificate in TLS 1.2", good, func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 }, true, "auto", []string{"refused", "--cert"}},
	}
	for _, tt := range tests {
		for _, keepAlive := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, ", keep-alive ", keepAlive), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s goServer
					c := signed(t, tt.change)
					var config *tls.Config
					if tt.change != nil {
						config = &tls.Config{Certificates: []tls.Certificate{c.pair}}
					}
					if tt.config != nil {
						tt.config(config)
					}
					defer s.start(t, config, func(http.ResponseWriter, *http.Request) {})()
					env := load.Env{Connect: s.network.DialContext, Wake: wake.Timers, Material: load.Material{CACert: signed(t, nil).cert}}
					if tt.trust {
						env.Material.CACert = c.cert
					}
					url := "https://127.0.0.1/"
					p := scenario(t, "url: "+url, "clients: 30", "probe: off", "http: "+tt.http, fmt.Sprint("keepalive: ", keepAlive))
					result, err := load.Run(t.Context(), p, env)
					if err == nil || load.IsUsage(err) || len(result.Runs) > 0 || s.requests.Load() > 0 {
						t.Fatalf("error %v, %d requests; want an error before any", err, s.requests.Load())
					}
					for _, want := range tt.want {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("error %q, want %q in it", err, want)
						}
					}
					if strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "strategy") || strings.Contains(err.Error(), "fleet:") {
						t.Errorf("error %q is no plain sentence", err)
					}
				})
			})
		}
	}
}

// Without verification the same target is stormed, and the result says loudly what that means.
func TestInsecureIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s goServer
		defer s.start(t, &tls.Config{Certificates: []tls.Certificate{signed(t, nil).pair}}, func(http.ResponseWriter, *http.Request) {})()
		result := elsewhere(t, scenario(t, "url: https://127.0.0.1/", "insecure: true", "clients: 3"), s.network.DialContext)
		if got := outcomes(result); got != "map[200:3] map[]" || !strings.HasPrefix(result.Runs[0].Notes[0], "INSECURE") {
			t.Errorf("%s, notes %q; want 3 answers, and INSECURE first", got, result.Runs[0].Notes)
		}
	})
}

// A target that wants a client's certificate gets it, or no attempt is answered, which in
// version 1.3 shows only after the handshake, and the report says what is missing.
func TestClientCertificates(t *testing.T) {
	for _, v := range versions[:3] {
		for _, given := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				var s goServer
				s.Protocols = every()
				server, client := signed(t, nil), signed(t, nil)
				pool := x509.NewCertPool()
				pool.AppendCertsFromPEM(client.cert)
				defer s.start(t, &tls.Config{Certificates: []tls.Certificate{server.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}, func(http.ResponseWriter, *http.Request) {})()
				env := load.Env{Connect: s.network.DialContext, Material: load.Material{CACert: server.cert}}
				if given {
					env.Material.Cert, env.Material.Key = client.cert, client.key
				}
				result := visit(t.Context(), t, scenario(t, "url: "+v.url, "http: "+v.http, "clients: 5", "max-retries: 1"), env)
				by := result.Runs[0].Attempts.ByOutcome
				refused := by["tls_failed"] + by["reset"] // a server that hangs up before a client has written hides why
				if got := outcomes(result); given && got != "map[200:5] map[]" || !given && (refused != result.Runs[0].Attempts.Sent || s.requests.Load() > 0) {
					t.Errorf("%s, certificate %v: %s, want 5 answers with it and none without", v.name, given, got)
				}
				if said := strings.Contains(strings.Join(result.Runs[0].Notes, ""), "asked for a client's certificate"); said == given {
					t.Errorf("%s, certificate %v: the notes ask for one: %v", v.name, given, said)
				}
			})
		}
	}
}

// D-12 (a): a server that retires its connections with a GOAWAY costs no operation, although a
// body goes with every request, and what net/http sent again for it is counted apart.
func TestRetiredConnectionsAreNoFailures(t *testing.T) {
	for _, v := range []int{2, 4} {
		synctest.Test(t, func(t *testing.T) {
			var s goServer
			s.Protocols = every()
			body := bytes.Repeat([]byte("0123456789"), 1024)
			var seen, wrong atomic.Int64
			defer s.start(t, nil, func(w http.ResponseWriter, r *http.Request) {
				if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, body) {
					wrong.Add(1)
				}
				if seen.Add(1)%50 == 0 {
					w.Header().Set("Connection", "close") // the server turns it into a GOAWAY
				}
			})()
			p := scenario(t, "url: http://127.0.0.1:443/", "http: 2", "clients: 50", "operations: 2000", "method: POST", "retry-non-idempotent: true",
				"body-file: b", fmt.Sprint("seed: ", v))
			result := visit(t.Context(), t, p, load.Env{Connect: s.network.DialContext, Material: load.Material{Body: body}})
			run := &result.Runs[0]
			if got := outcomes(result); got != "map[200:2000] map[]" || run.Operations.Succeeded != 2000 || wrong.Load() != 0 {
				t.Errorf("%s, %d operations done, %d bodies wrong; want 2000 answers and nothing else", got, run.Operations.Succeeded, wrong.Load())
			}
			// Go's server does not run the handler for what came after its GOAWAY, so what is sent
			// again is seen here once.
			if s.requests.Load() != 2000 || run.Generator.Connections < 50+30 {
				t.Errorf("%d requests over %d connections; want 2000 over 50 and most of 40 more", s.requests.Load(), run.Generator.Connections)
			}
		})
	}
}

// retire is a server of HTTP/2 that takes a request and says that it will not handle it.
func retire(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	const preface, head = 24, 9 // bytes; the head of a frame is its length, type, flags and stream
	if _, err := io.CopyN(io.Discard, conn, preface); err != nil {
		return
	}
	if _, err := conn.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}); err != nil { // SETTINGS
		return
	}
	for {
		var frame [head]byte
		if _, err := io.ReadFull(conn, frame[:]); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(frame[0])<<16|int64(frame[1])<<8|int64(frame[2])); err != nil {
			return
		}
		if frame[3] == 1 { // HEADERS: GOAWAY, the last handled stream is 0, no error
			_, _ = conn.Write([]byte{0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		}
	}
}

// A request that the server said it did not handle is sent again by the transport: one attempt, one
// arrival, and counted apart.
func TestReplaysAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s goServer
		s.Protocols = every()
		defer s.start(t, nil, func(http.ResponseWriter, *http.Request) {})()
		var dials atomic.Int64
		result := elsewhere(t, scenario(t, "url: http://127.0.0.1:443/", "http: 2", "clients: 5", "method: POST", "body: x"), func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) > 5 {
				return s.network.DialContext(ctx, network, address)
			}
			client, server := targettest.Pipe()
			go retire(server)
			return client, nil
		})
		run := &result.Runs[0]
		if got := outcomes(result); got != "map[200:5] map[]" || run.Generator.Replayed != 5 || run.Attempts.Sent != 5 || run.Books.Arrivals != 5 || s.requests.Load() != 5 {
			t.Errorf("%s, %d replayed, %d sent, %d arrivals, %d handled; want 5 of each", got, run.Generator.Replayed, run.Attempts.Sent, run.Books.Arrivals, s.requests.Load())
		}
		if !strings.Contains(strings.Join(run.Notes, ""), "replayed by transport") {
			t.Error("no note says so")
		}
	})
}

// D-12 (b): every client has a connection of its own, so a server that takes 10 streams at a
// time holds no one up, and the report says how many connections that took. HTTP/1.1 is alike.
func TestTheStreamLimitHidesNoClient(t *testing.T) {
	for _, version := range []string{"2", "1.1"} {
		synctest.Test(t, func(t *testing.T) {
			var s goServer
			s.Protocols = every()
			s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
			defer s.start(t, nil, func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) })()
			result := elsewhere(t, scenario(t, "url: http://127.0.0.1:443/", "http: "+version, "clients: 200", "operations: 200"), s.network.DialContext)
			run := &result.Runs[0]
			if run.Buckets[0].Arrivals != 200 || run.Generator.Connections != 200 || s.opened.Load() != 200 || run.Generator.ConnectionWait.Count != 0 {
				t.Errorf("HTTP/%s: %d in the first bucket over %d connections, %d waits for one; want 200, 200 and 0",
					version, run.Buckets[0].Arrivals, run.Generator.Connections, run.Generator.ConnectionWait.Count)
			}
			if got := *run.Latency.Max; got != int64(100*time.Millisecond) || outcomes(result) != "map[200:200] map[]" {
				t.Errorf("HTTP/%s: %s, latency up to %d ns; want 100 ms", version, outcomes(result), got)
			}
		})
	}
}

// An answer that has not come when the run ends, over HTTP/2, leaves nothing behind: net/http
// keeps such a connection.
func TestNothingOfHTTP2IsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s goServer
		s.Protocols = every()
		release := make(chan struct{})
		defer s.start(t, nil, func(w http.ResponseWriter, r *http.Request) {
			if len(r.Header.Get("Stormtest-Client")) > 2 { // the others have not even a head
				_ = http.NewResponseController(w).Flush()
			}
			<-release
		})()
		result := elsewhere(t, scenario(t, "url: http://127.0.0.1:443/", "http: 2", "clients: 400", "duration: 1s"), s.network.DialContext)
		if got := result.Runs[0].Attempts.InFlightAtEnd; got != 400 {
			t.Errorf("%d in flight, want 400", got)
		}
		close(release)
		synctest.Wait()
		if s.open.Load() != 0 {
			t.Errorf("%d of %d connections are open after the run", s.open.Load(), s.opened.Load())
		}
	})
}

// A connection opened before the start and given up by the server before its first request, as
// Go's does after 10 s over HTTP/2, costs the client no attempt.
func TestAConnectionThatWaitsForItsFirstRequest(t *testing.T) {
	for _, lines := range [][]string{{"http: 2"}, {"http: 1.1", "body-file: b"}, {"http: 1.1"}} {
		synctest.Test(t, func(t *testing.T) {
			var s goServer
			s.Protocols = every()
			s.ReadHeaderTimeout = 10 * time.Second
			defer s.start(t, nil, func(http.ResponseWriter, *http.Request) {})()
			result := elsewhere(t, scenario(t, append(lines, "url: http://127.0.0.1:443/", "clients: 60", "ramp: 60s", "max-retries: 0", "method: POST", "duration: 70s")...), s.network.DialContext)
			run := &result.Runs[0]
			if got := outcomes(result); got != "map[200:60] map[]" {
				t.Errorf("%v: %s, want 60 answers", lines, got)
			}
			if n := run.Generator.ConnectionWait.Count; n < 50 || n > 52 || *run.Lateness.Max != 0 {
				t.Errorf("%v: %d connections opened when they were needed, lateness up to %d; want 50 to 52 and 0", lines, n, *run.Lateness.Max)
			}
		})
	}
}

// net/http dials on for an attempt that is over; the trip does not, so that a target which takes no
// connections any more holds no more of them than there are clients.
func TestDialsEndWithTheirAttempt(t *testing.T) {
	for _, lines := range [][]string{{"http: 2"}, {"http: 1.1", "body-file: b"}} {
		synctest.Test(t, func(t *testing.T) {
			var s goServer
			s.Protocols = every()
			stop := s.start(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
			var dialling, most, gone atomic.Int64
			time.AfterFunc(520*time.Millisecond, func() {
				gone.Store(1)
				stop()
			})
			connect := func(ctx context.Context, network, address string) (net.Conn, error) {
				if gone.Load() == 0 {
					return s.network.DialContext(ctx, network, address)
				}
				n := dialling.Add(1)
				defer dialling.Add(-1)
				most.Store(max(most.Load(), n))
				<-ctx.Done()
				return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
			}
			// Attempts at 0 and 400 ms are answered; those from 800 ms, 2.2 s and 3.6 s find nobody.
			p := scenario(t, append(lines, "url: http://127.0.0.1:443/", "clients: 4", "strategy: constant", "base: 400ms", "timeout: 1s", "duration: 4900ms",
				"method: POST", "retry-non-idempotent: true")...)
			result := elsewhere(t, p, connect)
			if got := outcomes(result); got != "map[503:8 connect_timeout:12] map[connect_timeout:12]" {
				t.Errorf("%v: %s, want 8 answers and 12 connect_timeout", lines, got)
			}
			synctest.Wait()
			if dialling.Load() != 0 || most.Load() != 4 {
				t.Errorf("%v: up to %d dials at a time, %d after the run; want 4 and 0", lines, most.Load(), dialling.Load())
			}
			if late := *result.Runs[0].Lateness.Max; late != 0 {
				t.Errorf("%v: lateness up to %d ns, want 0", lines, late)
			}
		})
	}
}

// HTTP/2 with prior knowledge, at a server that knows HTTP/1 alone, is answered in what is no HTTP/2.
func TestATargetWithoutHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s goServer
		defer s.start(t, nil, func(http.ResponseWriter, *http.Request) {})()
		result := elsewhere(t, scenario(t, "url: http://127.0.0.1:443/", "http: 2", "clients: 50", "max-retries: 1"), s.network.DialContext)
		by := result.Runs[0].Attempts.ByOutcome
		// Where the server answered its preface and hung up before a request was written, that is a reset.
		if by["malformed"] == 0 || by["malformed"]+by["reset"] != 50 {
			t.Errorf("%s, want 50 malformed, or reset", outcomes(result))
		}
	})
}
