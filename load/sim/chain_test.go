package sim_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"stormtest/load/backoff"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/retry/breaker"
	"stormtest/load/retry/budget"
	"stormtest/load/seed"
	"stormtest/load/sim"
)

// chained runs the chain of a plan, and returns its counts and the Run at each link.
func chained(p *plan.Plan, run uint64, trace func(retry.Row)) (sim.ChainStats, []record.Run) {
	c := sim.ChainConfig{Links: p.Chain(), Seed: run, Trace: trace}
	var recorders []*record.Recorder
	for i, l := range c.Links {
		q, callers, purpose := *l.Plan, l.Plan.Clients, seed.Budget
		if i > 0 {
			q.RatePerSecond, callers, purpose = 1, 1, seed.LayerBudget
		}
		chance := func(account uint32) *rand.Rand { return seed.Stream(run, purpose, account) }
		a := sim.LinkAccounts{
			Budget:   budget.NewBank(q.Budget, callers, chance, budget.Series{Width: q.Bucket, Intervals: int(q.Duration / q.Bucket)}),
			Breakers: breaker.NewBank(q.Breaker, callers, func(b uint32) *rand.Rand { return seed.Stream(run, seed.Breaker, b) }),
			Recorder: recorder(&q),
		}
		recorders = append(recorders, a.Recorder)
		c.Accounts = append(c.Accounts, a)
	}
	stats := sim.RunChain(context.Background(), c)
	var runs []record.Run
	for i, s := range stats.Links {
		runs = append(runs, recorders[i].Summarise(record.End{
			At: stats.End, InFlight: s.InFlight, Unfinished: s.Unfinished, Unstarted: s.Unstarted, Hedging: &s.Hedging,
		}))
	}
	return stats, runs
}

// TestChainIsTheEngine checks that a plan without layers and hedges comes out of RunChain as out of Run, to the last
// figure and the last row of the trace, for every strategy and a target of each kind.
func TestChainIsTheEngine(t *testing.T) {
	for row, lines := range [][]string{
		{"clients: 300"},
		{"clients: 200", "max-retries: 3", "operations: 700"},
		{"clients: 100", "workers: 3", "queue: 20", "service: exp", "capacity: 300/s", "timeout: 50ms"},
		{"clients: 100", "workers: 3", "queue: 20", "capacity: 300/s", "timeout: 30ms", "abandoned: cancel"},
		{"clients: 100", "model: token-bucket", "burst: 20", "capacity: 300/s", "send-retry-after: auto"},
		{"clients: 100", "model: reject-if-busy", "capacity: 300/s"},
		{"clients: 50", "rate: 200/s", "arrivals: poisson", "queue: 50", "capacity: 220/s", "timeout: 100ms", "outage: [1s..2s, 3s..3.5s=hang, 4s..4.5s=reset, 5s..6s=refuse, 6s..7s=slow:4, '7s..8s=capacity:0%']", "duration: 12s"},
		{"clients: 50", "outage: 0s..1s=refuse", "ramp: 1s", "retry-after-jitter: 30ms", "send-retry-after: 1s"},
		{"clients: 50", "queue: 50", "timeout: 40ms", "propagate-deadline: true", "expired: drop", "discipline: codel"},
		{"clients: 50", "budget: 'grpc'", "shared-seed: true"},
		{"clients: 50", "breaker: consecutive:failures=3,open=100ms", "outage: 200ms..500ms", "operations: 300"},
		{"clients: 50", "budget: aws-adaptive", "status: 429", "operations: 300"},
		{"clients: 50", "budget: 'sre'", "queue: 10", "method: POST", "idempotency-key: false"},
	} {
		for column, strategy := range backoff.Names() {
			if (row+column)%4 != 0 {
				continue // every strategy meets a quarter of the targets, and every target a quarter of them
			}
			p := scenario(t, append([]string{"strategy: " + strategy}, lines...)...)
			if p.For(plan.Virtual) != nil {
				continue // which never waits
			}
			var rows, chainRows []retry.Row
			chance := func(account uint32) *rand.Rand { return seed.Stream(1, seed.Budget, account) }
			bank := budget.NewBank(p.Budget, p.Clients, chance, budget.Series{Width: p.Bucket, Intervals: int(p.Duration / p.Bucket)})
			circuits := breaker.NewBank(p.Breaker, p.Clients, func(b uint32) *rand.Rand { return seed.Stream(1, seed.Breaker, b) })
			rec := recorder(&p)
			s := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: strategy, Seed: 1, Recorder: rec, Budget: bank, Breakers: circuits, Trace: func(r retry.Row) { rows = append(rows, r) }})
			want := rec.Summarise(record.End{At: s.End, InFlight: s.InFlight, Unfinished: s.Unfinished, Unstarted: s.Unstarted, Hedging: &record.Hedging{}})
			cs, runs := chained(&p, 1, func(r retry.Row) { chainRows = append(chainRows, r) })
			l := cs.Links[0]
			if got := (sim.Stats{End: cs.End, Attempts: l.Attempts, Arrivals: l.Arrivals, Succeeded: l.Succeeded, GaveUp: l.GaveUp, Unfinished: l.Unfinished,
				InFlight: l.InFlight, Unstarted: l.Unstarted, Completion: l.Completion, Events: s.Events}); !reflect.DeepEqual(got, s) {
				t.Errorf("%v, %s: %+v, want %+v", lines, strategy, got, s)
			}
			if got, want := marshal(t, runs[0]), marshal(t, want); got != want {
				t.Errorf("%v, %s: got %.300s\nwant %.300s", lines, strategy, got, want)
			}
			for i := range max(len(rows), len(chainRows)) {
				if i >= len(rows) || i >= len(chainRows) || rows[i] != chainRows[i] {
					t.Errorf("%v, %s: row %d of %d and %d differs", lines, strategy, i, len(chainRows), len(rows))
					break
				}
			}
		}
	}
}

func marshal(t interface{ Fatal(args ...any) }, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestChainMultiplies is the arithmetic of layered retries: where the last service serves nothing, each link makes four
// attempts for each one above.
func TestChainMultiplies(t *testing.T) {
	p := scenario(t, "clients: 5", "base: 1ms", "max-retries: 3", "max-elapsed: unlimited", "capacity: 1000000/s", "queue: 1000", "layer: [b, 'c;capacity=0']")
	stats, runs := chained(&p, 1, nil)
	for i, want := range []int64{20, 80, 320} {
		l := stats.Links[i]
		if l.Attempts != want || l.GaveUp != want/4 || l.Succeeded != 0 || l.Unfinished != 0 {
			t.Errorf("link %d: %+v, want %d attempts of %d operations that gave up", i, l, want, want/4)
		}
		if a := *runs[i].Amplification; a != 4 || !runs[i].Books.Balanced {
			t.Errorf("link %d: amplification %v, books %+v", i, a, runs[i].Books)
		}
	}
}
