package sim_test

import (
	"context"
	"testing"

	"stormtest/load/sim"
)

// TestEventsAllocateNothing: a run allocates when it begins, and while what is under way at once grows.
// One of twenty times the operations in the same fleet allocates no more, so that an attempt, whatever
// becomes of it, costs none. The recorder has its storage from a run before.
func TestEventsAllocateNothing(t *testing.T) {
	const spare = 16 // a few of the runtime's own, which counts all of the process
	tests := []struct {
		name  string
		lines []string
	}{
		{"guide", nil},
		{"shed by a token bucket", []string{"model: token-bucket", "burst: 20"}},
		{"instant", []string{"model: reject-if-busy"}},
		{"timeouts", []string{"queue: 100", "timeout: 60ms"}},
		{"cancelled", []string{"queue: 100", "timeout: 60ms", "abandoned: cancel"}},
		{"retry-after", []string{"send-retry-after: 1s", "retry-after-jitter: 1s"}},
		{"network", []string{"latency: 10ms~5ms", "loss: 1%", "queue: 50", "timeout: 100ms"}},
		{"row", []string{"model: occ", "latency: 10ms~2ms"}},
		{"budget", []string{"budget: finagle:scope=client", "queue: 50"}},
		{"open loop", []string{"rate: 800/s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := append([]string{"clients: 200", "capacity: 1000/s", "duration: 40s", "max-elapsed: unlimited"}, tt.lines...)
			run := func(operations int64, recorded bool) (allocations float64, attempts int64) {
				p := scenario(t, lines...)
				p.Operations = operations
				c := sim.Config{Plan: &p, Strategy: "full", Seed: 1}
				if recorded {
					c.Recorder = recorder(&p)
				}
				allocations = testing.AllocsPerRun(1, func() {
					if recorded {
						c.Recorder.Reset(recording(&p))
					}
					c.Budget = bankOf(&p, 1)
					attempts = sim.Run(context.Background(), c).Attempts
				})
				return allocations, attempts
			}
			for _, recorded := range []bool{false, true} {
				few, first := run(500, recorded)
				many, attempts := run(10_000, recorded)
				if many > few+spare || attempts < first+5000 {
					t.Errorf("recorded %v: %v allocations in %d attempts, %v in %d", recorded, few, first, many, attempts)
				}
			}
		})
	}
}
