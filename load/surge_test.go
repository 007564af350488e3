package load_test

import (
	"slices"
	"testing"

	"stormtest/load"
	"stormtest/load/record"
)

// A surge of the load is a trigger as an outage is: retries keep the target down when the load is what it was before, and a
// budget lets it come back. The rate is half of what the target can serve, before and after.
func TestSurge(t *testing.T) {
	lines := []string{
		"clients: 20000", "rate: 500/s", "arrivals: poisson", "surge: ['10s..20s=x4']", "duration: 145s", "capacity: 1000/s", "queue: 2000", "timeout: 1s",
		"max-retries: 3", "strategy: full",
	}
	tests := []struct {
		name       string
		line       string
		metastable bool
	}{
		{"retries alone", "budget: none", true},
		{"with a budget", "budget: finagle:ratio=10%,min=0/s,scope=fleet", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := simulate(t, scenario(t, append(slices.Clone(lines), tt.line)...), load.Env{}).Runs[0]
			r := run.Recovery
			if len(run.Phases) != 3 || run.Phases[1].Name != "surge" || r.GoodputBefore == nil || *r.GoodputBefore < 470 || *r.GoodputBefore > 530 || r.Watched.Seconds() < 124.9 {
				t.Fatalf("phases %+v and recovery %+v, want a surge, with 500/s before it and 125 s watched", run.Phases, r)
			}
			if got := slices.Contains(run.Convoy.Flags, record.FlagMetastable); got != tt.metastable || (r.RecoveredAt == nil) != tt.metastable {
				t.Errorf("METASTABLE %v, recovered after %v, want METASTABLE %v", got, r.RecoveredAt, tt.metastable)
			}
		})
	}
}
