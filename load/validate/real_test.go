package validate

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
)

// A stand is a fleet, its seeds in virtual time without a network, and a run in the place of one over sockets: of
// another seed, on a network as loopback is.
type stand struct {
	fleet realPlan
	ideal [][]float64
	run   record.Run
}

// standOf returns the stand of one strategy of a plan. The run is made by that of another strategy where by is one.
func standOf(t *testing.T, r realPlan, strategy, by string) stand {
	t.Helper()
	r.plan.Strategies = []string{strategy}
	seeds := pool{workers: runtime.GOMAXPROCS(0), done: func(float64) {}}.run(t.Context(), []trial{{runs: realSeeds, run: r.virtual}})
	p := r.plan
	p.Seed.Value += 1000
	p.Latency = plan.Law{Mean: time.Millisecond, SD: 500 * time.Microsecond}
	if by != "" {
		p.Strategies = []string{by}
	}
	result, err := load.Simulate(t.Context(), p, load.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return stand{r, transposed(seeds[0]), result.Runs[0]}
}

// failing returns the names of the figures that fail of a run.
func (s stand) failing(t *testing.T, p prediction, change func(*record.Run)) []string {
	t.Helper()
	run := s.run
	change(&run)
	var failed []string
	for _, c := range s.fleet.checks(&run, p) {
		if c.failed() {
			_, figure, _ := strings.Cut(c.Name, ": ")
			failed = append(failed, figure)
		}
	}
	return failed
}

func scaled(x *float64, by float64) *float64 {
	y := *x * by
	return &y
}

// A run by the same rules passes for every plan and strategy, and one whose figure a wrong engine might have does not.
func TestRealBoundsCatchAWrongEngine(t *testing.T) {
	wrong := []struct {
		figure string
		change func(*record.Run)
	}{
		{"attempts", func(r *record.Run) { r.Attempts.Sent += r.Attempts.Sent / 4 }},
		{"attempts", func(r *record.Run) { r.Attempts.Sent -= r.Attempts.Sent / 5 }},
		{"peak/capacity", func(r *record.Run) {
			r.Convoy.WindowPeakOverCapacity = scaled(r.Convoy.WindowPeakOverCapacity, 0.4)
		}},
		{"peak/capacity", func(r *record.Run) {
			r.Convoy.WindowPeakOverCapacity = scaled(r.Convoy.WindowPeakOverCapacity, 2)
		}},
		{"completion", func(r *record.Run) {
			if r.Completion != nil {
				r.Completion = new(2 * *r.Completion)
			}
		}},
		{"served", func(r *record.Run) { r.Operations.Succeeded = 250 }},
		{"convoy index", func(r *record.Run) { x := math.Mod(*r.Convoy.ConvoyIndex+0.5, 1); r.Convoy.ConvoyIndex = &x }},
	}
	for _, r := range realPlans(1) {
		for _, strategy := range r.plan.Strategies {
			s := standOf(t, r, strategy, "")
			p, ok := s.fleet.behind(t.Context(), &s.run, s.ideal)
			if failed := s.failing(t, p, func(*record.Run) {}); !ok || len(failed) > 0 {
				t.Errorf("%s, %s: %q failed of a run by the same rules", strategy, r.name, failed)
			}
			for i, w := range wrong {
				if w.figure == "completion" && s.run.Completion == nil {
					continue
				}
				if failed := s.failing(t, p, w.change); !slices.Contains(failed, w.figure) {
					t.Errorf("%s, %s: a wrong %s (row %d) passed; %q failed", strategy, r.name, w.figure, i, failed)
				}
			}
		}
	}
}

// A run of one strategy is none of another.
func TestRealBoundsTellStrategiesApart(t *testing.T) {
	plans := realPlans(1)
	for _, test := range []struct {
		plan          realPlan
		strategy, ran string
	}{{plans[0], "fixed", "none"}, {plans[1], "full", "equal"}, {plans[1], "equal", "full"}, {plans[1], "proportional", "equal"}, {plans[2], "full", "equal"}} {
		s := standOf(t, test.plan, test.strategy, test.ran)
		p, _ := s.fleet.behind(t.Context(), &s.run, s.ideal)
		if failed := s.failing(t, p, func(*record.Run) {}); len(failed) == 0 {
			t.Errorf("%s, %s: a run of %s passed", test.strategy, test.plan.name, test.ran)
		}
	}
}

// What a machine did that was the bottleneck is not judged, neither as passed nor as failed, and why is said once.
func TestABottleneckIsNotJudged(t *testing.T) {
	s := standOf(t, realPlans(1)[2], "full", "")
	p, _ := s.fleet.behind(t.Context(), &s.run, s.ideal)
	late := int64(11 * time.Millisecond)
	s.run.Engine, s.run.Lateness.P99 = "real", &late
	s.run.Attempts.Sent *= 2
	var r Result
	for _, c := range s.fleet.checks(&s.run, p) {
		c.Group, c.Source = RealGroup, sourceVirtual
		r.add(c)
	}
	if !r.Bottleneck() || r.Failed != 0 || r.Passed != 0 || r.NotJudged != len(r.Checks) {
		t.Fatalf("%+v, want none judged", r)
	}
	var b strings.Builder
	if err := r.Text(&b, time.Second); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "not judged: this machine") != 1 || strings.Contains(text, "FAIL") || strings.Contains(text, "Failed:") ||
		strings.Index(text, "not judged: this machine") > strings.Index(text, "attempts  ") {
		t.Errorf("the report does not say once, above the rows, why nothing was judged:\n%s", text)
	}
}

// No range goes beyond what a figure can be.
func TestRealRangesArePossible(t *testing.T) {
	f := realPlans(1)[0]
	p := prediction{ideal: make([][]float64, figureCount), behind: make([][]float64, figureCount)}
	for k := range p.ideal {
		p.ideal[k], p.behind[k] = []float64{0.9, 0.01}, []float64{0.9, 0.01}
	}
	p.behind[figureServed] = []float64{400, 500}
	for k := range figureCount {
		if _, low, high := f.reach(p, k); low != 0 && k != figureServed || k == figureConvoy && high != 1 || k == figureServed && high != 500 {
			t.Errorf("figure %d: %v..%v", k, low, high)
		}
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

// The law of a message has the mean of half an attempt, however far its tail reaches.
func TestLawOf(t *testing.T) {
	ideal := make([][]float64, figureCount)
	for k := range ideal {
		ideal[k] = []float64{0.001}
	}
	for _, tail := range []float64{0.0031, 0.004, 0.005, 0.050} {
		got := make([]float64, figureCount)
		got[figureLatency], got[figureTail] = 0.003, tail
		law, lag := lawOf(got, ideal)
		var sum float64
		const n = 100_000
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			sum += math.Abs(float64(law.Mean) + float64(law.SD)*r.NormFloat64())
		}
		if math.Abs(lag-0.002) > 1e-9 || math.Abs(sum/n-1e6) > 1e4 {
			t.Errorf("tail %v: %v has the mean %.0f ns, lag %v; want 1 ms and 2 ms", tail, law, sum/n, lag)
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
	for _, want := range []string{"full, no queue: attempts", "equal, no queue: completion"} {
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

// The three cells are there, in plans that are valid, and their answers are told apart.
func TestSmallRecoveries(t *testing.T) {
	rows := smallRows()
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	for _, row := range rows {
		if p := row.small(1); p.Validate() != nil || p.Duration > time.Minute {
			t.Errorf("%s: %v, %v long", row.name, p.Validate(), p.Duration)
		}
	}
	never := &record.Run{}
	back := &record.Run{Recovery: record.Recovery{RecoveredAt: new(12 * time.Second)}}
	inf := math.Inf(1)
	for _, test := range []struct {
		run   *record.Run
		seeds []float64
		ok    bool
	}{
		{never, []float64{inf, inf}, true},
		{back, []float64{inf, inf}, false},
		{never, []float64{9, 11}, false},
		{back, []float64{9, 11}, true},
		{back, []float64{9, 10}, false},
		{never, []float64{9, inf}, true}, // some do
		{back, []float64{9, inf}, true},
	} {
		if c := recoveryCheck(test.run, test.seeds); c.OK != test.ok {
			t.Errorf("recovered %v where the seeds did after %v: %+v", test.run.Recovery.RecoveredAt, test.seeds, c)
		}
	}
	for _, test := range []struct{ k, m, n, low, high int }{{8, 10, 3, 0, 3}, {0, 10, 10, 0, 9}, {10, 10, 40, 5, 40}} {
		if low, high := asMany(test.k, test.m, test.n); low > high || low < 0 || high > test.n {
			t.Errorf("asMany(%d, %d, %d) = %d..%d", test.k, test.m, test.n, low, high)
		}
	}
}
