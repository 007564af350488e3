package load_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/report"
	"stormtest/target/targettest"
)

// Public faults of other tools, on a target that is not ours.

// closedPort refuses every connection, and names another local port each time.
func closedPort() load.Connect {
	var port atomic.Int64
	return func(_ context.Context, network, address string) (net.Conn, error) {
		local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(1024 + port.Add(1)%60000)}
		return nil, &net.OpError{Op: "dial", Net: network, Source: local, Err: fmt.Errorf("%v to %s: %w", local, address, os.NewSyscallError("connect", syscall.ECONNREFUSED))}
	}
}

// D-16 (b): a minute of 2,000 clients against a closed port takes no memory for each failure,
// and the file stays small. D-18 (a): it is one class of failure, not one for each local port.
func TestAClosedPortForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at [2]int64
		heap := func() int64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		go func() {
			time.Sleep(20 * time.Second)
			at[0] = heap()
			time.Sleep(39 * time.Second)
			at[1] = heap()
		}()
		result := elsewhere(t, scenario(t, "url: http://127.0.0.1:1/", "probe: off", "strategy: none", "clients: 2000", "max-elapsed: unlimited", "duration: 60s"), closedPort())
		run := &result.Runs[0]
		// Attempts at 0, 0.1, 0.3, ... 25.5 and 45.5 s.
		if got := fmt.Sprint(run.Attempts.ByOutcome, run.Books.Lost); got != "map[refused:20000] map[refused:20000]" || !run.Books.Balanced {
			t.Errorf("outcomes and losses = %s, want 20000 refused", got)
		}
		if grown := at[1] - at[0]; grown > 20<<20 {
			t.Errorf("from 20 s to 59 s the heap grew by %d bytes, want 20 MB at most", grown)
		}
		var text bytes.Buffer
		if err := report.JSON(&text, result); err != nil || text.Len() > 1<<20 {
			t.Errorf("JSON of %d bytes, %v; want 1 MB at most", text.Len(), err)
		}
		if strings.Contains(text.String(), "127.0.0.1:1024") || strings.Contains(text.String(), "connection refused") {
			t.Error("the JSON keeps the text of an error")
		}
	})
}

// D-11: without keep-alive every attempt has a connection of its own, and the report says what
// that means; with it, every client has one.
func TestConnectionsOfAForeignTarget(t *testing.T) {
	for _, keepAlive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var network targettest.Network
			ln, err := network.Listen("127.0.0.1:80")
			if err != nil {
				t.Fatal(err)
			}
			var requests, opened, open atomic.Int64
			body := bytes.Repeat([]byte("x"), 64<<10)
			server := http.Server{
				Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					requests.Add(1)
					time.Sleep(2 * time.Millisecond)
					w.WriteHeader(http.StatusServiceUnavailable)
					_, _ = w.Write(body)
				}),
				ConnState: func(_ net.Conn, s http.ConnState) {
					switch s {
					case http.StateNew:
						opened.Add(1)
						open.Add(1)
					case http.StateClosed:
						open.Add(-1)
					}
				},
			}
			go func() { _ = server.Serve(ln) }()
			result := elsewhere(t, scenario(t, "url: http://127.0.0.1/", "probe: off", "strategy: constant", "clients: 200", "base: 5ms", "cap: 5ms",
				"max-retries: 19", fmt.Sprint("keepalive: ", keepAlive)), network.DialContext)
			synctest.Wait()
			want := int64(200)
			if !keepAlive {
				want = 4000
			}
			run := &result.Runs[0]
			if requests.Load() != 4000 || opened.Load() != want || run.Generator.Connections != want || open.Load() != 0 {
				t.Errorf("keep-alive %v: %d requests over %d connections, %d by the report, %d still open; want 4000 over %d, none open",
					keepAlive, requests.Load(), opened.Load(), run.Generator.Connections, open.Load(), want)
			}
			if said := strings.Contains(strings.Join(run.Notes, "\n"), "inside its latency"); said == keepAlive {
				t.Errorf("keep-alive %v: the report says that connecting is inside the latency: %v", keepAlive, said)
			}
			_ = server.Close()
		})
	}
}
