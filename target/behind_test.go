package target_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// A relay is a target whose work goes on behind it until the test says how it ended.
type relay struct {
	net  targettest.Network
	mu   sync.Mutex
	work []*target.Work
	at   []time.Duration
}

func (r *relay) Open() (net.Listener, error) { return r.net.Listen("target") }

func (r *relay) behind(at time.Duration, w *target.Work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work = append(r.work, w)
	r.at = append(r.at, at)
}

// relaying runs f in a bubble with a started target of one worker and 10 ms a job.
func relaying(t *testing.T, cancel bool, f func(r *relay)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &relay{}
		tgt, err := target.New(target.Config{
			Station: station.Config{PerSecond: 100, Queue: 10, CancelAbandoned: cancel}, Behind: r.behind, Wake: wake.Timers,
		})
		if err != nil {
			t.Fatal(err)
		}
		server, err := tgt.Listen(r)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := server.Serve(ctx); err != nil {
				t.Error(err)
			}
		})
		if err := tgt.Start(time.Now()); err != nil {
			t.Fatal(err)
		}
		f(r)
		stop()
		wg.Wait()
	})
}

// The worker is free while a request waits for what is behind, and each has the answer that its own call gave.
func TestAnswersWaitForWhatIsBehind(t *testing.T) {
	relaying(t, false, func(r *relay) {
		var conns []io.ReadWriteCloser
		for range 2 {
			c, err := r.net.Dial("mem", "target")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: t\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			synctest.Wait() // so that the first comes first
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(r.at) != 2 || r.at[0] != 10*time.Millisecond || r.at[1] != 20*time.Millisecond {
			t.Fatalf("work was done at %v, want 10 and 20 ms: the one must not wait for the other's call", r.at)
		}
		r.work[1].Answer(http.StatusOK)
		r.work[0].Answer(http.StatusServiceUnavailable)
		for i, want := range []string{"HTTP/1.1 503 ", "HTTP/1.1 200 "} {
			b := make([]byte, len(want))
			if _, err := io.ReadFull(conns[i], b); err != nil || string(b) != want {
				t.Errorf("answer %d begins %q, %v; want %q", i, b, err, want)
			}
		}
	})
}

// A client that leaves ends the call only where the target ends the work of those who have gone.
func TestLeavingEndsTheCallOrNot(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ends  bool
		early bool // it leaves before the work is watched
	}{{"process", false, false}, {"cancel", true, false}, {"cancel before it is watched", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			relaying(t, tt.ends, func(r *relay) {
				c, err := r.net.Dial("mem", "target")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: t\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				ended := 0
				watch := func() { r.work[0].Watch(func() { ended++ }) }
				if !tt.early {
					watch()
				}
				_ = c.Close()
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				if tt.early {
					watch()
				}
				if want := map[bool]int{true: 1}[tt.ends]; ended != want {
					t.Errorf("the call was ended %d times, want %d", ended, want)
				}
				r.work[0].Answer(http.StatusOK) // nobody is there
			})
		})
	}
}

// A handler gives the answer that the call gave.
func TestHandlerWaitsForWhatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tgt, err := target.New(target.Config{
			Station: station.Config{PerSecond: 100},
			Behind:  func(_ time.Duration, w *target.Work) { w.Answer(http.StatusBadGateway) },
			Wake:    wake.Timers,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { tgt.Run(ctx) })
		if err := tgt.Start(time.Now()); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		tgt.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != http.StatusBadGateway {
			t.Errorf("status = %d, want %d", w.Code, http.StatusBadGateway)
		}
		stop()
		wg.Wait()
	})
}
