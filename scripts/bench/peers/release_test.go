package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A tool that is not there is asked once, one that fails in every round, and neither is left out. Every round
// begins with another one.
func TestInterleave(t *testing.T) {
	var asked []string
	list := []tool{{name: "stormtest"}, {name: "absent", peer: "go"}, {name: "shaky", peer: "go"}}
	rows, err := interleave(context.Background(), list, 3, func(x tool) (spread, error) {
		asked = append(asked, x.name)
		switch {
		case x.name == "absent":
			return spread{}, errNotInstalled
		case x.name == "shaky" && len(asked) < 4:
			return spread{}, runError("1 of 2 arrived")
		}
		return spread{p1p99: time.Millisecond, firstLast: time.Millisecond}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(asked, " "), "stormtest absent shaky shaky stormtest shaky stormtest"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if !complete(rows) {
		t.Error("complete() = false, though stormtest has every round")
	}
	var out strings.Builder
	(&bench{out: &out}).releaseTable(2, rows)
	for _, want := range []string{
		"| absent             | not installed",
		"1 of 3 runs: 1 of 2 arrived",
		"stormtest 1.0 ms, the closest peer 1.0 ms (shaky): NOT tighter",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	rows[0].failed = append(rows[0].failed, runError("failed"))
	if complete(rows) {
		t.Error("complete() = true, though a round of stormtest failed")
	}
}

// What went wrong is in the row, and not what stormtest says after it.
func TestFailedShowsTheMessage(t *testing.T) {
	for said, want := range map[string]string{
		"stormtest: --clients: 0: want 1..1000000\nRun 'stormtest --help' for the flags.\n": "failed: exit status 2: stormtest: --clients: 0: want 1..1000000",
		"warming up\nunable to connect\n": "failed: exit status 2: unable to connect",
	} {
		if got := failed([]byte(said), errors.New("exit status 2")).Error(); got != want {
			t.Errorf("failed(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestMemoryVerdict(t *testing.T) {
	for each, want := range map[float64]string{8191: "met, with both ends: 8.2 kB", 8192: "NOT met, with both ends: 8.2 kB", 19_600: "NOT met, with both ends: 19.6 kB"} {
		if got := memoryVerdict("both ends", each); got != want {
			t.Errorf("memoryVerdict(%v) = %q, want %q", each, got, want)
		}
	}
}

// wrk shares its connections out evenly and drops the rest.
func TestWrkOpensEveryConnection(t *testing.T) {
	for _, clients := range []int{1, 2, 2001, 8000} {
		if n := wrkThreads(job{clients: clients}); clients%n != 0 {
			t.Errorf("%d connections in %d threads, want no rest", clients, n)
		}
	}
}
