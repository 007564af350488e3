package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"stormtest/load/plan"
)

// schemaFile is the schema that the examples name, for editors.
const schemaFile = "../../examples/scenario.schema.json"

// compiled returns the schema as a checker that is not ours.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(plan.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged returns what the schema says of a scenario file.
func judged(t failer, s *jsonschema.Schema, file []byte) error {
	t.Helper()
	var scenario any
	if err := yaml.Unmarshal(file, &scenario); err != nil {
		return err
	}
	text, err := json.Marshal(scenario)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(instance)
}

// The schema in the repository is that of the fields: go test ./load/plan -update writes it anew.
func TestSchemaIsOfTheFields(t *testing.T) {
	checkGolden(t, "../"+schemaFile, plan.Schema())
}

// What a plan is printed as, the schema takes.
func TestSchemaTakesWhatIsPrinted(t *testing.T) {
	s := compiled(t)
	if err := judged(t, s, plan.Default().YAML()); err != nil {
		t.Errorf("the default: %v", err)
	}
	for _, text := range []string{"layer: db", "layer: none", "layer: {name: db, max-retries: 3}", "layer:\n  - name: db\n    outage: [1s..2s=hang]\n  - b;queue=1"} {
		if _, err := plan.Decode("x", []byte(text)); err != nil {
			t.Error(err)
		}
		if err := judged(t, s, []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		p.Gates = nil // which take any line here; package check knows their syntax
		object, err := json.Marshal(p)
		if err != nil {
			rt.Fatal(err)
		}
		for _, text := range [][]byte{object, p.Brief()} {
			if err := judged(rt, s, text); err != nil {
				rt.Fatalf("%v\nof %s", err, text)
			}
		}
	})
}

// What an editor must underline: names and values that the reader refuses, too.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, text := range []string{
		"clinets: 5", "clients: 0", "clients: many", "clients: 1.5", "clients: [1]", "base: 10", "base: 10 s", "cap: unlimited", "rate: 50", "rate: 50/d", "capacity: 1",
		"cap-jitter: 0.2", "loss: 5", "multiplier: 0.5", "shared-seed: 1", "strategy: fulll", "strategy: full,fulll", "strategy: [full]", "cap-mode: ceilling", "arrivals: uniform",
		"seed: lots", "seed: -1", "timeout: unlimited", "max-retries: -1", "max-retries: none", "status: 200", "outage: 5s", "outage: [5s..6s=]", "outage: 5s-6s",
		"surge: 1s..2s=3", "preset: aws", "fleet: full", "fleet: full=0.7", "budget: finagel", "budget: finagle:ratio", "breaker: consecutiv", "hedge: 2s,9", "hedge: 2",
		"send-retry-after: 10", "send-retry-after: rest:10s", "gate: nonsense", "gate: [amplification]", "latency: 10", "method: get", "header: x", "label: [x]", "bucket: 100", "layer: 1b", "layer: {queue: 1}", "layer: {name: db, queu: 1}",
		"layer: [{name: db, queue: -1}]", "layer: [{name: db, clients: 3}]", "layer: [db;queue]", "[clients]", "clients",
	} {
		err := judged(t, s, []byte(text))
		if _, read := plan.Decode("x", []byte(text)); err == nil || read == nil && text != "gate: nonsense" && text != "gate: [amplification]" {
			t.Errorf("%s: the schema says %v, the reader %v; want errors", text, err, read)
		}
	}
	for _, f := range plan.Fields() {
		for _, text := range []string{"x: [[1]]", "x: {a: {b: 1}}", "x: null"} {
			text = strings.Replace(text, "x", f.Name, 1)
			if err := judged(t, s, []byte(text)); err == nil {
				t.Errorf("%s: the schema takes it", text)
			}
		}
	}
}

// Every scenario of the repository names the schema for editors, and keeps it.
func TestSchemaTakesTheExamples(t *testing.T) {
	s := compiled(t)
	named := regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+)\n`)
	for _, pattern := range []string{"../../examples/*.yaml", "../../examples/ci/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := judged(t, s, text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			m := named.FindSubmatch(text)
			if m == nil {
				t.Errorf("%s does not begin with # yaml-language-server: $schema=...", name)
			} else if _, err := os.Stat(filepath.Join(filepath.Dir(name), string(m[1]))); err != nil {
				t.Errorf("%s: its schema: %v", name, err)
			}
		}
	}
}
