package plan_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"stormtest/load/plan"
)

func TestDecodeTakes(t *testing.T) {
	five := plan.Default()
	five.Clients = 5
	tests := []struct{ name, file string }{
		{"plain", "clients: 5"},
		{"string", "clients: '5'"},
		{"quoted key", `"clients": "5"`},
		{"document marks", "---\nclients: 5\n...\n"},
		{"directive", "%YAML 1.2\n---\nclients: 5\n"},
		{"empty second document", "clients: 5\n---\n"},
		{"comments", "# a\n\nclients: 5 # b\n# c\n"},
		{"carriage returns", "# a\r\nclients: 5\r\n"},
		{"carriage returns in a block", "gate: []\r\nclients: >-\r\n  5\r\n"},
		{"biggest", "clients: 5\n" + strings.Repeat("#", 32<<10-11)},
		{"byte order mark", "\ufeffclients: 5\n"},
		{"flow", "{clients: 5}"},
		{"JSON", `{"clients": 5, "gate": [], "outage": []}`},
		{"indented JSON", "{\n\t\"clients\":\t5\n}\n"},
		{"folded", "clients: >-\n  5\n"},
		{"lists", "outage: none\nclients: 5\ngate: []\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := plan.Decode("f.yaml", []byte(test.file))
			if err != nil || !reflect.DeepEqual(got, five) {
				t.Errorf("Decode(%q) = %+v, %v, want the default with 5 clients", test.file, got, err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"unknown field", "\nclient: 5", "f.yaml:2: client: no such field; did you mean clients?"},
		{"underscore", "retry_on: none", "f.yaml:1: retry_on: no such field; did you mean retry-on?"},
		{"nothing like it", "xyzzy: 5", "f.yaml:1: xyzzy: no such field"},
		{"odd key", "\"a\\nb\": 5", `f.yaml:1: "a\nb": no such field`},
		{"number as key", "5: 6", "f.yaml:1: 5: no such field"},
		{"twice", "clients: 5\nqueue: 1\nclients: 5", "f.yaml:3: clients: given twice, first in line 1"},
		{"twice, quoted", "clients: 5\n'clients': 5", "f.yaml:2: clients: given twice, first in line 1"},
		{"twice, unknown", "x-y-z: 5\nx-y-z: 5", "f.yaml:1: x-y-z: no such field\nf.yaml:2: x-y-z: given twice, first in line 1"},
		{"no value", "clients:", "f.yaml:1: clients: want one value, not nothing (leave the line out for the default)"},
		{"null", "gate: ~", "f.yaml:1: gate: want a list of values, not nothing (leave the line out for the default)"},
		{"mapping", "crowd:\n  clients: 5", "f.yaml:1: crowd: no such field"},
		{"mapping as value", "clients:\n  many: 5", "f.yaml:1: clients: want one value, not a mapping"},
		{"list as value", "clients: [5]", "f.yaml:1: clients: want one value, not a list"},
		{"list of strategies", "strategy: [none, full]", "f.yaml:1: strategy: want one value, not a list"},
		{"mapping in list", "outage:\n- 1s..2s\n- from: 1s", "f.yaml:1: outage: want a list of values, not a mapping"},
		{"list in list", "gate: [[a < 1]]", "f.yaml:1: gate: want a list of values, not a list"},
		{"none in list", "outage: [none, 1s..2s]", "f.yaml:1: outage: \"none\": want FROM..TO[=MODE]: no \"..\" between two times, want FROM..TO[=MODE], MODE one of status, hang, reset, refuse, slow:N, capacity:P%, errors:P%"},
		{"line of an element", "gate:\n- a < 1\n\n- ' b'", "f.yaml:4: gate: \" b\": want one line, METRIC OP VALUE, such as 'amplification < 3'"},
		{"bool in words", "shared-seed: yes", `f.yaml:1: shared-seed: "yes": want true or false`},
		{"another notation", "clients: 0x10", `f.yaml:1: clients: "0x10": want 1..10000000`},
		{"float", "clients: 5.0", `f.yaml:1: clients: "5.0": want 1..10000000`},
		{"infinity", "multiplier: .inf", `f.yaml:1: multiplier: ".inf": want 1..1000`},
		{"not a number", "multiplier: .NaN", `f.yaml:1: multiplier: ".NaN": want 1..1000`},
		{"huge", "multiplier: 1e309", `f.yaml:1: multiplier: "1e309": want 1..1000`},
		{"bare zero", "ramp: 0", `f.yaml:1: ramp: "0": want a duration with a unit, such as 0s or 0ms`},
		{"anchor", "clients: &n 5\nworkers: *n", "f.yaml:1: clients: want one value, not an anchor or alias\nf.yaml:2: workers: want one value, not an anchor or alias"},
		{"merge", "<<: {clients: 5}", "f.yaml:1: <<: no such field"},
		{"tag", "clients: !!int 5", "f.yaml:1: clients: want one value, not a tag"},
		{"two documents", "clients: 5\n---\nclients: 6", "f.yaml:3: a second document, want one"},
		{"list", "- clients: 5", "f.yaml:1: want lines of field: value, not a list"},
		{"word", "clients", "f.yaml:1: want lines of field: value, not a single value"},
		{"syntax", "queue: 1\nclients: [5", "f.yaml:2: sequence end token ']' not found"},
		{"indented", "clients: 5\n  queue: 1", "f.yaml:1: mapping value is not allowed in this context"},
		{"deep brackets", strings.Repeat("[", 10000), "f.yaml:1: nested too deep, want lines of field: value"},
		{"deep braces", strings.Repeat("{a: ", 8000), "f.yaml:1: nested too deep, want lines of field: value"},
		{"deep dashes", "gate:\n" + strings.Repeat("- ", 10000), "f.yaml:2: nested too deep, want lines of field: value"},
		{"big", strings.Repeat("#", 32<<10+1), "f.yaml: has 32769 bytes, want at most 32768"},
		{"no fault in consequence of one", "cap: 50ms\nbase: [10ms]", "f.yaml:2: base: want one value, not a list"},
		{"fields that do not go together", "cap: 1s\nbase: 2s", "f.yaml:1: cap: \"1s\": want at least base, which is 2s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := plan.Decode("f.yaml", []byte(test.file))
			if got := fmt.Sprint(err); got != test.want {
				t.Errorf("Decode(%.80q) = %s\nwant %s", test.file, got, test.want)
			}
		})
	}
}

// FuzzDecode checks that no file panics, and that a file without faults gives a valid plan
// which survives being printed, both ways.
func FuzzDecode(f *testing.F) {
	p := plan.Default()
	f.Add(p.YAML())
	object, err := p.MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(object)
	for _, file := range []string{
		"", "\x00", "\ufeff", "---", "...", "{", "}", "[", "]", ":", "?", "-", "&a", "*a", "!t", "|", ">", "%", "@", "`", "'", "\"", "#", "<<: *a",
		"clients: 0", "clients: 9223372036854775807", "clients: -1", "multiplier: 1e309", "multiplier: .nan", "base: ''", "gate: [\"\\ud800\"]",
		"? clients\n: 5", "clients: 5\nclients: 5", "clients: &a 5\nqueue: *a", "gate:\n  - a\n -b", "\tclients: 5", "a: |2\n  b", "seed: 0xffffffffffffffff",
		"outage:\n- 0s..1s=slow:1000000\n- 1s..2562047h47m16.854775807s", "rate: 1/h", "capacity: 1/h\nworkers: 24", "💥: 💥",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := plan.Decode("f.yaml", file)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		checkPrinted(t, p)
	})
}
