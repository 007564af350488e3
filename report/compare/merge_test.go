package compare_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/report/compare"
)

// simulated runs a small plan in virtual time.
func simulated(t *testing.T, first uint64, repeat int) *record.Result {
	t.Helper()
	p := plan.Default()
	p.Clients, p.Strategies, p.Seed, p.Repeat, p.Duration = 60, []string{"none", "full"}, plan.Seed{Value: first, Set: true}, repeat, 3*time.Second
	p.CapacityPerSecond = 100
	r, err := load.Simulate(t.Context(), p, load.Env{Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What several invocations measured is, merged, what one would have measured with as many seeds.
func TestMergeIsARepeat(t *testing.T) {
	whole := simulated(t, 5, 7)
	merged, err := compare.Merge(inputs(simulated(t, 9, 3), simulated(t, 5, 1), simulated(t, 6, 3)), planFields())
	if err != nil {
		t.Fatal(err)
	}
	if merged.Seed != 5 || merged.Merged != 3 || len(merged.Runs) != 2 || merged.Gates == nil {
		t.Errorf("seed %d, merged from %d, %d runs", merged.Seed, merged.Merged, len(merged.Runs))
	}
	for i := range whole.Runs {
		got, want := merged.Runs[i], whole.Runs[i]
		if !reflect.DeepEqual(got.Repeats, want.Repeats) {
			t.Errorf("%s: the repeats differ: %+v\n%+v", want.Strategy, got.Repeats.Verdicts, want.Repeats.Verdicts)
		}
		got.Repeats, want.Repeats = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the first seed's run differs", want.Strategy)
		}
	}
}

func planFields() []compare.Field {
	var list []compare.Field
	for _, f := range plan.Fields() {
		list = append(list, compare.Field{Name: f.Name, Default: f.Default()})
	}
	return list
}

// TestMergeInAnyOrder: the result is one, in whatever order the parts come and whichever were merged before.
func TestMergeInAnyOrder(t *testing.T) {
	parts := make([]*record.Result, 6)
	for i := range parts {
		first := uint64(10 * i)
		parts[i] = result(planBase, first, seeds("none", first, []int64{9000 + int64(i), 8000}), aRun("full", 7000+int64(i)))
		parts[i].Runs[1].Repeats = nil
		if i%2 == 0 {
			parts[i].Runs[1] = seeds("full", first, []int64{7000 - int64(i), 6000})
		}
		parts[i].StartedAt = parts[i].StartedAt.Add(time.Duration(i%3) * time.Hour)
		if i == 4 {
			parts[i].Valid, parts[i].InvalidReasons = false, []string{"late"}
		}
	}
	merge := func(t *rapid.T, list []*record.Result) *record.Result {
		r, err := compare.Merge(inputs(list...), fields)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(parts).Draw(t, "order")
		cut := rapid.IntRange(2, len(parts)-1).Draw(t, "merged before")
		once := merge(t, shuffled)
		twice := merge(t, append([]*record.Result{merge(t, shuffled[:cut])}, shuffled[cut:]...))
		want := asJSON(t, merge(t, parts))
		if got := asJSON(t, once); got != want {
			t.Fatalf("in another order:\n%s\n%s", got, want)
		}
		if got := asJSON(t, twice); got != want {
			t.Fatalf("merged twice:\n%s\n%s", got, want)
		}
	})
}

func asJSON(t *rapid.T, r *record.Result) string {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Seeds that do not follow each other are listed; those that do are not.
func TestMergedSeeds(t *testing.T) {
	a, b := result(planBase, 7, aRun("full", 9000)), result(planBase, 3, seeds("full", 3, []int64{9001, 9002}))
	r, err := compare.Merge(inputs(a, b), fields)
	if err != nil {
		t.Fatal(err)
	}
	rep := r.Runs[0].Repeats
	if !slices.Equal(rep.Each, []uint64{3, 4, 7}) || rep.Seeds != [2]uint64{3, 7} || rep.Count != 3 || rep.Asked != 3 || r.Seed != 3 {
		t.Errorf("seeds %v, first and last %v, count %d, asked %d", rep.Each, rep.Seeds, rep.Count, rep.Asked)
	}
	var values []float64
	for _, v := range rep.Figures["attempts_sent"].Values {
		values = append(values, *v)
	}
	if !slices.Equal(values, []float64{9001, 9002, 9000}) {
		t.Errorf("values %v do not stand in the order of the seeds", values)
	}
	if want := map[record.Verdict]int64{record.VerdictUnjudged: 3}; !maps.Equal(rep.Verdicts, want) {
		t.Errorf("verdicts %v, want %v", rep.Verdicts, want)
	}
}

func TestMergeRefuses(t *testing.T) {
	one := func(seed uint64, change func(*record.Result)) *record.Result {
		r := result(planBase, seed, aRun("full", 9000))
		change(r)
		return r
	}
	same := func(*record.Result) {}
	for _, tt := range []struct {
		name    string
		results []*record.Result
		want    string
	}{
		{"one", []*record.Result{one(1, same)}, "two or more"},
		{"the same seed", []*record.Result{one(1, same), one(2, same), one(1, same)}, "a.json and c.json both have seed 1"},
		{"a seed among others", []*record.Result{one(3, same), result(planBase, 1, seeds("full", 1, []int64{9000, 9001, 9002}))}, "both have seed 3"},
		{"another plan", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Plan = json.RawMessage(planSlow) })}, "--base 100ms and 200ms, --outage none and 1s..2s"},
		{"another strategy", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Plan = json.RawMessage(`{"strategy":"none"}`) })}, "--strategy full and none"},
		{"no plan", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Plan = nil })}, "holds no plan"},
		{"another version", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Tool.Version = "2" })}, "stormtest 1.0.0 and 2"},
		{"another engine", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Runs[0].Engine = record.EngineReal })}, "real time and one of virtual"},
		{"cut", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Interrupted = true })}, "cut short"},
		{"a log", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Runs[0].FromLog = &record.FromLog{} })}, "from a log"},
		{"not ours", []*record.Result{one(1, same), one(2, func(r *record.Result) { r.Runs[0].Outside = &record.Outside{} })}, "of which a seed says nothing"},
		{"old", []*record.Result{one(1, same), one(2, func(r *record.Result) {
			r.Runs[0].Repeats = &record.Repeats{Count: 1 << 60, Seeds: [2]uint64{2, 9}, Figures: map[string]record.Spread{}}
		})}, "before the values of each seed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compare.Merge(inputs(tt.results...), fields)
			var refusal *compare.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Merge = %v, want a *Refusal that says %q", err, tt.want)
			}
		})
	}
}

// TestOnePlanWithItself: 20 seeds of a plan against 20 others, of both strategies. At most FalsePositiveShare of such
// comparisons show anything; these seeds are fixed, and show nothing.
func TestOnePlanWithItself(t *testing.T) {
	c, err := compare.Compare(inputs(simulated(t, 1, 20), simulated(t, 1001, 20)), compare.Options{Fields: planFields()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Others[0].Pairs {
		for _, f := range p.Figures {
			if f.Finding == compare.Beyond {
				t.Errorf("%s: %s is beyond noise, p = %v", p.BaseStrategy, f.Metric, *f.P)
			}
		}
		if p.Grounds != compare.BySeeds || len(p.Figures) < 90 {
			t.Errorf("%s: grounds %s, %d figures", p.BaseStrategy, p.Grounds, len(p.Figures))
		}
	}
}

// A strategy that a cut result did not come to was asked for with all its seeds, so that no gate may take those that are
// there for all.
func TestMergeCountsWhatWasAskedFor(t *testing.T) {
	cut := result(planBase, 1, seeds("full", 1, []int64{9000, 9001}))
	cut.Interrupted, cut.Runs[0].Repeats.Asked = true, 3
	whole := result(planBase, 4, seeds("full", 4, []int64{9000, 9001, 9002}), seeds("none", 4, []int64{2000, 2001, 2002}))
	r, err := compare.Merge(inputs(cut, whole), fields)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		if run.Repeats.Asked != 6 {
			t.Errorf("%s: %d of %d seeds asked for, want 6", run.Strategy, run.Repeats.Count, run.Repeats.Asked)
		}
	}
}
