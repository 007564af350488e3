package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stormtest/load/plan"
)

// TestTableIsComplete checks that every field has a row of cases, and every row of the
// table what the help needs.
func TestTableIsComplete(t *testing.T) {
	fields := plan.Fields()
	var names, cases []string
	shorthands := map[string]string{}
	for _, f := range fields {
		names = append(names, f.Name)
		if f.Usage == "" || strings.HasSuffix(f.Usage, ".") || f.Type() == "" || f.Group.Title() == string(f.Group) {
			t.Errorf("%s: usage %q, type %q, group %q: want all, without a full stop", f.Name, f.Usage, f.Type(), f.Group)
		}
		if other := shorthands[f.Shorthand]; f.Shorthand != "" && (other != "" || len(f.Shorthand) != 1) {
			t.Errorf("%s: shorthand %q, want one letter that is not %q's", f.Name, f.Shorthand, other)
		}
		shorthands[f.Shorthand] = f.Name
	}
	for _, c := range fieldCases {
		cases = append(cases, c.name)
	}
	if !slices.Equal(names, cases) {
		t.Errorf("fields = %v\nwant    %v", names, cases)
	}
	if got := reflect.TypeFor[plan.Plan]().NumField(); got != len(fields) {
		t.Errorf("Plan has %d fields, the table %d rows", got, len(fields))
	}
}

// TestDefaults checks every default against the design's table.
func TestDefaults(t *testing.T) {
	for _, c := range fieldCases {
		if got := field(t, c.name).Default(); got != c.deflt {
			t.Errorf("default of %s = %q, want %q", c.name, got, c.deflt)
		}
	}
	if err := plan.Default().Validate(); err != nil {
		t.Errorf("Default().Validate() = %v, want nil", err)
	}
}

func TestSetTakes(t *testing.T) {
	for _, c := range fieldCases {
		f := field(t, c.name)
		for _, texts := range append(c.good, []string{c.deflt}) {
			text, want := goodText(texts)
			p := plan.Default()
			if err := f.Set(&p, text); err != nil {
				t.Errorf("%s.Set(%q) = %v, want nil", c.name, text, err)
				continue
			}
			if got := canonical(f, &p); got != want {
				t.Errorf("%s.Set(%q), then Get = %q, want %q", c.name, text, got, want)
			}
			back := plan.Default()
			if err := f.Set(&back, f.Get(&p)...); err != nil || !reflect.DeepEqual(back, p) {
				t.Errorf("%s: Set(Get()) of %q = %+v, %v, want %+v", c.name, text, back, err, p)
			}
			if choices := f.Choices(); choices != nil && c.name != "strategy" && !slices.Contains(choices, want) {
				t.Errorf("%s takes %q, which is not one of its choices %v", c.name, text, choices)
			}
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range fieldCases {
		f := field(t, c.name)
		for _, text := range c.refused() {
			p := plan.Default()
			err := f.Set(&p, text)
			var fault *plan.FieldError
			if !errors.As(err, &fault) {
				t.Errorf("%s.Set(%q) = %v and %q, want a *FieldError", c.name, text, err, f.Get(&p))
				continue
			}
			if fault.Field != c.name || fault.Got != text || fault.Want == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s.Set(%q): %+v, want field, text and one line", c.name, text, *fault)
			}
			if !reflect.DeepEqual(p, plan.Default()) {
				t.Errorf("%s.Set(%q) failed and changed the plan to %q", c.name, text, f.Get(&p))
			}
		}
	}
}

// TestRefusals keeps the words of the refusals, each once for a field: they are what a
// user learns the ranges from.
func TestRefusals(t *testing.T) {
	var b strings.Builder
	for _, c := range fieldCases {
		seen := map[string]bool{}
		for _, text := range c.refused() {
			p := plan.Default()
			var fault *plan.FieldError
			if err := field(t, c.name).Set(&p, text); errors.As(err, &fault) && !seen[fault.Want] {
				seen[fault.Want] = true
				fmt.Fprintln(&b, err)
			}
		}
	}
	checkGolden(t, "refusals.golden", []byte(b.String()))
}

func TestSetOfLists(t *testing.T) {
	outage, clients := field(t, "outage"), field(t, "clients")
	p := plan.Default()
	if err := outage.Set(&p, "1s..2s", "3s..4s=hang"); err != nil || len(p.Outages) != 2 {
		t.Errorf("outage.Set(two) = %v with %d outages, want nil and 2", err, len(p.Outages))
	}
	err := outage.Set(&p, "x", "5s..6s", "y")
	if faults := unjoin(err); len(faults) != 2 || len(p.Outages) != 2 {
		t.Errorf("outage.Set(x, good, y) = %v with %d outages, want two faults and the 2 from before", err, len(p.Outages))
	}
	if err := outage.Set(&p, "none", "5s..6s"); err == nil {
		t.Error("outage.Set(none and another) = nil, want an error")
	}
	if gate := field(t, "gate"); gate.Set(&p, "a < 1", "none") == nil || p.Gates != nil {
		t.Errorf("gate.Set(one and none) leaves %q, want an error", p.Gates)
	}
	if err := outage.Set(&p); err != nil || p.Outages != nil {
		t.Errorf("outage.Set() = %v with %v, want no outage", err, p.Outages)
	}
	if err := outage.Set(&p, slices.Repeat([]string{"1s..2s"}, 101)...); err == nil || err.Error() != `outage: "101 of them": want at most 100` {
		t.Errorf("outage.Set(101) = %v, want at most 100", err)
	}
	if err := clients.Set(&p); err == nil {
		t.Error("clients.Set() = nil, want an error")
	}
	if err := clients.Set(&p, "1", "2"); err == nil {
		t.Error("clients.Set(1, 2) = nil, want an error")
	}
}

// TestSuggestions checks what a misspelling is taken for, at the edge of being one.
func TestSuggestions(t *testing.T) {
	tests := []struct{ name, field, text, want string }{
		{"replaced", "service", "exq", "exp"},
		{"swapped", "service", "epx", "exp"},
		{"too far", "service", "eqq", ""},
		{"one letter", "service", "e", ""},
		{"beginning", "service", "fix", "fixed"},
		{"more behind", "service", "exponential", "exp"},
		{"case and underscore", "model", "Token_Bucket", "token-bucket"},
		{"the nearest", "strategy", "exponent-nosy", "exponent-noisy"},
		{"too long to compare", "service", strings.Repeat("fixed", 9), ""},
	}
	for _, test := range tests {
		p := plan.Default()
		_, got, _ := strings.Cut(fmt.Sprint(field(t, test.field).Set(&p, test.text)), "did you mean ")
		if got = strings.TrimSuffix(got, "?"); got != test.want {
			t.Errorf("%s: %s %q is taken for %q, want %q", test.name, test.field, test.text, got, test.want)
		}
	}
}

// TestLongTexts checks that a message stays short whatever it quotes.
func TestLongTexts(t *testing.T) {
	p := plan.Default()
	const want = 200
	if err := field(t, "clients").Set(&p, strings.Repeat("9", 1000)); err == nil || len(err.Error()) > want {
		t.Errorf("a text of 1000 digits gives %v, want a message of at most %d bytes", err, want)
	}
	if _, err := plan.Decode("f.yaml", []byte(strings.Repeat("k", 1000)+": 1")); err == nil || len(err.Error()) > want {
		t.Errorf("a key of 1000 letters gives %v, want a message of at most %d bytes", err, want)
	}
}

// FuzzSet checks that no text panics, and that an accepted one has one stable canonical
// form.
func FuzzSet(f *testing.F) {
	for i, c := range fieldCases {
		for _, texts := range c.good {
			f.Add(i, texts[0])
		}
		for _, text := range c.bad {
			f.Add(i, text)
		}
	}
	for i, text := range hostile { // each once: most kinds of value share their parser
		f.Add(i, text)
	}
	fields := plan.Fields()
	f.Fuzz(func(t *testing.T, row int, text string) {
		f := fields[uint(row)%uint(len(fields))]
		p, back := plan.Default(), plan.Default()
		if f.Set(&p, text) != nil {
			return
		}
		texts := f.Get(&p)
		if err := f.Set(&back, texts...); err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%s.Set(%q): canonical %q gives %v and %+v, want %+v", f.Name, text, texts, err, back, p)
		}
	})
}

func field(t *testing.T, name string) plan.Field {
	t.Helper()
	f, ok := plan.FieldNamed(name)
	if !ok {
		t.Fatalf("no field %s", name)
	}
	return f
}

// canonical returns the one text of a field's value.
func canonical(f plan.Field, p *plan.Plan) string {
	if texts := f.Get(p); len(texts) > 0 {
		return strings.Join(texts, "; ")
	}
	return "none"
}

// unjoin returns the errors that err joins.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
