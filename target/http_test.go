package target_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/wake"
)

// A hall is a started target behind an HTTPServer in a bubble, on a network in memory.
type hall struct {
	*bed
	client http.Client
	server *target.HTTPServer

	handled []target.Handled // guarded by mu
}

// serving runs f in a bubble with a target that serves any client by cfg, and stops it after f.
func serving(t *testing.T, cfg station.Config, f func(h *hall)) *hall {
	t.Helper()
	var h *hall
	synctest.Test(t, func(t *testing.T) {
		h = &hall{bed: &bed{T: t, t0: time.Now()}}
		tgt, err := target.New(target.Config{
			Station: cfg,
			Wake:    wake.Timers,
			OnHandled: func(x target.Handled) {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.handled = append(h.handled, x)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if h.server, err = tgt.ListenHTTP(h, nil); err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return h.net.DialContext(ctx, "mem", "target")
		}, ExpectContinueTimeout: time.Minute}
		h.client.Transport = transport
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := h.server.Serve(ctx); err != nil {
				t.Error(err)
			}
		})
		if err := tgt.Start(h.t0); err != nil {
			t.Fatal(err)
		}
		f(h)
		transport.CloseIdleConnections()
		cancel()
		wg.Wait()
	})
	return h
}

// get sends a request and returns the status (0 for none) and when the answer came.
func (h *hall) get(r *http.Request) (int, time.Duration, error) {
	h.Helper()
	resp, err := h.client.Do(r)
	if err != nil {
		return 0, h.now(), err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		h.Error(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, h.now(), nil
}

func (h *hall) request(method string, body io.Reader) *http.Request {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, "http://target/any/path?x=1", body)
	if err != nil {
		h.Fatal(err)
	}
	return r
}

// unsized hides the length of a body, so that it is sent in chunks.
type unsized struct{ io.Reader }

func TestAnyRequestIsServed(t *testing.T) {
	serving(t, station.Config{PerSecond: 10, Workers: 1, Status: 503}, func(h *hall) {
		expecting := h.request("PUT", strings.NewReader(strings.Repeat("x", 100_000)))
		expecting.Header.Set("Expect", "100-continue")
		old := h.request("GET", nil)
		old.Header.Set("Connection", "close")
		for i, r := range []*http.Request{
			h.request("GET", nil), h.request("HEAD", nil), h.request("POST", strings.NewReader("body")),
			h.request("POST", unsized{strings.NewReader(strings.Repeat("y", 100_000))}), expecting, old,
		} {
			status, at, err := h.get(r)
			if want := time.Duration(i+1) * 100 * time.Millisecond; status != 200 || at != want || err != nil {
				t.Errorf("%s: status %d at %v, %v; want 200 at %v", r.Method, status, at, err, want)
			}
		}
		if n := h.server.Connections(); n != 1 {
			t.Errorf("%d connections, want 1 that is kept", n)
		}
	})
}

// HTTP/1.0, and two requests in one write, straight onto the connection.
func TestPlainTextRequests(t *testing.T) {
	serving(t, station.Config{PerSecond: 10, Workers: 1, Status: 503}, func(h *hall) {
		c := h.dial()
		if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(all), "HTTP/1.0 200 OK\r\n") {
			t.Errorf("answer to HTTP/1.0 = %q, %v", all, err)
		}
		c = h.dial()
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, request()+request()); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		for i := range 2 {
			resp, err := http.ReadResponse(in, nil)
			if want := time.Duration(i+2) * 100 * time.Millisecond; err != nil || resp.StatusCode != 200 || h.now() != want {
				t.Errorf("answer %d at %v: %v, %v; want 200 at %v", i, h.now(), resp, err, want)
			}
		}
	})
}

func TestOutagesOfAnHTTPServer(t *testing.T) {
	outage := func(text string) station.Outage {
		o, err := station.ParseOutage(text)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	cfg := station.Config{
		PerSecond: 1000, Workers: 1, Status: 429, RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto},
		Outages: []station.Outage{outage("1s..4s=status"), outage("5s..6s=hang"), outage("7s..8s=reset"), outage("9s..10s=refuse")},
	}
	h := serving(t, cfg, func(h *hall) {
		at := func(moment time.Duration) (int, time.Duration, error) {
			time.Sleep(moment - h.now())
			ctx, cancel := context.WithTimeout(h.Context(), 300*time.Millisecond)
			defer cancel()
			return h.get(h.request("POST", strings.NewReader("x")).WithContext(ctx))
		}
		if status, _, err := at(time.Second); status != 429 || err != nil {
			t.Errorf("status outage: %d, %v", status, err)
		}
		if _, end, err := at(5 * time.Second); !errors.Is(err, context.DeadlineExceeded) || end != 5300*time.Millisecond {
			t.Errorf("hang: %v at %v, want the client's own timeout", err, end)
		}
		if _, _, err := at(7 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reset: %v, want a reset", err)
		}
		idle := h.dial()
		time.Sleep(8500*time.Millisecond - h.now())
		if _, _, err := at(9500 * time.Millisecond); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refuse: %v, want nobody there", err)
		}
		if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a connection from before: %v, want a reset", err)
		}
		// Not at 10 s itself, when the listener opens.
		if status, end, err := at(10001 * time.Millisecond); status != 200 || err != nil || end != 10002*time.Millisecond {
			t.Errorf("after the outages: %d at %v, %v; want 200", status, end, err)
		}
	})
	var got []target.Handled
	for _, x := range h.handled {
		x.Client = 0
		got = append(got, x)
	}
	arrival := func(at time.Duration, rejected bool) target.Arrival {
		return target.Arrival{At: at, Rejected: rejected}
	}
	want := []target.Handled{
		{Arrival: arrival(time.Second, true), Counted: true, Status: 429},
		{Arrival: arrival(5*time.Second, false), Counted: true},
		{Arrival: arrival(7*time.Second, true), Counted: true, Reset: true},
		{Arrival: arrival(10001*time.Millisecond, false), Counted: true, Status: 200},
	}
	if !slices.Equal(got, want) {
		t.Errorf("handled = %+v, want %+v", got, want)
	}
}

// What waits where an outage of mode refuse begins is reset by the target; what has left before is not.
func TestARefusalResetsWhatWaits(t *testing.T) {
	outage, err := station.ParseOutage("1500ms..2s=refuse")
	if err != nil {
		t.Fatal(err)
	}
	cfg := station.Config{PerSecond: 1, Workers: 1, Queue: 5, Status: 503, Outages: []station.Outage{outage}}
	h := serving(t, cfg, func(h *hall) {
		var wg sync.WaitGroup
		for _, timeout := range []time.Duration{time.Minute, time.Minute, 1200 * time.Millisecond} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(h.Context(), timeout)
				defer cancel()
				_, _, _ = h.get(h.request("POST", strings.NewReader("x")).WithContext(ctx))
			})
			synctest.Wait() // in this order
		}
		wg.Wait()
	})
	var got []target.Handled
	for _, x := range h.handled {
		got = append(got, target.Handled{Counted: x.Counted, Status: x.Status, Reset: x.Reset})
	}
	if want := []target.Handled{{Counted: true, Status: 200}, {Counted: true}, {Counted: true, Reset: true}}; !slices.Equal(got, want) {
		t.Errorf("handled = %+v, want an answer, a client that left, a reset", got)
	}
}

// What waits when the server ends gets no answer, and nothing of it is left.
func TestTheEndOfAnHTTPServer(t *testing.T) {
	h := serving(t, station.Config{PerSecond: 1, Workers: 1, Queue: 5, Status: 503}, func(h *hall) {
		for range 3 {
			go func() { _, _, _ = h.get(h.request("POST", strings.NewReader("x"))) }()
		}
		time.Sleep(1500 * time.Millisecond)
	})
	var statuses []int
	for _, x := range h.handled {
		statuses = append(statuses, x.Status)
	}
	if !slices.Equal(statuses, []int{200, 0, 0}) {
		t.Errorf("statuses = %v, want one answer and two without", statuses)
	}
}

func TestListenHTTPTellsTheListenersError(t *testing.T) {
	tgt, err := target.New(target.Config{Station: station.Config{PerSecond: 1, Workers: 1, Status: 503}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{}
	if _, err := b.Open(); err != nil {
		t.Fatal(err)
	}
	if _, err := tgt.ListenHTTP(b, nil); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error = %v, want the listener's", err)
	}
}
