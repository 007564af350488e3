package load_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// These tests run the whole engine, fleet and HTTP target, in a bubble: over connections in
// memory, with a clock that moves only when everybody waits. So arrivals come at their exact
// moments, and an hour takes milliseconds.

// scenario returns the plan of some lines of a scenario file, with seed 1 unless they say
// another.
func scenario(t *testing.T, lines ...string) plan.Plan {
	t.Helper()
	text := "\n" + strings.Join(lines, "\n")
	if !strings.Contains(text, "\nseed:") {
		text += "\nseed: 1"
	}
	p, err := plan.Decode("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// memory is a network of the bubble it is called in.
func memory() (load.Place, error) {
	var n targettest.Network
	return load.Place{
		Opener: opener{&n},
		Dial:   func(ctx context.Context, _ int) (net.Conn, error) { return n.DialContext(ctx, "mem", "target") },
		Host:   "target",
		Close:  func() error { return nil },
	}, nil
}

type opener struct{ n *targettest.Network }

func (o opener) Open() (net.Listener, error) { return o.n.Listen("target") }

// bubble runs a plan in a bubble, until the plan's end or until the given moment, and checks
// what holds for every run.
func bubble(t *testing.T, p plan.Plan, until time.Duration) (result *record.Result, rows []attempt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if until > 0 {
			defer time.AfterFunc(until, cancel).Stop()
		}
		var trace bytes.Buffer
		var err error
		result, err = load.Run(ctx, p, load.Env{Network: memory, Wake: wake.Timers, Trace: &trace})
		if err != nil {
			t.Fatal(err)
		}
		rows = readTrace(t, trace.String())
	})
	for _, run := range result.Runs {
		checkBooks(t, &run, rows)
	}
	return result, rows
}

// checkBooks checks the equations of design section 4, from the figures and, where there is one, from the trace.
func checkBooks(t *testing.T, run *record.Run, rows []attempt) {
	t.Helper()
	if !run.Books.Balanced {
		t.Errorf("%s: the books do not balance: %v", run.Strategy, run.Books.Faults)
	}
	var inBuckets, lost, outcomes, gaveUp int64
	for _, b := range run.Buckets {
		inBuckets += b.Arrivals
	}
	for _, n := range run.Books.Lost {
		lost += n
	}
	for _, n := range run.Attempts.ByOutcome {
		outcomes += n
	}
	for _, n := range run.Operations.GaveUp {
		gaveUp += n
	}
	traced := outcomes + run.Attempts.ShortCircuited
	if rows != nil {
		traced = 0
	}
	for _, r := range rows {
		if r.strategy == run.Strategy || len(run.Parts) > 0 {
			traced++
		}
	}
	for _, eq := range []struct {
		name        string
		left, right int64
	}{
		{"sum over buckets = arrivals", inBuckets, run.Books.Arrivals},
		{"sent = arrivals + lost", run.Attempts.Sent, run.Books.Arrivals + lost},
		{"sent = outcomes + in flight", run.Attempts.Sent, outcomes + run.Attempts.InFlightAtEnd},
		{"sent = first + retries + hedges", run.Attempts.Sent, run.Attempts.First + run.Attempts.Retries + run.Attempts.Hedges},
		{"started = succeeded + gave up + unfinished", run.Operations.Started, run.Operations.Succeeded + gaveUp + run.Operations.Unfinished},
		{"rows of the trace = outcomes + short-circuited", traced, outcomes + run.Attempts.ShortCircuited},
	} {
		if eq.left != eq.right {
			t.Errorf("%s: %s does not hold: %d and %d", run.Strategy, eq.name, eq.left, eq.right)
		}
	}
}

// An attempt is one row of a trace.
type attempt struct {
	strategy          string
	client, number    int
	operation         int
	due, sent         time.Duration
	arrived, end      time.Duration // arrived is -1 where it did not
	outcome, decision string
	delay, draw       time.Duration // -1 where no retry follows
}

func readTrace(t *testing.T, text string) []attempt {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := "strategy,client,operation,attempt,due_ns,sent_ns,arrived_ns,end_ns,outcome,decision,next_delay_ns,next_draw_ns"
	if got := strings.Join(records[0], ","); got != head {
		t.Fatalf("columns of the trace = %s, want %s", got, head)
	}
	number := func(s string) int64 {
		if s == "" {
			return -1
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var rows []attempt
	for _, r := range records[1:] {
		rows = append(rows, attempt{
			strategy: r[0], client: int(number(r[1])), operation: int(number(r[2])), number: int(number(r[3])),
			due: time.Duration(number(r[4])), sent: time.Duration(number(r[5])),
			arrived: time.Duration(number(r[6])), end: time.Duration(number(r[7])),
			outcome: r[8], decision: r[9], delay: time.Duration(number(r[10])), draw: time.Duration(number(r[11])),
		})
	}
	return rows
}

// The closed form of a storm without jitter (domain 6.1): one client is served in each wave,
// so N clients need N(N+1)/2 attempts, and the last is served after the sum of the first N-1
// delays, and one service time.
func TestUnjitteredStormFollowsTheClosedForm(t *testing.T) {
	tests := []struct {
		strategy string
		want     time.Duration
	}{
		{"none", 1845500 * time.Millisecond},
		{"linear", 495 * time.Second},
		{"constant", 9900 * time.Millisecond},
		{"fibonacci", 1777600 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.strategy, func(t *testing.T) {
			result, _ := bubble(t, scenario(t, "strategy: "+tt.strategy, "clients: 100", "duration: 1h", "max-elapsed: unlimited"), 0)
			run := result.Runs[0]
			if run.Attempts.Sent != 5050 {
				t.Errorf("attempts = %d, want 5050", run.Attempts.Sent)
			}
			want := int64(tt.want + time.Millisecond)
			if run.Completion == nil || *run.Completion != want {
				t.Errorf("completion = %v, want %d", run.Completion, want)
			}
			// Perfect clumps of at most 99 where 100 fit into a bucket.
			if c := run.Convoy; c.ConvoyIndex == nil || *c.ConvoyIndex != 1 || c.Verdict != record.VerdictClumped {
				t.Errorf("convoy index = %v, verdict = %s; want 1 and CLUMPED", c.ConvoyIndex, c.Verdict)
			}
		})
	}
}

// The mean over seeds is domain 6.1's; one run lies within 6 of its standard deviations (the
// 5-95 % range is 3.29 of them wide), false-positive rate 2e-9 each. Any other of the four
// strategies, the other first exponent, or a lattice of 1 ms, is outside.
func TestJitteredStormCountsLikeTheReference(t *testing.T) {
	tests := []struct {
		strategy     string
		mean, lo, hi float64 // mean and 5-95 % range at N = 1000
	}{
		{"equal", 4840, 4813, 4868},
		{"full", 4724, 4693, 4753},
		{"decorrelated", 3745, 3702, 3785},
	}
	for _, tt := range tests {
		t.Run(tt.strategy, func(t *testing.T) {
			result, rows := bubble(t, scenario(t, "strategy: "+tt.strategy, "clients: 1000", "duration: 10m", "max-elapsed: unlimited"), 0)
			got := float64(result.Runs[0].Attempts.Sent)
			if sd := (tt.hi - tt.lo) / 3.29; got < tt.mean-6*sd || got > tt.mean+6*sd {
				t.Errorf("attempts = %v, want %v within 6 x %.1f", got, tt.mean, sd)
			}
			for _, r := range rows {
				if r.sent != r.due || r.arrived != r.due {
					t.Fatalf("client %d sent attempt %d at %v, which arrived at %v, due %v: the engine itself was late",
						r.client, r.number, r.sent, r.arrived, r.due)
				}
			}
			if n := result.Runs[0].Operations.Succeeded; n != 1000 {
				t.Errorf("succeeded = %d, want 1000", n)
			}
		})
	}
}

// D-03 and the rule "same seed, same bytes; other seed, other", over the whole engine.
func TestSeedDecidesEveryDelay(t *testing.T) {
	delays := func(seed string) map[string]time.Duration {
		_, rows := bubble(t, scenario(t, "strategy: full", "clients: 300", "capacity: 0", "max-retries: 4", "seed: "+seed), 0)
		m := make(map[string]time.Duration)
		for _, r := range rows {
			if r.draw >= 0 {
				m[fmt.Sprint(r.client, " ", r.number)] = r.draw
			}
		}
		return m
	}
	a, again, b := delays("42"), delays("42"), delays("43")
	if len(a) != 1200 {
		t.Fatalf("%d delays, want 1200", len(a))
	}
	kept := 0
	for k, d := range a {
		if again[k] != d {
			t.Errorf("client and attempt %s: delay %v, then %v with the same seed", k, d, again[k])
		}
		if b[k] == d {
			kept++
		}
	}
	if kept > 5 {
		t.Errorf("%d of %d delays are the same with another seed", kept, len(a))
	}
}

func TestSharedSeedIsAConvoyAndSaysSo(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: full", "clients: 200", "shared-seed: true", "capacity: 100/s"), 0)
	c := result.Runs[0].Convoy
	if c.Verdict != record.VerdictConvoy || !contains(c.Flags, record.FlagSharedSeed) {
		t.Errorf("verdict %s, flags %v; want CONVOY and SHARED-SEED", c.Verdict, c.Flags)
	}
	result, _ = bubble(t, scenario(t, "strategy: full", "clients: 200", "capacity: 100/s"), 0)
	if c := result.Runs[0].Convoy; c.Verdict == record.VerdictConvoy || contains(c.Flags, record.FlagSharedSeed) {
		t.Errorf("without the fault: verdict %s, flags %v", c.Verdict, c.Flags)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// D-13 (a) and (b): the whole fleet in one bucket, or evenly over the ramp.
func TestStarts(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: none", "clients: 2000", "max-retries: 0"), 0)
	run := result.Runs[0]
	if n := run.Buckets[0].First; n != 2000 {
		t.Errorf("first attempts in bucket 0 = %d, want 2000", n)
	}
	if s := run.Generator.StartSpread; s == nil || *s != 0 {
		t.Errorf("start spread = %v, want 0", s)
	}
	if n := run.Operations.GaveUp["max_retries"]; n != 1999 {
		t.Errorf("gave up for max_retries = %d, want 1999", n)
	}
	result, rows := bubble(t, scenario(t, "strategy: none", "clients: 2000", "ramp: 10s", "max-retries: 0", "duration: 11s"), 0)
	for i, b := range result.Runs[0].Buckets {
		if i < 100 && b.First != 20 || i >= 100 && b.First != 0 {
			t.Errorf("bucket %d has %d starts, want 20 in each of the first 100", i, b.First)
		}
	}
	for _, r := range rows {
		if r.due >= 10*time.Second {
			t.Errorf("client %d starts at %v, want before 10s", r.client, r.due)
		}
	}
}

// The target serves its capacity in every second of a saturated run, exactly: its three
// workers finish together, so a second holds 730 give or take one from each.
func TestCapacityIsExactOverEverySecond(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: constant", "base: 20ms", "clients: 200", "operations: 100000",
		"capacity: 730/s", "workers: 3", "queue: 50", "duration: 12s"), 0)
	buckets := result.Runs[0].Buckets
	for first := 10; first+10 <= 110; first++ {
		var served int64
		for _, b := range buckets[first : first+10] {
			served += b.Served
		}
		if served < 727 || served > 733 {
			t.Errorf("served in [%v, +1s) = %d, want 730 +- 3", buckets[first].At, served)
		}
	}
}

// Each outage mode does what it says, as the clients see it.
func TestOutageModes(t *testing.T) {
	tests := []struct {
		mode string
		see  string // the outcome of the window
		// served per second inside and after the window
		during, after [2]int64
	}{
		{"status", "503", [2]int64{0, 0}, [2]int64{100, 100}},
		{"hang", "timeout", [2]int64{0, 0}, [2]int64{100, 100}},
		{"reset", "reset", [2]int64{0, 0}, [2]int64{100, 100}},
		{"refuse", "refused", [2]int64{0, 0}, [2]int64{100, 100}},
		{"slow:4", "200", [2]int64{25, 25}, [2]int64{100, 100}},
		{"capacity:30%", "200", [2]int64{30, 30}, [2]int64{100, 100}},
		{"capacity:0%", "503", [2]int64{0, 0}, [2]int64{100, 100}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			result, rows := bubble(t, scenario(t, "strategy: constant", "base: 50ms", "clients: 20", "operations: 100000",
				"capacity: 100/s", "queue: 5", "timeout: 400ms", "retry-on: connect,timeout,reset,503",
				"outage: ['2s..4s="+tt.mode+"']", "duration: 7s"), 0)
			run := result.Runs[0]
			for s, want := range map[int][2]int64{1: {100, 100}, 3: tt.during, 5: tt.after} {
				var served int64
				for _, b := range run.Buckets[10*s : 10*s+10] {
					served += b.Served
				}
				if served < want[0]-1 || served > want[1]+1 {
					t.Errorf("served in second %d = %d, want %v +- 1", s, served, want)
				}
			}
			seen := 0
			for _, r := range rows {
				if r.due >= 2*time.Second && r.end < 4*time.Second && r.outcome == tt.see {
					seen++
				}
			}
			if seen == 0 {
				t.Errorf("no attempt inside the outage ended as %s: %v", tt.see, run.Attempts.ByOutcome)
			}
		})
	}
}

// A refused connection never reached the target, and the books say where it was lost.
func TestRefusedAttemptsAreLostAttempts(t *testing.T) {
	result, rows := bubble(t, scenario(t, "strategy: constant", "base: 100ms", "clients: 10", "operations: 10000",
		"outage: ['1s..2s=refuse']", "duration: 3s"), 0)
	run := result.Runs[0]
	refused := run.Attempts.ByOutcome["refused"]
	if refused == 0 || run.Books.Lost["refused"] != refused {
		t.Errorf("refused = %d, lost as refused = %d", refused, run.Books.Lost["refused"])
	}
	for _, r := range rows {
		// A reset may come before or after the arrival: the door closed on an open connection.
		if r.outcome == "refused" && r.arrived >= 0 || r.outcome == "200" && r.arrived < 0 {
			t.Errorf("client %d: attempt at %v ended as %s and arrived at %v", r.client, r.sent, r.outcome, r.arrived)
		}
		if r.outcome == "refused" && (r.sent < time.Second || r.sent > 2*time.Second) {
			t.Errorf("client %d was refused at %v, outside the outage", r.client, r.sent)
		}
	}
	if run.Generator.Connections < 20 {
		t.Errorf("connections = %d: the fleet of 10 should have connected again after the outage", run.Generator.Connections)
	}
}

// An interrupted run keeps what it measured, and its books count what was under way.
func TestInterruptedRunIsWhole(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: none,full", "clients: 100", "capacity: 10/s", "queue: 5", "duration: 1h"), 2*time.Second)
	if !result.Interrupted || len(result.Runs) != 1 {
		t.Fatalf("interrupted = %v with %d runs, want true with the first of two", result.Interrupted, len(result.Runs))
	}
	run := result.Runs[0]
	if run.Operations.Unfinished == 0 || run.Attempts.InFlightAtEnd == 0 {
		t.Errorf("unfinished = %d, in flight = %d, want both above 0", run.Operations.Unfinished, run.Attempts.InFlightAtEnd)
	}
	if run.Duration < 1900*time.Millisecond || run.Duration > 2*time.Second {
		t.Errorf("duration = %v, want just under 2s", run.Duration)
	}
}

// With a queue, abandoned work and retries without a budget, goodput never comes back after
// the outage; with cancelled work and a short queue it does (domain 4.4, scaled down).
func TestMetastableFailure(t *testing.T) {
	lines := []string{"strategy: full", "clients: 500", "rate: 80/s", "capacity: 100/s", "workers: 1",
		"timeout: 200ms", "max-retries: 3", "outage: ['15s..19s=capacity:0%']", "duration: 150s"}
	run := func(more ...string) *record.Run {
		result, _ := bubble(t, scenario(t, append(lines, more...)...), 0)
		return &result.Runs[0]
	}
	stuck := run("abandoned: process", "queue: 100")
	if r := stuck.Recovery; r.RecoveredAt != nil || r.GoodputLast == nil || *r.GoodputLast > 8 || !contains(stuck.Convoy.Flags, record.FlagMetastable) {
		t.Errorf("process: recovery %+v, flags %v; want none, and METASTABLE", r, stuck.Convoy.Flags)
	}
	well := run("abandoned: cancel", "queue: 5")
	if r := well.Recovery; r.RecoveredAt == nil || *r.RecoveredAt > 5*time.Second || contains(well.Convoy.Flags, record.FlagMetastable) {
		t.Errorf("cancel: recovery %+v, flags %v; want one within 5s", r, well.Convoy.Flags)
	}
}

// An open loop starts operations at its rate whatever the target does, and counts those for
// which no client was idle.
func TestOpenLoopCountsWhatItCouldNotStart(t *testing.T) {
	result, rows := bubble(t, scenario(t, "strategy: constant", "base: 10s", "clients: 5", "rate: 10/s", "capacity: 0", "duration: 3s"), 0)
	ops := result.Runs[0].Operations
	if ops.Started != 5 || ops.Unstarted == nil || *ops.Unstarted != 25 {
		t.Errorf("operations = %+v, want 5 started and 25 unstarted", ops)
	}
	if notes := strings.Join(result.Runs[0].Notes, "\n"); !strings.Contains(notes, "the fleet was too small: 25 operations") {
		t.Errorf("notes = %q, want the fleet called too small", notes)
	}
	for _, r := range rows {
		if r.due%(100*time.Millisecond) != 0 {
			t.Errorf("client %d started at %v, want multiples of 100ms", r.client, r.due)
		}
	}
	result, _ = bubble(t, scenario(t, "strategy: none", "clients: 5", "rate: 10/s", "duration: 3s"), 0)
	if ops := result.Runs[0].Operations; ops.Started != 30 || ops.Succeeded != 30 || *ops.Unstarted != 0 {
		t.Errorf("operations = %+v, want 30 started and succeeded", ops)
	}
}

// D-05 over the wire: jitter comes after the server's floor, never before.
func TestRetryAfterIsAFloor(t *testing.T) {
	for _, strategy := range []string{"full", "equal", "none"} {
		t.Run(strategy, func(t *testing.T) {
			result, rows := bubble(t, scenario(t, "strategy: "+strategy, "clients: 500", "base: 1s", "cap: 1s", "max-retries: 1",
				"capacity: 0", "send-retry-after: 2s"), 0)
			for _, r := range rows {
				if r.number == 0 && r.delay < 2*time.Second {
					t.Errorf("client %d planned %v after Retry-After: 2", r.client, r.delay)
				}
				if r.number == 1 && strategy == "none" && r.sent != 2*time.Second {
					t.Errorf("client %d came back at %v, want 2s", r.client, r.sent)
				}
			}
			h := result.Runs[0].Hints
			if h.Seen != 1000 || h.Obeyed != 500 || h.Early != 0 || h.Invalid != 0 {
				t.Errorf("hints = %+v, want 1000 seen, 500 obeyed, none early or invalid", h)
			}
		})
	}
}

// A client that times out leaves its work behind; the target finishes it for nobody.
func TestAbandonedWorkIsWasted(t *testing.T) {
	for _, tt := range []struct {
		abandoned string
		wasted    bool
	}{{"process", true}, {"cancel", false}} {
		t.Run(tt.abandoned, func(t *testing.T) {
			result, _ := bubble(t, scenario(t, "strategy: none", "base: 3s", "clients: 20", "capacity: 10/s", "queue: 20", "timeout: 450ms",
				"max-retries: 1", "abandoned: "+tt.abandoned, "duration: 5s"), 0)
			run := result.Runs[0]
			var served, wasted int64
			for _, b := range run.Buckets {
				served, wasted = served+b.Served, wasted+b.Wasted
			}
			// Four are served within 450 ms of the start, and four of the retries 3 s later.
			if run.Operations.Succeeded != 8 || served-wasted != 8 {
				t.Errorf("succeeded %d, served %d, wasted %d; want 8 served in time", run.Operations.Succeeded, served, wasted)
			}
			if (wasted > 0) != tt.wasted {
				t.Errorf("wasted = %d, want some: %v", wasted, tt.wasted)
			}
		})
	}
}

// Memory does not grow with attempts, and neither does the fleet leave anything behind: the
// bubble itself fails a test that leaves a goroutine.
func TestManyOperationsOnOneConnectionEach(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: none", "clients: 7", "operations: 100", "capacity: 1000000/s", "workers: 10"), 0)
	run := result.Runs[0]
	if run.Operations.Started != 100 || run.Operations.Succeeded != 100 || run.Generator.Connections != 7 {
		t.Errorf("started %d, succeeded %d, connections %d; want 100, 100, 7", run.Operations.Started, run.Operations.Succeeded, run.Generator.Connections)
	}
}
