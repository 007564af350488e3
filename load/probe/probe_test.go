package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stormtest/load/record"
)

// serve starts a server on loopback for the test.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// to is a configuration for a server.
func to(s *httptest.Server) Config {
	address := s.Listener.Addr().String()
	return Config{Host: "service.test", Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}}
}

func mustRun(t *testing.T, c Config) *record.Probe {
	t.Helper()
	p, err := Run(t.Context(), c)
	if p != nil {
		t.Log(steps(p))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// finds probes until the capacity is right, at most three times: a stall of the machine spoils one.
func finds(t *testing.T, c Config, limit record.ProbeLimit, want, share float64) *record.Probe {
	t.Helper()
	for try := 1; ; try++ {
		p := mustRun(t, c)
		got := p.CapacityPerSecond
		if p.Limit == limit && got != nil && *got >= want*(1-share) && *got <= want*(1+share) {
			return p
		}
		if try == 3 {
			t.Fatalf("three times no capacity of %v within %v %% by %s", want, 100*share, limit)
		}
	}
}

// Four workers of 20 ms behind an unlimited queue serve 200 a second, and refuse nothing.
func TestQueueingService(t *testing.T) {
	var mu sync.Mutex
	queue, began := queueing(4, 20*time.Millisecond, 0), time.Now()
	s := serve(t, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		done, _ := queue(time.Since(began))
		mu.Unlock()
		time.Sleep(done - time.Since(began))
	})
	c := to(s)
	c.step, c.MaxConcurrency = 300*time.Millisecond, 64
	p := finds(t, c, record.ProbePlateau, 200, 0.15)
	if p.Latency.Min == nil || *p.Latency.Min < 19e6 {
		t.Errorf("healthy latency = %v, want some 20 ms", show(p.Latency))
	}
}

// A limit lets 200 a second through, and bursts of 20 at once, as nginx's limit_req does with nodelay.
func TestLimitedService(t *testing.T) {
	limit := newBucket(200, 20)
	began := time.Now()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if !limit.allow(time.Since(began)) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	c := to(s)
	c.step, c.hold = 200*time.Millisecond, time.Second
	p := finds(t, c, record.ProbeRejections, 200, 0.2)
	if p.ByStatus["503"] == 0 || p.ByStatus["200"] == 0 {
		t.Errorf("statuses = %v, want both", p.ByStatus)
	}
	var seen int64
	for _, m := range []map[string]int64{p.ByStatus, p.Errors} {
		for _, n := range m {
			seen += n
		}
	}
	if seen != p.Requests {
		t.Errorf("%d requests, of which %d ended: %s", p.Requests, seen, steps(p))
	}
}

func show(d record.Distribution) []int64 {
	if d.Count == 0 {
		return nil
	}
	return []int64{*d.Min, *d.P50, *d.P99, *d.Max}
}

// Nothing is left: no goroutine, and no descriptor. hey's own goroutines notice a little later.
func TestLeak(t *testing.T) {
	server := serve(t, ok)
	c := to(server)
	c.MaxTime, c.step = 400*time.Millisecond, 50*time.Millisecond
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range 2 {
		mustRun(t, c)
	}
	server.CloseClientConnections()
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left, open := runtime.NumGoroutine()-goroutines, descriptors(t)-files
		if left <= 0 && open <= 0 {
			return
		}
		if time.Now().After(end) {
			var b strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
			t.Fatalf("%d goroutines and %d descriptors are left\n%s", left, open, b.String())
		}
	}
}

// descriptors counts the open ones; 0 where the system does not say.
func descriptors(t *testing.T) int {
	t.Helper()
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// The end of the context ends a probe at once, and what was measured stays.
func TestInterrupted(t *testing.T) {
	hang := make(chan struct{})
	var n atomic.Int64
	server := serve(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) > 20 {
			<-hang
		}
	})
	defer close(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	p, err := Run(ctx, to(server))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second || p.Limit != record.ProbeInterrupted || p.CapacityPerSecond != nil || p.ByStatus["200"] != 20 {
		t.Errorf("took %v: %s", took, steps(p))
	}
}

func TestRefusedConfig(t *testing.T) {
	_, err := Run(t.Context(), Config{RequestTarget: "x", Timeout: -1, MaxTime: -1, MaxRequests: -1, MaxConcurrency: 1001})
	for _, part := range []string{"no Dial", "no host", `"x"`, "timeout", "time = ", "requests = -1", "concurrency = 1001, want 1..1000"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error = %v, want one that says %q", err, part)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	server := serve(t, ok)
	c := to(server)
	server.Close()
	if _, err := Run(t.Context(), c); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error = %v, want a refused connection", err)
	}
}

func steps(p *record.Probe) string {
	var b strings.Builder
	for _, s := range p.Steps {
		v := func(f *float64) float64 {
			if f == nil {
				return -1
			}
			return *f
		}
		fmt.Fprintf(&b, "\n%-6s %4d %8v offered %8.1f answered %8.1f good %8.1f", s.Mode, s.Concurrency, time.Duration(s.Duration).Round(time.Millisecond), v(s.Offered), v(s.Answered), v(s.Good))
	}
	fmt.Fprintf(&b, "\n%s %v errors %v requests %d connections %d in %v", p.Limit, p.ByStatus, p.Errors, p.Requests, p.Connections, time.Duration(p.Duration))
	return b.String()
}
