package sim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/retry"
)

// anyPlan draws a small plan of anything that virtual time can run.
func anyPlan(rt *rapid.T) (p plan.Plan, strategy string) {
	p = plan.Default()
	strategy = rapid.SampledFrom(waiting()).Draw(rt, "strategy")
	p.Clients = rapid.IntRange(1, 60).Draw(rt, "clients")
	p.Base = ms(rt, "base", 1, 200)
	p.Cap = p.Base + ms(rt, "cap", 0, 3000)
	p.FirstExponent = rapid.IntRange(0, 1).Draw(rt, "first-exponent")
	p.SharedSeed = rapid.Bool().Draw(rt, "shared-seed")
	p.Duration = ms(rt, "duration", 1100, 6000)
	p.Timeout = ms(rt, "timeout", 5, 1000)
	p.MaxElapsed = rapid.SampledFrom([]time.Duration{0, 700 * time.Millisecond, time.Minute}).Draw(rt, "max-elapsed")
	p.MaxRetries = rapid.SampledFrom([]int{plan.Unlimited, 0, 3}).Draw(rt, "max-retries")
	p.CapacityPerSecond = rapid.SampledFrom([]float64{0, 7, 100, 3000}).Draw(rt, "capacity")
	p.Workers = rapid.IntRange(1, 4).Draw(rt, "workers")
	p.Queue = rapid.IntRange(0, 20).Draw(rt, "queue")
	p.Service = rapid.SampledFrom([]string{plan.ServiceFixed, plan.ServiceExp}).Draw(rt, "service")
	p.Model = rapid.SampledFrom([]string{plan.ModelSlots, plan.ModelTokenBucket, plan.ModelRejectIfBusy, plan.ModelOCC}).Draw(rt, "model")
	if p.Model == plan.ModelRejectIfBusy {
		p.Workers, p.Queue = 1, 0
	}
	p.Latency = rapid.SampledFrom([]plan.Law{{}, {Mean: 7 * time.Millisecond}, {Mean: 10 * time.Millisecond, SD: 8 * time.Millisecond}, {SD: 400 * time.Millisecond}}).Draw(rt, "latency")
	p.LossShare = rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(rt, "loss")
	p.Abandoned = rapid.SampledFrom([]string{plan.AbandonedProcess, plan.AbandonedCancel}).Draw(rt, "abandoned")
	p.SendRetryAfter = rapid.SampledFrom([]time.Duration{0, time.Second, plan.AutoRetryAfter}).Draw(rt, "send-retry-after")
	p.RetryAfterJitter = rapid.SampledFrom([]time.Duration{plan.ByStrategy, 0, time.Second}).Draw(rt, "retry-after-jitter")
	set(rt, &p, "retry-on", []string{"connect,timeout,reset,503", "timeout,503", "connect,503"})
	if p.Model != plan.ModelOCC {
		set(rt, &p, "outage", []string{"[]", "['300ms..900ms']", "['300ms..900ms=hang']", "['300ms..900ms=reset']",
			"['300ms..900ms=refuse', '1s..2s=slow:3']", "['0s..100ms=refuse', '200ms..400ms=capacity:0%']"})
	}
	set(rt, &p, "budget", []string{"none", "finagle:ratio=20%,min=1/s,ttl=1s,scope=fleet", "envoy:ratio=20%,min=1,scope=client",
		"aws:size=60,scope=fleet", "aws-adaptive:scope=fleet", "aws-adaptive", "aws-legacy:size=20,scope=client", "grpc:ratio=0.5,scope=fleet", "sre:window=1s,scope=fleet", "sre:scope=client"})
	set(rt, &p, "breaker", []string{"none", "none", "consecutive:failures=1,open=50ms,jitter=100%", "consecutive:failures=2,open=200ms,probes=3,successes=2,scope=fleet",
		"rate:share=30%,calls=3,window=5,open=70ms,scope=fleet", "resilience4j:calls=4,window=8,open=100ms,scope=fleet", "polly:calls=3,open=300ms"})
	if rapid.Bool().Draw(rt, "open") {
		p.RatePerSecond = rapid.SampledFrom([]float64{3, 50, 400}).Draw(rt, "rate")
		p.Arrivals = rapid.SampledFrom([]string{plan.ArrivalsEven, plan.ArrivalsPoisson}).Draw(rt, "arrivals")
	} else {
		p.Ramp = min(ms(rt, "ramp", 0, 300), p.Duration-1)
	}
	p.Operations = int64(rapid.IntRange(0, 200).Draw(rt, "operations"))
	p.Seed = plan.Seed{Value: 1, Set: true}
	if err := p.Validate(); err != nil {
		rt.Fatalf("the plan is not valid: %v", err)
	}
	return p, strategy
}

func ms(rt *rapid.T, name string, low, high int) time.Duration {
	return time.Duration(rapid.IntRange(low*1000, high*1000).Draw(rt, name)) * time.Microsecond
}

// set gives a field one of the texts of a scenario file.
func set(rt *rapid.T, p *plan.Plan, field string, texts []string) {
	part, err := plan.Decode("test", []byte(field+": "+rapid.SampledFrom(texts).Draw(rt, field)))
	if err != nil {
		rt.Fatal(err)
	}
	switch field {
	case "retry-on":
		p.RetryOn = part.RetryOn
	case "outage":
		p.Outages = part.Outages
	case "budget":
		p.Budget = part.Budget
	case "breaker":
		p.Breaker = part.Breaker
	}
}

// TestAnyPlan holds for every run: the books balance, what arrived is what the buckets hold, what
// the engine counted is what was recorded, nothing is negative, and a run is a function of its seed.
func TestAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, strategy := anyPlan(rt)
		seed := rapid.Uint64().Draw(rt, "seed")
		m := measure(p, strategy, seed)
		checkRun(rt, &m)
		first := encode(rt, m.run)
		if again := encode(rt, measure(p, strategy, seed).run); !bytes.Equal(first, again) {
			rt.Fatalf("a second run with one seed differs:\n%s\n%s", first, again)
		}
	})
}

func checkRun(rt *rapid.T, m *measured) {
	r, s := &m.run, &m.stats
	if !r.Books.Balanced {
		rt.Fatalf("the books do not balance: %v", r.Books.Faults)
	}
	var inBuckets, served, outcomes, gaveUp, unstarted int64
	for _, b := range r.Buckets {
		inBuckets += b.Arrivals
		served += b.Served - b.Wasted
	}
	for _, n := range r.Attempts.ByOutcome {
		outcomes += n
	}
	for _, n := range r.Operations.GaveUp {
		gaveUp += n
	}
	if r.Operations.Unstarted != nil {
		unstarted = *r.Operations.Unstarted
	}
	for _, eq := range []struct {
		name        string
		left, right int64
	}{
		{"arrivals: buckets, engine", inBuckets, s.Arrivals},
		{"arrivals: books, engine", r.Books.Arrivals, s.Arrivals},
		{"attempts: recorder, engine", r.Attempts.Sent, s.Attempts},
		{"attempts that ended, or were not let out: recorder, trace", outcomes + r.Attempts.ShortCircuited, int64(len(m.rows))},
		{"succeeded: recorder, engine", r.Operations.Succeeded, s.Succeeded},
		{"gave up: recorder, engine", gaveUp, s.GaveUp},
		{"unfinished: recorder, engine", r.Operations.Unfinished, s.Unfinished},
		{"unstarted: recorder, engine", unstarted, s.Unstarted},
		{"lateness beyond 0", 0, r.Lateness.Count - counted(r)},
	} {
		if eq.left != eq.right {
			rt.Fatalf("%s: %d and %d", eq.name, eq.left, eq.right)
		}
	}
	if served < s.Succeeded {
		rt.Fatalf("%d operations succeeded, %d were served", s.Succeeded, served)
	}
	if s.Succeeded == 0 != (s.Completion < 0) || s.Completion > s.End {
		rt.Fatalf("completion %v of %d successes, end %v", s.Completion, s.Succeeded, s.End)
	}
	negative(rt, "run", toAny(rt, *r))
	for _, row := range m.rows {
		if row.Sent != row.Due && row.Outcome.Kind != retry.ShortCircuited || row.End < row.Sent || row.Arrived > row.End {
			rt.Fatalf("an attempt ran backwards: %+v", row)
		}
	}
}

// counted is how many attempts were sent without any lateness.
func counted(r *record.Run) int64 {
	if r.Lateness.Max != nil && *r.Lateness.Max != 0 {
		return -1
	}
	return r.Lateness.Count
}

// negative fails on any number below 0 in what a result holds.
func negative(rt *rapid.T, name string, x any) {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			negative(rt, name+"."+k, v)
		}
	case []any:
		for i, v := range x {
			negative(rt, fmt.Sprintf("%s[%d]", name, i), v)
		}
	case float64:
		if x < 0 && !strings.Contains(name, "periodicity") { // a correlation
			rt.Fatalf("%s = %v, want 0 or more", name, x)
		}
	}
}

func toAny(rt *rapid.T, r record.Run) (x any) {
	if err := json.Unmarshal(encode(rt, r), &x); err != nil {
		rt.Fatal(err)
	}
	return x
}

func encode(rt *rapid.T, r record.Run) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		rt.Fatal(err)
	}
	return b
}

// TestAnotherSeedIsAnotherRun: no jittered storm of 40 clients is the same with two seeds, and none
// without jitter differs.
func TestAnotherSeedIsAnotherRun(t *testing.T) {
	for _, name := range waiting() {
		p := guide(40)
		one, other := text(t, measure(p, name, 1).run), text(t, measure(p, name, 2).run)
		entry := entryOf(t, name)
		if (one == other) == entry.Jittered {
			t.Errorf("%s, jittered %v: two seeds give one run: %v", name, entry.Jittered, one == other)
		}
	}
}
