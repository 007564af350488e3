package load_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
	"stormtest/load/record"
	"stormtest/target/wake"
)

// An interrupted run keeps what it measured.
func TestMemoryInterrupted(t *testing.T) {
	p := scenario(t, "strategy: none,full", "clients: 100", "capacity: 10/s", "queue: 5", "duration: 1h", "transport: memory")
	result, _ := bubble(t, p, 2*time.Second)
	if !result.Interrupted || len(result.Runs) != 1 {
		t.Fatalf("interrupted = %v with %d runs, want true with the first of two", result.Interrupted, len(result.Runs))
	}
	run := result.Runs[0]
	if run.Operations.Unfinished == 0 || run.Attempts.InFlightAtEnd == 0 {
		t.Errorf("unfinished = %d, in flight = %d, want both above 0", run.Operations.Unfinished, run.Attempts.InFlightAtEnd)
	}
}

// A fleet of more clients than there are ports runs, and its report says how.
func TestMemoryNeedsNoDescriptors(t *testing.T) {
	p := scenario(t, "strategy: none", "clients: 100000", "max-retries: 0", "duration: 1s", "transport: memory")
	var result *record.Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if result, err = load.Run(t.Context(), p, load.Env{Wake: wake.Timers}); err != nil {
			t.Fatal(err)
		}
	})
	run := result.Runs[0]
	if !run.Books.Balanced {
		t.Errorf("the books do not balance: %v", run.Books.Faults)
	}
	if run.Books.Arrivals != 100_000 || run.Operations.Succeeded != 1 || run.Generator.Connections != 0 {
		t.Errorf("arrivals = %d, succeeded = %d, connections = %d; want 100000, 1 and 0", run.Books.Arrivals, run.Operations.Succeeded, run.Generator.Connections)
	}
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, "transport memory: ") {
		t.Errorf("notes = %q do not say how the attempts travelled", notes)
	}
}
