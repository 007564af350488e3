package load_test

import (
	"os"
	"path/filepath"
	"testing"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// Every scenario in examples reads, is a whole plan, and runs with books that balance, in both engines where it is
// for both. What it shows is judged in virtual time, where no order of goroutines has a part in it.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Decode(name, b)
			if err != nil {
				t.Fatal(err)
			}
			p.Seed = plan.Seed{Value: 1, Set: true}
			if p.For(plan.Real) == nil {
				bubble(t, p, 0)
			}
			run := simulate(t, p, load.Env{}).Runs[0]
			checkBooks(t, &run, nil)
			switch filepath.Base(name) {
			case "storm.yaml":
				if run.Convoy.Verdict != record.VerdictConvoy {
					t.Errorf("verdict = %s, want CONVOY", run.Convoy.Verdict)
				}
			case "metastable.yaml":
				if r := run.Recovery; r.RecoveredAt != nil || r.GoodputLast == nil || *r.GoodputLast > 80 {
					t.Errorf("recovery = %+v, want none", r)
				}
			case "network.yaml":
				if run.Books.Lost["lost_request"] == 0 || run.Attempts.ByOutcome["timeout"] == 0 || run.Operations.Succeeded != run.Operations.Started {
					t.Errorf("lost %v, outcomes %v, %d of %d done; want losses, timeouts and all", run.Books.Lost, run.Attempts.ByOutcome, run.Operations.Succeeded, run.Operations.Started)
				}
			}
		})
	}
}
