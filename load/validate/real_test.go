package validate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
)

// ran is a real run of 500 clients with these figures.
func ran(attempts int64, completion time.Duration, latency, late time.Duration) record.Run {
	index, peak, ns := 0.02, 2.8, float64(latency)
	done, p99 := int64(completion), int64(late)
	r := record.Run{Duration: completion, Bucket: 100 * time.Millisecond, Completion: &done}
	r.Attempts.Sent, r.Operations.Succeeded = attempts, 500
	r.Convoy.ConvoyIndex, r.Convoy.WindowPeakOverCapacity = &index, &peak
	r.Latency = record.Distribution{Mean: &ns, P99: &p99}
	r.Lateness = record.Distribution{P99: &p99}
	return r
}

// seeds are figures of seeds in virtual time that differ by one part in a hundred.
func seeds(attempts float64) [][]float64 {
	figures := make([][]float64, figureCount)
	for k, mean := range []float64{attempts, 500, 6, 2.8, 0.02, 0} {
		for i := range realSeeds {
			by := 1 + 0.01*float64(i%3-1)
			if k == figureServed {
				by = 1
			}
			figures[k] = append(figures[k], mean*by)
		}
	}
	return figures
}

// A difference that chance or the run's own smear explains passes, a larger one fails, and a machine that did not
// keep up is named.
func TestRealChecks(t *testing.T) {
	full := realPlans(1)[1]
	full.plan.Strategies = []string{"full"}
	const ms = time.Millisecond
	tests := []struct {
		name       string
		run        record.Run
		virtual    [][]float64
		failing    string // parts of names, with blanks between; empty: none
		bottleneck bool
	}{
		{"as another seed", ran(4000, 6*time.Second, ms, ms), seeds(4050), "", false},
		{"more attempts than chance and smear explain", ran(4500, 6*time.Second, ms, ms), seeds(4000), "attempts", false},
		{"the same with more smear", ran(4500, 6*time.Second, 20*ms, ms), seeds(4000), "", false},
		{"later than chance and smear explain", ran(4000, 7*time.Second, ms, ms), seeds(4000), "completion", false},
		{"late sends", ran(4000, 6*time.Second, ms, 11*ms), seeds(4000), "kept", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r Result
			var failed []string
			for _, c := range full.checks(&test.run, test.virtual) {
				c.Group = RealGroup
				r.add(c)
				if !c.OK {
					failed = append(failed, c.Name)
				}
			}
			if r.Bottleneck() != test.bottleneck || len(failed) != len(strings.Fields(test.failing)) {
				t.Fatalf("%q failed, bottleneck %t; want %q, %t", failed, r.Bottleneck(), test.failing, test.bottleneck)
			}
			for i, part := range strings.Fields(test.failing) {
				if !strings.Contains(failed[i], part) {
					t.Errorf("%q failed, want %q", failed[i], part)
				}
			}
		})
	}
}

// A wave that lasts no longer than the shortest scale is as good as a point; one of 100 ms has the index of a
// uniform wave by the shorter two scales, (0.19 - e)/(1 - e) = 0.
func TestSmearedIndex(t *testing.T) {
	for _, test := range []struct {
		s    time.Duration
		want float64
	}{{0, 1}, {10 * time.Millisecond, 1}, {20 * time.Millisecond, 0.7205}, {time.Second, 0}} {
		if got := smearedIndex(test.s); math.Abs(got-test.want) > 0.001 {
			t.Errorf("smearedIndex(%v) = %.4f, want %v", test.s, got, test.want)
		}
	}
}

// A run over loopback is held against virtual time, figure by figure. What passes is the machine's affair here.
func TestRunReal(t *testing.T) {
	plans := realPlans(1)[1:2]
	p := &plans[0].plan
	p.Clients, p.CapacityPerSecond, p.Base, p.Strategies = 20, 2000, time.Millisecond, []string{"full", "equal"}
	p.Outages[0].To, p.Duration = 20*time.Millisecond, 10*time.Second
	var told float64
	r, err := runReal(t.Context(), Config{Seed: 1, Progress: func(p Progress) { told = p.DoneShare }}, plans)
	if err != nil || r.Interrupted {
		t.Fatalf("%+v, %v", r, err)
	}
	var names []string
	for _, c := range r.Checks {
		names = append(names, c.Name)
		if c.Group != RealGroup || c.Got == nil {
			t.Errorf("%+v, want one of group %q with a figure", c, RealGroup)
		}
	}
	for _, want := range []string{"full, no queue: attempts", "equal, no queue: completion", "full, no queue" + keptUp} {
		if !slices.Contains(names, want) {
			t.Errorf("no check %q in %q", want, names)
		}
	}
	if math.Abs(told-1) > 1e-9 {
		t.Errorf("progress ended at %v, want 1", told)
	}
}

// The plans are valid and small enough for any machine.
func TestRealPlansAreValid(t *testing.T) {
	for _, r := range realPlans(1) {
		if err := r.plan.Validate(); err != nil || r.plan.Clients > 500 {
			t.Errorf("%s: %v, %d clients", r.name, err, r.plan.Clients)
		}
	}
}
