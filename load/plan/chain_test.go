package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stormtest/load/plan"
)

func layered(t *testing.T, texts ...string) plan.Plan {
	t.Helper()
	p := plan.Default()
	f, _ := plan.FieldNamed("layer")
	if err := f.Set(&p, texts...); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestChain checks what a layer has of the plan, and what of itself.
func TestChain(t *testing.T) {
	p := layered(t, "b", "c;capacity=0;max-retries=1;strategy=none;outage=1s..2s;outage=3s..4s=hang")
	p.MaxRetries, p.Queue, p.Timeout = 3, 7, 2*time.Second
	outage, _ := plan.FieldNamed("outage")
	if err := outage.Set(&p, "5s..6s"); err != nil {
		t.Fatal(err)
	}
	links := p.Chain()
	var names []string
	for _, l := range links {
		names = append(names, l.Name)
	}
	if !slices.Equal(names, []string{plan.FrontName, "b", "c"}) || links[0].Plan != &p {
		t.Fatalf("Chain() is of %v, want target, which is the plan, b and c", names)
	}
	b, c := links[1].Plan, links[2].Plan
	if b.MaxRetries != 3 || b.Queue != 7 || b.Timeout != 2*time.Second || len(b.Outages) != 0 || len(b.Layers) != 0 {
		t.Errorf("b = %+v, want the plan's policy and target without its outages and layers", b)
	}
	if c.MaxRetries != 1 || c.CapacityPerSecond != 0 || c.Queue != 7 || c.Strategies[0] != "none" || len(c.Outages) != 2 {
		t.Errorf("c = %+v, want 1 retry, capacity 0, strategy none and two outages, and the plan's queue", c)
	}
	if p.MaxRetries != 3 || p.CapacityPerSecond != 1000 || p.Strategies[0] != "full" {
		t.Errorf("the plan became %+v", p)
	}
}

// TestLayerConflicts checks that what does not go together is said of the layer that it is of.
func TestLayerConflicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []string
		change func(p *plan.Plan)
		want   string
	}{
		{name: "good", layers: []string{"b", "c;queue=3"}},
		{name: "cap under the plan's base", layers: []string{"b", "c;cap=50ms"}, want: `layer: "c;cap=50ms": want in layer c not cap=50ms, but at least base, which is 100ms`},
		{name: "late outage", layers: []string{"b;outage=40s..50s"}, want: "FROM before the end of the run at 30s"},
		{name: "twice", layers: []string{"b", "b;queue=1"}, want: "there are two layers b"},
		{name: "ten", layers: strings.Fields("a b c d e f g h i j"), want: "want at most 9"},
		{name: "url", layers: []string{"b"}, change: func(p *plan.Plan) { p.URL = "http://127.0.0.1:1/" }, want: "none with a URL"},
		{name: "occ", layers: []string{"b"}, change: func(p *plan.Plan) { p.Model = plan.ModelOCC }, want: "none with model occ"},
		{name: "latency", layers: []string{"b"}, change: func(p *plan.Plan) { p.Latency.Mean = 1 }, want: "none with a latency"},
		{name: "hedged latency", change: func(p *plan.Plan) { p.Latency.Mean, p.Hedge = 1, plan.Hedge{After: 1, Most: 1} }, want: "off with a latency"},
	} {
		p := plan.Default()
		if c.layers != nil {
			p = layered(t, c.layers...)
		}
		if c.change != nil {
			c.change(&p)
		}
		err := p.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Validate() = %v, want %q", c.name, err, c.want)
		}
	}
}

// TestLayerMapping checks that a layer reads alike as a mapping, as a text and in the environment, and that a fault
// inside a mapping is said with its line and field.
func TestLayerMapping(t *testing.T) {
	file := "layer:\n  - name: db\n    capacity: 500/s\n    outage: [1s..2s, 3s..4s=hang]\n  - {name: c, max-retries: 0}\n"
	p, err := plan.Decode("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := plan.FieldNamed("layer")
	want := []string{"db;capacity=500/s;outage=1s..2s=status;outage=3s..4s=hang", "c;max-retries=0"}
	if got := f.Get(&p); !slices.Equal(got, want) {
		t.Errorf("the file reads as %q, want %q", got, want)
	}
	p, _, err = plan.Resolve(plan.Input{Env: []string{"STORMTEST_LAYER=db;capacity=500/s; outage=1s..2s; outage=3s..4s=hang; c; max-retries=0"}})
	if got := f.Get(&p); err != nil || !slices.Equal(got, want) {
		t.Errorf("the environment reads as %q, %v, want %q", got, err, want)
	}
	for _, c := range []struct{ file, want string }{
		{"layer:\n  - name: db\n    capacty: 1/s\n", "f:3: layer: capacty: no such field of a layer; did you mean capacity?"},
		{"layer:\n  - name: db\n    queue: -1\n", `f:3: layer: queue: "-1": want 0..10000000`},
		{"layer:\n  - capacity: 1/s\n    queue: 1\n", "f:2: layer: name: want one"},
		{"layer:\n  - name: db\n    clients: 1\n", "f:3: layer: clients: is of the whole plan"},
		{"layer:\n  - name: target\n", "another one than target"},
		{"layer:\n  - name: a b\n", `f:2: layer: name: "a b": want a small letter`},
		{"layer:\n  - name: db\n    queue: 1\n    queue: 2\n", "f:4: layer: queue: given twice, first in line 3"},
		{"layer:\n  - name: db\n    budget: {ratio: 1}\n", "f:3: layer: budget: want one value, not a mapping"},
		{"layer: 3\nqueue: [1]\n", "f:1: layer"},
		{"layer:\n  - [a]\n", "want a list of layers"},
	} {
		if _, err := plan.Decode("f", []byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Decode(%q) = %v, want %q", c.file, err, c.want)
		}
	}
}
