package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// exampleLongest bounds the examples in real time, so that somebody who tries one sees its end.
const exampleLongest = 40 * time.Second

// examples says of every scenario in examples what it shows, as written and with seed 1. What its comments promise of the
// exit codes, a test of the command holds.
var examples = map[string]func(run *record.Run) bool{
	"storm":           func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictConvoy },
	"two-second-blip": func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictConvoy && done(run) < 0.01 },
	"deploy-restart": func(run *record.Run) bool {
		return run.Convoy.Verdict == record.VerdictConvoy && *run.Convoy.Waves > 20 && run.Books.Lost["refused"] > 0
	},
	"token-expiry": func(run *record.Run) bool {
		return *run.Convoy.ConvoyIndex < 0.1 && *run.Convoy.PeakOverCapacity > 50 && run.Operations.Succeeded == run.Operations.Started
	},
	"rate-limit-reset": func(run *record.Run) bool {
		return *run.Convoy.ConvoyIndex > 0.9 && run.Hints.Obeyed > 1000 && run.Attempts.ByOutcome["429"] > 1000
	},
	"shared-seed": func(run *record.Run) bool {
		return run.Convoy.Verdict == record.VerdictConvoy && flagged(run, record.FlagSharedSeed)
	},
	"uncapped-decorrelated": func(run *record.Run) bool { return *run.Delay.Max > int64(15*time.Second) },
	"half-open-breaker": func(run *record.Run) bool {
		return run.Breaker.Opened == 1000 && run.Breaker.Reopened > 100 && run.Breaker.OpenAtEnd == 0
	},
	"brownout":   stays,
	"cache-loss": stays,
	"metastable": stays,
	"aws-2021":   stays,
	"slack-2022": stays,
	"mixed-fleet": func(run *record.Run) bool {
		return len(run.Parts) == 2 && run.Convoy.Verdict == record.VerdictConvoy &&
			*run.Parts[0].Run.Convoy.ConvoyIndex < 0.1 && *run.Parts[1].Run.Convoy.ConvoyIndex > 0.9
	},
	"chain": func(run *record.Run) bool {
		return len(run.Layers) == 2 && *run.Layers[0].EndToEnd == 16 && *run.Layers[1].EndToEnd == 64
	},
	"hedging": func(run *record.Run) bool { return stays(run) && run.Attempts.Hedges > run.Operations.Started/2 },
	"budget": func(run *record.Run) bool {
		return run.Recovery.RecoveredAt != nil && run.Budget.Refused > 1000 && *run.Amplification < 1.1
	},
	"layered-retries": func(run *record.Run) bool {
		r := &run.Recovery
		return r.RecoveredAt == nil && *r.GoodputLast < 0.05**r.GoodputBefore && *run.Layers[1].EndToEnd > 2.5**run.Amplification
	},
	"google-cloud-2025": func(run *record.Run) bool { return run.Convoy.Verdict == record.VerdictConvoy && done(run) < 0.9 },
	"fleet-2026": func(run *record.Run) bool {
		return run.Convoy.Verdict == record.VerdictConvoy && *run.DelayShares.AtCap > 0.5
	},
	"network": func(run *record.Run) bool {
		return run.Books.Lost["lost_request"] > 0 && run.Attempts.ByOutcome["timeout"] > 0 && run.Operations.Succeeded == run.Operations.Started
	},
}

func done(run *record.Run) float64 {
	return float64(run.Operations.Succeeded) / float64(run.Operations.Started)
}

func flagged(run *record.Run, flag string) bool { return slices.Contains(run.Convoy.Flags, flag) }

// stays is a service that works for nobody at the end, though its trouble is over.
func stays(run *record.Run) bool {
	r := &run.Recovery
	return r.RecoveredAt == nil && r.GoodputBefore != nil && *r.GoodputLast < 0.05**r.GoodputBefore && *r.WastedShareLast > 0.9
}

// Every scenario in examples reads, is a whole plan, runs with books that balance, and shows what it is there for. That is
// judged in virtual time, where no order of goroutines has a part in it; what real time makes of it, of a small one
// alone.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) != len(examples) {
		t.Fatalf("%d examples, %v; want the %d of the table", len(files), err, len(examples))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			shows := examples[name]
			if shows == nil {
				t.Fatal("it has no row in the table")
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Decode(file, b)
			if err != nil {
				t.Fatal(err)
			}
			p.Seed = plan.Seed{Value: 1, Set: true}
			inReal := p.For(plan.Real) == nil
			if inReal && p.Duration > exampleLongest {
				t.Errorf("takes %v in real time, want %v at most", p.Duration, exampleLongest)
			}
			if inReal && name == "storm" {
				bubble(t, p, 0)
			}
			run := simulate(t, p, load.Env{}).Runs[0]
			checkBooks(t, &run, nil)
			if !shows(&run) {
				t.Errorf("verdict %s %v, recovery %+v, breaker %+v, operations %+v: not what it is there for", run.Convoy.Verdict, run.Convoy.Flags, run.Recovery, run.Breaker, run.Operations)
			}
		})
	}
}

// What is end to end in a chain is known of every seed, so that a gate on it holds for all.
func TestChainOfEverySeed(t *testing.T) {
	b, err := os.ReadFile("../examples/chain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode("chain.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	p.Seed, p.Repeat = plan.Seed{Value: 1, Set: true}, 3
	all := simulate(t, p, load.Env{}).Runs[0].Repeats.Figures["amplification_end_to_end"]
	if all.Count != 3 || *all.Mean != 64 {
		t.Errorf("%+v, want 64 of 3 seeds", all)
	}
}
