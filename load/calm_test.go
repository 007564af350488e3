package load

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// Before a storm on a target that was loaded before it is waited for, and the notes say how it went. In a
// bubble; a probe has real sockets, so that its baseline is given.
func TestATargetIsLetComeToRest(t *testing.T) {
	const p90 = int64(10 * time.Millisecond)
	for _, tt := range []struct {
		name     string
		baseline *record.Probe
		busy     time.Duration // after a storm
		want     []string      // notes on rest, of each strategy
	}{
		{"no probe", nil, 0, []string{"", "a pause of 2s and no more"}},
		{"a probe without good answers", &record.Probe{}, 0, []string{"a pause of 2s", "a pause of 2s"}},
		{"rested", &record.Probe{Latency: record.Distribution{P90: ptrTo(p90)}}, time.Second,
			[]string{"within 20ms, after 300ms and 3 requests", "within 20ms, after 3.1s and 6 requests"}},
		{"not rested", &record.Probe{Latency: record.Distribution{P90: ptrTo(p90)}}, time.Minute,
			[]string{"had come to rest", "had not come to rest when this storm began: within 10s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var network targettest.Network
				listener, err := network.Listen("127.0.0.1:80")
				if err != nil {
					t.Fatal(err)
				}
				var last atomic.Int64 // moment of the storm's last request
				began := time.Now()
				server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					now := time.Since(began)
					if r.Header.Get(clientHeader) != "" {
						last.Store(int64(now))
					} else if at := time.Duration(last.Load()); at > 0 && now < at+tt.busy {
						w.WriteHeader(http.StatusServiceUnavailable)
					}
				})}
				go func() { _ = server.Serve(listener) }()
				p := plan.Default()
				p.URL, p.Clients, p.Strategies, p.Duration = "http://127.0.0.1/", 3, []string{"none", "full"}, 5*time.Second
				p.Seed = plan.Seed{Value: 1, Set: true}
				s, err := prepare(t.Context(), p, Env{Connect: network.DialContext, Wake: wake.Timers})
				if err != nil {
					t.Fatal(err)
				}
				s.site.probe = tt.baseline
				var result record.Result
				if err := s.runAll(t.Context(), &result); err != nil {
					t.Fatal(err)
				}
				for i, want := range tt.want {
					notes := fmt.Sprintf("%q", result.Runs[i].Notes)
					if want == "" {
						if strings.Contains(notes, "to rest") || strings.Contains(notes, "pause") {
							t.Errorf("run %d: notes %s, want none on rest", i, notes)
						}
					} else if !strings.Contains(notes, want) {
						t.Errorf("run %d: notes %s, want %q", i, notes, want)
					}
				}
				_ = server.Close()
			})
		})
	}
}

func ptrTo[T any](v T) *T { return &v }

// A probe sends some thousand requests: it is asked for by name where the method may change something.
func TestNoProbeOfAMethodThatChangesSomething(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE"} {
		p := plan.Default()
		p.URL, p.Method = "http://127.0.0.1:1/", method
		e, err := newElsewhere(t.Context(), p, Env{})
		if err != nil {
			t.Fatal(err)
		}
		probing := false
		env := Env{Probing: func() { probing = true }}
		if e.measure(t.Context(), p, env); probing || !strings.Contains(e.unprobed, "send "+method) || !strings.Contains(e.unprobed, "--probe on") {
			t.Errorf("%s: probed %v, %q; want no probe and the reason", method, probing, e.unprobed)
		}
		p.Probe = plan.ProbeOn // nobody listens
		if e.measure(t.Context(), p, env); !probing {
			t.Errorf("%s: no probe though it is asked for", method)
		}
	}
}

// Of the seeds after the first, one line says how many were not kept up with, and the first of them.
func TestReasonsOfRepeats(t *testing.T) {
	for _, tt := range []struct {
		seeds seedRuns
		want  []string
	}{
		{seedRuns{}, nil},
		{seedRuns{invalid: []string{"late"}}, []string{"late"}},
		{seedRuns{invalid: []string{"late"}, othersInvalid: 2, otherReason: "seed 8: later"},
			[]string{"late", "the generator did not keep up in 2 of the other seeds' runs, first with seed 8: later"}},
	} {
		if got := tt.seeds.reasons(); !slices.Equal(got, tt.want) {
			t.Errorf("reasons() = %q, want %q", got, tt.want)
		}
	}
}
