package advise_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/advise"
	"stormtest/load/plan"
	"stormtest/load/record"
)

const second = time.Second

// scenario is the plan that the lines of a scenario file give, with a seed and, unless they say another, an
// outage of the first two seconds and no end of an operation.
func scenario(t *testing.T, lines ...string) plan.Plan {
	t.Helper()
	text := "seed: 1\nmax-elapsed: unlimited\noutage: ['0s..2s']\n"
	for _, line := range strings.Split(strings.Join(lines, "\n"), "\n") {
		name, _, _ := strings.Cut(line, ":")
		var kept []string
		for old := range strings.Lines(text) {
			if !strings.HasPrefix(old, name+":") {
				kept = append(kept, old)
			}
		}
		text = strings.Join(kept, "") + line + "\n"
	}
	p, err := plan.Decode("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find searches, and checks what holds of every advice.
func find(t *testing.T, c advise.Config) *advise.Found {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	f, err := advise.Find(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Advice
	if a.Met != (f.Plan != nil) || a.Met != (len(a.Obstacles) == 0) || a.Met == (string(a.Plan) == "null") {
		t.Errorf("met = %v with plan %s and obstacles %q", a.Met, a.Plan, a.Obstacles)
	}
	if len(a.Best) == 0 || a.Runs <= 0 || a.Policies <= 0 || len(a.Wishes) != len(c.Wishes) {
		t.Errorf("advice %+v, want policies, runs and %d wishes", a, len(c.Wishes))
	}
	for _, b := range a.Best {
		if b.Kept > 0 && strings.Contains(strings.Join(a.Obstacles, "\n"), "impossible") {
			t.Errorf("%+v beside %q", b, a.Obstacles)
		}
		if b.Meets && b.Kept < b.Seeds*96/100 || b.Seeds < 16 || b.Kept > b.Seeds {
			t.Errorf("%+v, want one that is tried with many seeds and keeps what it is said to", b)
		}
	}
	if c.Current != (a.Current != nil) || c.Current != (f.Current != nil) {
		t.Errorf("the user's policy is in the advice = %v, asked for = %v", a.Current != nil, c.Current)
	}
	if f.Plan != nil {
		checkPlan(t, f.Plan)
	}
	return f
}

// checkPlan checks that a plan is a scenario of both engines, and that it reads back.
func checkPlan(t *testing.T, p *plan.Plan) {
	t.Helper()
	if err := errors.Join(p.Validate(), p.For(plan.Real), p.For(plan.Virtual)); err != nil {
		t.Errorf("the plan that was found cannot run: %v", err)
	}
	if warnings := p.Warnings(); len(warnings) > 0 {
		t.Errorf("the plan that was found asks for what has no effect: %q", warnings)
	}
	for _, file := range [][]byte{p.YAML(), p.Brief()} {
		back, err := plan.Decode("found", file)
		if err != nil || back.Hash() != p.Hash() {
			t.Errorf("%s\nreads back as another plan: %v", file, err)
		}
	}
}

// kept runs a plan as stormtest sim --repeat does, with seeds of its own, and returns in how many runs every
// wish is kept, counted from the runs' own figures.
func kept(t *testing.T, p plan.Plan, first uint64, seeds int, wishes ...advise.Wish) (n int) {
	t.Helper()
	for i := range seeds {
		p.Seed = plan.Seed{Value: first + uint64(i), Set: true}
		r, err := load.Simulate(t.Context(), p, load.Env{})
		if err != nil {
			t.Fatal(err)
		}
		run, ok := &r.Runs[0], true
		for _, w := range wishes {
			switch w.Name {
			case record.WishCompletion:
				ok = ok && run.Completion != nil && float64(*run.Completion) <= w.Limit
			case record.WishSuccess:
				ok = ok && float64(run.Operations.Succeeded) >= w.Limit*float64(run.Operations.Started)
			case record.WishPeak:
				for _, b := range run.Buckets {
					ok = ok && float64(b.Retries) <= w.Limit*p.CapacityPerSecond*p.Bucket.Seconds()
				}
			}
		}
		if ok {
			n++
		}
	}
	return n
}

// The promise: what is found for 5,000 clients at 500/s, all done within 30 s, keeps that with 50 seeds
// that the search has not seen in 45 of them at least. So do the others. The scenario goes through its file.
//
// The search passes a policy that keeps it with a chance of 0.95 in one case of six, and that one fails
// here in one of 25; the seeds are fixed. See provenShare.
func TestKeepsItsPromise(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	tests := []struct {
		name   string
		lines  []string
		wishes []advise.Wish
		heavy  bool
	}{
		{"5,000 clients at 500/s, 30 s", []string{"clients: 5000", "capacity: 500/s"}, []advise.Wish{advise.Completion(30 * second)}, true},
		{"in little more than the target needs", []string{"clients: 120", "capacity: 40/s"}, []advise.Wish{advise.Completion(7 * second)}, false},
		{"a peak", []string{"clients: 120", "capacity: 40/s"}, []advise.Wish{advise.Peak(2)}, false},
		{"a peak and an end", []string{"clients: 120", "capacity: 40/s"}, []advise.Wish{advise.Peak(3), advise.Completion(20 * second)}, false},
		{"a deadline", []string{"clients: 120", "capacity: 40/s", "max-elapsed: 10s"}, []advise.Wish{advise.Success(0.99)}, false},
		{"a queue and workers", []string{"clients: 120", "capacity: 40/s", "workers: 10", "queue: 20", "service: exp"}, []advise.Wish{advise.Completion(10 * second)}, false},
		{"a token bucket", []string{"clients: 120", "capacity: 40/s", "model: token-bucket", "burst: 20"}, []advise.Wish{advise.Completion(10 * second)}, false},
		{"an outage that hangs", []string{"clients: 120", "capacity: 40/s", "timeout: 1s", "outage: ['0s..5s=hang']"}, []advise.Wish{advise.Completion(15 * second)}, false},
		{"no outage, the fleet itself", []string{"clients: 120", "capacity: 40/s", "outage: []"}, []advise.Wish{advise.Completion(8 * second)}, false},
		{"a Retry-After that the target sends", []string{"clients: 120", "capacity: 40/s", "send-retry-after: 2s"}, []advise.Wish{advise.Completion(25 * second)}, false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if raceDetector && (tt.heavy || i%4 != 0) {
				t.Skip("takes minutes under the race detector")
			}
			p := scenario(t, tt.lines...)
			f := find(t, advise.Config{Plan: p, Wishes: tt.wishes, Hint: p.SendRetryAfter != 0})
			if f.Plan == nil {
				t.Fatalf("nothing was found: %q", f.Advice.Obstacles)
			}
			for _, file := range [][]byte{f.Plan.YAML(), f.Plan.Brief()} {
				again, err := plan.Decode("found", file)
				if err != nil {
					t.Fatal(err)
				}
				if n := kept(t, again, 1000, 50, tt.wishes...); n < 45 {
					t.Errorf("%d of 50 new seeds keep the wishes, want at least 45:\n%s", n, f.Plan.Brief())
				}
				if tt.heavy {
					break // one file is enough
				}
			}
			if p.SendRetryAfter != 0 && f.Plan.SendRetryAfter != p.SendRetryAfter {
				t.Errorf("Retry-After %v, want the target's own of %v", f.Plan.SendRetryAfter, p.SendRetryAfter)
			}
		})
	}
}

// Where nothing keeps the wishes, the advice says which is in the way and what can be had.
func TestObstacles(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		wishes []advise.Wish
		want   []string
	}{
		{"N/C alone takes longer", []string{"outage: []"}, []advise.Wish{advise.Completion(2 * second)},
			[]string{"completion within 2 s is impossible: 120 clients at 40/s alone take 3 s (N/C), whatever the policy"}},
		{"with the outage", nil, []advise.Wish{advise.Completion(4 * second)},
			[]string{"completion within 4 s is impossible: 120 clients at 40/s take 3 s (N/C) beside the outage, 5 s in all, whatever the policy", "even alone, completion within 4 s cannot be had"}},
		{"completion only with a peak", nil, []advise.Wish{advise.Completion(7 * second), advise.Peak(1.5)},
			[]string{"alone, completion within 7 s can be had", "at the price of a peak of", "with a peak of at most 1.5x capacity kept, the best is completion within", "with completion within 7 s kept, the best is a peak of"}},
		{"a deadline shorter than the outage", []string{"max-elapsed: 1s"}, []advise.Wish{advise.Success(0.5)},
			[]string{"the deadline of 1 s is shorter than the outage, which is over after 2 s: nobody can succeed"}},
		{"a deadline that leaves time for some", []string{"max-elapsed: 3s"}, []advise.Wish{advise.Success(0.5)},
			[]string{"success of 50% is impossible with a deadline of 3 s: of 120 clients at 40/s the target can serve 33.3333% by then"}},
		{"a deadline before the wished end", []string{"max-elapsed: 4s"}, []advise.Wish{advise.Completion(60 * second)},
			[]string{"success of 100% is impossible with a deadline of 4 s"}},
		{"too few retries", []string{"max-retries: 1"}, []advise.Wish{advise.Completion(30 * second)}, []string{"max-retries 1 ends operations whatever the policy"}},
		{"a given duration", []string{"duration: 3s", "outage: ['0s..1s']"}, []advise.Wish{advise.Completion(30 * second)}, []string{"duration 3 s ends the runs"}},
		{"a timeout", []string{"timeout: 30s", "outage: ['0s..2s=hang']"}, []advise.Wish{advise.Completion(20 * second)}, []string{"timeout 30 s is how long"}},
		{"a budget", []string{"budget: 'aws:scope=fleet'"}, []advise.Wish{advise.Success(0.9)}, []string{"budget aws refuses retries whatever the policy"}},
		{"a status that nobody retries", []string{"status: 500"}, []advise.Wish{advise.Success(0.9)}, []string{"status 500 is not in retry-on"}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if raceDetector && i%4 != 0 {
				t.Skip("takes minutes under the race detector")
			}
			lines := append([]string{"clients: 120", "capacity: 40/s"}, tt.lines...)
			f := find(t, advise.Config{Plan: scenario(t, lines...), Wishes: tt.wishes, Duration: strings.Contains(strings.Join(lines, "\n"), "duration: ")})
			if f.Advice.Met {
				t.Fatalf("the wishes are met by %+v", f.Advice.Best[0])
			}
			said := strings.Join(f.Advice.Obstacles, "\n")
			for _, o := range f.Advice.Obstacles {
				if strings.Count(said, o) > 1 {
					t.Errorf("said twice: %q", o)
				}
			}
			for _, want := range tt.want {
				if !strings.Contains(said, want) {
					t.Errorf("the obstacles lack %q:\n%s", want, said)
				}
			}
		})
	}
}

// A fixed seed gives the same advice whatever the cores do, and another seed tries other runs.
func TestSameSeedSameAdvice(t *testing.T) {
	advice := func(seed string) string {
		f := find(t, advise.Config{Plan: scenario(t, "clients: 60", "capacity: 60/s", "seed: "+seed), Wishes: []advise.Wish{advise.Completion(9 * second)}, Current: true})
		b, err := json.Marshal(f.Advice)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := advice("1")
	if again := advice("1"); again != first {
		t.Errorf("seed 1 gave\n%s\nand then\n%s", first, again)
	}
	if other := advice("2"); other == first {
		t.Error("seeds 1 and 2 gave the same figures")
	}
}

// A policy of the user's that keeps the wishes is beaten, or equalled, in what is then wanted: attempts.
func TestIsNoWorseThanAGoodPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	p := scenario(t, "clients: 120", "capacity: 40/s", "strategy: full", "base: 3s", "cap: 3s")
	f := find(t, advise.Config{Plan: p, Wishes: []advise.Wish{advise.Completion(15 * second)}, Current: true})
	if !f.Advice.Current.Meets {
		t.Fatalf("the user's policy keeps %d of %d, want one that keeps the wish", f.Advice.Current.Kept, f.Advice.Current.Seeds)
	}
	if !f.Advice.Met || *f.Advice.Best[0].Attempts.Mean > *f.Advice.Current.Attempts.Mean*1.02 {
		t.Errorf("best %+v, want no more attempts than %v", f.Advice.Best, *f.Advice.Current.Attempts.Mean)
	}
	if f.Current.Base != p.Base || f.Current.Strategies[0] != "full" {
		t.Errorf("the user's plan became %+v", f.Current)
	}
}

// The rule of thumb with the numbers of the case: N/C, and log2(N/(C c)) waves.
func TestSizing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which has nothing to find here that it has not in others")
	}
	f := find(t, advise.Config{Plan: scenario(t, "clients: 120", "capacity: 40/s"), Wishes: []advise.Wish{advise.Completion(12 * second)}})
	z := f.Advice.Sizing
	if z.Drain != 3*second || z.Earliest == nil || (*z.Earliest-5*second).Abs() > time.Millisecond {
		t.Errorf("sizing %+v, want 3 s after an outage of 2 s", z)
	}
	if z.FirstCeiling == nil || z.Waves == nil {
		t.Fatalf("sizing %+v, want the first ceiling of the best policy", z)
	}
	want := math.Max(0, math.Ceil(math.Log2(3/z.FirstCeiling.Seconds())-1e-9))
	if float64(*z.Waves) != want {
		t.Errorf("%d waves with a first ceiling of %v, want %v", *z.Waves, z.FirstCeiling, want)
	}
}

func TestEarliest(t *testing.T) {
	tests := []struct {
		lines []string
		want  time.Duration
		never bool
	}{
		{[]string{"outage: []"}, 10 * second, false},
		{nil, 12 * second, false},
		{[]string{"outage: ['4s..6s']"}, 11900 * time.Millisecond, false}, // the worker goes on
		{[]string{"outage: ['4s..6s']", "workers: 5", "queue: 10"}, 10500 * time.Millisecond, false},
		{[]string{"outage: ['1s..9s']", "queue: 1000"}, 10 * second, false},
		{[]string{"outage: ['1s..2s', '2s..4s=hang', '5s..6s']", "queue: 14"}, 11500 * time.Millisecond, false},
		{[]string{"outage: ['1s..9s=capacity:0%']", "queue: 1000"}, 18 * second, false},
		{[]string{"model: token-bucket", "burst: 5", "outage: ['4s..6s']"}, 11 * second, false},
		{[]string{"outage: ['20s..30s']"}, 10 * second, false},
		{[]string{"outage: ['0s..10s=capacity:50%']"}, 15 * second, false},
		{[]string{"outage: ['0s..10s=slow:4']"}, 17500 * time.Millisecond, false},
		{[]string{"outage: ['0s..3s=hang', '4s..5s=reset', '6s..7s=refuse']"}, 14800 * time.Millisecond, false},
		{[]string{"outage: ['0s..3s=capacity:0%']"}, 13 * second, false},
		{[]string{"model: token-bucket", "burst: 50"}, 7 * second, false},
		{[]string{"capacity: 0"}, 0, true},
		{[]string{"capacity: 4/h"}, 0, true},
	}
	for _, tt := range tests {
		p := scenario(t, append([]string{"clients: 100", "capacity: 10/s"}, tt.lines...)...)
		got, ok := advise.Earliest(p)
		if ok == tt.never || (got-tt.want).Abs() > time.Millisecond {
			t.Errorf("%q: all can be served after %v, %v; want %v, %v", tt.lines, got, ok, tt.want, !tt.never)
		}
	}
}

// Every policy that may be tried is a plan that both engines run, whatever the situation.
func TestEveryPolicyIsAPlan(t *testing.T) {
	for _, lines := range [][]string{
		{"clients: 5000", "capacity: 500/s"}, {"clients: 1", "capacity: 1000/s", "outage: []"}, {"clients: 1000000", "capacity: 1000000/s"},
		{"clients: 1000", "capacity: 10/m", "bucket: 10s"}, {"clients: 100", "capacity: 100/s", "outage: ['0s..1h']"}, {"clients: 100", "capacity: 10/s", "send-retry-after: auto"},
		{"clients: 100", "capacity: 10/s", "retry-after: ignore", "floor: 15s", "cap-mode: fixed", "multiplier: 7"},
	} {
		p := scenario(t, lines...)
		plans := advise.Policies(advise.Config{Plan: p, Wishes: []advise.Wish{advise.Completion(time.Minute)}, Hint: p.SendRetryAfter != 0})
		if len(plans) < 100 {
			t.Errorf("%q: %d policies", lines, len(plans))
		}
		for i, q := range plans {
			if i%7 != 0 && i != len(plans)-1 {
				continue // the check of a plan takes a while
			}
			if err := errors.Join(q.Validate(), q.For(plan.Real), q.For(plan.Virtual)); err != nil {
				t.Fatalf("%q: %v:\n%s", lines, err, q.Brief())
			}
		}
	}
}

// What is counted without a record is what a record says.
func TestBareRunsCountTheSame(t *testing.T) {
	for _, lines := range [][]string{
		nil, {"strategy: equal", "base: 1s", "max-retries: 3"}, {"max-elapsed: 5s"}, {"duration: 3s"}, {"workers: 4", "queue: 8", "service: exp"}, {"strategy: decorrelated", "timeout: 20ms", "queue: 50"},
	} {
		p := scenario(t, append([]string{"clients: 200", "capacity: 100/s"}, lines...)...)
		bare, recorded, err := advise.BothWays(p)
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(bare.Completion, recorded.Completion) || bare.Attempts != recorded.Attempts || bare.Success != recorded.Success {
			t.Errorf("%q: %+v where nothing is recorded, %+v where all is", lines, bare, recorded)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"rate: 10/s", "rate"}, {"strategy: full,none", "strategy"}, {"operations: 5", "operations"}, {"shared-seed: true", "shared-seed"},
		{"model: occ\noutage: []", "model"}, {"model: reject-if-busy", "model"}, {"latency: 5ms", "latency"}, {"loss: 1%", "loss"}, {"url: http://localhost:1/", "url"},
		{"capacity: 1/m", "capacity"}, {"capacity: 0", "capacity"}, {"clients: 30000\ncapacity: 5/s", "bucket"},
	} {
		p := scenario(t, tt.line)
		err := advise.Config{Plan: p, Wishes: []advise.Wish{advise.Completion(time.Minute)}}.Check()
		if err == nil || !strings.Contains(err.Error(), tt.want+": ") {
			t.Errorf("%s: %v, want a word on %s", tt.line, err, tt.want)
		}
	}
}

func TestCancelledSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := advise.Find(ctx, advise.Config{Plan: scenario(t, "clients: 120", "capacity: 40/s"), Wishes: []advise.Wish{advise.Completion(15 * second)},
		Progress: func(share float64) {
			if n++; n == 100 {
				cancel()
			}
			if share < 0 || share > 1 {
				t.Errorf("share %v of the search is done", share)
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n > 200 {
		t.Errorf("%d runs, want an end soon after the 100th", n)
	}
}

func TestRound(t *testing.T) {
	for _, tt := range []struct{ d, round, up time.Duration }{
		{1_234_567, 1_250_000, second}, {1_449 * time.Millisecond, 1450 * time.Millisecond, 2 * second}, {13_140 * time.Millisecond, 13 * second, 14 * second},
		{26_700 * time.Millisecond, 27 * second, 30 * second}, {987 * time.Millisecond, 990 * time.Millisecond, second}, {135 * second, 135 * second, 140 * second},
		{199 * second, 200 * second, 200 * second}, {time.Hour, 3600 * second, time.Hour},
	} {
		if got := advise.Round(tt.d); got != tt.round {
			t.Errorf("round(%v) = %v, want %v", tt.d, got, tt.round)
		}
		if got := advise.RoundUp(tt.d); got != tt.up {
			t.Errorf("roundUp(%v) = %v, want %v", tt.d, got, tt.up)
		}
	}
}
