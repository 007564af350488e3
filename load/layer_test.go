package load_test

import (
	"testing"
	"time"
)

// Three services behind each other with four attempts each against a dead end: 64 attempts at the bottom for each
// operation, 16 before that and 4 at the front.
func TestChainMultipliesAttempts(t *testing.T) {
	result, _ := bubble(t, scenario(t, "strategy: constant", "base: 10ms", "clients: 5", "max-retries: 3", "capacity: 100000/s",
		"workers: 100", "layer: ['b;capacity=100000/s', 'c;capacity=0/s']", "duration: 1m"), 0)
	run := result.Runs[0]
	if len(run.Layers) != 2 {
		t.Fatalf("%d layers, want 2", len(run.Layers))
	}
	sent := []int64{run.Attempts.Sent, run.Layers[0].Run.Attempts.Sent, run.Layers[1].Run.Attempts.Sent}
	for i, want := range []int64{5 * 4, 5 * 16, 5 * 64} {
		if sent[i] != want {
			t.Errorf("attempts at service %d = %d, want %d", i, sent[i], want)
		}
	}
	for i, want := range []float64{16, 64} {
		l := run.Layers[i]
		if l.EndToEnd == nil || *l.EndToEnd != want {
			t.Errorf("layer %s: amplification end to end = %v, want %v", l.Name, l.EndToEnd, want)
		}
		checkBooks(t, l.Run, nil)
	}
	_ = time.Second
}
