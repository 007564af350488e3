package load_test

import (
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stormtest/load"
)

// D-11: over real sockets, and over each version of HTTP, a run on a target elsewhere that answers
// 503 with 64 KiB leaves no socket and no goroutine of its own.
func TestNothingIsLeftOpenElsewhere(t *testing.T) {
	body := make([]byte, 64<<10)
	c := signed(t, nil)
	for _, v := range versions {
		for _, keepAlive := range []bool{true, false} {
			var server http.Server
			server.Protocols = every()
			server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = w.Write(body)
			})
			var open atomic.Int64
			server.ConnState = func(_ net.Conn, s http.ConnState) {
				switch s {
				case http.StateNew:
					open.Add(1)
				case http.StateClosed:
					open.Add(-1)
				}
			}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			p := scenario(t, "url: "+strings.SplitN(v.url, "127", 2)[0]+listener.Addr().String(), "http: "+v.http, "probe: off", "strategy: constant", "clients: 20", "base: 1ms", "cap: 1ms",
				"max-retries: 4", fmt.Sprint("keepalive: ", keepAlive))
			var material load.Material
			if strings.HasPrefix(v.url, "https") {
				server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{c.pair}}
				material.CACert = c.cert
				go func() { _ = server.ServeTLS(listener, "", "") }()
			} else {
				go func() { _ = server.Serve(listener) }()
			}
			files, goroutines := math.MaxInt, math.MaxInt
			for i := range 3 { // the first run opens what the runtime keeps
				result, err := load.Run(t.Context(), p, load.Env{Material: material})
				if err != nil {
					t.Fatal(err)
				}
				want := int64(20)
				if !keepAlive {
					want = 100
				}
				if got := outcomes(result); got != "map[503:100] map[]" || result.Runs[0].Generator.Connections != want {
					t.Errorf("%s, keep-alive %v: %s over %d connections, want 100 over %d", v.name, keepAlive, got, result.Runs[0].Generator.Connections, want)
				}
				n, m := openNow(t, &open, files, goroutines)
				if n > files || m > goroutines {
					t.Errorf("%s, keep-alive %v: after run %d there are %d descriptors and %d goroutines, after the first %d and %d", v.name, keepAlive, i+1, n, m, files, goroutines)
				}
				files, goroutines = n, m
			}
			_ = server.Close()
		}
	}
}

// openNow counts descriptors and goroutines, once the server has seen that nothing is open and they
// are as few as given, and after a second in any case.
func openNow(t *testing.T, open *atomic.Int64, files, goroutines int) (n, m int) {
	t.Helper()
	for end := time.Now().Add(time.Second); ; runtime.Gosched() {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		if n, m = len(list), runtime.NumGoroutine(); open.Load() == 0 && n <= files && m <= goroutines || time.Now().After(end) {
			return n, m
		}
	}
}
