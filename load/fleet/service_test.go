package fleet_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/fleet"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target/targettest"
)

// calling runs f with a service in a bubble, against a server that answers from a script, and returns what came of it.
func calling(t *testing.T, p plan, connections int, sv server, f func(s *fleet.Service)) seen {
	t.Helper()
	var out seen
	synctest.Test(t, func(t *testing.T) {
		var network targettest.Network
		ln, err := network.Listen("t")
		if err != nil {
			t.Fatal(err)
		}
		requests, serving := serve(ln, sv)
		var mu sync.Mutex
		recorder := record.New(record.Config{KindNames: []string{"responded"}, LostNames: fleet.LostNames})
		cfg := config(t, p, &network, recorder, func(row retry.Row) {
			mu.Lock()
			defer mu.Unlock()
			out.rows = append(out.rows, row)
		})
		cfg.Clients = 0
		s := fleet.NewService(fleet.ServiceConfig{Config: cfg, ConnectionsMost: connections, CallsMost: 3})
		if err := s.Connect(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		if err := s.Start(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		f(s)
		stop()
		out.stats = s.Wait()
		s.Close()
		_ = ln.Close()
		serving.Wait()
		out.requests = *requests
		out.run = recorder.Summarise(record.End{At: out.stats.End, InFlight: out.stats.InFlight, Unfinished: out.stats.Unfinished})
	})
	return out
}

// How several calls go side by side over few connections, and what each is told.
func TestServiceCalls(t *testing.T) {
	var mu sync.Mutex
	told := map[int]bool{}
	got := calling(t, plan{clients: 1, retries: 1, base: time.Second}, 2, func(n int, _ *http.Request, c *targettest.Conn) {
		text := map[bool]string{true: ok, false: respond(503)}[n == 1 || n == 2]
		_, _ = io.WriteString(c, text)
	}, func(s *fleet.Service) {
		synctest.Wait() // until its connection is idle
		for i := range 3 {
			_, ok := s.Call(fleet.Demand{Due: time.Duration(i) * time.Second / 4, Left: retry.NoLimit, Over: func(succeeded bool) {
				mu.Lock()
				defer mu.Unlock()
				told[i] = succeeded
			}})
			if !ok {
				t.Errorf("call %d was not made", i)
			}
		}
		if _, ok := s.Call(fleet.Demand{}); ok || s.Busy() != 3 {
			t.Errorf("a fourth call was made though three are the most; %d are under way", s.Busy())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
	})
	// The calls are due at 0, 250 and 500 ms; the first fails, and again a second later.
	if s := got.outcomes(); s != "503@0s 200@250ms 200@500ms 503@1s" {
		t.Errorf("outcomes = %s", s)
	}
	if told[0] || !told[1] || !told[2] || len(told) != 3 {
		t.Errorf("told = %v, want the second and the third a success", told)
	}
	if got.stats.Connections != 1 {
		t.Errorf("%d connections, want 1: a call that sleeps holds none", got.stats.Connections)
	}
	if r := got.run; r.Operations.Started != 3 || r.Operations.Succeeded != 2 || r.Attempts.Sent != 4 {
		t.Errorf("operations = %+v, attempts = %+v", r.Operations, r.Attempts)
	}
}
