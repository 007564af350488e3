package sim_test

import (
	"context"
	"testing"
	"time"

	"stormtest/load/backoff"
	"stormtest/load/sim"
)

// TestUnjitteredClosedForm: where no delay is drawn one client is served a wave, so that N clients
// need N(N+1)/2 attempts, and the last ends after the first N-1 delays and one service.
func TestUnjitteredClosedForm(t *testing.T) {
	for _, name := range backoff.Names() {
		for _, clients := range []int{1, 2, 100, 300} {
			p := guide(clients)
			strategy := p.Backoff(name)
			var sum, prev time.Duration
			exact := true
			for k := range clients - 1 {
				a := backoff.Attempt{Retry: k, Prev: prev}
				lo, hi := strategy.Range(a)
				exact = exact && lo == hi && lo > time.Millisecond
				sum, prev = sum+lo, lo
			}
			if !exact {
				continue
			}
			got := sim.Run(context.Background(), sim.Config{Plan: &p, Strategy: name, Seed: 1})
			n := int64(clients)
			if got.Attempts != n*(n+1)/2 || got.Completion != sum+time.Millisecond || got.Succeeded != n {
				t.Errorf("%s, %d clients: %d attempts, %d served, completion %v; want %d, %d, %v",
					name, clients, got.Attempts, got.Succeeded, got.Completion, n*(n+1)/2, n, sum+time.Millisecond)
			}
		}
	}
}
