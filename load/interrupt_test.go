package load_test

import (
	"context"
	"testing"

	"stormtest/load"
)

// A run that is interrupted before its t0 has lasted no time, and not less; what it writes is read back only then. On a slow machine
// its t0 has come by the time that it has ended.
func TestInterruptedBeforeItsBegin(t *testing.T) {
	for _, lines := range [][]string{nil, {"layer: db"}, {"hedge: 1s"}, {"transport: memory"}} {
		p := scenario(t, append([]string{"clients: 5", "duration: 10s", "seed: 1"}, lines...)...)
		ctx, cancel := context.WithCancel(t.Context())
		result, err := load.Run(ctx, p, load.Env{Progress: func(load.Stage) { cancel() }})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		r := &result.Runs[0]
		if !result.Interrupted || r.Duration < 0 || !r.Books.Balanced {
			t.Errorf("%q: interrupted %t, duration %v, books %+v; want an interrupted run of 0s or more, balanced", lines, result.Interrupted, r.Duration, r.Books)
		}
		for _, l := range r.Layers {
			if l.Run.Duration < 0 || !l.Run.Books.Balanced {
				t.Errorf("%q: layer %s has duration %v, books %+v", lines, l.Name, l.Run.Duration, l.Run.Books)
			}
		}
	}
}
