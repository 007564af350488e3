package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// simulate runs a plan in virtual time.
func simulate(t *testing.T, p plan.Plan, env load.Env) *record.Result {
	t.Helper()
	result, err := load.Simulate(t.Context(), p, env)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// simulated is everything that a plan leaves behind in virtual time, without the date.
func simulated(t *testing.T, p plan.Plan) (result, log, trace string) {
	t.Helper()
	var l, c bytes.Buffer
	r := simulate(t, p, load.Env{Version: "1", HLog: &l, Trace: &c})
	date, err := r.StartedAt.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	log = strings.ReplaceAll(l.String(), string(date), "DATE")
	for _, line := range []string{"#[StartTime:", "#[BaseTime:"} {
		i := strings.Index(log, line)
		if i < 0 {
			t.Fatalf("the log has no %s", line)
		}
		log = log[:i] + log[i+strings.Index(log[i:], "\n"):]
	}
	r.StartedAt = time.Time{}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), log, c.String()
}

// One seed gives the same bytes of everything however many cores there are, another seed others.
func TestSimulateIsAFunctionOfTheSeed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	lines := []string{"strategy: all", "clients: 300", "repeat: 7", "latency: 10ms~2ms", "loss: 1%", "service: exp", "budget: finagle"}
	p := scenario(t, lines...)
	result, log, trace := simulated(t, p)
	for _, cores := range []int{1, 4} {
		runtime.GOMAXPROCS(cores)
		r, l, c := simulated(t, p)
		if r != result || l != log || c != trace {
			t.Errorf("with %d cores the same plan and seed gave other bytes: result %v, log %v, trace %v", cores, r != result, l != log, c != trace)
		}
	}
	r, l, c := simulated(t, scenario(t, append(lines, "seed: 2")...))
	if strings.Replace(r, `"seed":2`, `"seed":1`, 1) == result || l == log || c == trace {
		t.Error("another seed gave the same")
	}
}

// The runs of a result do not depend on what is run beside them, and the first seed's run is that of
// the seed alone.
func TestSimulateRunsAreApart(t *testing.T) {
	together := simulate(t, scenario(t, "strategy: all", "clients: 200", "repeat: 3"), load.Env{})
	for i, strategy := range []string{"none", "equal", "full", "decorrelated"} {
		alone := simulate(t, scenario(t, "strategy: "+strategy, "clients: 200"), load.Env{}).Runs[0]
		got := together.Runs[i]
		if got.Repeats == nil || alone.Repeats != nil {
			t.Fatalf("%s: repeats = %v and alone %v, want them with a repeat only", strategy, got.Repeats, alone.Repeats)
		}
		got.Repeats, got.Notes, alone.Notes = nil, nil, nil // notes are of the whole plan
		a, b := asJSON(t, got), asJSON(t, alone)
		if a != b {
			t.Errorf("%s alone is another run than beside others:\n%s\n%s", strategy, a, b)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run in virtual time says what it is, and is valid whatever the network does to its first wave.
func TestSimulateSaysWhatItIs(t *testing.T) {
	result := simulate(t, scenario(t, "strategy: full", "clients: 300", "latency: 200ms~200ms", "loss: 2%", "timeout: 1s"), load.Env{Version: "9"})
	run := result.Runs[0]
	checkBooks(t, &run, nil)
	if !result.Valid || len(result.InvalidReasons) > 0 || result.Interrupted || !run.Generator.KeptUp {
		t.Errorf("valid %v, %q, interrupted %v, kept up %v", result.Valid, result.InvalidReasons, result.Interrupted, run.Generator.KeptUp)
	}
	if run.Engine != record.EngineVirtual || run.ArrivalsMeasuredAt != "target" || run.Generator.TimerSource != "virtual" || run.Generator.Connections != 0 || result.Tool.Version != "9" {
		t.Errorf("run = %+v of %+v", run.Generator, result.Tool)
	}
	if p99 := run.Lateness.P99; p99 == nil || *p99 != 0 {
		t.Errorf("lateness p99 = %v, want 0", p99)
	}
	if notes := strings.Join(run.Notes, "\n"); strings.Contains(notes, "the clock itself") {
		t.Errorf("notes = %q speak of a clock", notes)
	}
	result = simulate(t, scenario(t, "rate: 100/s", "clients: 1", "capacity: 20/s", "workers: 2", "timeout: 500ms", "duration: 5s"), load.Env{})
	if notes := strings.Join(result.Runs[0].Notes, "\n"); !strings.Contains(notes, "the fleet was too small") {
		t.Errorf("notes = %q, want the operations that were not started", notes)
	}
}

// Trace and log of a run hold the arrivals of every bucket, as the result does.
func TestSimulateStreams(t *testing.T) {
	p := scenario(t, "strategy: full,none", "clients: 2000", "duration: 20s", "capacity: 300/s", "repeat: 2")
	var log, trace tape
	result := simulate(t, p, load.Env{HLog: &log, Trace: &trace})
	got := readLog(t, log.until(time.Now()))
	rows := readTrace(t, trace.until(time.Now()))
	if len(got.Runs) != 2 || got.Interrupted || !got.StartedAt.Equal(result.StartedAt) {
		t.Fatalf("the log has %d runs, interrupted %v", len(got.Runs), got.Interrupted)
	}
	for i, run := range result.Runs {
		checkBooks(t, &run, rows)
		traced := make([]int64, len(run.Buckets))
		for _, r := range rows {
			if r.strategy == run.Strategy {
				traced[r.arrived/run.Bucket]++
			}
		}
		in := got.Runs[i]
		if in.Strategy != run.Strategy || in.Engine != record.EngineVirtual || len(in.Buckets) != len(run.Buckets) {
			t.Fatalf("run %d in the log: %s, %s, %d buckets", i, in.Strategy, in.Engine, len(in.Buckets))
		}
		for k, b := range run.Buckets {
			if in.Buckets[k].Arrivals != b.Arrivals {
				t.Errorf("%s, bucket %d: %d arrivals in the log, %d in the result", run.Strategy, k, in.Buckets[k].Arrivals, b.Arrivals)
			}
			if traced[k] != b.Arrivals {
				t.Errorf("%s, bucket %d: %d arrivals in the trace, %d in the result", run.Strategy, k, traced[k], b.Arrivals)
			}
		}
	}
}

// The log is written as virtual time passes, in whole lines.
func TestSimulateWritesItsLogAsItGoesOn(t *testing.T) {
	var log tape
	simulate(t, scenario(t, "strategy: none", "clients: 20000", "duration: 60s", "capacity: 1/s"), load.Env{HLog: &log})
	if len(log.writes) < 5 {
		t.Errorf("%d writes of the log, want one some 65,536 events at least", len(log.writes))
	}
	for _, w := range log.writes {
		if !strings.HasSuffix(w.text, "\n") {
			t.Fatalf("a write ends inside a line: %q", w.text)
		}
	}
}

// A cancelTape cancels when a text has been written so many times.
type cancelTape struct {
	tape
	text   string
	count  int
	cancel context.CancelFunc
}

func (c *cancelTape) Write(b []byte) (int, error) {
	if c.count -= strings.Count(string(b), c.text); c.count <= 0 {
		c.cancel()
	}
	return c.tape.Write(b)
}

// A run that is cut leaves what it measured, and the log of it ends as the result does.
//
// Method: the log's writer cancels in the middle of the second strategy, which is at a beat of the
// engine, so that where the run is cut is known.
func TestSimulateInterrupted(t *testing.T) {
	p := scenario(t, "strategy: none,fixed,full", "clients: 5000", "duration: 30m", "max-elapsed: 1h", "capacity: 1/s", "bucket: 1s", "repeat: 2")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := cancelTape{text: "Tag=fixed", count: 100, cancel: cancel}
	result, err := load.Simulate(ctx, p, load.Env{HLog: &log})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Interrupted || !result.Valid || len(result.Runs) != 2 {
		t.Fatalf("interrupted %v, valid %v, %d runs; want the first two of three", result.Interrupted, result.Valid, len(result.Runs))
	}
	whole, cut := result.Runs[0], result.Runs[1]
	if whole.Duration != 30*time.Minute || strings.Contains(strings.Join(whole.Notes, "\n"), "cut") {
		t.Errorf("the first run ends at %v, notes %q", whole.Duration, whole.Notes)
	}
	if cut.Duration < 99*time.Second || cut.Duration > 29*time.Minute || cut.Operations.Unfinished == 0 || cut.Repeats == nil || cut.Repeats.Count != 0 || cut.Repeats.Asked != 2 {
		t.Errorf("the second run ends at %v with %d unfinished and repeats %v", cut.Duration, cut.Operations.Unfinished, cut.Repeats)
	}
	if notes := strings.Join(cut.Notes, "\n"); !strings.Contains(notes, "this run was cut "+record.Short(cut.Duration)+" after its start") {
		t.Errorf("notes = %q", notes)
	}
	checkBooks(t, &whole, nil)
	checkBooks(t, &cut, nil)
	got := readLog(t, log.until(time.Now()))
	if !got.Interrupted || len(got.Runs) != 2 || got.Runs[1].Duration != cut.Duration || len(got.Runs[1].Buckets) != len(cut.Buckets) || got.Runs[1].Books.Arrivals != cut.Books.Arrivals {
		t.Errorf("the log does not end as the result does: interrupted %v, %d runs", got.Interrupted, len(got.Runs))
	}
}

// Of repeated seeds those count that had ended, from the first on: how many that are is left to who got the processor.
func TestSimulateInterruptedRepeats(t *testing.T) {
	p := scenario(t, "strategy: full,equal", "clients: 100", "repeat: 10000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	result, err := load.Simulate(ctx, p, load.Env{Progress: func(s load.Stage) {
		wg.Go(func() {
			for s.Simulated().Done < 200 {
				runtime.Gosched()
			}
			cancel()
		})
	}})
	if err != nil || !result.Interrupted || len(result.Runs) != 2 {
		t.Fatalf("%d runs, interrupted %v, %v", len(result.Runs), result.Interrupted, err)
	}
	for _, run := range result.Runs {
		r := run.Repeats
		if r == nil || r.Count < 1 || r.Count >= 10000 || r.Seeds != [2]uint64{1, uint64(r.Count)} {
			t.Fatalf("%s: repeats = %+v, want the seeds that had ended", run.Strategy, r)
		}
		only := simulate(t, scenario(t, "strategy: "+run.Strategy, "clients: 100", "repeat: "+strconv.FormatInt(r.Count, 10)), load.Env{}).Runs[0]
		if r.Asked != 10000 {
			t.Errorf("%s: %d seeds were asked for, want 10000", run.Strategy, r.Asked)
		}
		r.Asked = r.Count
		if a, b := asJSON(t, r), asJSON(t, only.Repeats); a != b {
			t.Errorf("%s: %s, and a run of so many seeds has %s", run.Strategy, a, b)
		}
	}
}

// A pipe whose reader has gone ends the run, and the error says so.
func TestSimulateWithoutAReader(t *testing.T) {
	gone := &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
	p := scenario(t, "strategy: none", "clients: 5000", "duration: 24h", "max-elapsed: 24h", "capacity: 0", "bucket: 1s")
	for _, env := range []load.Env{{HLog: failing{gone}}, {Trace: failing{gone}}} {
		result, err := load.Simulate(t.Context(), p, env)
		if !errors.Is(err, syscall.EPIPE) || result == nil || len(result.Runs) > 1 || !result.Interrupted {
			t.Errorf("result %+v, %v; want an interrupted one and EPIPE", result, err)
		}
	}
	full := errors.New("the disk is full")
	result, err := load.Simulate(t.Context(), scenario(t, "clients: 100"), load.Env{HLog: failing{full}, Trace: io.Discard})
	if !errors.Is(err, full) || result.Interrupted || len(result.Runs) != 1 {
		t.Errorf("%v, want that the log cannot be written, and the run", err)
	}
}

// What only real time has is refused by its name, before anything is written.
func TestSimulateRefuses(t *testing.T) {
	p := scenario(t, "url: http://127.0.0.1:1/", "keepalive: false")
	var log bytes.Buffer
	result, err := load.Simulate(t.Context(), p, load.Env{HLog: &log})
	if result != nil || !load.IsUsage(err) || !strings.Contains(err.Error(), "url") || !strings.Contains(err.Error(), "keepalive") || log.Len() > 0 {
		t.Errorf("result %v, %v, log of %d bytes", result, err, log.Len())
	}
	if _, err := load.Run(t.Context(), scenario(t, "latency: 1ms"), load.Env{}); !load.IsUsage(err) {
		t.Errorf("in real time: %v, want that there is no model of the network", err)
	}
}

// Domain 6.1: what a sceptic runs.
//
// Method: 40 seeds of each strategy at N = 1,000 against the reference's mean. The reference is of 400
// seeds, so that the mean of n seeds differs from its by a normal error of sd*sqrt(1/n + 1/400), where sd is a
// 3.29th of the 5-95 % range; the completion's range is skewed, for which the bound of 5 sd has room. False-positive rate 6e-7 a
// figure, and the seeds are fixed. It catches a mean that is off by 0.9 standard deviations.
func TestSimulateMeansOfTheReference(t *testing.T) {
	reference := map[string]map[string][3]float64{ // mean, p5, p95
		"equal":        {"attempts_sent": {4840, 4813, 4868}, "completion": {10.4, 9.0, 11.5}},
		"full":         {"attempts_sent": {4724, 4693, 4753}, "completion": {8.3, 5.9, 11.5}},
		"decorrelated": {"attempts_sent": {3745, 3702, 3785}, "completion": {6.5, 5.1, 8.6}},
	}
	const seeds = 40
	result := simulate(t, scenario(t, "strategy: all", "clients: 1000", "capacity: 1000/s", "repeat: 40"), load.Env{})
	for _, run := range result.Runs {
		for name, want := range reference[run.Strategy] {
			got := run.Repeats.Figures[name]
			unit := 1.0
			if name == "completion" {
				unit = 1e9
			}
			bound := 5 * (want[2] - want[1]) / 3.29 * math.Sqrt(1.0/seeds+1.0/400)
			if got.Count != seeds || math.Abs(*got.Mean/unit-want[0]) > bound {
				t.Errorf("%s: mean %s = %v of %d seeds, want %v +- %.3g of %d", run.Strategy, name, *got.Mean/unit, got.Count, want[0], bound, seeds)
			}
		}
		done := run.Repeats.Figures["success_share"]
		if *done.P5 != 1 && run.Strategy != "none" {
			t.Errorf("%s: %v of the operations in the slowest seeds, want all", run.Strategy, *done.P5)
		}
	}
	// 30 s see 9 of 1,000 waves of the fleet that does not draw; its figures are exact, and the report says
	// that not every operation was done.
	none := result.Runs[0]
	if done := none.Repeats.Figures["completion"]; none.Operations.Succeeded != 9 || none.Operations.Unfinished != 991 || none.Completion != nil || done.Mean != nil || done.Count != 0 {
		t.Errorf("none: %d done, completion %+v", none.Operations.Succeeded, done)
	}
}

// With a repeat, real time runs one seed after another, and what it reports is what each would alone.
func TestRepeatInRealTime(t *testing.T) {
	lines := []string{"strategy: full,equal", "clients: 100", "duration: 10s", "ramp: 100ms", "capacity: 50/s"}
	p := scenario(t, append(lines, "repeat: 3", "gate: attempts_sent>1")...)
	var stages []load.Stage
	var result *record.Result
	var log, trace tape
	synctest.Test(t, func(t *testing.T) {
		var err error
		env := load.Env{Network: memory, Wake: wake.Timers, HLog: &log, Trace: &trace, Progress: func(s load.Stage) { stages = append(stages, s) }}
		if result, err = load.Run(t.Context(), p, env); err != nil {
			t.Fatal(err)
		}
	})
	if len(result.Runs) != 2 || len(stages) != 6 {
		t.Fatalf("%d runs in %d stages, want 2 in 6", len(result.Runs), len(stages))
	}
	for i, s := range stages {
		if s.Index != i/3 || s.Seed != i%3 || s.Seeds != 3 || s.Count != 2 {
			t.Errorf("stage %d is of strategy %d, seed %d of %d", i, s.Index, s.Seed, s.Seeds)
		}
	}
	rows := readTrace(t, trace.until(time.Now()))
	for _, run := range result.Runs {
		checkBooks(t, &run, rows) // so that the trace is of the first seed alone
		var seeds []record.Seed
		for _, seed := range []string{"1", "2", "3"} {
			alone, _ := bubble(t, scenario(t, append(lines[1:], "strategy: "+run.Strategy, "seed: "+seed)...), 0)
			seeds = append(seeds, record.SeedOf(&alone.Runs[0]))
		}
		if got, want := asJSON(t, run.Repeats), asJSON(t, record.RepeatsOf(1, 3, seeds)); got != want {
			t.Errorf("%s: repeats = %s, want %s", run.Strategy, got, want)
		}
		if !run.Whole {
			t.Error("a run that ended is not whole")
		}
	}
	if got := readLog(t, log.until(time.Now())); len(got.Runs) != 2 || got.Runs[0].Books.Arrivals != result.Runs[0].Books.Arrivals {
		t.Errorf("the log has %d runs, want those of the first seed", len(got.Runs))
	}
}

// A repeat that is cut counts the seeds that had ended.
func TestRepeatInRealTimeInterrupted(t *testing.T) {
	p := scenario(t, "strategy: full,equal", "clients: 50", "duration: 10s", "capacity: 0", "repeat: 4", "transport: memory")
	result, _ := bubble(t, p, 25*time.Second)
	if !result.Interrupted || len(result.Runs) != 1 {
		t.Fatalf("interrupted %v, %d runs; want the first of two", result.Interrupted, len(result.Runs))
	}
	if r := result.Runs[0].Repeats; r == nil || r.Count != 2 || r.Seeds != [2]uint64{1, 2} || result.Runs[0].Duration != 10*time.Second {
		t.Errorf("repeats = %+v of a run of %v, want two seeds of 10 s", r, result.Runs[0].Duration)
	}
}

// How far a simulation is never goes back while its runs begin and end, and ends with all of them.
func TestSimulateTellsHowFarItIs(t *testing.T) {
	for _, strategy := range []string{"all", "constant", "linear-jitter"} {
		p := scenario(t, "strategy: "+strategy, "clients: 10000", "capacity: 1000/s", "duration: 8s")
		var read func() load.Simulated
		var shares []float64
		log := writerFunc(func(b []byte) (int, error) {
			if read != nil {
				shares = append(shares, read().Share)
			}
			return len(b), nil
		})
		result := simulate(t, p, load.Env{HLog: log, Progress: func(s load.Stage) { read = s.Simulated }})
		last := read()
		if last.Done != len(result.Runs) || last.Runs != len(result.Runs) || last.Share != 1 || last.Strategy != result.Runs[len(result.Runs)-1].Strategy {
			t.Errorf("%s: %+v at the end", strategy, last)
		}
		if len(shares) < 4 || !slices.IsSorted(shares) || shares[0] < 0 || shares[len(shares)-1] > 1 {
			t.Errorf("%s: shares %v, want them to grow from 0 to 1", strategy, shares)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Clients that failed spread over a second, each told to come back at the clock's next whole 5 s, come back together: where the
// hint is a length of time they stay as far apart as they were.
func TestAnAbsoluteRetryAfterCollapsesTheFleet(t *testing.T) {
	index := func(hint string) float64 {
		p := scenario(t, "clients: 1000", "ramp: 1s", "capacity: 1000/s", "model: reject-if-busy", "outage: ['0s..1.5s=status']",
			"send-retry-after: "+hint, "retry-after-jitter: 0s", "strategy: full", "duration: 30s", "max-elapsed: unlimited", "seed: 1")
		run := simulate(t, p, load.Env{}).Runs[0]
		if run.Convoy.ConvoyIndex == nil || !run.Books.Balanced {
			t.Fatalf("%s: %+v, %+v", hint, run.Convoy, run.Books)
		}
		return *run.Convoy.ConvoyIndex
	}
	if got := index("reset:5s"); got < 0.999 {
		t.Errorf("convoy index with a reset = %.3f, want 1.00", got)
	}
	if got := index("5s"); got > 0.1 {
		t.Errorf("convoy index with a delay = %.3f, want next to nothing", got)
	}
}
