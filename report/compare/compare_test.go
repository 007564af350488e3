package compare_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report/check"
	"stormtest/report/compare"
)

var fields = []compare.Field{{Name: "clients", Default: "2000"}, {Name: "strategy", Default: "full"}, {Name: "base", Default: "100ms"}, {Name: "latency", Default: "0s"}, {Name: "outage", Default: "none"}}

func ptr[T any](v T) *T { return &v }

// aRun is a run in virtual time that sent so many attempts.
func aRun(strategy string, attempts int64) record.Run {
	run := record.Run{
		Strategy: strategy, Engine: record.EngineVirtual, ArrivalsMeasuredAt: "target", Duration: 30 * time.Second, Bucket: 100 * time.Millisecond, CapacityPerSecond: ptr(1000.0),
		Operations: record.Operations{Started: 2000, Succeeded: 2000}, Attempts: record.Attempts{Sent: attempts, First: 2000, Retries: attempts - 2000},
		Amplification: ptr(float64(attempts) / 2000), Completion: ptr(attempts * 1e6),
		Buckets: []record.Bucket{{Arrivals: attempts, First: 2000, Retries: attempts - 2000, Served: 2000}},
		Books:   record.Books{AttemptsSent: attempts, Arrivals: attempts, Balanced: true}, Generator: record.Generator{KeptUp: true},
	}
	run.Convoy.Verdict, run.Convoy.PeakArrivals = record.VerdictClear, attempts
	run.Convoy.WindowFrom, run.Convoy.WindowTo = time.Second, 10*time.Second
	return run
}

// seeds gives a run so many seeds, each with some attempts more or less by chance, but for those that lack a completion.
func seeds(strategy string, first uint64, attempts []int64) record.Run {
	var list []record.Seed
	for _, n := range attempts {
		one := aRun(strategy, n)
		list = append(list, record.SeedOf(&one))
	}
	run := aRun(strategy, attempts[0])
	run.Repeats = record.RepeatsOf(first, len(list), list)
	return run
}

// around draws n numbers around the mean, of a standard deviation of 20.
func around(r *rand.Rand, mean int64, n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = mean + int64(20*r.NormFloat64())
	}
	return list
}

func result(plan string, seed uint64, runs ...record.Run) *record.Result {
	return &record.Result{
		Schema: record.Schema, Tool: record.Tool{Version: "1.0.0"}, Plan: json.RawMessage(plan), Seed: seed, Valid: true, Runs: runs,
		StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
}

const (
	planBase = `{"clients":2000,"strategy":"full","base":"100ms","seed":"1","repeat":20,"gate":[]}`
	planSlow = `{"clients":2000,"strategy":"full","base":"200ms","seed":"1","repeat":20,"gate":["waves<3"],"outage":["1s..2s"]}`
)

func inputs(results ...*record.Result) []compare.Input {
	var list []compare.Input
	for i, r := range results {
		list = append(list, compare.Input{Name: fmt.Sprintf("%c.json", 'a'+i), Result: r})
	}
	return list
}

func compared(t *testing.T, o compare.Options, results ...*record.Result) *compare.Comparison {
	t.Helper()
	o.Fields = fields
	c, err := compare.Compare(inputs(results...), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func figure(t *testing.T, p *compare.Pair, metric string) *compare.Figure {
	t.Helper()
	f := p.Figure(metric)
	if f == nil {
		t.Fatalf("%s against %s has no %s", p.OtherStrategy, p.BaseStrategy, metric)
	}
	return f
}

// Two plans: the field that changed is named, and what it did is told from noise.
func TestWhatChangedAndWhatItDid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	base := result(planBase, 1, seeds("full", 1, around(r, 9000, 20)))
	slow := result(planSlow, 1, seeds("full", 1, around(r, 8000, 20)))
	c := compared(t, compare.Options{}, base, slow)
	o := &c.Others[0]
	want := []compare.Change{{Name: "base", Base: "100ms", Other: "200ms", BaseDefault: true}, {Name: "outage", Base: "none", Other: "1s..2s", BaseDefault: true}}
	if !slices.Equal(o.PlanChanges, want) || o.Same || len(o.OtherChanges) != 0 {
		t.Errorf("plan changes %+v, want %+v; same %v; other changes %v", o.PlanChanges, want, o.Same, o.OtherChanges)
	}
	p := &o.Pairs[0]
	f := figure(t, p, "amplification")
	if p.Grounds != compare.BySeeds || f.Finding != compare.Beyond || f.Effect != compare.Better || *f.P > 0.001 || f.Base.Seeds != 20 || *f.Relative > -0.1 || *f.Relative < -0.12 {
		t.Errorf("amplification: %+v by %s", f, p.Grounds)
	}
	if words := p.Noise(f); words != "beyond noise (p<0.001, 20 seeds each)" {
		t.Errorf("in words: %s", words)
	}
	if p.VerdictFinding != compare.Equal {
		t.Errorf("the verdicts are %s, want the same", p.VerdictFinding)
	}
	if f := figure(t, p, "success_share"); f.Finding != compare.Equal || f.Effect != compare.Neutral {
		t.Errorf("success_share: %+v", f)
	}
	if f := figure(t, p, "latency_p99"); f.Finding != compare.NoValue || f.Difference != nil {
		t.Errorf("latency_p99: %+v", f)
	}
}

// Verdicts of seeds are held against noise as figures are, and so is how many seeds were judged.
func TestVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	of := func(plan string, convoys, clear int) *record.Result { // the other seeds of twenty are not judged
		var list []record.Seed
		for i, n := range around(r, 9000, 20) {
			one := aRun("full", n)
			switch {
			case i < convoys:
				one.Convoy.Verdict, one.Convoy.ConvoyIndex = record.VerdictConvoy, ptr(0.5)
			case i < convoys+clear:
				one.Convoy.ConvoyIndex = ptr(0.01)
			}
			list = append(list, record.SeedOf(&one))
		}
		run := aRun("full", 9000)
		run.Repeats = record.RepeatsOf(1, 20, list)
		return result(plan, 1, run)
	}
	for _, tt := range []struct {
		name                                 string
		convoys, clear, newConvoys, newClear int
		want                                 compare.Finding
	}{
		{"the same", 10, 10, 10, 10, compare.Equal}, {"a few", 10, 10, 8, 12, compare.Within}, {"all", 20, 0, 0, 20, compare.Beyond}, {"not judged any more", 20, 0, 2, 0, compare.Beyond},
	} {
		c := compared(t, compare.Options{}, of(planBase, tt.convoys, tt.clear), of(planSlow, tt.newConvoys, tt.newClear))
		if got := c.Others[0].Pairs[0].VerdictFinding; got != tt.want {
			t.Errorf("%s: the verdicts are %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The grounds of a pair, and what they allow to say.
func TestGrounds(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	one := func(seed uint64, attempts int64) *record.Result {
		return result(planBase, seed, aRun("full", attempts))
	}
	many := func(first uint64, mean int64, n int) *record.Result {
		return result(planBase, first, seeds("full", first, around(r, mean, n)))
	}
	real := func(x *record.Result) *record.Result {
		x.Runs[0].Engine = record.EngineReal
		return x
	}
	old := func(x *record.Result) *record.Result {
		for name, s := range x.Runs[0].Repeats.Figures {
			s.Values = nil
			x.Runs[0].Repeats.Figures[name] = s
		}
		return x
	}
	newer := func(x *record.Result) *record.Result {
		x.Tool.Version = "2.0.0"
		return x
	}
	all := result(planBase, 1, seeds("full", 1, []int64{9000, 9010, 9020, 9030, 9040}))
	for _, tt := range []struct {
		name      string
		base, new *record.Result
		grounds   compare.Grounds
		finding   compare.Finding
		words     string
	}{
		{"one seed each", real(one(1, 9000)), real(one(1, 8000)), compare.NoRepeats, compare.Unknown, "run both with --repeat"},
		{"one seed each, two seeds", one(1, 9000), one(2, 8000), compare.NoRepeats, compare.Unknown, "run both with --repeat"},
		{"one seed each, the same", real(one(1, 9000)), real(one(1, 9000)), compare.NoRepeats, compare.Equal, "no difference"},
		{"virtual, one plan, one seed", one(1, 9000), newer(one(1, 8000)), compare.ByPlan, compare.Certain, "no chance"},
		{"virtual, one plan, one seed, the same", one(1, 9000), one(1, 9000), compare.ByPlan, compare.Equal, "no difference"},
		{"virtual, one plan, the same seeds", all, newer(all), compare.ByPlan, compare.Equal, "no difference"},
		{"one within the seeds", many(1, 9000, 20), one(99, 9000), compare.ByRange, compare.Inside, "in the range of 20 seeds"},
		{"one beside the seeds", many(1, 9000, 20), one(99, 8000), compare.ByRange, compare.Outside, "outside the range of 20 seeds"},
		{"the base has one", one(99, 8000), many(1, 9000, 20), compare.ByRange, compare.Outside, "outside the range of 20 seeds"},
		{"few seeds", many(1, 9000, 4), many(101, 8000, 4), compare.FewSeeds, compare.Unknown, "too few seeds"},
		{"enough seeds", many(1, 9000, 5), many(101, 8000, 5), compare.BySeeds, compare.Beyond, "beyond noise (p=0.0079, 5 seeds each)"},
		{"not as many seeds", many(1, 9000, 5), many(101, 8000, 20), compare.BySeeds, compare.Beyond, "5 and 20 seeds"},
		{"other seeds of one plan", many(1, 9000, 20), many(101, 9000, 20), compare.BySeeds, compare.Within, "within noise (p="},
		{"an old file", old(many(1, 9000, 20)), many(101, 8000, 20), compare.OldSeeds, compare.Unknown, "from before the values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compared(t, compare.Options{}, tt.base, tt.new)
			p := &c.Others[0].Pairs[0]
			f := figure(t, p, "amplification")
			if p.Grounds != tt.grounds || f.Finding != tt.finding || !strings.Contains(p.Noise(f), tt.words) {
				t.Errorf("grounds %s, finding %s, %q; want %s, %s, %q", p.Grounds, f.Finding, p.Noise(f), tt.grounds, tt.finding, tt.words)
			}
		})
	}
}

// What the notes must say.
func TestNotes(t *testing.T) {
	base := result(planBase, 1, aRun("full", 9000))
	for _, tt := range []struct {
		name   string
		change func(*record.Result)
		want   string
	}{
		{"tool", func(r *record.Result) { r.Tool.Version, r.Runs[0] = "2.0.0", aRun("full", 9001) }, "can only come from stormtest: 1.0.0 and 2.0.0"},
		{"another build", func(r *record.Result) { r.Runs[0] = aRun("full", 9001) }, "both say 1.0.0"},
		{"engine", func(r *record.Result) { r.Runs[0].Engine = record.EngineReal }, "real time against virtual time"},
		{"duration", func(r *record.Result) {
			r.Plan, r.Runs[0].Operations.Unfinished = json.RawMessage(`{"clients":2000,"base":"100ms","duration":"10s"}`), 9
		}, "duration: one side was watched for longer"},
		{"window", func(r *record.Result) {
			r.Runs[0].Convoy.WindowFrom, r.Runs[0].Convoy.WindowTo = 2*time.Second, 20*time.Second
		}, "judged from 1s to 10s against 2s to 20s"},
		{"clients", func(r *record.Result) { r.Plan = json.RawMessage(`{"clients":1000,"base":"100ms"}`) }, "clients: there was not as much to do"},
		{"capacity", func(r *record.Result) { r.Runs[0].CapacityPerSecond = ptr(500.0) }, "by that of each"},
		{"no plan", func(r *record.Result) { r.Plan = json.RawMessage("null") }, "b.json holds no plan"},
		{"interrupted with seeds", func(r *record.Result) {
			r.Interrupted, r.Runs[0] = true, seeds("full", 1, []int64{9000, 9001})
		}, "b.json was interrupted"},
		{"not ours", func(r *record.Result) { r.Runs[0].Outside = &record.Outside{} }, "not stormtest's"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := *base
			other.Runs = slices.Clone(base.Runs)
			tt.change(&other)
			c := compared(t, compare.Options{}, base, &other)
			if notes := strings.Join(c.Others[0].Notes, "\n"); !strings.Contains(notes, tt.want) {
				t.Errorf("notes %q do not say %q", notes, tt.want)
			}
		})
	}
	if c := compared(t, compare.Options{}, base, base); len(c.Others[0].Notes) != 0 {
		t.Errorf("of the same result twice the notes are %q", c.Others[0].Notes)
	}
}

// Which strategies are compared.
func TestMatching(t *testing.T) {
	of := func(names ...string) *record.Result {
		var runs []record.Run
		for i, name := range names {
			runs = append(runs, aRun(name, 9000+int64(i)))
		}
		return result(planBase, 1, runs...)
	}
	for _, tt := range []struct {
		name    string
		results []*record.Result
		against string
		want    string // pairs of each other; what one side alone has
	}{
		{"one name", []*record.Result{of("full"), of("full")}, "", "full-full"},
		{"one each, of two names", []*record.Result{of("full"), of("equal")}, "", "full-equal"},
		{"several", []*record.Result{of("none", "full", "equal"), of("full", "none", "polly")}, "", "full-full none-none [equal] [polly]"},
		{"one in several", []*record.Result{of("full"), of("none", "full")}, "", "full-full [] [none]"},
		{"three results", []*record.Result{of("full"), of("full"), of("equal")}, "", "full-full | full-equal"},
		{"inside", []*record.Result{of("none", "full", "equal")}, "", "none-full | none-equal"},
		{"inside, against", []*record.Result{of("none", "full", "equal")}, "full", "full-none | full-equal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var parts []string
			c := compared(t, compare.Options{Against: tt.against}, tt.results...)
			for _, o := range c.Others {
				var pairs []string
				for _, p := range o.Pairs {
					pairs = append(pairs, p.BaseStrategy+"-"+p.OtherStrategy)
					if changed := slices.ContainsFunc(o.PlanChanges, func(c compare.Change) bool { return c.Name == "strategy" }); changed != (p.BaseStrategy != p.OtherStrategy) {
						t.Errorf("%s against %s: changes %+v", p.OtherStrategy, p.BaseStrategy, o.PlanChanges)
					}
				}
				if o.OnlyBase != nil && len(o.OnlyBase)+len(o.OnlyOther) > 0 {
					pairs = append(pairs, fmt.Sprint(o.OnlyBase), fmt.Sprint(o.OnlyOther))
				}
				parts = append(parts, strings.Join(pairs, " "))
			}
			if got := strings.Join(parts, " | "); got != tt.want {
				t.Errorf("compared %s, want %s", got, tt.want)
			}
		})
	}
}

// What is refused, with the reason, and everything at once.
func TestRefusals(t *testing.T) {
	of := func(change func(*record.Result), names ...string) *record.Result {
		var runs []record.Run
		for _, name := range names {
			runs = append(runs, aRun(name, 9000))
		}
		r := result(planBase, 1, runs...)
		change(r)
		return r
	}
	good := of(func(*record.Result) {}, "full")
	for _, tt := range []struct {
		name    string
		results []*record.Result
		against string
		want    []string
	}{
		{"nothing", nil, "", []string{"nothing to compare"}},
		{"bucket", []*record.Result{good, of(func(r *record.Result) { r.Runs[0].Bucket = time.Second }, "full")}, "", []string{"a.json and b.json", "100ms and 1s wide", "--bucket"}},
		{"log", []*record.Result{good, of(func(r *record.Result) { r.Runs[0].FromLog = &record.FromLog{} }, "full")}, "", []string{"b.json was made from a log"}},
		{"place", []*record.Result{good, of(func(r *record.Result) { r.Runs[0].ArrivalsMeasuredAt = "client" }, "full")}, "", []string{"at the target and at the client"}},
		{"nothing in common", []*record.Result{of(func(*record.Result) {}, "none", "full"), of(func(*record.Result) {}, "equal")}, "", []string{"no strategy in common", "none, full", "equal"}},
		{"nothing ran", []*record.Result{good, of(func(*record.Result) {})}, "", []string{"b.json: no strategy ran"}},
		{"cut", []*record.Result{good, of(func(r *record.Result) { r.Interrupted = true }, "full")}, "", []string{"b.json: strategy full was cut short after 30s"}},
		{"one strategy", []*record.Result{good}, "", []string{"a.json has one strategy, full"}},
		{"against nobody", []*record.Result{of(func(*record.Result) {}, "none", "full")}, "ful", []string{`no strategy "ful", but none, full`}},
		{"against, of two", []*record.Result{good, good}, "full", []string{"against full"}},
		{"twice", []*record.Result{good, of(func(*record.Result) {}, "full", "full")}, "", []string{"full stands there twice"}},
		{"everything at once", []*record.Result{good, of(func(r *record.Result) { r.Runs[0].Bucket, r.Runs[0].ArrivalsMeasuredAt = 1, "" }, "full"), of(func(*record.Result) {})}, "",
			[]string{"c.json: no strategy ran"}},
		{"two faults of a pair", []*record.Result{good, of(func(r *record.Result) { r.Runs[0].Bucket, r.Runs[0].ArrivalsMeasuredAt = 1, "" }, "full")}, "", []string{"wide", "place that nobody named"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compare.Compare(inputs(tt.results...), compare.Options{Fields: fields, Against: tt.against})
			var refusal *compare.Refusal
			if !errors.As(err, &refusal) || len(refusal.Problems) == 0 {
				t.Fatalf("Compare = %v, want a *Refusal", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
	many := make([]*record.Result, compare.ResultsMost+1)
	for i := range many {
		many[i] = good
	}
	if _, err := compare.Compare(inputs(many...), compare.Options{}); err == nil || !strings.Contains(err.Error(), "at most 50") {
		t.Errorf("%d results: %v", len(many), err)
	}
}

// Real time: only the strategy that was under way when the signal came is cut; of seeds those that ended count.
func TestWhatASignalCut(t *testing.T) {
	r := result(planBase, 1, aRun("none", 9000), aRun("full", 9000))
	r.Interrupted = true
	for i := range r.Runs {
		r.Runs[i].Engine = record.EngineReal
	}
	_, err := compare.Compare(inputs(r, r), compare.Options{})
	if err == nil || strings.Contains(err.Error(), "none") || !strings.Contains(err.Error(), "strategy full was cut") {
		t.Errorf("Compare = %v, want that full was cut", err)
	}
}

// Less work is no feat of who got less done, and counts of fleets of two sizes are not held against each other.
func TestEffects(t *testing.T) {
	for _, tt := range []struct {
		name, metric string
		change       func(*record.Result)
		want         string
	}{
		{"cheaper", "amplification", func(*record.Result) {}, compare.Better},
		{"cheaper and less done", "amplification", func(r *record.Result) { r.Runs[0].Operations.Succeeded = 1900 }, compare.Neutral},
		{"and that is worse", "success_share", func(r *record.Result) { r.Runs[0].Operations.Succeeded = 1900 }, compare.Worse},
		{"dearer", "amplification", func(r *record.Result) { r.Runs[0].Amplification = ptr(9.0) }, compare.Worse},
		{"dearer and more done", "attempts_sent", func(r *record.Result) {
			r.Runs[0].Attempts.Sent, r.Runs[0].Operations = 12000, record.Operations{Started: 2000, Succeeded: 2100}
		}, compare.Neutral},
		{"a count of another fleet", "attempts_sent", func(r *record.Result) { r.Plan = json.RawMessage(`{"clients":1000}`) }, compare.Neutral},
		{"a ratio of another fleet", "amplification", func(r *record.Result) { r.Plan = json.RawMessage(`{"clients":1000}`) }, compare.Better},
		{"no difference", "operations_started", func(*record.Result) {}, compare.Neutral},
		{"sooner", "completion", func(*record.Result) {}, compare.Better},
		{"it depends", "duration", func(r *record.Result) { r.Runs[0].Duration = time.Second }, compare.Neutral},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := result(planBase, 1, aRun("full", 8000))
			tt.change(other)
			c := compared(t, compare.Options{}, result(planBase, 1, aRun("full", 9000)), other)
			if f := figure(t, &c.Others[0].Pairs[0], tt.metric); f.Effect != tt.want {
				t.Errorf("%s: %+v, want %s", tt.metric, f, tt.want)
			}
		})
	}
}

// Every metric is placed on purpose.
func TestEveryMetricHasADirection(t *testing.T) {
	list := record.Metrics()
	for _, f := range record.Families() {
		for _, name := range f.Names() {
			m, _ := record.MetricNamed(name)
			list = append(list, m)
		}
	}
	for _, m := range list {
		if !compare.HasDirection(m) && m.Unit != record.UnitWord {
			t.Errorf("%s has no row in the table of directions", m.Name)
		}
	}
}

func TestGates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	base := result(planBase, 1, seeds("full", 1, around(r, 9000, 20)))
	slow := result(planSlow, 1, seeds("full", 1, around(r, 9900, 20)))
	again := result(planBase, 101, seeds("full", 101, around(r, 9003, 20)))
	without := func(n int) *record.Result { // a completion in the first n seeds
		x := result(planSlow, 1, seeds("full", 1, around(r, 9000, 20)))
		s := x.Runs[0].Repeats.Figures["completion"]
		s.Values, s.Count = slices.Clone(s.Values), int64(20-n)
		for i := range n {
			s.Values[i] = nil
		}
		x.Runs[0].Repeats.Figures["completion"] = s
		return x
	}
	lacking := without(1)
	four := func(n int64) *record.Result {
		return result(planBase, 1, aRun("none", n), aRun("full", n+100))
	}
	for _, tt := range []struct {
		name    string
		gate    string
		results []*record.Result
		want    []string // gate text, ok, and the beginning of the reason
	}{
		{"holds", "amplification<=+20%", []*record.Result{base, slow}, []string{"amplification<=+20%|true|amplification is 4.95"}},
		{"fails", "amplification<=+5%", []*record.Result{base, slow}, []string{"amplification<=+5%|false|amplification is 4.95"}},
		{"noise", "amplification<=-50%@beyond-noise", []*record.Result{base, again}, []string{"amplification<=-50%@beyond-noise|true|"}},
		{"beyond noise", "amplification<=+0%@beyond-noise", []*record.Result{base, slow}, []string{"amplification<=+0%@beyond-noise|false|"}},
		{"nobody knows", "amplification<=+0%@beyond-noise", []*record.Result{result(planBase, 1, aRun("full", 9000)), result(planSlow, 1, aRun("full", 9001))},
			[]string{"amplification<=+0%@beyond-noise|false|"}},
		{"no data", "latency_p99<=+1s", []*record.Result{base, slow}, []string{"latency_p99<=+1s|false|no data on either side"}},
		{"no share of nothing", "lost<=+5%", []*record.Result{base, func() *record.Result {
			r := result(planSlow, 1, aRun("full", 9000))
			r.Runs[0].Books.Lost = map[string]int64{"refused": 3}
			return r
		}()}, []string{"lost<=+5%|false|no data: lost is 3 against 0, and of 0 there is no share"}},
		{"nothing of nothing", "lost<=+5%", []*record.Result{base, slow}, []string{"lost<=+5%|true|lost is 0 against 0, +0%"}},
		{"fewer seeds have it", "completion<=+1h", []*record.Result{base, lacking}, []string{"completion<=+1h|false|no data: completion is 9"}},
		{"fewer seeds by chance", "completion<=+1h@beyond-noise", []*record.Result{base, lacking}, []string{"completion<=+1h@beyond-noise|true|completion is 9"}},
		{"fewer seeds beyond noise", "completion<=+1h@beyond-noise", []*record.Result{base, without(15)}, []string{"completion<=+1h@beyond-noise|false|no data: completion is 8"}},
		{"a counter that counted nothing", "outcome_418<=+5%", []*record.Result{base, slow}, []string{"outcome_418<=+5%|true|outcome_418 is 0 against 0, +0%"}},
		{"of each strategy", "waves<=+1", []*record.Result{four(9000), four(9100)}, []string{"none: waves<=+1|false|no data", "full: waves<=+1|false|no data"}},
		{"of one strategy", "full:attempts_sent<=+100", []*record.Result{four(9000), four(9100)}, []string{"full:attempts_sent<=+100|true|attempts_sent is 9200 against 9100, +100"}},
		{"of several results", "attempts_sent<=+0", []*record.Result{base, slow, again}, []string{"b.json: attempts_sent<=+0|false|", "c.json: attempts_sent<=+0|"}},
		{"inside one", "attempts_sent<=+0%", []*record.Result{four(9000)}, []string{"full: attempts_sent<=+0%|false|"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := check.ParseDifference(tt.gate)
			if err != nil {
				t.Fatal(err)
			}
			rows := compare.Evaluate([]check.Difference{d}, compared(t, compare.Options{}, tt.results...))
			if len(rows) != len(tt.want) {
				t.Fatalf("%d rows, want %d: %+v", len(rows), len(tt.want), rows)
			}
			for i, row := range rows {
				if got := fmt.Sprintf("%s|%v|%s", row.Gate, row.OK, row.Reason); !strings.HasPrefix(got, tt.want[i]) {
					t.Errorf("row %q, want %q", got, tt.want[i])
				}
				if noData := strings.HasPrefix(row.Reason, "no data"); noData && (row.OK || row.Value != nil) {
					t.Errorf("%+v: no data has a value, or holds", row)
				}
			}
		})
	}
}

// Where a word is said of seeds without a convoy index, it is held against noise as any other, and the seeds that a
// strategy did not come to are no seeds without a word.
func TestVerdictsWithoutAnIndex(t *testing.T) {
	run := func(strategy string, verdicts ...record.Verdict) record.Run {
		var list []record.Seed
		for i, v := range verdicts {
			one := aRun(strategy, 9000+int64(i%3))
			one.Convoy.Verdict = v
			if v == record.VerdictConvoy {
				one.Convoy.ConvoyIndex = ptr(0.5)
			}
			list = append(list, record.SeedOf(&one))
		}
		out := aRun(strategy, 9000)
		out.Repeats = record.RepeatsOf(1, 20, list)
		return out
	}
	many := func(v record.Verdict, n int) []record.Verdict { return slices.Repeat([]record.Verdict{v}, n) }
	overload, convoy, clear := many(record.VerdictOverload, 10), many(record.VerdictConvoy, 10), many(record.VerdictClear, 10)
	for _, tt := range []struct {
		name      string
		base, new []record.Verdict
		want      compare.Finding
	}{
		{"overload becomes unjudged", overload, clear, compare.Beyond}, {"the same", overload, overload, compare.Equal},
		{"cut, of one word", convoy[:4], convoy, compare.Equal}, {"a third as many, in the same shares", append(convoy[:1:1], clear[:1]...), append(convoy[:5:5], clear[:5]...), compare.Equal},
		{"cut, of another word", append(convoy[:3:3], clear[:1]...), convoy, compare.Within},
	} {
		// The other strategy has every seed, as in a run that was cut in its last strategy.
		base, other := result(planBase, 1, run("full", overload...), run("none", tt.base...)), result(planBase, 101, run("full", overload...), run("none", tt.new...))
		p := &compared(t, compare.Options{}, base, other).Others[0].Pairs[1]
		if p.VerdictFinding != tt.want {
			t.Errorf("%s: the verdicts are %s, want %s", tt.name, p.VerdictFinding, tt.want)
		}
		for _, f := range p.Figures {
			if f.CountP != nil && *f.CountP <= compare.FalsePositiveShare && tt.name != "overload becomes unjudged" {
				t.Errorf("%s: %s is in %d of %d seeds against %d of %d beyond noise", tt.name, f.Metric, f.Other.Count, f.Other.Seeds, f.Base.Count, f.Base.Seeds)
			}
		}
	}
}

// A flag is told of both sides, and held against noise; METASTABLE is the first.
func TestFlags(t *testing.T) {
	of := func(first uint64, metastable, seeds int) *record.Result {
		var list []record.Seed
		for i := range seeds {
			one := aRun("full", 9000+int64(i%3))
			one.Recovery.GoodputBefore, one.Recovery.RecoveredAt = ptr(85.0), ptr(2*time.Second)
			one.Convoy.Flags, one.DelayShares.FirstMode = []string{record.FlagSharedSeed}, ptr(1.0)
			if i < metastable {
				one.Recovery.RecoveredAt = nil
				one.Convoy.Flags = append(one.Convoy.Flags, record.FlagMetastable)
			}
			list = append(list, record.SeedOf(&one))
		}
		run := aRun("full", 9000)
		run.Repeats = record.RepeatsOf(first, seeds, list)
		return result(planBase, first, run)
	}
	for _, tt := range []struct {
		name         string
		base, other  int
		seeds        int
		want         compare.Finding
		effect, flag string
	}{
		{"all", 0, 6, 6, compare.Beyond, compare.Worse, "METASTABLE"}, {"none any more", 6, 0, 6, compare.Beyond, compare.Better, "METASTABLE"},
		{"one of six", 0, 1, 6, compare.Within, compare.Worse, "METASTABLE"}, {"as many", 4, 4, 6, compare.Equal, compare.Neutral, "METASTABLE"},
		{"too few to know", 0, 3, 3, compare.Unknown, compare.Worse, "METASTABLE"}, {"on neither side", 0, 0, 6, compare.Equal, compare.Neutral, "SHARED-SEED"},
	} {
		p := &compared(t, compare.Options{}, of(1, tt.base, tt.seeds), of(101, tt.other, tt.seeds)).Others[0].Pairs[0]
		f := p.Flags[0]
		if f.Flag != tt.flag || f.Finding != tt.want || f.Effect != tt.effect || f.Base.Seeds != int64(tt.seeds) {
			t.Errorf("%s: %+v, want %s %s %s", tt.name, f, tt.flag, tt.want, tt.effect)
		}
		if tt.flag == "METASTABLE" && (f.Base.Flagged != int64(tt.base) || f.Other.Flagged != int64(tt.other) || len(p.Flags) != 2) {
			t.Errorf("%s: %+v", tt.name, p.Flags)
		}
	}
}

// What one value is on both sides is the same, however many seeds have it.
func TestOneValueIsEqualInAnyNumberOfSeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{3, 12} {
		c := compared(t, compare.Options{}, result(planBase, 1, seeds("full", 1, around(r, 9000, n))), result(planBase, 101, seeds("full", 101, around(r, 9000, 2*n))))
		if f := figure(t, &c.Others[0].Pairs[0], "operations_started"); f.Finding != compare.Equal {
			t.Errorf("%d against %d seeds: 2,000 operations are %s to 2,000", n, 2*n, f.Finding)
		}
	}
}

// What is of another window, or grew with the time that was watched, is neither better nor worse.
func TestWhatDoesNotCompareIsNeutral(t *testing.T) {
	of := func(plan string, first uint64, change func(*record.Run)) *record.Result {
		var list []record.Seed
		var run record.Run
		for i := range 6 {
			run = aRun("full", 9000+int64(i))
			change(&run)
			list = append(list, record.SeedOf(&run))
		}
		run.Repeats = record.RepeatsOf(first, 6, list)
		return result(plan, first, run)
	}
	const short, rate = `{"duration":"10s"}`, `{"duration":"10s","rate":"80/s"}`
	asIs := func(run *record.Run) { run.Convoy.ConvoyIndex = ptr(0.5) }
	better := func(run *record.Run) {
		run.Convoy.ConvoyIndex, run.Amplification = ptr(0.1), ptr(3.0)
	}
	moved := func(run *record.Run) {
		better(run)
		run.Convoy.WindowFrom, run.Convoy.WindowTo = 2*time.Second, 20*time.Second
	}
	unfinished := func(run *record.Run) {
		better(run)
		run.Operations.Unfinished = 7
	}
	for _, tt := range []struct {
		name          string
		plan          string
		change        func(*record.Run)
		index, amplif string
	}{
		{"the same window", planBase, better, compare.Better, compare.Better}, {"another window", planBase, moved, compare.Neutral, compare.Better},
		{"watched for longer, not done", short, unfinished, compare.Better, compare.Neutral}, {"watched for longer, and done", short, better, compare.Better, compare.Better},
		{"a rate for longer", rate, better, compare.Better, compare.Neutral},
	} {
		p := &compared(t, compare.Options{}, of(planBase, 1, asIs), of(tt.plan, 101, tt.change)).Others[0].Pairs[0]
		if index, amplif := figure(t, p, "convoy_index"), figure(t, p, "amplification"); index.Effect != tt.index || amplif.Effect != tt.amplif || index.Finding != compare.Beyond {
			t.Errorf("%s: convoy index %s, want %s; amplification %s, want %s", tt.name, index.Effect, tt.index, amplif.Effect, tt.amplif)
		}
	}
}

// A result beside one that it was merged into is told.
func TestRunsOnBothSides(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	base, more := result(planBase, 1, seeds("full", 1, around(r, 9000, 6))), result(planBase, 101, seeds("full", 101, around(r, 9000, 6)))
	merged, err := compare.Merge(inputs(base, more), fields)
	if err != nil {
		t.Fatal(err)
	}
	c := compared(t, compare.Options{}, base, merged)
	if notes := strings.Join(c.Others[0].Notes, "\n"); !strings.Contains(notes, "6 of the runs are on both sides") {
		t.Errorf("notes %q", notes)
	}
	if c.Others[0].Each == nil || c.Base.SameSeeds(&c.Others[0].Side) {
		t.Errorf("seeds %v", c.Others[0].Each)
	}
}

// A gate's reason has the figures as they are, and never says that a value is on the other side of its bound.
func TestReasonsAreTrue(t *testing.T) {
	for _, tt := range []struct {
		gate        string
		base, other int64
		ok          bool
		want        string
	}{
		{"arrivals<=+1600", 1_280_800, 1_282_401, false, "arrivals is 1282401 against 1280800, +1601, want <= +1600"},
		{"attempts_sent>=+127.727%", 10416, 23720, false, "+127.7%, want >= +127.727%"},
		{"attempts_sent<=+10%", 4000, 4400, true, "+10%"},
	} {
		c := compared(t, compare.Options{}, result(planBase, 1, aRun("full", tt.base)), result(planSlow, 1, aRun("full", tt.other)))
		gates, err := check.ParseDifferences([]string{tt.gate})
		if err != nil {
			t.Fatal(err)
		}
		if row := compare.Evaluate(gates, c)[0]; row.OK != tt.ok || !strings.Contains(row.Reason, tt.want) {
			t.Errorf("%s: %v, %q, want %q", tt.gate, row.OK, row.Reason, tt.want)
		}
	}
}
