package report_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"stormtest/load/record"
)

// The fixtures are results of a storm in miniature: every client calls, one server takes a call when it is free
// and refuses the rest, the refused wait by their strategy and call again. All of it is integer
// arithmetic on PCG draws, so that the goldens are the same on every machine. The measures that
// would need floating point are written down as constants.

func ptr[T any](v T) *T { return &v }

// A storm says what to simulate. Times are in µs.
type storm struct {
	strategy string
	clients  int
	service  int64 // µs of one call
	length   int64
	outage   [2]int64
	every    int64 // µs between the operations of an open loop; 0 is a storm
	delay    func(r *rand.Rand, retry int, last int64) int64
}

const (
	baseMicros = 100_000
	capMicros  = 20_000_000
)

func ceiling(retry int) int64 { return min(capMicros, int64(baseMicros)<<min(retry, 20)) }

var strategies = map[string]func(r *rand.Rand, retry int, last int64) int64{
	"none":  func(_ *rand.Rand, k int, _ int64) int64 { return ceiling(k) },
	"equal": func(r *rand.Rand, k int, _ int64) int64 { return ceiling(k)/2 + r.Int64N(ceiling(k)/2) },
	"full":  func(r *rand.Rand, k int, _ int64) int64 { return r.Int64N(ceiling(k)) },
	"decorrelated": func(r *rand.Rand, _ int, last int64) int64 {
		return min(capMicros, baseMicros+r.Int64N(max(1, 3*max(last, baseMicros)-baseMicros)))
	},
}

type call struct {
	at     int64
	client int
	retry  int
	last   int64
	began  int64
}

// run simulates the storm and fills what the report shows.
func (s storm) run() record.Run {
	draw := rand.New(rand.NewPCG(42, 1))
	run := record.Run{
		Strategy: s.strategy, Engine: "real", ArrivalsMeasuredAt: "target",
		Duration: time.Duration(s.length) * time.Microsecond, Bucket: 100 * time.Millisecond,
		CapacityPerSecond: ptr(float64(1_000_000 / s.service)),
		Operations:        record.Operations{GaveUp: map[string]int64{}},
		Attempts:          record.Attempts{ByOutcome: map[string]int64{}},
		Buckets:           make([]record.Bucket, s.length/100_000),
	}
	for i := range run.Buckets {
		run.Buckets[i] = record.Bucket{At: time.Duration(i) * run.Bucket, ByAttempt: make([]int64, 9)}
	}
	var delays, latencies, attempts []int64
	var completed int64
	for _, c := range s.calls(draw, &run, &delays) {
		run.Operations.Succeeded++
		latencies = append(latencies, (c.at-c.began+s.service)*1000)
		attempts = append(attempts, int64(c.retry+1))
		completed = max(completed, (c.at+s.service)*1000)
	}
	run.Operations.Unfinished = run.Operations.Started - run.Operations.Succeeded
	if run.Operations.Unfinished == 0 {
		run.Completion = &completed
	}
	a := &run.Attempts
	a.Sent = a.First + a.Retries
	run.Amplification = ptr(float64(a.Sent) / float64(max(1, run.Operations.Started)))
	run.Delay, run.OperationLatency, run.AttemptAtSuccess, run.Elapsed = dist(delays), dist(latencies), dist(attempts), dist(latencies)
	run.Latency = dist([]int64{200_000, 250_000, 310_000, 1_050_000, 1_250_000})
	run.Lateness = dist([]int64{9_000, 12_000, 15_000, 40_000, 310_000})
	run.Generator = record.Generator{StartSpread: ptr(int64(2_100_000)), Connections: int64(s.clients), KeptUp: true, TimerSource: "clock_nanosleep", LatenessRest: dist([]int64{9_000, 15_000, 31_000})}
	run.Books = record.Books{AttemptsSent: a.Sent, Arrivals: a.Sent, Lost: map[string]int64{}, Balanced: true}
	measureWindow(&run, time.Second, 10*time.Second)
	return run
}

// calls plays the storm and returns the calls that were served.
func (s storm) calls(draw *rand.Rand, run *record.Run, delays *[]int64) []call {
	pending := make(map[int64][]call)
	var times []int64
	add := func(c call) {
		c.at -= c.at % 10 // the grid of the simulation is 10 µs
		if c.at >= s.length {
			return
		}
		if len(pending[c.at]) == 0 {
			at, _ := slices.BinarySearch(times, c.at)
			times = slices.Insert(times, at, c.at)
		}
		pending[c.at] = append(pending[c.at], c)
	}
	for i := range s.clients {
		begin := int64(i) * s.every
		if begin < s.length {
			run.Operations.Started++
			add(call{at: begin, client: i, began: begin})
		}
	}
	var served []call
	var busyUntil int64
	for len(times) > 0 {
		now := times[0]
		times = times[1:]
		here := pending[now]
		delete(pending, now)
		for _, c := range here {
			b := &run.Buckets[now/100_000]
			b.Arrivals++
			b.ByAttempt[min(c.retry, 8)]++
			if c.retry == 0 {
				b.First++
				run.Attempts.First++
			} else {
				b.Retries++
				run.Attempts.Retries++
			}
			down := now >= s.outage[0] && now < s.outage[1]
			if !down && now >= busyUntil {
				busyUntil = now + s.service
				b.Served++
				run.Attempts.ByOutcome["200"]++
				served = append(served, c)
				continue
			}
			b.Rejected++
			run.Attempts.ByOutcome["503"]++
			wait := s.delay(draw, c.retry, c.last)
			*delays = append(*delays, wait*1000)
			add(call{at: now + wait, client: c.client, retry: c.retry + 1, last: wait, began: c.began})
		}
	}
	return served
}

// dist summarises values as the recorder does.
func dist(values []int64) record.Distribution {
	if len(values) == 0 {
		return record.Distribution{}
	}
	slices.Sort(values)
	var sum int64
	for _, v := range values {
		sum += v
	}
	n := int64(len(values))
	at := func(perMille int64) *int64 { return ptr(values[min(n-1, n*perMille/1000)]) }
	return record.Distribution{
		Count: n, Min: ptr(values[0]), Mean: ptr(float64(sum) / float64(n)), Max: ptr(values[n-1]),
		P50: at(500), P90: at(900), P99: at(990), P999: at(999),
	}
}

// indices are the convoy index and the retry_synchronisation_index of each strategy, from 5.6 of the
// reference and near it.
var indices = map[string][2]float64{"none": {1, 0.9998}, "equal": {0.106, 0.0421}, "full": {0.0184, 0.0117}, "decorrelated": {0.008, 0.0093}}

// measureWindow fills the convoy measures that integers can give, judged by the retries in [from, to).
func measureWindow(run *record.Run, from, to time.Duration) {
	run.Convoy = record.Convoy{WindowFrom: from, WindowTo: to}
	c := &run.Convoy
	capacity := *run.CapacityPerSecond * run.Bucket.Seconds()
	var windowPeak, total, waves int64
	over := false
	for i := range run.Buckets {
		b := &run.Buckets[i]
		if b.Arrivals > 0 {
			b.OffsetP50, b.OffsetP99 = ptr(int64(48_500_000)), ptr(int64(98_900_000))
		}
		if b.Retries >= 5 {
			b.RSI = ptr(float64(b.Retries) / 4096)
		}
		total += b.Arrivals
		c.PeakArrivals = max(c.PeakArrivals, b.Arrivals)
		if b.At >= c.WindowFrom && b.At < c.WindowTo {
			windowPeak = max(windowPeak, b.Retries)
			c.WindowArrivals += b.Retries
		}
		above := float64(b.Arrivals) > capacity
		switch {
		case above && !over:
			waves++
			c.WavePeaks = append(c.WavePeaks, b.Arrivals)
		case above:
			c.WavePeaks[len(c.WavePeaks)-1] = max(c.WavePeaks[len(c.WavePeaks)-1], b.Arrivals)
		}
		over = above
	}
	c.WavePeaks = c.WavePeaks[:min(32, len(c.WavePeaks))]
	c.Waves = &waves
	c.PeakSlidingArrivals = c.PeakArrivals
	if c.PeakArrivals > 0 {
		c.PeakOverCapacity = ptr(float64(c.PeakArrivals) / capacity)
		c.PeakOverMean = ptr(float64(c.PeakArrivals) * float64(len(run.Buckets)) / float64(total))
	}
	if c.Insufficient = c.WindowArrivals < 100; !c.Insufficient {
		i := indices[run.Strategy]
		c.ConvoyIndex, c.RSI = ptr(i[0]), ptr(i[1])
		c.Dispersion, c.WindowPeakOverCapacity = ptr(3.25), ptr(float64(windowPeak)/capacity)
	}
	c.Verdict = record.Judge(record.Evidence{Index: c.ConvoyIndex, Peak: windowPeak, Capacity: &capacity})
}

// inVirtualTime makes run one of virtual time: there is no generator to tell of.
func inVirtualTime(run record.Run) record.Run {
	run.Engine, run.Generator = record.EngineVirtual, record.Generator{KeptUp: true, TimerSource: "virtual"}
	run.Lateness = dist(make([]int64, run.Attempts.Sent))
	return run
}

// spread is a figure of n seeds.
func spread(mean, p5, p95 float64, n int64) record.Spread {
	return record.Spread{Mean: &mean, P5: &p5, P95: &p95, Count: n}
}

// seeds are what the guides' model gives 400 seeds of 1,000 clients, attempts and completion from 6.1
// of the reference.
var seeds = map[string]map[string]record.Spread{
	"none": {"attempts_sent": spread(500_500, 500_500, 500_500, 400), "completion": {}, "success_share": spread(0.009, 0.009, 0.009, 400),
		"amplification": spread(500.5, 500.5, 500.5, 400), "peak_over_capacity": spread(10, 10, 10, 400), "convoy_index": spread(1, 1, 1, 400),
		"operation_latency_p50": spread(1.5e9, 1.5e9, 1.5e9, 400), "operation_latency_p99": spread(25.5e9, 25.5e9, 25.5e9, 400)},
	"equal": {"attempts_sent": spread(4840, 4813, 4868, 400), "completion": spread(10.4e9, 9.0e9, 11.5e9, 400), "success_share": spread(1, 1, 1, 400),
		"amplification": spread(4.84, 4.813, 4.868, 400), "peak_over_capacity": spread(17.2, 16.9, 17.6, 400), "convoy_index": spread(0.1, 0.08, 0.249999, 400),
		"operation_latency_p50": spread(1.1e9, 0.999e9, 1.2e9, 400), "operation_latency_p99": spread(5.5e9, 5.1e9, 5.9e9, 400)},
	"full": {"attempts_sent": spread(4724, 4693, 4753, 400), "completion": spread(8.3e9, 5.9e9, 11.5e9, 387), "success_share": spread(0.99996, 0.999, 1, 400),
		"amplification": spread(4.724, 4.693, 4.753, 400), "peak_over_capacity": spread(22.7, 22.1, 23.4, 400), "convoy_index": spread(0.01, 0, 0.03, 398),
		"operation_latency_p50": spread(0.67e9, 0.61e9, 0.72e9, 400), "operation_latency_p99": spread(4.4e9, 3.9e9, 5.0e9, 400)},
	"decorrelated": {"attempts_sent": spread(3745, 3702, 3785, 400), "completion": spread(6.5e9, 5.1e9, 8.6e9, 400), "success_share": spread(1, 1, 1, 400),
		"amplification": spread(3.745, 3.702, 3.785, 400), "peak_over_capacity": spread(10, 10, 10, 400), "convoy_index": spread(0.01, 0, 0.02, 400),
		"operation_latency_p50": spread(0.82e9, 0.78e9, 0.86e9, 400), "operation_latency_p99": spread(3.9e9, 3.6e9, 4.3e9, 400)},
}

// repeated gives run 400 seeds.
func repeated(run record.Run) record.Run {
	run.Repeats = &record.Repeats{Asked: 400, Count: 400, Seeds: [2]uint64{42, 441}, Figures: seeds[run.Strategy], Verdicts: map[record.Verdict]int64{run.Convoy.Verdict: 400}}
	if run.Strategy == "decorrelated" {
		run.Repeats.Verdicts = map[record.Verdict]int64{record.VerdictOverload: 8, record.VerdictClear: 392}
	}
	return run
}

const virtualPlan = `{"clients":1000,"strategy":"all","capacity":"1000/s","workers":1,"queue":0,"model":"reject-if-busy","service":"fixed","status":503,` +
	`"abandoned":"process","send-retry-after":"none","transport":"tcp","outage":[],"repeat":400,"latency":"0s","loss":"0%"}`

// occResult is a storm on a row: nobody has a capacity, and a network lies between.
func occResult() *record.Result {
	run := inVirtualTime(guideStorm("full"))
	run.CapacityPerSecond, run.Generator.StartSpread = nil, ptr(int64(9_300_000))
	c := &run.Convoy
	c.PeakOverCapacity, c.WindowPeakOverCapacity, c.Waves, c.WavePeaks, c.Verdict = nil, nil, nil, nil, record.VerdictClear
	run.Books.Lost, run.Books.AttemptsSent = map[string]int64{"lost_request": 93}, run.Books.AttemptsSent+93
	run.Repeats = &record.Repeats{Count: 1, Seeds: [2]uint64{42, 42}, Figures: map[string]record.Spread{
		"attempts_sent": spread(796, 786, 808, 1), "completion": spread(20e-3*1e9, 5_000, 6e9, 1), "convoy_index": {},
	}}
	return resultOf(`{"clients":2000,"capacity":"1000/s","workers":1,"queue":0,"burst":1,"model":"occ","service":"fixed","abandoned":"process",`+
		`"send-retry-after":"none","transport":"memory","outage":[],"latency":"10ms~2ms","loss":"1%"}`, run)
}

const guidePlan = `{"clients":2000,"strategy":["none","equal","full","decorrelated"],"capacity":"1000/s","workers":1,"queue":0,` +
	`"model":"slots","service":"fixed","abandoned":"process","send-retry-after":"none","outage":[]}`

// resultOf wraps runs as an invocation does.
func resultOf(plan string, runs ...record.Run) *record.Result {
	return &record.Result{
		Schema: record.Schema, Tool: record.Tool{Version: "1.0.0"}, Plan: json.RawMessage(plan), PlanHash: "3f9c2d7e41b0", Seed: 42,
		StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Valid: true, Runs: runs,
	}
}

func guideStorm(strategy string) record.Run {
	return storm{strategy: strategy, clients: 2000, service: 1000, length: 30_000_000, delay: strategies[strategy]}.run()
}

// openLoop is a steady load of 500/s with an outage from 10 s to 15 s.
func openLoop() *record.Result {
	run := storm{strategy: "full", clients: 15000, service: 1000, length: 30_000_000, outage: [2]int64{10_000_000, 15_000_000}, every: 2000, delay: strategies["full"]}.run()
	run.Operations.Unstarted = ptr(int64(1234))
	measureWindow(&run, 11*time.Second, 20*time.Second)
	run.Recovery = record.Recovery{GoodputBefore: ptr(500.0), GoodputLast: ptr(498.0), RecoveredAt: ptr(4200 * time.Millisecond), Watched: 15 * time.Second}
	run.Hints = record.Hints{Seen: 5120, Obeyed: 5118, Invalid: 2}
	run.DelayShares = record.DelayShares{AtCap: ptr(0.0), AtFloor: ptr(0.0), FirstMode: ptr(0.031)}
	run.Notes = []string{"The base delay (100 ms) is not above the bucket width (100 ms): jitter cannot lower the first peak."}
	return resultOf(`{"clients":3000,"rate":"500/s","capacity":"1000/s","workers":1,"queue":0,"model":"slots","service":"fixed","abandoned":"process","outage":["10s..15s=hang"]}`, run)
}
