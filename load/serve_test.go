package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/station"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// A lan is a target.Opener on a network in memory.
type lan struct{ targettest.Network }

func (m *lan) Open() (net.Listener, error) { return m.Listen("target") }

// client returns a client of HTTP that is not ours, with connections of its own.
func (m *lan) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return m.DialContext(ctx, "mem", "target") },
	}}
}

// servePlan is a target of 100/s that fails in its first half second.
func servePlan() plan.Plan {
	p := plan.Default()
	p.CapacityPerSecond = 100
	p.Workers, p.Queue = 1, 40
	p.Duration = 20 * time.Second
	p.Outages = []station.Outage{{From: 0, To: 500 * time.Millisecond}}
	p.Seed = plan.Seed{Value: 1, Set: true}
	return p
}

// outside serves p in a bubble to what clients does, and returns the result and the trace.
func outside(t *testing.T, p plan.Plan, c load.Service, clients func(t *testing.T, m *lan, stop func())) (*record.Result, string) {
	t.Helper()
	var result *record.Result
	var trace bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		m := &lan{}
		c.Opener = m
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			if result, err = load.Serve(ctx, p, c, load.Env{Version: "test", Wake: wake.Timers, Trace: &trace}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		clients(t, m, cancel)
		wg.Wait()
	})
	return result, trace.String()
}

// fleet is 200 clients of somebody else's: they double their delay from 100 ms, with full jitter
// or without any, and name their operation by a key or not at all.
func fleet(jitter, key bool) func(*testing.T, *lan, func()) {
	return func(t *testing.T, m *lan, _ func()) {
		time.Sleep(3 * time.Second) // by hand, long after the target
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				client, r := m.client(), rand.New(rand.NewPCG(1, uint64(i)))
				defer client.CloseIdleConnections()
				for delay := 100 * time.Millisecond; delay < time.Minute; delay *= 2 {
					req, err := http.NewRequest("GET", "http://target/", nil)
					if err != nil {
						t.Error(err)
						return
					}
					if key {
						req.Header.Set("Idempotency-Key", fmt.Sprint("operation ", i))
					}
					resp, err := client.Do(req)
					if err == nil {
						_ = resp.Body.Close()
						if resp.StatusCode == 200 {
							return
						}
					}
					wait := delay
					if jitter {
						wait = time.Duration(r.Int64N(int64(delay)))
					}
					time.Sleep(wait)
				}
			})
		}
		wg.Wait()
	}
}

// counts are the arrivals of a run as its buckets hold them.
func counts(run record.Run) (first, retries, unknown int64) {
	for _, b := range run.Buckets {
		first += b.First
		retries += b.Retries
		unknown += b.Unknown
	}
	return first, retries, unknown
}

// The verdict on clients that are not ours is the same whether they say which attempt a request
// is or not, and their books balance.
func TestServeJudgesClientsThatAreNotOurs(t *testing.T) {
	for _, tt := range []struct {
		jitter, key bool
		convoy      bool
	}{
		{false, true, true}, {true, true, false}, {false, false, true}, {true, false, false},
	} {
		t.Run(fmt.Sprintf("jitter %v, key %v", tt.jitter, tt.key), func(t *testing.T) {
			result, trace := outside(t, servePlan(), load.Service{}, fleet(tt.jitter, tt.key))
			run := result.Runs[0]
			if got := run.Convoy.Verdict == record.VerdictConvoy; got != tt.convoy {
				t.Errorf("verdict = %s with an index of %v, want convoy %v", run.Convoy.Verdict, run.Convoy.ConvoyIndex, tt.convoy)
			}
			if run.Convoy.WindowFrom != time.Second || run.Convoy.WindowTo != 10*time.Second {
				t.Errorf("window = %v..%v, want 1s..10s after the first request", run.Convoy.WindowFrom, run.Convoy.WindowTo)
			}
			first, retries, unknown := counts(run)
			if tt.key && (first != 200 || unknown != 0) || !tt.key && (first != 0 || unknown != run.Books.Arrivals) {
				t.Errorf("%d first, %d retries, %d unknown of %d arrivals", first, retries, unknown, run.Books.Arrivals)
			}
			if n := run.Outside.Answers["200"]; n != 200 || !run.Books.Balanced {
				t.Errorf("%d served, books %+v; want 200 and a balance", n, run.Books)
			}
			if note := strings.Join(run.Notes, "\n"); strings.Contains(note, "carried nothing") == tt.key {
				t.Errorf("notes = %s", note)
			}
			if n := int64(strings.Count(trace, "\noutside,")); n != run.Books.Arrivals {
				t.Errorf("%d rows of trace, want %d", n, run.Books.Arrivals)
			}
			if run.Duration != 20*time.Second || result.Interrupted {
				t.Errorf("duration %v, interrupted %v; want the plan's 20s from the first request", run.Duration, result.Interrupted)
			}
		})
	}
}

// What a server cannot know is null, and the rest reads back.
func TestServeHidesWhatOnlyClientsKnow(t *testing.T) {
	result, _ := outside(t, servePlan(), load.Service{}, fleet(true, true))
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var tree struct{ Runs []map[string]any }
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	run := tree.Runs[0]
	generator, books := run["generator"].(map[string]any), run["books"].(map[string]any)
	for name, v := range map[string]any{
		"operations": run["operations"], "attempts": run["attempts"], "retry_after": run["retry_after"],
		"amplification": run["amplification"], "completion_ns": run["completion_ns"], "kept_up": generator["kept_up"],
		"timer_source": generator["timer_source"], "replayed_by_transport": generator["replayed_by_transport"],
		"attempts_sent": books["attempts_sent"], "lost": books["lost"], "latency": run["latency_ns"].(map[string]any)["p99"],
	} {
		if v != nil {
			t.Errorf("%s = %v, want null", name, v)
		}
	}
	if books["arrivals"] != float64(result.Runs[0].Books.Arrivals) || generator["connections"] == float64(0) {
		t.Errorf("books %v, generator %v: what the target knows is missing", books, generator)
	}
	var back record.Result
	if err := json.Unmarshal(text, &back); err != nil || back.Runs[0].Outside == nil || back.Runs[0].Outside.Answers["200"] != 200 {
		t.Errorf("read back: %+v, %v", back.Runs[0].Outside, err)
	}
	var fields map[string]any
	if err := json.Unmarshal(result.Plan, &fields); err != nil || fields["capacity"] != "100/s" || fields["clients"] != nil {
		t.Errorf("plan = %s, %v; want the target's fields alone", result.Plan, err)
	}
	if _, err := plan.Decode("plan.json", result.Plan); err != nil {
		t.Errorf("the plan is no scenario: %v", err)
	}
}

// Without a failure nobody is judged, what cannot be numbered is a first attempt, and the quiet
// time before the signal is left out.
func TestServeEndsWithASignal(t *testing.T) {
	p := servePlan()
	p.Outages, p.Duration = nil, time.Hour
	result, _ := outside(t, p, load.Service{OpenEnd: true}, func(t *testing.T, m *lan, stop func()) {
		client := m.client()
		for range 3 {
			resp, err := client.Get("http://target/")
			if err != nil || resp.StatusCode != 200 {
				t.Errorf("answer %v, %v", resp, err)
			}
			_ = resp.Body.Close()
		}
		client.CloseIdleConnections()
		time.Sleep(10 * time.Minute)
		stop()
	})
	run := result.Runs[0]
	if first, retries, unknown := counts(run); first != 3 || retries != 0 || unknown != 3 || run.Outside.Failure != nil {
		t.Errorf("%d first, %d retries, %d unknown, failure %v", first, retries, unknown, run.Outside.Failure)
	}
	if run.Convoy.ConvoyIndex != nil || run.Duration != 100*time.Millisecond || result.Interrupted {
		t.Errorf("index %v, duration %v, interrupted %v; want none, 100ms, false", run.Convoy.ConvoyIndex, run.Duration, result.Interrupted)
	}
}

// A signal before a duration that was asked for interrupts; one before anything came leaves an empty run.
func TestServeInterruptedBeforeTheFirstRequest(t *testing.T) {
	result, _ := outside(t, servePlan(), load.Service{}, func(_ *testing.T, _ *lan, stop func()) { stop() })
	if run := result.Runs[0]; !result.Interrupted || run.Books.Arrivals != 0 || !run.Books.Balanced || run.Duration != 0 {
		t.Errorf("interrupted %v, run of %v: %+v", result.Interrupted, run.Duration, run.Books)
	}
}

// Clients that time out fail as much as those that are refused: from the first that left on, what nothing
// numbers is a retry.
func TestServeTakesATimeoutForAFailure(t *testing.T) {
	p := servePlan()
	p.Outages, p.CapacityPerSecond, p.Queue = nil, 2, 1000
	result, _ := outside(t, p, load.Service{}, func(t *testing.T, m *lan, _ func()) {
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				client := m.client()
				client.Timeout = 300 * time.Millisecond
				for range 3 {
					if _, err := client.Get("http://target/"); err == nil {
						t.Error("an answer, want a timeout")
					}
					client.CloseIdleConnections()
				}
			})
		}
		wg.Wait()
	})
	run := result.Runs[0]
	if first, retries, unknown := counts(run); first != 12 || retries != 24 || unknown != 36 {
		t.Errorf("%d first, %d retries, %d unknown; want 12, 24, 36", first, retries, unknown)
	}
	if f := run.Outside.Failure; f == nil || *f != 300*time.Millisecond || run.Outside.Answers["client_gone"] != 36 {
		t.Errorf("first failure %v, answers %v; want 300ms, and 36 that left", f, run.Outside.Answers)
	}
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, "a client that left first") {
		t.Errorf("notes = %s", notes)
	}
}

// A request that waits where the target begins to refuse is reset by it: no client left.
func TestServeBooksWhatARefusalResets(t *testing.T) {
	p := servePlan()
	p.CapacityPerSecond = 1
	p.Outages = []station.Outage{{From: 300 * time.Millisecond, To: time.Second, Mode: station.ModeRefuse}}
	result, trace := outside(t, p, load.Service{}, func(t *testing.T, m *lan, _ func()) {
		client := m.client()
		if _, err := client.Post("http://target/", "text/plain", strings.NewReader("x")); err == nil {
			t.Error("an answer, want a reset")
		}
		client.CloseIdleConnections()
	})
	if a := result.Runs[0].Outside.Answers; a["reset"] != 1 || len(a) != 1 || !strings.Contains(trace, ",reset,") {
		t.Errorf("answers = %v, want one reset; trace %s", a, trace)
	}
}

// Where whoever reads the trace or the log has gone, the run ends and is marked, whatever would have ended it.
func TestServeEndsWithItsReader(t *testing.T) {
	for name, env := range map[string]load.Env{"trace": {Trace: failing{syscall.EPIPE}}, "log": {HLog: failing{syscall.EPIPE}}} {
		for _, open := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				env.Wake = wake.Timers
				p := servePlan()
				p.Duration = time.Hour
				began := time.Now()
				result, err := load.Serve(t.Context(), p, load.Service{Opener: &lan{}, AtOnce: true, OpenEnd: open}, env)
				if !errors.Is(err, syscall.EPIPE) || result == nil || !result.Interrupted || time.Since(began) > 3*time.Second {
					t.Errorf("%s, open end %v: %v after %v, %+v; want an interrupted result and EPIPE", name, open, err, time.Since(began), result)
				}
			})
		}
	}
}

// At once, the outage is over before a client comes 3 s later.
func TestServeStartsAtOnce(t *testing.T) {
	result, _ := outside(t, servePlan(), load.Service{AtOnce: true}, func(t *testing.T, m *lan, _ func()) {
		time.Sleep(3 * time.Second)
		client := m.client()
		resp, err := client.Get("http://target/")
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("answer %v, %v; want 200", resp, err)
		}
		_ = resp.Body.Close()
		client.CloseIdleConnections()
	})
	if b := result.Runs[0].Buckets[30]; b.Arrivals != 1 {
		t.Errorf("bucket 30 = %+v, want the arrival at 3s", b)
	}
}
