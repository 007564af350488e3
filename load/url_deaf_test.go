package load_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
)

// A target that takes connections and reads nothing holds up nothing but its attempts, however long the
// request is: their time ends them, --duration the run, and so does a signal. Over a real socket, which
// takes some 200 KB unread.
func TestATargetThatReadsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
		}
	}()
	defer func() { _ = listener.Close(); <-done }()
	for _, tt := range []struct {
		name     string
		headers  int // of 4,000 bytes
		timeout  string
		stop     time.Duration // 0: by itself
		outcomes string
	}{
		{"long, timeout", 100, "100ms", 0, "map[timeout:4] map[unread_at_end:4]"},
		{"short, timeout", 1, "100ms", 0, "map[timeout:4] map[]"},
		{"long, duration", 100, "1m", 0, "map[] map[connecting_at_end:4]"},
		{"long, signal", 100, "1m", 200 * time.Millisecond, "map[] map[connecting_at_end:4]"},
	} {
		lines := []string{"url: http://a.localhost/", "unix-socket: " + path, "clients: 4", "max-retries: 0", "duration: 500ms", "timeout: " + tt.timeout}
		p := scenario(t, lines...)
		for i := range tt.headers {
			p.Headers = append(p.Headers, fmt.Sprintf("X-%d: %s", i, strings.Repeat("x", 4000)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		env := load.Env{}
		if tt.stop > 0 {
			env.Progress = func(load.Stage) { time.AfterFunc(tt.stop, cancel) }
		}
		began := time.Now()
		result := visit(ctx, t, p, env)
		cancel()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the run took %v", tt.name, took)
		}
		if got := outcomes(result); got != tt.outcomes {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.outcomes)
		}
	}
}

// What is no socket waits to write, which the attempt's time ends, or the run's.
func TestWritingThatWaits(t *testing.T) {
	for _, tt := range []struct{ timeout, outcomes string }{
		{"1s", "map[timeout:1] map[unread_at_end:1]"},
		{"1m", "map[] map[unread_at_end:1]"}, // in flight when the run ends
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p := scenario(t, "url: http://127.0.0.1/", "clients: 1", "max-retries: 0", "duration: 5s", "timeout: "+tt.timeout)
			result := elsewhere(t, p, func(context.Context, string, string) (net.Conn, error) {
				ours, _ := net.Pipe() // nobody reads at its other end
				return ours, nil
			})
			if got := outcomes(result); got != tt.outcomes || time.Since(began) > 6*time.Second {
				t.Errorf("timeout %s: %s after %v, want %s", tt.timeout, got, time.Since(began), tt.outcomes)
			}
		})
	}
}
