package load_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// Storms on targets that are not ours. Time matters in all of these, so they run in a bubble
// over a network in memory; elsewhere checks the books of each.

// visit runs p against what env reaches and checks what holds for every run.
func visit(ctx context.Context, t *testing.T, p plan.Plan, env load.Env) *record.Result {
	t.Helper()
	var trace bytes.Buffer
	env.Wake, env.Trace = wake.Timers, &trace
	p.Probe = plan.ProbeOff
	if p.BodyFile != "" && env.Material.Body == nil {
		env.Material.Body = bytes.Repeat([]byte("x"), 20<<10) // so long that net/http sends it
	}
	result, err := load.Run(ctx, p, env)
	if err != nil {
		t.Fatal(err)
	}
	rows := readTrace(t, trace.String())
	for i := range result.Runs {
		checkBooks(t, &result.Runs[i], rows)
		if at := result.Runs[i].ArrivalsMeasuredAt; at != "client" {
			t.Errorf("arrivals measured at %q, want client", at)
		}
	}
	return result
}

// elsewhere runs p in a bubble against what connect gives.
func elsewhere(t *testing.T, p plan.Plan, connect load.Connect) *record.Result {
	t.Helper()
	return visit(t.Context(), t, p, load.Env{Connect: connect})
}

// outcomes writes by_outcome and what the books lost.
func outcomes(r *record.Result) string {
	return fmt.Sprint(r.Runs[0].Attempts.ByOutcome, r.Runs[0].Books.Lost)
}

// A stub is a server of one's own: what it says, and whether it hangs up then.
type stub struct {
	network targettest.Network
	// answer gives what the nth request of a connection gets, n from 0; hangUp ends the
	// connection after it. It may take its time.
	answer func(r *http.Request, n int) (text string, hangUp bool)
	// read takes a request's body, before the answer; an error ends the connection. nil reads
	// it whole.
	read func(r *http.Request) error
	// linger is how long a connection that is hung up stays open, unread.
	linger time.Duration

	listener *targettest.Listener
	opened   atomic.Int64
	mu       sync.Mutex
	conns    []net.Conn
}

// start serves 127.0.0.1:80 of the stub's own network until stop.
func (s *stub) start(t *testing.T) (stop func()) {
	t.Helper()
	listener, err := s.network.Listen("127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.opened.Add(1)
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			wg.Go(func() { s.serve(conn) })
		}
	})
	return func() {
		_ = listener.Close()
		s.hangUp()
		wg.Wait()
	}
}

// hangUp closes every connection.
func (s *stub) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

func (s *stub) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		read := s.read
		if read == nil {
			read = func(r *http.Request) error { _, err := io.Copy(io.Discard, r.Body); return err }
		}
		if read(r) != nil {
			return
		}
		text, last := s.answer(r, n)
		_, err = io.WriteString(conn, text)
		if last {
			time.Sleep(s.linger)
		}
		if err != nil || last {
			return
		}
	}
}

// Every form an answer may have is read to its end and no further, whether the dispatcher wrote
// the request or, because its body is long, net/http did: the two agree on outcome and reuse.
func TestEveryFormOfAnAnswer(t *testing.T) {
	const kept, anew = 3, 6
	tests := []struct {
		name, text  string
		hangUp      bool
		want        string
		connections int64
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, "200", kept},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n", false, "200", kept},
		{"until the end", "HTTP/1.1 200 OK\r\n\r\nhello", true, "200", anew},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", false, "204", kept},
		{"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, "304", kept},
		{"101", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, "101", anew},
		{"429", "HTTP/1.1 429 Slow Down\r\nContent-Length: 0\r\n\r\n", false, "429", kept},
		{"503", "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n", false, "503", kept},
		{"599 without a reason", "HTTP/1.1 599\r\nContent-Length: 0\r\n\r\n", false, "599", kept},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", true, "200", anew},
		{"HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\nhello", true, "200", anew},
		{"HTTP/1.0 kept alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", false, "200", kept},
		{"interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, "200", kept},
		{"close, and closed", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", true, "200", anew},
		{"close, and not closed", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", false, "200", anew},
		{"closed without a word", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true, "200", anew},
		{"nothing", "", true, "reset", anew},
		{"cut in the head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", true, "reset", anew},
		{"cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", true, "reset", anew},
		{"cut in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", true, "reset", anew},
		{"another protocol", "220 smtp.example ESMTP\r\n\r\n", false, "malformed", anew},
		{"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", false, "malformed", anew},
		{"a chunk that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nmany\r\n", false, "malformed", anew},
	}
	for _, tt := range tests {
		for _, way := range []string{"body: hello", "body-file: b", "method: HEAD"} {
			if way == "method: HEAD" && tt.name != "a length" {
				continue
			}
			text := tt.text
			if way == "method: HEAD" { // it says how long the body would be
				text = strings.TrimSuffix(text, "hello")
			}
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const linger = 50 * time.Millisecond
					s := stub{answer: func(*http.Request, int) (string, bool) { return text, tt.hangUp }, linger: linger}
					defer s.start(t)()
					lines := []string{"url: http://127.0.0.1/", "clients: 3", "operations: 6", "rate: 10/s", "max-retries: 0", "timeout: 1s", "duration: 20s"}
					if !strings.HasPrefix(way, "method") {
						lines = append(lines, "method: POST")
					}
					result := elsewhere(t, scenario(t, append(lines, way)...), s.network.DialContext)
					if got, want := outcomes(result), "map["+tt.want+":6] map[]"; got != want {
						t.Errorf("outcomes and losses %s, want %s", got, want)
					}
					untilEnd := tt.name == "until the end" || tt.name == "HTTP/1.0 without a length"
					if l := result.Runs[0].Latency; tt.want == "200" && (*l.Min == int64(linger)) != untilEnd {
						t.Errorf("latency %d ns, want 50 ms only where the end of the connection ends the body", *l.Min)
					}
					if got := s.opened.Load(); got != tt.connections || result.Runs[0].Generator.Connections != got {
						t.Errorf("%d connections, %d by the report; want %d", got, result.Runs[0].Generator.Connections, tt.connections)
					}
				})
			})
		}
	}
}

// What a connection takes is in the latency of the attempt that waited for it and in a figure
// of its own, not in the lateness of the generator, and the attempt arrives when it is over.
func TestConnectingIsNobodysLateness(t *testing.T) {
	for _, body := range []int{0, 5, 20 << 10} {
		synctest.Test(t, func(t *testing.T) {
			s := stub{answer: func(*http.Request, int) (string, bool) {
				time.Sleep(10 * time.Millisecond)
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
			}}
			defer s.start(t)()
			const dial = 300 * time.Millisecond
			slow := func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(dial)
				return s.network.DialContext(ctx, network, address)
			}
			p := scenario(t, "url: http://127.0.0.1/", "clients: 20", "max-retries: 0", "method: POST", "keepalive: false", "duration: 5s")
			p.BodyFile = "b"
			result := visit(t.Context(), t, p, load.Env{Connect: slow, Material: load.Material{Body: bytes.Repeat([]byte("x"), body)}})
			run := &result.Runs[0]
			wait, late := run.Generator.ConnectionWait, run.Lateness
			if wait.Count != 20 || *wait.Min != int64(dial) || *wait.Max != int64(dial) {
				t.Errorf("body of %d: connection wait %+v, want 20 of 300ms", body, wait)
			}
			if *late.Max != 0 || !run.Generator.KeptUp {
				t.Errorf("body of %d: lateness up to %d ns, want 0", body, *late.Max)
			}
			if *run.Latency.Min != int64(dial+10*time.Millisecond) {
				t.Errorf("body of %d: latency %d ns, want 310ms", body, *run.Latency.Min)
			}
			if run.Buckets[3].Arrivals != 20 {
				t.Errorf("body of %d: %d arrivals from 300 ms on, want 20", body, run.Buckets[3].Arrivals)
			}
		})
	}
}

// What this machine ran out of is counted under names of its own and is never the target's; the
// run that it spoiled is invalid.
func TestLocalFaultsAreNotTheTargets(t *testing.T) {
	const short, barred = "descriptors or ports", "route to the target, or its permissions or firewall"
	for _, tt := range []struct {
		errno     syscall.Errno
		want, why string
	}{
		{syscall.EMFILE, "local_descriptors", short}, {syscall.ENFILE, "local_descriptors", short}, {syscall.EADDRNOTAVAIL, "local_ports", short},
		{syscall.ENETUNREACH, "local_network", barred}, {syscall.EPERM, "local_network", barred}, {syscall.EACCES, "local_network", barred},
	} {
		for _, how := range []string{"http: 1.1", "http: 2", "body-file: b"} {
			synctest.Test(t, func(t *testing.T) {
				exhausted := func(_ context.Context, network, _ string) (net.Conn, error) {
					return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", tt.errno)}
				}
				lines := []string{"url: http://127.0.0.1/", "clients: 5", "max-retries: 1", "keepalive: false", "duration: 5s", how, "probe: off"}
				result := elsewhere(t, scenario(t, lines...), exhausted)
				if got, want := outcomes(result), fmt.Sprintf("map[%s:10] map[%[1]s:10]", tt.want); got != want {
					t.Errorf("%v: outcomes and losses %s, want %s", tt.errno, got, want)
				}
				if result.Valid || result.Runs[0].Books.Arrivals != 0 || !strings.Contains(strings.Join(result.InvalidReasons, ""), tt.why) {
					t.Errorf("%v: valid %v with %d arrivals, reasons %q; want invalid, none and why", tt.errno, result.Valid, result.Runs[0].Books.Arrivals, result.InvalidReasons)
				}
				// Before the start it is an error: the fleet that was asked for does not exist.
				lines[3] = "keepalive: true"
				_, err := load.Run(t.Context(), scenario(t, lines...), load.Env{Connect: exhausted, Wake: wake.Timers})
				if !errors.Is(err, tt.errno) || load.IsUsage(err) {
					t.Errorf("%v before the start: %v, want an error with it", tt.errno, err)
				}
			})
		}
	}
}

// A target that is down from the start, or goes away, or hangs: every attempt is booked as what
// happened to it, and the end of the run leaves nothing out.
func TestTargetsThatAreNotThere(t *testing.T) {
	ok := func(*http.Request, int) (string, bool) { return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false }
	hang := func(r *http.Request, _ int) (string, bool) {
		time.Sleep(time.Hour)
		return "", true
	}
	for _, way := range []string{"body: short", "body-file: b", "http: 2"} {
		lines := []string{"url: http://127.0.0.1/", "clients: 10", "method: POST", "retry-non-idempotent: true", way}
		t.Run("down/"+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result := elsewhere(t, scenario(t, append(lines, "max-retries: 3", "duration: 30s")...), closedPort())
				if got := outcomes(result); got != "map[refused:40] map[refused:40]" || result.Runs[0].Books.Arrivals != 0 || !result.Valid {
					t.Errorf("%s, %d arrivals, valid %v %q; want 40 refused alone", got, result.Runs[0].Books.Arrivals, result.Valid, result.InvalidReasons)
				}
			})
		})
		if way == "http: 2" {
			continue // the stub speaks HTTP/1
		}
		t.Run("gone/"+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stub{answer: ok}
				stop := s.start(t)
				time.AfterFunc(1020*time.Millisecond, stop) // t0 is 20.1 ms from now
				// Each client begins an operation every 100 ms, and from 1 s on there is nobody.
				result := elsewhere(t, scenario(t, append(lines, "rate: 100/s", "max-retries: 0", "duration: 2s")...), s.network.DialContext)
				if got := outcomes(result); got != "map[200:100 refused:100] map[refused:100]" {
					t.Errorf("%s, want 100 answers and 100 refused", got)
				}
			})
		})
		t.Run("hung/"+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stub{answer: hang}
				stop := s.start(t)
				defer stop()
				result := elsewhere(t, scenario(t, append(lines, "strategy: constant", "base: 100ms", "timeout: 1s", "duration: 2500ms")...), s.network.DialContext)
				run := &result.Runs[0]
				if got := outcomes(result); got != "map[timeout:20] map[]" || run.Attempts.InFlightAtEnd != 10 || run.Operations.Unfinished != 10 {
					t.Errorf("%s, %d in flight, %d unfinished; want 20 timeouts and 10 in flight", got, run.Attempts.InFlightAtEnd, run.Operations.Unfinished)
				}
			})
		})
	}
}

// An attempt that could not be written did not arrive.
func TestAnAttemptThatCouldNotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stub{}
		defer s.start(t)()
		result := elsewhere(t, scenario(t, "url: http://127.0.0.1/", "clients: 5", "max-retries: 1", "retry-on: +reset"), func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := s.network.DialContext(ctx, network, address)
			return mute{conn}, err
		})
		if got := outcomes(result); got != "map[reset:10] map[reset_before_arrival:10]" || result.Runs[0].Books.Arrivals != 0 {
			t.Errorf("%s, %d arrivals; want 10 lost before arrival", got, result.Runs[0].Books.Arrivals)
		}
	})
}

// mute takes nothing.
type mute struct{ net.Conn }

func (mute) Write([]byte) (int, error) { return 0, os.NewSyscallError("write", syscall.EPIPE) }

// A target that takes no connection costs each attempt its time and no goroutine for longer: net/http
// would go on dialling for an attempt that is over.
func TestConnectionsThatNeverCome(t *testing.T) {
	for _, how := range []string{"http: 1.1", "http: 2"} {
		for _, keepAlive := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				var dialling, most atomic.Int64
				never := func(ctx context.Context, network, _ string) (net.Conn, error) {
					most.Store(max(dialling.Add(1), most.Load()))
					defer dialling.Add(-1)
					<-ctx.Done()
					return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
				}
				p := scenario(t, "url: http://127.0.0.1/", "clients: 4", "strategy: constant", "base: 100ms", "timeout: 1s", "duration: 5450ms",
					how, fmt.Sprint("keepalive: ", keepAlive))
				result := elsewhere(t, p, never)
				synctest.Wait()
				if n := dialling.Load(); n != 0 || most.Load() > 4 {
					t.Errorf("%s: %d dials after the run, up to %d during it; want 0 and 4", how, n, most.Load())
				}
				// From 0, 1.1, 2.2, 3.3 and 4.4 s.
				if got := outcomes(result); got != "map[connect_timeout:20] map[connect_timeout:20]" {
					t.Errorf("%s: %s, want 20 connect_timeout", how, got)
				}
			})
		}
	}
}

// The end by a signal, in the middle of everything, leaves balanced books.
func TestASignalInTheMiddle(t *testing.T) {
	for _, way := range []string{"body: short", "body-file: b"} {
		synctest.Test(t, func(t *testing.T) {
			s := stub{answer: func(*http.Request, int) (string, bool) {
				time.Sleep(30 * time.Millisecond)
				return "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n", false
			}}
			stop := s.start(t)
			defer stop()
			ctx, cancel := context.WithTimeout(t.Context(), 733*time.Millisecond)
			defer cancel()
			p := scenario(t, "url: http://127.0.0.1/", "clients: 50", "base: 10ms", "cap: 40ms", "method: POST", "retry-non-idempotent: true", way)
			result := visit(ctx, t, p, load.Env{Connect: s.network.DialContext})
			run := &result.Runs[0]
			if !result.Interrupted || run.Attempts.InFlightAtEnd == 0 || run.Operations.Unfinished != 50 || run.Attempts.Retries == 0 {
				t.Errorf("interrupted %v, in flight %d, unfinished %d, retries %d", result.Interrupted, run.Attempts.InFlightAtEnd, run.Operations.Unfinished, run.Attempts.Retries)
			}
		})
	}
}

// A header's secret and one in the URL stand in no file.
func TestSecretsStayOutOfEveryFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen atomic.Value
		s := stub{answer: func(r *http.Request, _ int) (string, bool) {
			seen.Store(r.Header.Get("Authorization") + r.Header.Get("X-Vault-Token") + r.URL.Query().Get("api_key") + r.URL.Query().Get("page"))
			return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
		}}
		stop := s.start(t)
		defer stop()
		p := scenario(t, "url: http://127.0.0.1/?page=seven&api_key=hush1", "clients: 2", "max-retries: 0", "duration: 2s", "probe: off", "body: hush4",
			`header: ["Authorization: Bearer hush2", "X-Vault-Token: hush3"]`)
		var log, trace, text, terminal bytes.Buffer
		result, err := load.Run(t.Context(), p, load.Env{Connect: s.network.DialContext, Wake: wake.Timers, HLog: &log, Trace: &trace})
		if err != nil {
			t.Fatal(err)
		}
		if seen.Load() != "Bearer hush2hush3hush1seven" {
			t.Errorf("the target got %q", seen.Load())
		}
		if err := errors.Join(report.JSON(&text, result), report.Terminal(&terminal, result, report.Options{})); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string]*bytes.Buffer{"log": &log, "trace": &trace, "JSON": &text, "terminal": &terminal} {
			if strings.Contains(b.String(), "hush") {
				t.Errorf("a secret stands in the %s:\n%s", name, b)
			}
		}
		if !strings.Contains(text.String(), "page=seven") {
			t.Error("the JSON's URL lacks what is no secret")
		}
	})
}
