package sim_test

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/fleet"
	"stormtest/load/pace"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/load/seed"
	"stormtest/load/sim"
	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/wake"
)

// fleetInBubble runs the plan with the fleet that reaches its target in memory, in a bubble where
// nobody is ever late.
func fleetInBubble(t *testing.T, p plan.Plan, strategy string, run uint64) (m measured) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rec := recorder(&p)
		seen := make([]bool, p.Clients)
		tgt, err := target.New(target.Config{
			Station: p.Station(), Service: seed.Stream(run, seed.Service, 0), OnServed: func(w target.Served) { rec.ServedOf(w.Client, w.At, w.Wasted) }, Wake: wake.Timers,
			OnArrival: func(a target.Arrival) {
				rec.Arrival(record.Arrival{At: a.At, Attempt: a.Attempt, Rejected: a.Rejected, Opening: a.Attempt == 0 && !seen[a.Client]})
				seen[a.Client] = true
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		policy := p.Policy(strategy)
		bank, breakers := bankOf(&p, run), breakersOf(&p, run)
		var mu sync.Mutex
		cfg := fleet.Config{
			Clients: p.Clients, Policy: &policy, Budget: bank, Breakers: breakers, Seed: run, SharedSeed: p.SharedSeed,
			Operations: p.OperationsTotal(), Ramp: p.Ramp, Duration: p.Duration, Wake: wake.Timers, Recorder: rec,
			Trace: func(r retry.Row) { mu.Lock(); m.rows = append(m.rows, r); mu.Unlock() },
		}
		if p.RatePerSecond > 0 {
			cfg.Open = pace.NewSchedule(p.Schedule(), seed.Stream(run, seed.Arrivals, 0))
		}
		var cuts []time.Duration
		for _, o := range p.Outages {
			if o.Mode == station.ModeRefuse {
				cuts = append(cuts, o.From)
			}
		}
		stats, err := fleet.NewMemory(cfg, tgt, cuts).Run(t.Context(), func(time.Time) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		m.stats = sim.Stats{End: stats.End, InFlight: stats.InFlight, Unfinished: stats.Unfinished, Unstarted: stats.Unstarted}
		e := end(&m.stats, bank, strategy)
		e.Breaker = broken(breakers, e.At)
		m.run = rec.Summarise(e)
	})
	return m
}

// storms are plans that use everything that a plan of a built-in target can. No two attempts of
// them are due at one moment, or all are due in the order of the clients' numbers: the fleet hands
// answers out after the attempts of the same moment, virtual time before them.
var storms = []struct {
	name  string
	lines []string
}{
	{"guide", []string{"clients: 1000"}},
	{"queue", []string{"clients: 1000", "queue: 10"}},
	{"workers, exponential service", []string{"clients: 1000", "workers: 7", "queue: 3", "service: exp"}},
	{"many operations", []string{"clients: 100", "operations: 1003", "capacity: 200/s", "max-retries: 4", "ramp: 97.3ms"}},
	{"fewer operations than clients", []string{"clients: 100", "operations: 7", "capacity: 5/s", "ramp: 97.3ms"}},
	{"ramp", []string{"clients: 500", "ramp: 5s", "capacity: 80/s"}},
	{"max elapsed", []string{"clients: 300", "capacity: 20/s", "max-elapsed: 3s"}},
	{"shared seed", []string{"clients: 300", "shared-seed: true", "ramp: 97.3ms"}},
	{"out of time before the end", []string{"clients: 300", "capacity: 0", "duration: 4.0037s"}},
	{"token bucket", []string{"clients: 300", "model: token-bucket", "burst: 40", "capacity: 50/s"}},
	{"retry-after", []string{"clients: 300", "capacity: 50/s", "send-retry-after: 2s", "queue: 5"}},
	{"retry-after with a width of its own", []string{"clients: 300", "capacity: 50/s", "send-retry-after: 2s", "queue: 5", "retry-after-jitter: 3s"}},
	{"retry-after from the backlog", []string{"clients: 300", "capacity: 50/s", "send-retry-after: auto", "queue: 200", "timeout: 1s"}},
	{"timeouts, processed", []string{"clients: 300", "capacity: 50/s", "queue: 100", "timeout: 700ms", "abandoned: process"}},
	{"timeouts, cancelled", []string{"clients: 300", "capacity: 50/s", "queue: 100", "timeout: 700ms", "abandoned: cancel"}},
	{"status", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "outage: ['2.0001s..4.0001s=status']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"hang", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "timeout: 400ms", "outage: ['2.0001s..4.0001s=hang']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"hang to the end", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "outage: ['2.0001s..40s=hang']", "duration: 6.0037s", "ramp: 97.3ms"}},
	{"reset", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "retry-on: reset,503", "outage: ['2.0001s..4.0001s=reset']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"refuse", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "queue: 50", "retry-on: connect,reset,503", "outage: ['2.0001s..4.0001s=refuse']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"refuse after hang", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "retry-on: connect,reset,503",
		"outage: ['1s..2.0001s=hang','2.0001s..4.0001s=refuse']", "duration: 7s", "ramp: 97.3ms"}},
	{"slow", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "queue: 5", "outage: ['2.0001s..4.0001s=slow:4']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"frozen", []string{"clients: 200", "operations: 100000", "capacity: 100/s", "queue: 5", "timeout: 900ms", "outage: ['2.0001s..4.0001s=capacity:0%']", "duration: 7.0037s", "ramp: 97.3ms"}},
	{"rate", []string{"base: 103.7ms", "clients: 100", "rate: 83/s", "capacity: 100/s", "queue: 20", "timeout: 700ms", "outage: ['3s..5s']", "max-retries: 3", "duration: 12.0037s"}},
	{"rate, hang to the end", []string{"base: 103.7ms", "clients: 150", "rate: 83/s", "arrivals: poisson", "capacity: 300/s", "timeout: 3s", "outage: ['10s..40s=hang']", "duration: 12.0037s"}},
	{"poisson", []string{"base: 103.7ms", "clients: 300", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "queue: 20", "outage: ['3s..5s=hang']", "timeout: 700ms", "duration: 12.0037s"}},
	{"poisson, bounded", []string{"base: 103.7ms", "clients: 300", "rate: 83/s", "arrivals: poisson", "operations: 300", "capacity: 100/s"}},
	{"surge", []string{"base: 103.7ms", "clients: 300", "rate: 83/s", "capacity: 100/s", "queue: 20", "timeout: 700ms", "surge: ['3s..5s=x3', '7s..8s=x0']", "max-retries: 3", "duration: 12.0037s"}},
	{"poisson surge", []string{"base: 103.7ms", "clients: 300", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "queue: 20", "timeout: 700ms", "surge: ['3s..5s=x3']", "outage: ['7s..8s']", "max-retries: 3", "duration: 12.0037s"}},
	{"fleet too small", []string{"base: 103.7ms", "clients: 5", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "outage: ['3s..5s']", "duration: 12.0037s"}},
	{"nothing is ever due", []string{"clients: 5", "rate: 1/h", "arrivals: poisson"}},
	{"budget of the fleet", []string{"clients: 200", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "outage: ['3s..5s']", "duration: 12.0037s", "budget: finagle:ratio=20%,min=5/s,ttl=2s,scope=fleet"}},
	{"budget of each client", []string{"clients: 200", "operations: 20000", "capacity: 100/s", "timeout: 300ms", "queue: 50", "outage: ['3s..5s=hang']", "duration: 7.0037s", "ramp: 97.3ms", "budget: envoy:ratio=10%,min=1,scope=client"}},
	{"tokens of the fleet", []string{"clients: 200", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "status: 429", "outage: ['3s..5s']", "duration: 12.0037s", "budget: aws:size=60,scope=fleet"}},
	{"tokens of each client", []string{"clients: 200", "operations: 20000", "capacity: 100/s", "timeout: 300ms", "queue: 50", "outage: ['3s..5s=hang']", "duration: 7.0037s", "ramp: 97.3ms", "budget: aws-legacy:size=40,scope=client"}},
	{"half the tokens", []string{"clients: 200", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "queue: 3", "outage: ['3s..5s']", "duration: 12.0037s", "budget: grpc:tokens=40,ratio=0.7,scope=fleet"}},
	{"rejected by chance", []string{"clients: 200", "rate: 83/s", "arrivals: poisson", "capacity: 100/s", "queue: 3", "outage: ['3s..5s']", "duration: 12.0037s", "budget: sre:window=5s,scope=fleet"}},
	{"rejected by chance of each client", []string{"clients: 200", "operations: 20000", "capacity: 100/s", "queue: 3", "duration: 7.0037s", "ramp: 97.3ms", "budget: sre:scope=client"}},
}

// TestAgreesWithFleet holds virtual time against the fleet of the real engine in a bubble: every
// attempt of every client, and everything that is recorded of the run, byte for byte.
func TestAgreesWithFleet(t *testing.T) {
	all := waiting()
	for i, tt := range storms {
		t.Run(tt.name, func(t *testing.T) {
			// Every strategy meets several storms, every storm several strategies.
			for _, strategy := range []string{all[i%len(all)], all[(i+5)%len(all)], all[(i+10)%len(all)]} {
				p := scenario(t, append(slices.Clone(tt.lines), "strategy: "+strategy)...)
				got, want := measure(p, strategy, 7), fleetInBubble(t, p, strategy, 7)
				sortRows(got.rows)
				sortRows(want.rows)
				for i := range max(len(got.rows), len(want.rows)) {
					if i >= len(got.rows) || i >= len(want.rows) || got.rows[i] != want.rows[i] {
						t.Fatalf("%s: attempt %d:\n%+v\nwant\n%+v", strategy, i, got.rows[i:min(i+1, len(got.rows))], want.rows[i:min(i+1, len(want.rows))])
					}
				}
				if got, want := text(t, got.run), text(t, want.run); got != want {
					t.Fatalf("%s: the run is\n%s\nwant\n%s", strategy, got, want)
				}
			}
		})
	}
}

// TestAgreesWithFleetOnAnyPlan is the same of any plan without a network whose strategy draws.
func TestAgreesWithFleetOnAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, strategy := anyPlan(rt)
		if p.Latency, p.LossShare = (plan.Law{}), 0; p.Model != plan.ModelTokenBucket {
			p.Model = plan.ModelSlots
		}
		if !entryOf(t, strategy).Jittered {
			strategy = "full"
		}
		if p.RatePerSecond == 0 {
			p.Ramp = 97_300 * time.Microsecond // no two are due at one moment
		}
		run := rapid.Uint64().Draw(rt, "seed")
		got, want := measure(p, strategy, run), fleetInBubble(t, p, strategy, run)
		sortRows(got.rows)
		sortRows(want.rows)
		if !slices.Equal(got.rows, want.rows) {
			for i := range max(len(got.rows), len(want.rows)) {
				if i >= len(got.rows) || i >= len(want.rows) || got.rows[i] != want.rows[i] {
					rt.Fatalf("attempt %d:\n%+v\nwant\n%+v", i, got.rows[i:min(i+1, len(got.rows))], want.rows[i:min(i+1, len(want.rows))])
				}
			}
		}
		if got, want := text(t, got.run), text(t, want.run); got != want {
			rt.Fatalf("the run is\n%s\nwant\n%s", got, want)
		}
	})
}

// sortRows puts attempts in the order of their ends, and of those the clients'.
func sortRows(rows []retry.Row) {
	slices.SortFunc(rows, func(a, b retry.Row) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Attempt, b.Attempt))
	})
}
