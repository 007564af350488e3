package plan_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stormtest/load/plan"
)

// TestPrintedDefault keeps the scenario file that users start from, and its JSON. The hash
// stands beside them because saved results are matched by it.
func TestPrintedDefault(t *testing.T) {
	p := plan.Default()
	checkGolden(t, "default.yaml", p.YAML())
	object, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "default.json", append(object, '\n'))
	checkGolden(t, "default.hash", []byte(p.Hash()+"\n"))
}

// TestPrintedRoundTrip draws plans from every field's good texts and checks that what is
// printed reads back as the same plan.
func TestPrintedRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkPrinted(rt, drawPlan(rt))
	})
}

// failer is the part of testing.T that rapid.T has as well.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkPrinted checks that p is valid and comes back from YAML and from JSON.
func checkPrinted(t failer, p plan.Plan) {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Errorf("Validate of a decoded plan: %v", err)
	}
	object, err := json.Marshal(p)
	if err != nil {
		t.Errorf("json.Marshal: %v", err)
	}
	for _, file := range [][]byte{p.YAML(), p.Brief(), object} {
		if len(file) > 32<<10 {
			continue // a hundred long gates and more are past what a file may hold
		}
		back, err := plan.Decode("printed", file)
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("printed\n%s\nand read back: %+v, %v, want %+v", file, back, err, p)
		}
	}
}

// drawPlan draws a value for each field from its good texts, more than one for lists, and
// leaves out those that do not go with the ones before.
func drawPlan(rt *rapid.T) plan.Plan {
	p := plan.Default()
	for _, c := range fieldCases {
		f, _ := plan.FieldNamed(c.name)
		var texts []string
		for range rapid.IntRange(1, 3).Draw(rt, c.name+" elements") {
			if text := rapid.SampledFrom(c.good).Draw(rt, c.name)[0]; text != "none" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		if !f.Repeatable() {
			texts = []string{rapid.SampledFrom(c.good).Draw(rt, c.name)[0]}
		}
		next := p
		if err := f.Set(&next, texts...); err != nil {
			rt.Fatalf("%s.Set(%q): %v", c.name, texts, err)
		}
		if next.Validate() == nil {
			p = next
		}
	}
	return p
}

// TestJSONKinds checks that counts, numbers and bools are bare in JSON and all else is
// text, so that no reader has to guess a unit or rounds a seed.
func TestJSONKinds(t *testing.T) {
	p := plan.Default()
	p.Seed = plan.Seed{Value: 1<<64 - 1, Set: true}
	p.MaxRetries, p.Operations = 3, 10
	p.Gates = []string{`p99 < "1s" & more`}
	object, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"clients":2000,`, `,"multiplier":2,`, `,"shared-seed":false,`, `,"operations":10,`, `,"max-retries":3,`, `,"status":503,`,
		`,"base":"100ms",`, `,"spread":"20%",`, `,"rate":"off",`, `,"seed":"18446744073709551615",`, `,"floor":"auto",`,
		`,"outage":[],`, `,"gate":["p99 < \"1s\" & more"]}`,
	} {
		if !bytes.Contains(object, []byte(want)) {
			t.Errorf("JSON lacks %s:\n%s", want, object)
		}
	}
}

// TestHash checks that every field but the seed and the label is in the hash.
func TestHash(t *testing.T) {
	seen := map[string]string{plan.Default().Hash(): "the default"}
	for _, c := range fieldCases {
		p, f := plan.Default(), field(t, c.name)
		for _, texts := range c.good {
			if _, canonical := goodText(texts); canonical != c.deflt {
				if err := f.Set(&p, texts[0]); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		other, changed := seen[p.Hash()], c.name != "seed" && c.name != "label" && !reflect.DeepEqual(p, plan.Default())
		if changed == (other != "") {
			t.Errorf("hash with another %s is that of %q", c.name, other)
		}
		seen[p.Hash()] = c.name
	}
}

// TestPrintedLines checks that the scenario file stays readable in a terminal.
func TestPrintedLines(t *testing.T) {
	for i, line := range strings.Split(string(plan.Default().YAML()), "\n") {
		if len(line) > 96 {
			t.Errorf("line %d has %d bytes, want at most 96: %s", i+1, len(line), line)
		}
	}
}
