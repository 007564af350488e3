package compare_test

import (
	"fmt"
	"testing"

	"stormtest/load/record"
	"stormtest/report/check"
	"stormtest/report/compare"
)

// Parts and services are compared with those of their name, after the runs that they are in, and a gate is held against
// the whole alone.
func TestPartsAndServicesPairByName(t *testing.T) {
	with := func(attempts int64, parts, layers []string) *record.Result {
		run := aRun("full", attempts)
		for i, name := range parts {
			part := aRun("inside", attempts+int64(i))
			run.Parts = append(run.Parts, record.Part{Name: name, Run: &part})
		}
		for i, name := range layers {
			layer := aRun("inside", attempts+10*int64(i))
			run.Layers = append(run.Layers, record.Layer{Name: name, Run: &layer})
		}
		run.Parts = append(run.Parts, record.Part{Name: "without a run"})
		return result(planBase, 1, run)
	}
	c, err := compare.Compare([]compare.Input{
		{Name: "a.json", Result: with(100, []string{"none", "full", "none"}, []string{"db", "gone"})},
		{Name: "b.json", Result: with(200, []string{"full", "none"}, []string{"db", "new"})},
	}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Others[0].Pairs {
		sent := p.Figure("attempts_sent")
		got = append(got, fmt.Sprint(p.BaseStrategy, "|", p.OtherStrategy, "|", p.Inner, "|", *sent.Base.Value, "|", *sent.Other.Value))
	}
	want := []string{
		"full|full|false|100|200", "full, part none|full, part none|true|100|201", "full, part full|full, part full|true|101|200",
		"full, service db|full, service db|true|100|200",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pairs = %q, want %q", got, want)
	}
	d, err := check.ParseDifference("attempts_sent<=+10%")
	if err != nil {
		t.Fatal(err)
	}
	rows := compare.Evaluate([]check.Difference{d}, c)
	if len(rows) != 1 || rows[0].Gate != "attempts_sent<=+10%" || rows[0].OK {
		t.Errorf("rows = %+v, want one of the whole, which fails", rows)
	}
	if names := c.Strategies(); len(names) != 1 || names[0] != "full" {
		t.Errorf("strategies = %q, want the whole's", names)
	}
}

// What a run has its name from is what changed, and is listed once.
func TestPoliciesThatChanged(t *testing.T) {
	const strategy = `{"strategy":"full","preset":"none","fleet":"none"}`
	preset := func(name string) string { return `{"strategy":"full","preset":"` + name + `","fleet":"none"}` }
	fleet := func(name string) string { return `{"strategy":"full","preset":"none","fleet":"` + name + `"}` }
	const mixA, mixB = "full=70%,none=30%", "full=50%,none=50%"
	for _, tt := range []struct {
		name        string
		base, other string // plans
		from, to    string // what their runs are called
		want        string
	}{
		{"two strategies", strategy, `{"strategy":"none","preset":"none","fleet":"none"}`, "full", "none", "[strategy: full -> none]"},
		{"two fleets", fleet(mixA), fleet(mixB), mixA, mixB, "[fleet: " + mixA + " -> " + mixB + "]"},
		{"two presets", preset("grpc"), preset("finagle"), "grpc", "finagle", "[preset: grpc -> finagle]"},
		{"a strategy and a preset", strategy, preset("grpc"), "full", "grpc", "[strategy: full ->  preset:  -> grpc]"},
		{"a preset and a fleet", preset("grpc"), fleet(mixA), "grpc", mixA, "[preset: grpc ->  fleet:  -> " + mixA + "]"},
		{"plans from before there were others", `{"strategy":"full"}`, `{"strategy":"none"}`, "full", "none", "[strategy: full -> none]"},
		{"no plan", "", "", "full", "none", "[strategy: full -> none]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compared(t, compare.Options{}, result(tt.base, 1, aRun(tt.from, 100)), result(tt.other, 1, aRun(tt.to, 200)))
			var got []string
			for _, change := range c.Others[0].PlanChanges {
				got = append(got, change.Name+": "+change.Base+" -> "+change.Other)
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("changes %v, want %s", got, tt.want)
			}
		})
	}
}
