package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/fleet"
	"stormtest/load/pace"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// These tests put one fleet in a bubble against a server that answers from a script: what the
// fleet does with servers that behave badly, and with connections that are lost.

// A server answers the n-th request, from 0, on any connection.
type server func(n int, r *http.Request, c *targettest.Conn)

// answer is a server that sends one text to every request.
func answer(text string) server {
	return func(_ int, _ *http.Request, c *targettest.Conn) { _, _ = io.WriteString(c, text) }
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// A plan is what a test wants of the fleet.
type plan struct {
	clients    int
	operations int64
	retries    int
	timeout    time.Duration
	method     string
	retryOn    string
	base       time.Duration
	hedge      retry.Hedge
	honour     bool          // Retry-After
	perSecond  float64       // above 0: an open loop
	duration   time.Duration // 0 is a minute
	dial       time.Duration // what opening a connection takes
	send       time.Duration // what writing a request takes
}

// A seen is what came of it.
type seen struct {
	stats    fleet.Stats
	rows     []retry.Row
	run      record.Run
	requests []string // method and the headers of interest
}

// storm runs p against s in a bubble.
func storm(t *testing.T, p plan, s server) seen {
	t.Helper()
	var out seen
	synctest.Test(t, func(t *testing.T) {
		var network targettest.Network
		ln, err := network.Listen("t")
		if err != nil {
			t.Fatal(err)
		}
		requests, serving := serve(ln, s)
		var mu sync.Mutex
		recorder := record.New(record.Config{KindNames: []string{"responded"}})
		f := fleet.New(config(t, p, &network, recorder, func(row retry.Row) {
			mu.Lock()
			defer mu.Unlock()
			out.rows = append(out.rows, row)
		}))
		if err := f.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		stats, err := f.Run(t.Context(), func(time.Time) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		_ = ln.Close()
		serving.Wait()
		out.requests = *requests
		out.stats = stats
		out.run = recorder.Summarise(record.End{At: stats.End, InFlight: stats.InFlight, Unfinished: stats.Unfinished})
	})
	return out
}

// serve answers every request on every connection, until the listener and the connections are closed, and lists the requests.
func serve(ln net.Listener, s server) (requests *[]string, serving *sync.WaitGroup) {
	requests, serving = new([]string), new(sync.WaitGroup)
	var mu sync.Mutex
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					mu.Lock()
					i := len(*requests)
					*requests = append(*requests, strings.Join([]string{r.Method, r.Header.Get("Client"), r.Header.Get("Attempt"), r.Header.Get("Idempotency-Key")}, " "))
					mu.Unlock()
					s(i, r, c.(*targettest.Conn))
				}
			})
		}
	})
	return requests, serving
}

func config(t *testing.T, p plan, network *targettest.Network, recorder *record.Recorder, trace func(retry.Row)) fleet.Config {
	t.Helper()
	entry, _ := backoff.Lookup("constant")
	params := backoff.Defaults()
	if p.base > 0 {
		params.Base = p.base
	}
	set := retry.DefaultSet()
	if p.retryOn != "" {
		var err error
		if set, err = retry.ParseSet(p.retryOn); err != nil {
			t.Fatal(err)
		}
	}
	if p.operations == 0 {
		p.operations = int64(p.clients)
	}
	if p.method == "" {
		p.method = http.MethodGet
	}
	if p.duration == 0 {
		p.duration = time.Minute
	}
	var open *pace.Schedule
	if p.perSecond > 0 {
		open = pace.NewSchedule(pace.Config{PerSecond: p.perSecond, Until: p.duration}, nil)
	}
	return fleet.Config{
		Clients: p.clients,
		Policy: &retry.Policy{
			Strategy: entry.New(params), MaxRetries: p.retries, Hedge: p.hedge, Timeout: p.timeout, RetryOn: set, Method: p.method, IdempotencyKey: true,
			HonourRetryAfter: p.honour, RetryAfterJitter: retry.StrategyDraw,
		},
		Operations: p.operations,
		Open:       open,
		Duration:   p.duration,
		Dial: func(ctx context.Context, _ int) (net.Conn, error) {
			time.Sleep(p.dial)
			conn, err := network.DialContext(ctx, "mem", "t")
			if err != nil || p.send == 0 {
				return conn, err
			}
			return slowConn{conn, p.send}, nil
		},
		Request: fleet.Request{
			Method: p.method, Host: "t", Target: "/", Agent: "test", ClientHeader: "Client", AttemptHeader: "Attempt", KeyPrefix: "k",
		},
		Wake:     wake.Timers,
		Recorder: recorder,
		Trace:    trace,
	}
}

// A slowConn takes its time to write.
type slowConn struct {
	net.Conn
	send time.Duration
}

func (c slowConn) Write(b []byte) (int, error) {
	time.Sleep(c.send)
	return c.Conn.Write(b)
}

// outcomes lists the outcomes of the trace in order, with the moments they were known.
func (s seen) outcomes() string {
	var b strings.Builder
	for _, r := range s.rows {
		fmt.Fprintf(&b, "%v@%v ", r.Outcome, r.End)
	}
	return strings.TrimSpace(b.String())
}

func TestAnswers(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	tests := []struct {
		name   string
		plan   plan
		server server
		want   string
	}{
		{"served", plan{}, answer(ok), "200@0s"},
		{"a body", plan{}, answer("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + big), "200@0s"},
		{"a body after a pause", plan{}, func(_ int, _ *http.Request, c *targettest.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-")
			time.Sleep(time.Second)
			_, _ = io.WriteString(c, "Length: 5\r\n\r\nab")
			time.Sleep(time.Second)
			_, _ = io.WriteString(c, "cde")
		}, "200@2s"},
		{"an interim answer first", plan{}, answer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok), "200@0s"},
		{"a head of 60 KB", plan{}, answer("HTTP/1.1 200 OK\r\nX: " + big[:60_000] + "\r\nContent-Length: 0\r\n\r\n"), "200@0s"},
		{"a head too long", plan{}, answer("HTTP/1.1 200 OK\r\nX: " + big + "\r\n\r\n"), "malformed@0s"},
		{"not HTTP", plan{}, answer("hello\r\n\r\n"), "malformed@0s"},
		{"no answer", plan{timeout: time.Second}, answer(""), "timeout@1s"},
		{"half an answer", plan{timeout: time.Second}, answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), "timeout@1s"},
		{"half an answer and the end", plan{}, func(_ int, _ *http.Request, c *targettest.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
			_ = c.Close()
		}, "reset@0s"},
		{"a reset", plan{}, func(_ int, _ *http.Request, c *targettest.Conn) { c.Abort() }, "reset@0s"},
		{"HEAD has no body", plan{method: http.MethodHead}, answer("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"), "200@0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.clients = 1
			got := storm(t, tt.plan, tt.server)
			if s := got.outcomes(); s != tt.want {
				t.Errorf("outcomes = %s, want %s", s, tt.want)
			}
			if got.stats.InFlight != 0 || got.stats.Unfinished != 0 || got.stats.Sent[0] != 1 {
				t.Errorf("stats = %+v", got.stats)
			}
		})
	}
}

// Attempts carry their number; operations their own key, the same for all their attempts.
func TestRequestsSayWhoTheyAre(t *testing.T) {
	got := storm(t, plan{clients: 1, operations: 2, retries: 2}, func(n int, _ *http.Request, c *targettest.Conn) {
		_, _ = io.WriteString(c, map[bool]string{true: ok, false: "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n"}[n == 2 || n == 3])
	})
	want := []string{
		`GET 0 0000000000 "k-0-0000000000000000000"`,
		`GET 0 0000000001 "k-0-0000000000000000000"`,
		`GET 0 0000000002 "k-0-0000000000000000000"`,
		`GET 0 0000000000 "k-0-0000000000000000001"`,
	}
	if strings.Join(got.requests, "\n") != strings.Join(want, "\n") {
		t.Errorf("requests:\n%s\nwant\n%s", strings.Join(got.requests, "\n"), strings.Join(want, "\n"))
	}
	if s := got.outcomes(); s != "503@0s 503@100ms 200@200ms 200@200ms" {
		t.Errorf("outcomes = %s", s)
	}
}

// D-11: connections are used again, and a new one is opened only where the old one is gone.
func TestConnectionsAreReused(t *testing.T) {
	got := storm(t, plan{clients: 20, operations: 400}, answer("HTTP/1.1 503 x\r\nContent-Length: 65536\r\n\r\n"+strings.Repeat("x", 65536)))
	if got.stats.Connections != 20 || len(got.requests) != 400 {
		t.Errorf("%d connections for %d requests, want 20 for 400", got.stats.Connections, len(got.requests))
	}
	got = storm(t, plan{clients: 1, operations: 5}, func(_ int, _ *http.Request, c *targettest.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		_ = c.Close()
	})
	if s := got.outcomes(); s != "200@0s 200@0s 200@0s 200@0s 200@0s" || got.stats.Connections != 5 {
		t.Errorf("outcomes = %s over %d connections, want five times 200 over five", s, got.stats.Connections)
	}
}

// A connection that the server closes while the client sleeps costs no attempt: the client
// opens another when the attempt is due.
func TestAConnectionLostWhileWaiting(t *testing.T) {
	for _, abort := range []bool{false, true} {
		got := storm(t, plan{clients: 1, retries: 3, base: time.Second}, func(n int, _ *http.Request, c *targettest.Conn) {
			if n == 3 {
				_, _ = io.WriteString(c, ok)
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n")
			time.Sleep(500 * time.Millisecond)
			if abort {
				c.Abort()
			} else {
				_ = c.Close()
			}
		})
		if s := got.outcomes(); s != "503@0s 503@1s 503@2s 200@3s" {
			t.Errorf("abort %v: outcomes = %s", abort, s)
		}
		for _, r := range got.rows {
			if r.Sent != r.Due {
				t.Errorf("abort %v: attempt %d left at %v, due %v", abort, r.Attempt, r.Sent, r.Due)
			}
		}
	}
}

// More than was asked for leaves the connection of no use.
func TestAnAnswerTooMuch(t *testing.T) {
	got := storm(t, plan{clients: 1, operations: 3}, answer(ok+ok))
	if s := got.outcomes(); s != "200@0s 200@0s 200@0s" || got.stats.Connections != 3 {
		t.Errorf("outcomes = %s over %d connections, want three times 200 over three", s, got.stats.Connections)
	}
}

func TestInvalidRetryAfterIsCountedAndIgnored(t *testing.T) {
	synced := storm(t, plan{clients: 1, retries: 1}, answer("HTTP/1.1 503 x\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n"))
	if h := synced.run.Hints; h.Seen != 2 || h.Invalid != 2 || h.Obeyed != 0 {
		t.Errorf("hints = %+v, want two seen and invalid", h)
	}
	if s := synced.outcomes(); s != "503@0s 503@100ms" {
		t.Errorf("outcomes = %s", s)
	}
}

// The end of the run ends every wait: for an answer, for a due moment, and for a connection.
func TestTheEndOfTheRun(t *testing.T) {
	got := storm(t, plan{clients: 3, retries: 9, base: time.Hour, timeout: 2 * time.Hour}, func(n int, r *http.Request, c *targettest.Conn) {
		if r.Header.Get("Client") == "0" {
			return // it waits for its answer
		}
		_, _ = io.WriteString(c, "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n")
		if r.Header.Get("Client") == "1" {
			_ = c.Close() // it waits without a connection
		}
	})
	if got.stats.End != time.Minute || got.stats.InFlight != 1 || got.stats.Unfinished != 3 {
		t.Errorf("stats = %+v, want the end at 1m, one in flight, three unfinished", got.stats)
	}
}

func TestConnectFailsWithTheFirstError(t *testing.T) {
	refused := errors.New("refused")
	f := fleet.New(fleet.Config{
		Clients: 300,
		Policy:  &retry.Policy{},
		Dial:    func(context.Context, int) (net.Conn, error) { return nil, refused },
	})
	if err := f.Connect(t.Context()); !errors.Is(err, refused) || !strings.Contains(err.Error(), "of 300") {
		t.Errorf("Connect = %v", err)
	}
	f.Close()
}
