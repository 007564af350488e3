package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/load/sim"
)

// scaled is the guides' model with so many clients for each unit of capacity as they have: 1,000 at
// 1,000/s. A client makes about five attempts, whatever the size of the fleet.
func scaled(clients int) plan.Plan {
	p := guide(clients)
	p.CapacityPerSecond = float64(clients)
	p.Duration = time.Hour
	return p
}

// BenchmarkBare is a whole run, its set-up included, that counts and records nothing. An event is one
// attempt.
func BenchmarkBare(b *testing.B) {
	for _, clients := range []int{1e3, 1e4, 1e5, 1e6} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			p := scaled(clients)
			var attempts int64
			for seed := uint64(0); b.Loop(); seed++ {
				attempts += sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: "full", Seed: seed}).Attempts
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkRecorded is the same with everything recorded. The recorder, 3 MB, is made outside, and
// emptied for each run, as a repeat does.
func BenchmarkRecorded(b *testing.B) { benchmarkRecorded(b, false) }

// BenchmarkShown is the same with what is recorded of the first seed alone.
func BenchmarkShown(b *testing.B) { benchmarkRecorded(b, true) }

func benchmarkRecorded(b *testing.B, detail bool) {
	for _, clients := range []int{1e3, 1e4, 1e5, 1e6} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			p := scaled(clients)
			config := recording(&p)
			config.Detail = detail
			rec := record.New(config)
			var attempts int64
			for seed := uint64(0); b.Loop(); seed++ {
				b.StopTimer()
				rec.Reset(config)
				b.StartTimer()
				attempts += sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: "full", Seed: seed, Recorder: rec}).Attempts
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkNetwork is BenchmarkBare with a latency of 10 ms ± 2 ms: three events, and three draws more, an
// attempt.
func BenchmarkNetwork(b *testing.B) {
	for _, clients := range []int{1e3, 1e6} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			p := scaled(clients)
			p.Latency = plan.Law{Mean: 10 * time.Millisecond, SD: 2 * time.Millisecond}
			var attempts int64
			for seed := uint64(0); b.Loop(); seed++ {
				attempts += sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: "full", Seed: seed}).Attempts
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkMillion is a million clients to completion at 20,000/s.
func BenchmarkMillion(b *testing.B) {
	p := guide(1_000_000)
	p.CapacityPerSecond, p.Duration = 20_000, time.Hour
	for seed := uint64(0); b.Loop(); seed++ {
		s := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: "full", Seed: seed, Recorder: recorder(&p)})
		b.ReportMetric(float64(s.Attempts)/1e6, "Mattempts")
	}
}

// BenchmarkChain is a storm of three services, each with its retries; recorded at each, and not. An event is one attempt at
// any of them.
func BenchmarkChain(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			p := scenario(b, "clients: 10000", "capacity: 20000/s", "queue: 10000", "max-retries: 3", "layer: [b;capacity=10000/s, c;capacity=2000/s]")
			var attempts int64
			for seed := uint64(0); b.Loop(); seed++ {
				c := sim.ChainConfig{Links: p.Chain(), Accounts: make([]sim.LinkAccounts, 3), Seed: seed}
				for i := range c.Accounts {
					if recorded {
						c.Accounts[i].Recorder = recorder(c.Links[i].Plan)
					}
				}
				for _, l := range sim.RunChain(context.Background(), c).Links {
					attempts += l.Attempts
				}
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds()/1e6, "Mattempts/s")
		})
	}
}
