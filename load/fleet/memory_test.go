package fleet_test

import (
	"runtime"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/fleet"
	"stormtest/load/record"
	"stormtest/load/retry"
	"stormtest/target"
	"stormtest/target/station"
	"stormtest/target/wake"
)

// handed returns a fleet that reaches a target of some capacity in memory.
func handed(tb testing.TB, clients int, operations int64, perSecond float64, d time.Duration, source wake.Source) *fleet.Memory {
	tb.Helper()
	recorder := record.New(record.Config{Duration: d})
	tgt, err := target.New(target.Config{
		Station: station.Config{PerSecond: perSecond},
		OnArrival: func(a target.Arrival) {
			recorder.Arrival(record.Arrival{At: a.At, Attempt: a.Attempt, Rejected: a.Rejected})
		},
		OnServed: func(w target.Served) { recorder.Served(w.At, w.Wasted) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	entry, _ := backoff.Lookup("full")
	return fleet.NewMemory(fleet.Config{
		Clients:    clients,
		Policy:     &retry.Policy{Strategy: entry.New(backoff.Defaults()), MaxRetries: retry.Unlimited, Timeout: 5 * time.Second, RetryOn: retry.DefaultSet()},
		Operations: operations,
		Duration:   d,
		Wake:       source,
		Recorder:   recorder,
	}, tgt, nil)
}

// BenchmarkMemoryClient says what one more client of a million costs.
func BenchmarkMemoryClient(b *testing.B) {
	const clients = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := handed(b, clients, clients, 1000, time.Second, wake.Spinning)
		if _, err := f.Run(b.Context(), func(time.Time) error { return nil }); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(f)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/clients, "B/client")
	}
}

// BenchmarkMemoryAttempt says what an attempt costs, all of it, where the dispatcher is never
// idle: 100,000 clients against a target that turns most of them away, for two seconds.
func BenchmarkMemoryAttempt(b *testing.B) {
	for b.Loop() {
		f := handed(b, 100_000, 1e9, 100, 2*time.Second, wake.Spinning)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stats, err := f.Run(b.Context(), func(time.Time) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		var sent int64
		for _, n := range stats.Sent {
			sent += n
		}
		b.ReportMetric(float64(sent), "attempts")
		b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(sent), "allocs/attempt")
	}
}
