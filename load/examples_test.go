package load_test

import (
	"os"
	"path/filepath"
	"testing"

	"stormtest/load/plan"
	"stormtest/load/record"
)

// Every scenario in examples reads, is a whole plan, and runs with books that balance.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) < 2 {
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
			result, _ := bubble(t, p, 0)
			run := result.Runs[0]
			switch filepath.Base(name) {
			case "storm.yaml":
				if run.Convoy.Verdict != record.VerdictConvoy {
					t.Errorf("verdict = %s, want CONVOY", run.Convoy.Verdict)
				}
			case "metastable.yaml":
				if r := run.Recovery; r.RecoveredAt != nil || r.GoodputLast == nil || *r.GoodputLast > 80 {
					t.Errorf("recovery = %+v, want none", r)
				}
			}
		})
	}
}
