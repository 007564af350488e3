package target_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// A bed is a started target in a bubble, on a network in memory.
type bed struct {
	*testing.T
	net targettest.Network
	tgt *target.Target
	t0  time.Time

	mu       sync.Mutex
	arrivals []target.Arrival
	served   []time.Duration
	wasted   int
}

func (b *bed) Open() (net.Listener, error) { return b.net.Listen("target") }

// in runs f in a bubble with a target that serves by cfg, and stops the target after it.
func in(t *testing.T, cfg station.Config, f func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bed{T: t, t0: time.Now()}
		tgt, err := target.New(target.Config{
			Station: cfg,
			Wake:    wake.Timers,
			OnArrival: func(a target.Arrival) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.arrivals = append(b.arrivals, a)
			},
			OnServed: func(w target.Served) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.served = append(b.served, w.At)
				if w.Wasted {
					b.wasted++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.tgt = tgt
		server, err := tgt.Listen(b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := server.Serve(ctx); err != nil {
				t.Error(err)
			}
		})
		if err := tgt.Start(b.t0); err != nil {
			t.Fatal(err)
		}
		f(b)
		cancel()
		wg.Wait()
	})
}

func (b *bed) dial() net.Conn {
	b.Helper()
	c, err := b.net.Dial("mem", "target")
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (b *bed) now() time.Duration { return time.Since(b.t0) }

// ask sends one request with the given head lines and returns the answer and when it came.
func (b *bed) ask(c net.Conn, lines ...string) (*http.Response, time.Duration, error) {
	b.Helper()
	if _, err := io.WriteString(c, request(lines...)); err != nil {
		return nil, b.now(), err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	return resp, b.now(), err
}

func request(lines ...string) string {
	text := "GET / HTTP/1.1\r\nHost: t\r\n"
	for _, line := range lines {
		text += line + "\r\n"
	}
	return text + "\r\n"
}

func TestServedOneAtATime(t *testing.T) {
	in(t, station.Config{PerSecond: 10, Workers: 1, Queue: 1, Status: 503}, func(b *bed) {
		type answer struct {
			status int
			at     time.Duration
		}
		got := make([]answer, 3)
		var wg sync.WaitGroup
		for i := range got {
			c := b.dial()
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				resp, at, err := b.ask(c, fmt.Sprintf("Stormtest-Client: %d", i), "Stormtest-Attempt: 4")
				if err != nil {
					b.Error(err)
					return
				}
				got[i] = answer{resp.StatusCode, at}
			})
		}
		wg.Wait()
		want := []answer{{200, 100 * time.Millisecond}, {200, 200 * time.Millisecond}, {503, 2 * time.Millisecond}}
		if !slices.Equal(got, want) {
			t.Errorf("answers = %v, want %v", got, want)
		}
		wantArrivals := []target.Arrival{
			{At: 0, Client: 0, Attempt: 4},
			{At: time.Millisecond, Client: 1, Attempt: 4},
			{At: 2 * time.Millisecond, Client: 2, Attempt: 4, Rejected: true},
		}
		if !slices.Equal(b.arrivals, wantArrivals) {
			t.Errorf("arrivals = %+v, want %+v", b.arrivals, wantArrivals)
		}
	})
}

func TestBodiesAreReadOver(t *testing.T) {
	in(t, station.Config{PerSecond: 1000, Workers: 1, Status: 503}, func(b *bed) {
		c := b.dial()
		r := bufio.NewReader(c)
		body := strings.Repeat("x", 3000)
		for i := range 3 {
			// The head is cut in two, and the next request follows the body at once.
			text := fmt.Sprintf("POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			for _, part := range []string{text[:10], text[10:1000], text[1000:]} {
				if _, err := io.WriteString(c, part); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			resp, err := http.ReadResponse(r, nil)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("answer %d = %v, %v; want 200", i, resp, err)
			}
			time.Sleep(time.Second)
		}
		if len(b.arrivals) != 3 {
			t.Errorf("%d arrivals, want 3", len(b.arrivals))
		}
	})
}

// A client that leaves: its work goes on for nobody, or makes room at once.
func TestAClientThatLeaves(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancel %v", cancel), func(t *testing.T) {
			in(t, station.Config{PerSecond: 1, Workers: 1, Queue: 5, Status: 503, CancelAbandoned: cancel}, func(b *bed) {
				first, second := b.dial(), b.dial()
				_, _ = io.WriteString(first, request())
				time.Sleep(500 * time.Millisecond)
				_ = first.Close()
				synctest.Wait()
				_, at, err := b.ask(second)
				want := 2 * time.Second // after the work of the first
				if cancel {
					want = 1500 * time.Millisecond
				}
				if err != nil || at != want {
					t.Errorf("second client answered at %v, %v; want %v", at, err, want)
				}
				if wasted := map[bool]int{false: 1, true: 0}[cancel]; b.wasted != wasted {
					t.Errorf("wasted = %d, want %d", b.wasted, wasted)
				}
			})
		})
	}
}

func TestRefuseClosesTheDoorAndOpensItAgain(t *testing.T) {
	in(t, station.Config{PerSecond: 1000, Workers: 1, Status: 503,
		Outages: []station.Outage{
			{From: 3 * time.Second, To: 4 * time.Second, Mode: station.ModeRefuse}, // their order does not matter
			{From: time.Second, To: 2 * time.Second, Mode: station.ModeRefuse},
		}}, func(b *bed) {
		for _, open := range []time.Duration{0, 2 * time.Second} {
			time.Sleep(open + 500*time.Millisecond - b.now())
			c := b.dial()
			if _, _, err := b.ask(c); err != nil {
				t.Errorf("before the outage: %v", err)
			}
			time.Sleep(time.Second)
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the open connection ended with %v, want a reset", err)
			}
			if _, err := b.net.Dial("mem", "target"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial during the outage = %v, want refused", err)
			}
		}
		time.Sleep(time.Second)
		if _, _, err := b.ask(b.dial()); err != nil {
			t.Errorf("after the outages: %v", err)
		}
	})
}

func TestHangAndReset(t *testing.T) {
	in(t, station.Config{PerSecond: 1000, Workers: 1, Status: 503,
		Outages: []station.Outage{
			{From: 0, To: time.Second, Mode: station.ModeHang},
			{From: time.Second, To: 2 * time.Second, Mode: station.ModeReset},
		}}, func(b *bed) {
		hung := b.dial()
		_ = hung.SetReadDeadline(b.t0.Add(time.Hour))
		if _, at, err := b.ask(hung); at != time.Hour {
			t.Errorf("hang answered at %v with %v, want never", at, err)
		}
	})
	in(t, station.Config{PerSecond: 1000, Workers: 1, Status: 503,
		Outages: []station.Outage{{From: 0, To: time.Second, Mode: station.ModeReset}}}, func(b *bed) {
		if _, _, err := b.ask(b.dial()); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("answer = %v, want a reset", err)
		}
		if len(b.arrivals) != 1 || !b.arrivals[0].Rejected {
			t.Errorf("arrivals = %+v, want one that was rejected", b.arrivals)
		}
	})
}

func TestRetryAfterHeader(t *testing.T) {
	in(t, station.Config{PerSecond: 0, Workers: 1, Status: 429,
		RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: 1500 * time.Millisecond}}, func(b *bed) {
		resp, _, err := b.ask(b.dial())
		if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "2" {
			t.Errorf("answer = %+v, %v; want 429 with Retry-After: 2", resp, err)
		}
	})
}

// What Serve is not made for ends the connection, and counts as no arrival.
func TestOtherProtocolsAreTurnedAway(t *testing.T) {
	for name, text := range map[string]string{
		"TLS":                                "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
		"HTTP/1.0":                           "GET / HTTP/1.0\r\n\r\n",
		"chunked":                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"a long head":                        "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 20_000),
		"a second request before the answer": request() + request(),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, station.Config{PerSecond: 0.001, Workers: 1, Queue: 9, Status: 503}, func(b *bed) {
				c := b.dial()
				go func() { _, _ = io.WriteString(c, text) }()
				if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("the connection ended with %v", err)
				}
				if n := len(b.arrivals); n > 1 {
					t.Errorf("%d arrivals", n)
				}
			})
		})
	}
}

// The handler obeys the same rules behind net/http.
func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tgt, err := target.New(target.Config{Wake: wake.Timers, Station: station.Config{
			PerSecond: 10, Workers: 1, Status: 503,
			RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto},
			Outages: []station.Outage{
				{From: 10 * time.Second, To: 11 * time.Second, Mode: station.ModeReset},
				{From: 11 * time.Second, To: 12 * time.Second, Mode: station.ModeHang},
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t0 := time.Now()
		if err := tgt.Start(t0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { tgt.Run(ctx) })
		var network targettest.Network
		ln, err := network.Listen("target:80")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: tgt}
		wg.Go(func() { _ = server.Serve(ln) })
		tr := &http.Transport{DialContext: network.DialContext}
		client := &http.Client{Transport: tr, Timeout: 500 * time.Millisecond}
		get := func() (int, string, error) {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://target/", http.NoBody)
			req.Header.Set(target.HeaderClient, "3")
			resp, err := client.Do(req)
			if err != nil {
				return 0, "", err
			}
			defer func() { _ = resp.Body.Close() }()
			return resp.StatusCode, resp.Header.Get("Retry-After"), nil
		}
		var slow sync.WaitGroup
		slow.Go(func() {
			if status, _, err := get(); status != 200 || time.Since(t0) != 100*time.Millisecond {
				t.Errorf("first = %d, %v at %v; want 200 at 100ms", status, err, time.Since(t0))
			}
		})
		synctest.Wait()
		if status, after, err := get(); status != 503 || after != "1" {
			t.Errorf("second = %d, Retry-After %q, %v; want 503 and 1", status, after, err)
		}
		slow.Wait()
		time.Sleep(10*time.Second - time.Since(t0))
		if _, _, err := get(); err == nil {
			t.Error("reset: no error")
		}
		time.Sleep(11*time.Second - time.Since(t0))
		var timeout interface{ Timeout() bool }
		if _, _, err := get(); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("hang: %v, want a timeout", err)
		}
		tr.CloseIdleConnections()
		_ = server.Close()
		cancel()
		wg.Wait()
	})
}

// What is thrown out of the queue is answered with the status, over a connection and by the handler, and is
// neither served nor rejected at its arrival.
func TestDroppedIsAnswered(t *testing.T) {
	var dropped []string
	for _, handler := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dropped = nil
			b := &bed{T: t, t0: time.Now()}
			tgt, err := target.New(target.Config{
				Station: station.Config{PerSecond: 10, Queue: 3, DropExpired: true, RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterFixed, After: time.Second}},
				Wake:    wake.Timers,
				OnArrival: func(a target.Arrival) {
					if a.Rejected {
						t.Errorf("an arrival at %v is rejected", a.At)
					}
				},
				OnDropped: func(d target.Dropped) { dropped = append(dropped, fmt.Sprint(d.At, " ", d.Why)) },
			})
			if err != nil {
				t.Fatal(err)
			}
			serve := func(context.Context) error { return nil }
			if handler {
				s, err := tgt.ListenHTTP(b, nil)
				if err != nil {
					t.Fatal(err)
				}
				serve = s.Serve
			} else {
				s, err := tgt.Listen(b)
				if err != nil {
					t.Fatal(err)
				}
				serve = s.Serve
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { _ = serve(ctx) })
			if err := tgt.Start(b.t0); err != nil {
				t.Fatal(err)
			}
			for i, timeout := range []string{"01000000u", "00090000u", "00000100m", "1S"} {
				c := b.dial()
				wg.Go(func() {
					defer func() { _ = c.Close() }()
					resp, at, err := b.ask(c, target.HeaderTimeout+": "+timeout)
					want := []string{"200 100ms", "503 100ms 1", "503 100ms 1", "200 200ms"}[i]
					if err != nil {
						t.Error(err)
					} else if got := strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", at, " ", resp.Header.Get("Retry-After"))); got != want {
						t.Errorf("handler %v: attempt %d: %s, want %s", handler, i, got, want)
					}
				})
				synctest.Wait()
			}
			time.Sleep(time.Second)
			cancel()
			wg.Wait()
			if got := fmt.Sprint(dropped); got != "[100ms expired 100ms expired]" {
				t.Errorf("handler %v: dropped %s", handler, got)
			}
		})
	}
}

// A Retry-After that stands for a reset is the date of a whole second, and no other date is in the answer that the client
// could take it from.
func TestRetryAfterOfAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1300 * time.Millisecond) // the bubble's clock begins at a whole minute
		tgt, err := target.New(target.Config{Wake: wake.Timers, Station: station.Config{
			RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterReset, After: 5 * time.Second},
		}})
		if err != nil {
			t.Fatal(err)
		}
		b := &bed{T: t, t0: time.Now(), tgt: tgt}
		server, err := tgt.Listen(b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = server.Serve(ctx) })
		if err := tgt.Start(b.t0); err != nil {
			t.Fatal(err)
		}
		c := b.dial()
		for _, test := range []struct{ at, reset time.Duration }{ // of the clock
			{1300 * time.Millisecond, 5 * time.Second}, {4999999999, 5 * time.Second}, {5 * time.Second, 10 * time.Second}, {7 * time.Second, 10 * time.Second},
		} {
			time.Sleep(test.at - 1300*time.Millisecond - b.now())
			want := b.t0.Add(test.reset - 1300*time.Millisecond).UTC().Format(http.TimeFormat)
			resp, _, err := b.ask(c)
			if err != nil || resp.Header.Get("Retry-After") != want || resp.Header.Get("Date") != "" {
				t.Errorf("at %v over a connection: %+v, %v; want Retry-After %s and no Date", test.at, resp, err, want)
			}
			w := httptest.NewRecorder()
			tgt.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
			if date, ok := w.Header()["Date"]; w.Header().Get("Retry-After") != want || !ok || date != nil {
				t.Errorf("at %v by the handler: %v; want Retry-After %s, and Date nil", test.at, w.Header(), want)
			}
		}
		_ = c.Close()
		cancel()
		wg.Wait()
	})
}

func TestNewRefusesABadStation(t *testing.T) {
	if _, err := target.New(target.Config{Station: station.Config{PerSecond: -1, Workers: -1}}); err == nil {
		t.Error("New with a negative capacity: no error")
	}
}

// Over the kernel's sockets: the port stays taken while nothing listens on it.
func TestPortIsHeldWhileClosed(t *testing.T) {
	port, err := target.OpenPort(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = port.Close() }()
	for range 2 {
		ln, err := port.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got := ln.Addr().String(); got != port.Addr().String() {
			t.Errorf("listening on %s, want %s", got, port.Addr())
		}
		c, err := net.Dial("tcp", port.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		_ = ln.Close()
		if _, err := net.Dial("tcp", port.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial while closed = %v, want refused", err)
		}
	}
	// A connection that binds to any free port never gets this one, however many ask.
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port.Addr().Port())}}
	if _, err := d.Dial("tcp", port.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("binding the held port = %v, want address in use", err)
	}
}
