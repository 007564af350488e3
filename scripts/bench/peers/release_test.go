package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A tool that is not there is asked once, one that fails in every round, and neither is left out.
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
	if got, want := strings.Join(asked, " "), "stormtest absent shaky stormtest shaky stormtest shaky"; got != want {
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
	rows[0].failed = append(rows[0].failed, errNotAvailable)
	if complete(rows) {
		t.Error("complete() = true, though a round of stormtest failed")
	}
}
