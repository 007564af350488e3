package record

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Case D-17: a run in which nothing happened is JSON that reads back as itself, and what has no value is null.
func TestJSONOfNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		end    End
	}{
		{"no run at all", Config{}, End{}},
		{"a second of nothing", fullConfig(1), End{At: time.Second, Notes: []string{"quiet"}}},
		{"no capacity", Config{CapacityPerSecond: ptr(0.0)}, End{At: time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := New(c.config).Summarise(c.end)
			text, err := json.Marshal(run)
			if err != nil {
				t.Fatalf("Marshal: %v", err)
			}
			for _, word := range []string{"NaN", "Inf", "-1"} {
				if strings.Contains(string(text), word) {
					t.Errorf("JSON holds %s: %s", word, text)
				}
			}
			var back Run
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatalf("Unmarshal: %v", err)
			}
			if !reflect.DeepEqual(back, run) {
				t.Errorf("read back:\n%+v\nwant:\n%+v", back, run)
			}
			nullsOfNothing(t, text)
		})
	}
}

// nullsOfNothing checks each figure that a run without samples cannot have.
func nullsOfNothing(t *testing.T, text []byte) {
	t.Helper()
	var run map[string]any
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	null := func(value any, path string) {
		if value != nil {
			t.Errorf("%s = %v, want null", path, value)
		}
	}
	figures := []string{"min", "mean", "p50", "p90", "p99", "p999", "max"}
	for _, name := range []string{
		"latency_ns", "operation_latency_ns", "delay_ns", "attempt_at_success", "elapsed_ns", "lateness_ns",
	} {
		for _, f := range figures {
			null(run[name].(map[string]any)[f], name+"."+f)
		}
	}
	null(run["amplification"], "amplification")
	null(run["completion_ns"], "completion_ns")
	convoy := run["convoy"].(map[string]any)
	for _, f := range []string{
		"convoy_index", "retry_synchronisation_index", "post_outage_convoy_index", "peak_over_mean", "dispersion",
		"periodicity", "half_life_waves",
	} {
		null(convoy[f], "convoy."+f)
	}
	for _, f := range []string{"at_cap", "at_floor", "first_retry_mode"} {
		null(run["delay_shares"].(map[string]any)[f], f)
	}
	null(run["generator"].(map[string]any)["start_spread_ns"], "start_spread_ns")
	for _, b := range run["buckets"].([]any) {
		for _, f := range []string{"retry_synchronisation_index", "offset_p50_ns", "offset_p99_ns"} {
			null(b.(map[string]any)[f], "bucket."+f)
		}
	}
}

// A small run by hand: three clients, four operations, an outage, one loss, one attempt in transit at the end.
func smallRun() (*Recorder, End) {
	const second = time.Second
	r := New(Config{
		Duration: 2 * second, CapacityPerSecond: ptr(10.0), Cap: second, Floor: ms(50), StartTogether: true, Shards: 2,
		KindNames: []string{"timeout"}, ReasonNames: []string{"max_retries"}, LostNames: []string{"refused"},
	})
	for client := range uint32(3) {
		r.OperationStarted(client)
		r.Sent(client, Sent{Due: 0, At: ms(float64(client))})
		r.Arrival(Arrival{At: ms(float64(client)), Opening: true, Rejected: client > 0})
	}
	r.Served(ms(5), false)
	r.Outcome(0, Sample{Key: StatusKey(200), Answered: true, Latency: ms(5)})
	r.OperationEnded(0, Operation{At: ms(5), Elapsed: ms(5), Attempts: 1, Succeeded: true})
	for client := uint32(1); client < 3; client++ {
		r.Outcome(client, Sample{Key: StatusKey(503), Answered: true, Latency: ms(1)})
		r.Hint(client, Hint{Valid: client == 1, Obeyed: client == 1})
	}
	// Client 1 waits as long as the cap, is served too late and gives up; client 2 waits the floor, and its second
	// attempt is lost.
	r.Delay(1, Delay{Planned: 2 * second, Draw: second})
	r.Sent(1, Sent{Attempt: 1, Due: second, At: second + ms(3), Early: true})
	r.Arrival(Arrival{At: second + ms(4), Attempt: 1})
	r.Outcome(1, Sample{Key: KindKey(0), Latency: ms(500)})
	r.OperationEnded(1, Operation{At: ms(1500), Elapsed: ms(1500), Attempts: 2})
	r.Served(ms(1600), true)
	r.Delay(2, Delay{Planned: ms(50), Draw: ms(50)})
	r.Sent(2, Sent{Attempt: 1, Due: ms(52), At: ms(52)})
	r.Lost(2, 0)
	r.Outcome(2, Sample{Key: KindKey(0), Latency: ms(500)})
	r.Delay(2, Delay{Retry: 1, Planned: ms(40), Draw: ms(40)})
	// Its third is on its way when the run ends.
	r.Sent(2, Sent{Attempt: 2, Due: ms(1999), At: ms(1999)})
	r.Arrival(Arrival{At: ms(2050), Attempt: 2, Rejected: true})
	return r, End{
		At: 2 * second, InFlight: 1, Unfinished: 1, Strategy: "full", Engine: "virtual", ArrivalsMeasuredAt: "target",
		Connections: 3, TimerSource: "none", Notes: []string{"small"},
	}
}

func TestSummariseSmallRun(t *testing.T) {
	r, end := smallRun()
	run := r.Summarise(end)
	if run.Strategy != "full" || run.Engine != "virtual" || run.ArrivalsMeasuredAt != "target" || run.Generator.Connections != 3 ||
		run.Generator.TimerSource != "none" || !slices.Equal(run.Notes, end.Notes) || run.Duration != end.At ||
		run.Bucket != BucketDefault || *run.CapacityPerSecond != 10 {
		t.Errorf("what the engine said is not in %+v", run)
	}
	if o := run.Operations; o.Started != 3 || o.Succeeded != 1 || o.GaveUp["max_retries"] != 1 || o.Unfinished != 1 || o.Unstarted != nil {
		t.Errorf("operations = %+v", o)
	}
	if a := run.Attempts; a.Sent != 6 || a.First != 3 || a.Retries != 3 || a.InFlightAtEnd != 1 ||
		!maps.Equal(a.ByOutcome, map[string]int64{"200": 1, "503": 2, "timeout": 2}) {
		t.Errorf("attempts = %+v", a)
	}
	same(t, "amplification", run.Amplification, ptr(2.0))
	same(t, "completion", run.Completion, nil)
	if b := run.Books; !b.Balanced || b.AttemptsSent != 6 || b.Arrivals != 5 || !maps.Equal(b.Lost, map[string]int64{"refused": 1}) {
		t.Errorf("books = %+v", b)
	}
	if h := run.Hints; h != (Hints{Seen: 2, Obeyed: 1, Invalid: 1, Early: 1}) {
		t.Errorf("hints = %+v", h)
	}
	same(t, "share at the cap", run.DelayShares.AtCap, ptr(1.0/3))
	same(t, "share at the floor", run.DelayShares.AtFloor, ptr(1.0/3))
	same(t, "mode of two first delays", run.DelayShares.FirstMode, nil)
	same(t, "max planned delay", run.Delay.Max, ptr(int64(2*time.Second)))
	same(t, "mean lateness", run.Lateness.Mean, ptr(1e6))
	if run.Lateness.Count != 6 || run.Generator.LatenessRest.Count != 2 {
		t.Errorf("lateness of %d sends and %d after the first bucket, want 6 and 2", run.Lateness.Count, run.Generator.LatenessRest.Count)
	}
	if run.Latency.Count != 3 || run.OperationLatency.Count != 1 || run.Elapsed.Count != 2 || *run.AttemptAtSuccess.Max != 1 {
		t.Errorf("counts of latency, operation latency, elapsed: %d, %d, %d", run.Latency.Count, run.OperationLatency.Count, run.Elapsed.Count)
	}
	if s := *run.Generator.StartSpread; s < int64(ms(1.99)) || s > int64(ms(2.01)) {
		t.Errorf("start spread = %d, want 2 ms", s)
	}
	if !run.Generator.KeptUp {
		t.Errorf("the generator kept up, but for: %v", Validity(run))
	}
}

func TestSummariseBuckets(t *testing.T) {
	r, end := smallRun()
	run := r.Summarise(end)
	if len(run.Buckets) != 21 {
		t.Fatalf("%d buckets, want 21: 20 of the run and the one of an arrival in transit", len(run.Buckets))
	}
	want := map[int]Bucket{
		0:  {Arrivals: 3, First: 3, Served: 1, Rejected: 2, ByAttempt: []int64{3, 0, 0, 0, 0, 0, 0, 0, 0}},
		10: {Arrivals: 1, Retries: 1, ByAttempt: []int64{0, 1, 0, 0, 0, 0, 0, 0, 0}},
		16: {Served: 1, Wasted: 1},
		20: {Arrivals: 1, Retries: 1, Rejected: 1, ByAttempt: []int64{0, 0, 1, 0, 0, 0, 0, 0, 0}},
	}
	for i, b := range run.Buckets {
		w := want[i]
		w.At = time.Duration(i) * BucketDefault
		if w.ByAttempt == nil {
			w.ByAttempt = make([]int64, attemptColumns)
		}
		b.OffsetP50, b.OffsetP99 = nil, nil
		if !reflect.DeepEqual(b, w) {
			t.Errorf("bucket %d = %+v, want %+v", i, b, w)
		}
	}
	if b := run.Buckets[10]; *b.OffsetP50 < int64(ms(3.9)) || *b.OffsetP50 > int64(ms(4.1)) {
		t.Errorf("offset in bucket 10 = %d, want 4 ms", *b.OffsetP50)
	}
	c := run.Convoy
	if c.PeakArrivals != 3 || c.PeakSlidingArrivals != 3 || *c.Waves != 1 || !slices.Equal(c.WavePeaks, []int64{3}) {
		t.Errorf("peaks = %d and %d, waves %d %v, want one wave of 3", c.PeakArrivals, c.PeakSlidingArrivals, *c.Waves, c.WavePeaks)
	}
	same(t, "peak over capacity", c.PeakOverCapacity, ptr(3.0))
	same(t, "peak over mean", c.PeakOverMean, ptr(3*20.0/5)) // what begins at the end is no time
	if !c.Insufficient || c.ConvoyIndex != nil || c.WindowPeakOverCapacity != nil || c.Verdict != VerdictClear {
		t.Errorf("convoy without a window = %+v", c)
	}
}

func TestByAttempt(t *testing.T) {
	r := New(Config{Shards: 1})
	for attempt := range 12 {
		for range attempt + 1 {
			r.Arrival(Arrival{Attempt: attempt})
		}
	}
	b := r.Summarise(End{At: time.Second}).Buckets[0]
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9 + 10 + 11 + 12}; !slices.Equal(b.ByAttempt, want) {
		t.Errorf("by attempt = %v, want %v", b.ByAttempt, want)
	}
}

func TestCompletion(t *testing.T) {
	r := New(Config{Shards: 1})
	for client, at := range []float64{30, 70, 50} {
		r.OperationStarted(uint32(client))
		r.OperationEnded(uint32(client), Operation{At: ms(at), Succeeded: true, Attempts: 1})
	}
	same(t, "completion", r.Summarise(End{At: time.Second}).Completion, ptr(int64(ms(70))))
	r.OperationStarted(0)
	same(t, "completion with one open", r.Summarise(End{At: time.Second, Unfinished: 1}).Completion, nil)
}

// The window: what it holds, how it is clipped and widened, and from when it suffices.
func TestWindow(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name             string
		from, to, end    time.Duration
		n                int
		wantFrom, wantTo time.Duration
		arrivals         int64
		index            bool
	}{
		{"as given", second, 3 * second, 10 * second, 400, second, 3 * second, 400, true},
		{"clipped to the run", second, 30 * second, 3 * second, 400, second, 3 * second, 400, true},
		{"clipped to nothing", 5 * second, 30 * second, 3 * second, 400, 5 * second, 5 * second, 0, false},
		{"widened to cells", second + 999, 3*second - 999, 10 * second, 400, second, 3 * second, 400, true},
		{"99 arrivals", second, 3 * second, 10 * second, 99, second, 3 * second, 99, false},
		{"100 arrivals", second, 3 * second, 10 * second, 100, second, 3 * second, 100, true},
		{"under 1 s", second, 2*second - ms(1), 10 * second, 800, second, 2*second - ms(1), 400, false},
		{"no window", 0, 0, 10 * second, 400, 0, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Config{WindowFrom: c.from, WindowTo: c.to, CapacityPerSecond: ptr(1000.0), Duration: c.end, Shards: 1})
			for range 50 { // the first wave and retries outside say nothing
				r.Arrival(Arrival{At: second})
				r.Arrival(Arrival{At: second - 1, Attempt: 1})
				r.Arrival(Arrival{At: 3 * second, Attempt: 1})
			}
			for i := range c.n { // evenly over 1..3 s
				r.Arrival(Arrival{At: second + time.Duration(i)*2*second/time.Duration(c.n), Attempt: 1 + i%3})
			}
			got := r.Summarise(End{At: c.end}).Convoy
			if got.WindowFrom != c.wantFrom || got.WindowTo != c.wantTo || got.WindowArrivals != c.arrivals {
				t.Errorf("window = [%v, %v) of %d, want [%v, %v) of %d",
					got.WindowFrom, got.WindowTo, got.WindowArrivals, c.wantFrom, c.wantTo, c.arrivals)
			}
			if (got.ConvoyIndex != nil) != c.index || got.Insufficient == c.index {
				t.Errorf("index = %v, insufficient = %t, want an index: %t", got.ConvoyIndex, got.Insufficient, c.index)
			}
		})
	}
}

// The verdict is about the retries of the window: neither the first wave nor a wave outside makes it.
func TestVerdictOfTheWindow(t *testing.T) {
	const second = time.Second
	config := Config{WindowFrom: second, WindowTo: 10 * second, CapacityPerSecond: ptr(1000.0), Duration: 10 * second, Shards: 1}
	wave := func(r *Recorder, at time.Duration, n, attempt int) {
		for range n {
			r.Arrival(Arrival{At: at, Attempt: attempt})
		}
	}
	for _, c := range []struct {
		name  string
		calls func(r *Recorder)
		want  Verdict
		peak  float64
	}{
		{"only the first wave", func(r *Recorder) { wave(r, 0, 5000, 0) }, VerdictClear, 0},
		{"a wave before the window", func(r *Recorder) { wave(r, ms(900), 5000, 1) }, VerdictClear, 0},
		{"first attempts in the window", func(r *Recorder) { wave(r, 2*second, 5000, 0) }, VerdictClear, 0},
		{"a wave in the window", func(r *Recorder) { wave(r, 2*second, 101, 1) }, VerdictConvoy, 1.01},
		{"a wave that is served", func(r *Recorder) { wave(r, 2*second, 100, 1) }, VerdictClumped, 1},
		{"too few to tell", func(r *Recorder) { wave(r, 2*second, 99, 1) }, VerdictClear, 0.99},
		{"an even flood", func(r *Recorder) {
			for i := range 18_000 {
				r.Arrival(Arrival{At: second + time.Duration(i)*ms(0.5), Attempt: 1})
			}
		}, VerdictOverload, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(config)
			c.calls(r)
			got := r.Summarise(End{At: 10 * second}).Convoy
			if got.Verdict != c.want {
				t.Errorf("verdict = %s, want %s", got.Verdict, c.want)
			}
			same(t, "window peak over capacity", got.WindowPeakOverCapacity, &c.peak)
		})
	}
}

func TestPostOutageIndex(t *testing.T) {
	const second = time.Second
	r := New(Config{Triggers: []Trigger{{From: second, To: 3 * second}}, Duration: 10 * second, Shards: 1})
	for i := range 200 { // retries of the outage itself do not count
		r.Arrival(Arrival{At: second + time.Duration(i)*ms(10), Attempt: 1})
	}
	for i := range 99 {
		r.Arrival(Arrival{At: 4*second + time.Duration(i), Attempt: 1})
	}
	same(t, "index of 99", r.Summarise(End{At: 10 * second}).Convoy.PostOutageIndex, nil)
	r.Arrival(Arrival{At: 4 * second, Attempt: 1})
	same(t, "index of 100", r.Summarise(End{At: 10 * second}).Convoy.PostOutageIndex, ptr(1.0))
	same(t, "index of less than 1 s", r.Summarise(End{At: 4*second - 1}).Convoy.PostOutageIndex, nil)
}

// Peaks, sliding and not: a bucket that is no multiple of a cell never makes the sliding peak the smaller one.
func TestSlidingPeak(t *testing.T) {
	for _, width := range []time.Duration{ms(0.5), ms(1), ms(2.5), ms(100)} {
		r := New(Config{Bucket: width, Duration: time.Second, Shards: 1})
		for i := range 20 { // straddles the edge between bucket 3 and 4
			r.Arrival(Arrival{At: 4*width - width/2 + width*time.Duration(i)/20})
		}
		got := r.Summarise(End{At: time.Second}).Convoy
		if got.PeakArrivals != 10 || got.PeakSlidingArrivals < 10 || width >= ms(100) && got.PeakSlidingArrivals != 20 {
			t.Errorf("bucket %v: peaks = %d and %d, want 10 and up to 20", width, got.PeakArrivals, got.PeakSlidingArrivals)
		}
	}
}

func TestWaveFigures(t *testing.T) {
	r := New(Config{Duration: 10 * time.Second, CapacityPerSecond: ptr(10.0), Shards: 1})
	for wave, n := range []int{64, 32, 16, 8, 4, 2} {
		for range n {
			r.Arrival(Arrival{At: time.Duration(wave) * time.Second, Attempt: wave})
		}
	}
	for i := range 40 {
		r.Arrival(Arrival{At: 6*time.Second + time.Duration(i)*100*time.Millisecond, Attempt: 7}) // at capacity
	}
	got := r.Summarise(End{At: 10 * time.Second}).Convoy
	if *got.Waves != 6 || !slices.Equal(got.WavePeaks, []int64{64, 32, 16, 8, 4, 2}) {
		t.Errorf("waves = %d %v, want the six", *got.Waves, got.WavePeaks)
	}
	same(t, "half-life", got.HalfLifeWaves, ptr(1.0))

	many := New(Config{Duration: 10 * time.Second, CapacityPerSecond: ptr(0.0), Shards: 1})
	for i := range 40 {
		many.Arrival(Arrival{At: time.Duration(i) * 200 * time.Millisecond})
	}
	got = many.Summarise(End{At: 10 * time.Second}).Convoy
	if *got.Waves != 40 || len(got.WavePeaks) != wavePeaksMax || got.PeakOverCapacity != nil {
		t.Errorf("waves without capacity = %d, %d listed, peak over capacity %v", *got.Waves, len(got.WavePeaks), got.PeakOverCapacity)
	}
	unknown := New(Config{Shards: 1}).Summarise(End{At: time.Second}).Convoy
	if unknown.Waves != nil || unknown.PeakOverCapacity != nil {
		t.Errorf("waves over an unknown capacity = %v, %v, want none", unknown.Waves, unknown.PeakOverCapacity)
	}
}
