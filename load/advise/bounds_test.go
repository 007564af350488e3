package advise_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/advise"
	"stormtest/load/plan"
)

// What was taken before an outage is served in it: what a queue makes possible is found.
func TestQueueServesDuringTheOutage(t *testing.T) {
	p := scenario(t, "clients: 100", "capacity: 50/s", "queue: 100", "timeout: 30s", "outage: ['1s..10s']")
	f := find(t, advise.Config{Plan: p, Wishes: []advise.Wish{advise.Completion(5 * second)}})
	if !f.Advice.Met || *f.Advice.Sizing.Earliest > 2*second+time.Millisecond {
		t.Errorf("met = %v, earliest %v, obstacles %q; want all done after 2 s", f.Advice.Met, *f.Advice.Sizing.Earliest, f.Advice.Obstacles)
	}
}

// A peak alone is not kept by putting operations off until nobody watches: all are done in the plan's time.
func TestPeakIsKeptToTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	p := scenario(t, "clients: 400", "capacity: 100/s", "bucket: 1s")
	f := find(t, advise.Config{Plan: p, Wishes: []advise.Wish{advise.Peak(0.5)}})
	if !f.Advice.Met {
		t.Fatalf("not met: %q", f.Advice.Obstacles)
	}
	if c := f.Advice.Best[0].Completion; c.Count < f.Advice.Best[0].Kept || *c.P95 > float64(f.Plan.Duration) {
		t.Errorf("%d seeds are done, after %v, in a plan of %v; want all that keep the wish, which are %d", c.Count, time.Duration(*c.P95), f.Plan.Duration, f.Advice.Best[0].Kept)
	}
}

// Whatever the situation, what some policy comes to in some run is never called impossible.
func TestNothingThatHappensIsImpossible(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for i := range 120 {
		from := r.IntN(4) * r.IntN(1500)
		to := from + 1 + r.IntN(8000)
		lines := []string{
			fmt.Sprintf("clients: %d", 1+r.IntN(120)), "capacity: " + pick("10/s", "20/s", "60/s"), "workers: " + pick("1", "1", "5", "30"), "queue: " + pick("0", "3", "40", "1000"),
			"service: " + pick("fixed", "exp"), "abandoned: " + pick("process", "cancel"), "timeout: " + pick("300ms", "2s", "30s"), "ramp: " + pick("0s", "0s", "3s"),
			"strategy: " + pick("full", "none", "decorrelated"), "base: " + pick("20ms", "500ms"), "cap: 3s", "duration: 5m", "max-elapsed: " + pick("unlimited", "2s", "8s"),
			fmt.Sprintf("outage: ['%dms..%dms=%s', '%dms..%dms=%s']", from, to, pick("status", "hang", "reset", "refuse", "slow:3", "capacity:0%"),
				to+r.IntN(2)*r.IntN(900), to+1000, pick("status", "hang", "reset", "capacity:50%")),
		}
		if r.IntN(4) == 0 {
			lines = append(lines, "model: token-bucket", "burst: "+pick("1", "20"))
		}
		p := scenario(t, lines...)
		p.Seed = plan.Seed{Value: uint64(i), Set: true}
		result, err := load.Simulate(t.Context(), p, load.Env{})
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		run := &result.Runs[0]
		wishes := []advise.Wish{advise.Success(float64(run.Operations.Succeeded) / float64(run.Operations.Started))}
		if run.Completion != nil && run.Operations.Succeeded == int64(p.Clients) {
			wishes = append(wishes, advise.Completion(time.Duration(*run.Completion)))
		}
		for _, w := range wishes {
			if w.Limit == 0 {
				continue
			}
			if said := advise.Impossible(advise.Config{Plan: p, Wishes: []advise.Wish{w}, Duration: true}); len(said) > 0 {
				t.Errorf("%q: kept %+v, of which it is said: %q", lines, w, said)
			}
		}
	}
}
