package target_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stormtest/target"
	"stormtest/target/station"
)

// overTCP runs a target behind real sockets until the test ends. What these tests wait for is
// the answer, not the time.
func overTCP(t *testing.T, cfg station.Config) (addr string, arrivals *atomic.Int64) {
	t.Helper()
	arrivals = new(atomic.Int64)
	tgt, err := target.New(target.Config{Station: cfg, OnArrival: func(target.Arrival) { arrivals.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	port, err := target.OpenPort(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := tgt.Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := tgt.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); wg.Wait(); _ = port.Close() })
	return port.Addr().String(), arrivals
}

// quick serves everything almost at once.
var quick = station.Config{PerSecond: 1e6, Workers: 100, Status: 503}

func TestRequestsOverSockets(t *testing.T) {
	const ok, end = "200", "end"
	head := "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
	tests := []struct {
		name     string
		requests [][]string // each in parts, of which the target has time to read each alone
		want     string     // of the last; those before it get 200
	}{
		{"one", [][]string{{head}}, ok},
		{"one after the other", [][]string{{head}, {head}, {head}}, ok},
		{"a head in parts", [][]string{{head[:5], head[5:20], head[20:]}, {head}}, ok},
		{"a body with its head", [][]string{{"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"}, {head}}, ok},
		{"a body in parts", [][]string{{"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nab", "cd", "ef"}, {head}}, ok},
		{"a long body", [][]string{{"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000)}, {head}}, ok},
		{"another protocol", [][]string{{"SSH-2.0-x\r\n\r\n"}}, end},
		{"a head without end", [][]string{{strings.Repeat("x", 20_000)}}, end},
		{"two at once", [][]string{{head}, {head + head}}, end},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			addr, arrivals := overTCP(t, quick)
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			in := bufio.NewReader(c)
			served := int64(0)
			for i, parts := range tt.requests {
				for _, part := range parts {
					_, _ = io.WriteString(c, part)
					time.Sleep(2 * time.Millisecond) // two parts that are read as one are as good
				}
				want := ok
				if i == len(tt.requests)-1 {
					want = tt.want
				}
				if got := answerOf(c, in); got != want {
					t.Errorf("answer %d = %s, want %s", i, got, want)
				}
				if want == ok {
					served++
				}
			}
			if arrivals.Load() != served {
				t.Errorf("%d arrivals, want %d", arrivals.Load(), served)
			}
		})
	}
}

// answerOf reads one answer's status, or how the connection ended.
func answerOf(c net.Conn, in *bufio.Reader) string {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	resp, err := http.ReadResponse(in, nil)
	switch {
	case err == nil:
		return resp.Status[:3]
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "end"
	}
	return err.Error()
}

// A client that leaves gives its place in the queue free, where the target drops its work.
func TestALeaverOverSockets(t *testing.T) {
	addr, arrivals := overTCP(t, station.Config{PerSecond: 1.0 / 3600, Workers: 1, Status: 503, CancelAbandoned: true})
	ask := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
		return c, bufio.NewReader(c)
	}
	first, _ := ask()
	for arrivals.Load() < 1 {
		time.Sleep(time.Millisecond)
	}
	second, in := ask()
	if got := answerOf(second, in); got != "503" {
		t.Errorf("while the first is served: %s, want 503", got)
	}
	_ = first.Close()
	for range 1000 { // until the target has seen it
		_, _ = io.WriteString(second, "GET / HTTP/1.1\r\n\r\n")
		_ = second.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := http.ReadResponse(in, nil); err != nil {
			return // it waits to be served
		}
	}
	t.Error("the place of a client that left is never free")
}

// An outage of mode reset resets, and one of mode refuse closes the door on open connections
// too.
func TestOutagesOverSockets(t *testing.T) {
	cfg := quick
	cfg.Outages = []station.Outage{{From: 0, To: time.Hour, Mode: station.ModeReset}}
	addr, _ := overTCP(t, cfg)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("in an outage of mode reset: %v, want a reset", err)
	}
	cfg.Outages = []station.Outage{{From: 50 * time.Millisecond, To: 100 * time.Millisecond, Mode: station.ModeRefuse}}
	addr, _ = overTCP(t, cfg)
	c, err = net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("when the door closes: %v, want a reset", err)
	}
	for range 1000 { // until it opens again
		if c, err = net.Dial("tcp", addr); err == nil {
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
			if answerOf(c, bufio.NewReader(c)) == "200" {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the door never opens again")
}
