package metrics_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
)

func ptr[T any](v T) *T { return &v }

// aRun is a run of every figure, by the recorder: what it counts, a reader can check by hand.
//
// 100 operations: the first 60 succeed at once; the others are refused, sleep 100 ms, 200 ms and so on to the cap of
// 20 s, of which 30 succeed by the third attempt, 5 give up and 5 do not end,
// one of which has lost its third attempt. What no such run has is made up.
func aRun(strategy string) record.Run {
	capacity := 200.0
	r := record.New(record.Config{
		Detail: true, Duration: 30 * time.Second, CapacityPerSecond: &capacity, StartTogether: true, OpenLoop: true, Cap: 20 * time.Second, Floor: 100 * time.Millisecond,
		WindowFrom: 0, WindowTo: 10 * time.Second, KindNames: []string{"timeout"}, ReasonNames: []string{"max_retries"}, LostNames: []string{"reset"},
	})
	for i := range uint32(100) {
		r.OperationStarted(i)
		attempt := func(n int, at time.Duration, status int, latency time.Duration) {
			r.Sent(i, record.Sent{Attempt: n, Due: at, At: at + 50*time.Microsecond})
			r.Arrival(record.Arrival{At: at, Attempt: n, Opening: n == 0, Rejected: status != 200})
			if status == 200 {
				r.Served(at+latency, false)
			}
			r.Outcome(i, record.Sample{Key: record.StatusKey(status), Answered: true, Latency: latency})
		}
		if i == 99 {
			r.Sent(i, record.Sent{Attempt: 2, Due: 20102 * time.Millisecond, At: 20102 * time.Millisecond})
			r.Lost(i, 0)
		}
		end := func(at time.Duration, n int, succeeded bool) {
			r.OperationEnded(i, record.Operation{At: at, Elapsed: at, Attempts: n, Succeeded: succeeded})
		}
		if i < 60 {
			attempt(0, 0, 200, 5*time.Millisecond)
			end(5*time.Millisecond, 1, true)
			continue
		}
		attempt(0, 0, 503, time.Millisecond)
		r.Delay(i, record.Delay{Planned: 100 * time.Millisecond, Draw: 100 * time.Millisecond})
		attempt(1, 101*time.Millisecond, 503, time.Millisecond)
		r.Delay(i, record.Delay{Retry: 1, Planned: 20 * time.Second, Draw: 20 * time.Second})
		switch {
		case i < 90:
			attempt(2, 20102*time.Millisecond, 200, 5*time.Millisecond)
			end(20107*time.Millisecond, 3, true)
		case i < 95:
			end(20102*time.Millisecond, 2, false)
		}
	}
	run := r.Summarise(record.End{
		At: 30 * time.Second, InFlight: 1, Unfinished: 5, Unstarted: 2, Strategy: strategy, Engine: record.EngineReal, ArrivalsMeasuredAt: "target",
		Connections: 100, TimerSource: "ppoll", Budget: &record.Budget{Kind: "ratio", Taken: 80, Spent: 70, Returned: 10, Refused: 3},
	})
	run.Convoy.ConvoyIndex, run.Convoy.PostOutageIndex, run.Convoy.Periodicity = ptr(0.25), ptr(0.125), ptr(-0.5)
	run.Recovery = record.Recovery{GoodputBefore: ptr(200.0), GoodputLast: ptr(190.5), RecoveredAt: ptr(1500 * time.Millisecond), Watched: 20 * time.Second, AmplificationLast: ptr(1.5), WastedShareLast: ptr(0.25)}
	addWhole(&run)
	return run
}

// addWhole adds what whole policies and whole incidents have, made up.
func addWhole(run *record.Run) {
	run.Breaker = &record.Breaker{Breakers: 10, Opened: 4, Reopened: 3, Closed: 2, Probes: 5, ShortCircuited: 6, OpenAtEnd: 1, OpenShare: ptr(0.125)}
	run.Attempts.ShortCircuited, run.Attempts.Hedges = 8, 7
	run.Budget.RefusedFirst, run.Budget.Delayed, run.Budget.DelayTotal = 2, 9, 1500*time.Millisecond
	run.Hedging = &record.Hedging{Sent: 7, Won: 3, Cancelled: 6, Withheld: 1}
	run.Effects = &record.Effects{Done: 90, Duplicated: 4, Extra: 5}
	run.Dropped = &record.Dropped{Expired: 11, Shed: 12}
	run.Phases = []record.Phase{
		{Name: "before", To: 10 * time.Second, Arrivals: 100, First: 100, Served: 100, GoodputPerSecond: ptr(10.0), Amplification: ptr(1.0), WastedShare: ptr(0.0)},
		{Name: "outage", From: 10 * time.Second, To: 12 * time.Second, Arrivals: 60, First: 20, Retries: 40, Rejected: 60, GoodputPerSecond: ptr(0.0), Amplification: ptr(3.0)},
	}
	part, layer := *run, *run
	part.Parts, layer.Parts = nil, nil
	run.Parts = []record.Part{{Name: "none", Share: 0.3, Clients: 30, Run: &part}, {Name: "none", Share: 0.7, Clients: 70, Run: &part}, {Name: "lost"}}
	run.Layers = []record.Layer{{Name: "database", EndToEnd: ptr(16.0), Run: &layer}, {}}
}

func resultOf(runs ...record.Run) *record.Result {
	return &record.Result{
		Schema: record.Schema, Tool: record.Tool{Version: "1.0.0"}, PlanHash: "3f9c2d7e41b0", Seed: 42,
		StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Valid: true, Runs: runs,
	}
}

var update = flag.Bool("update", false, "write the goldens instead of comparing with them")

// golden compares got with a file and prints the first line that differs.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gots, wants := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			t.Fatalf("%s differs first in line %d:\n got %s\nwant %s", path, i+1, gots[i], wants[i])
		}
	}
	t.Fatalf("%s has %d lines, got %d", path, len(wants), len(gots))
}
