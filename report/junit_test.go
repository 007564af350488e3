package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// An xmlElement is one of a document, as it stands.
type xmlElement struct {
	name     string
	attrs    map[string]string
	children []*xmlElement
	text     string
}

// An elementRule is what an element may have. The rules are those that the schemas of Ant and of Jenkins have in
// common, and the stricter one where they differ.
type elementRule struct {
	attrs    map[string]string // by name, the pattern of the value; a name that ends in ? may be missing
	children []string          // in this order; one that ends in * may come any number of times, in ? once or not
	oneOf    []string          // or else at most one of these
	text     bool
}

const (
	token   = `\S+( \S+)*`                                                     // xs:token, at least one character
	number  = `0|[1-9][0-9]*`                                                  // xs:int, 0 or more
	seconds = `[0-9]+(\.[0-9]{1,3})?`                                          // xs:decimal, and Surefire's
	moment  = `[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]` // without a zone
	anyText = `(?s).*`
)

var junitRules = map[string]elementRule{
	"testsuites": {children: []string{"testsuite*"}},
	"testsuite": {
		attrs: map[string]string{
			"id": number, "name": token, "package": token, "hostname": token, "timestamp?": moment, "tests": number, "failures": number,
			"errors": number, "skipped": number, "time": seconds,
		},
		children: []string{"properties", "testcase*", "system-out", "system-err"},
	},
	"properties": {children: []string{"property*"}},
	"property":   {attrs: map[string]string{"name": token, "value": anyText}},
	"testcase":   {attrs: map[string]string{"classname": token, "name": token, "time": seconds}, oneOf: []string{"skipped", "error", "failure"}},
	"skipped":    {attrs: map[string]string{"message": anyText}, text: true},
	"error":      {attrs: map[string]string{"message": anyText, "type": token}, text: true},
	"failure":    {attrs: map[string]string{"message": anyText, "type": token}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// readXML reads one document, in which every character is one of XML 1.0.
func readXML(data []byte) (*xmlElement, error) {
	in := xml.NewDecoder(bytes.NewReader(data))
	top := &xmlElement{}
	stack := []*xmlElement{top}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) && len(stack) == 1 && len(top.children) == 1 {
			return top.children[0], nil
		}
		if err != nil {
			return nil, err
		}
		here := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &xmlElement{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				if _, twice := e.attrs[a.Name.Local]; twice || a.Name.Space != "" {
					return nil, fmt.Errorf("<%s> has %s twice or in a namespace", e.name, a.Name.Local)
				}
				e.attrs[a.Name.Local] = a.Value
			}
			here.children = append(here.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			here.text += string(token)
		case xml.ProcInst, xml.Comment, xml.Directive:
			if len(stack) > 1 {
				return nil, fmt.Errorf("in <%s> stands something else than elements and text", here.name)
			}
		}
	}
}

// check holds an element and all in it against the rules.
func (e *xmlElement) check() error {
	rule, known := junitRules[e.name]
	if !known {
		return fmt.Errorf("<%s> is no element of JUnit", e.name)
	}
	faults := []error{e.checkAttributes(rule), e.checkChildren(rule)}
	if !rule.text && strings.TrimSpace(e.text) != "" {
		faults = append(faults, fmt.Errorf("<%s> holds the text %q", e.name, e.text))
	}
	for _, child := range e.children {
		faults = append(faults, child.check())
	}
	return errors.Join(faults...)
}

func (e *xmlElement) checkAttributes(rule elementRule) error {
	var faults []error
	left := len(e.attrs)
	for name, pattern := range rule.attrs {
		name, optional := strings.CutSuffix(name, "?")
		value, has := e.attrs[name]
		switch {
		case !has && !optional:
			faults = append(faults, fmt.Errorf("<%s> has no %s", e.name, name))
		case has:
			left--
			if !regexp.MustCompile(`^(` + pattern + `)$`).MatchString(value) {
				faults = append(faults, fmt.Errorf("<%s %s=%q>, want %s", e.name, name, value, pattern))
			}
		}
	}
	if left != 0 {
		faults = append(faults, fmt.Errorf("<%s> has attributes that nobody knows: %v", e.name, e.attrs))
	}
	return errors.Join(faults...)
}

func (e *xmlElement) checkChildren(rule elementRule) error {
	if rule.oneOf != nil {
		if len(e.children) > 1 || len(e.children) == 1 && !slices.Contains(rule.oneOf, e.children[0].name) {
			return fmt.Errorf("<%s> has other elements than at most one of %v", e.name, rule.oneOf)
		}
		return nil
	}
	rest := e.children
	for _, want := range rule.children {
		name, many := strings.CutSuffix(want, "*")
		n := 0
		for len(rest) > 0 && rest[0].name == name {
			rest, n = rest[1:], n+1
		}
		if !many && n != 1 {
			return fmt.Errorf("<%s> has %d of %s where its place is, want 1", e.name, n, name)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("<%s> has a <%s> that does not belong there", e.name, rest[0].name)
	}
	return nil
}

// named are the children of a name.
func (e *xmlElement) named(name string) []*xmlElement {
	return slices.DeleteFunc(slices.Clone(e.children), func(c *xmlElement) bool { return c.name != name })
}

// checkCounts: the numbers of a suite are those of its cases, and no two cases have one name.
func (e *xmlElement) checkCounts() error {
	got := map[string]int{"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
	var length float64
	seen := map[string]bool{}
	for _, c := range e.named("testcase") {
		got["tests"]++
		for _, child := range c.children {
			got[map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[child.name]]++
		}
		t, _ := strconv.ParseFloat(c.attrs["time"], 64)
		length += t
		name := c.attrs["classname"] + "\x00" + c.attrs["name"]
		if seen[name] {
			return fmt.Errorf("two cases are %q", name)
		}
		seen[name] = true
	}
	for name, n := range got {
		if e.attrs[name] != strconv.Itoa(n) {
			return fmt.Errorf("%s=%q of %d", name, e.attrs[name], n)
		}
	}
	if want := strconv.FormatFloat(length, 'f', 3, 64); e.attrs["time"] != want {
		return fmt.Errorf("time=%q of %s", e.attrs["time"], want)
	}
	properties := map[string]bool{}
	for _, p := range e.named("properties")[0].children {
		if properties[p.attrs["name"]] {
			return fmt.Errorf("two properties %s", p.attrs["name"])
		}
		properties[p.attrs["name"]] = true
	}
	return nil
}

// strictJUnit renders a result and reads it back by the rules; it returns the suite.
func strictJUnit(t *testing.T, r *record.Result) *xmlElement {
	t.Helper()
	var b bytes.Buffer
	if err := report.JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	doc, err := readXML(b.Bytes())
	if err == nil {
		err = doc.check()
	}
	if err != nil || doc.name != "testsuites" || len(doc.children) != 1 {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if err := doc.children[0].checkCounts(); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if dir := os.Getenv("JUNIT_FILES"); dir != "" { // for a look at them with another reader
		if err := os.WriteFile(dir+"/"+strings.ReplaceAll(t.Name(), "/", "-")+".xml", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return doc.children[0]
}

// TestJUnitIsStrict: of every result, and with texts that would break out of XML.
func TestJUnitIsStrict(t *testing.T) {
	all := results()
	for i, text := range hostileTexts {
		run := oneArrival().Runs[0]
		run.Strategy, run.Convoy.Flags = text, []string{text}
		r := resultOf(`{"clients":2000}`, run, run)
		r.Valid, r.InvalidReasons = i%2 == 0, []string{text}
		r.Gates = []record.Gate{{Gate: text + ": x<1", Reason: text}, {Gate: text + ": x<1", Reason: text}, {OK: true, Gate: "]]>", Reason: "]]>"}}
		all["text "+strconv.Itoa(i)] = r
	}
	for name, r := range all {
		t.Run(name, func(t *testing.T) { strictJUnit(t, r) })
	}
}

// TestTheStrictReaderRefuses what the schemas refuse: a reader that takes all finds nothing.
func TestTheStrictReaderRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := report.JUnit(&b, invalidResult()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, put string }{
		{"an unknown attribute", ` tests="`, ` assertions="1" tests="`},
		{"an unknown element", `<properties>`, `<note></note><properties>`},
		{"the wrong order", `<system-err></system-err>`, `<system-err></system-err><testcase classname="a" name="b" time="0"></testcase>`},
		{"a zone", `T05:06:07"`, `T05:06:07Z"`},
		{"no decimal time", ` time="0.000"`, ` time="0s"`},
		{"no name", `<testcase classname="stormtest" name="`, `<testcase classname="stormtest" title="`},
		{"an empty class", `<testcase classname="stormtest" `, `<testcase classname="" `},
		{"text between", `<properties>`, `text <properties>`},
		{"two outcomes", `<testcase classname="stormtest.full" name="amplification&lt;6" time="0.000">`, `<testcase classname="stormtest.full" name="amplification&lt;6" time="0.000"><failure message="" type="x"></failure>`},
		{"a wrong count", ` failures="2"`, ` failures="1"`},
		{"not well-formed", `</testsuites>`, ``},
		{"two documents", `</testsuites>`, `</testsuites><testsuites></testsuites>`},
	} {
		text := strings.Replace(b.String(), tt.old, tt.put, 1)
		if text == b.String() {
			t.Errorf("%s: there is no %q", tt.name, tt.old)
		}
		doc, err := readXML([]byte(text))
		if err == nil {
			err = errors.Join(doc.check(), doc.children[0].checkCounts())
		}
		if err == nil {
			t.Errorf("%s is taken", tt.name)
		}
	}
}

// outcomes lists the cases as "class: name = outcome message".
func outcomes(suite *xmlElement) []string {
	var list []string
	for _, c := range suite.named("testcase") {
		text := c.attrs["classname"] + ": " + c.attrs["name"] + " = "
		if len(c.children) == 0 {
			text += "passed"
		} else {
			text += c.children[0].name + " " + c.children[0].attrs["message"]
		}
		list = append(list, text)
	}
	return list
}

func TestJUnitOutcomes(t *testing.T) {
	gates := []record.Gate{{Gate: "none: waves<9", Value: ptr(8.0), OK: true, Reason: "waves is 8"}, {Gate: "full:waves<1", Value: ptr(1.5), Reason: "waves is 1.5, want < 1"}, {Gate: "equal:waves<3", Reason: "no data: strategy equal did not run"}}
	two := func(change func(*record.Result)) *record.Result {
		r := resultOf(`{"strategy":"none,full"}`, guideStorm("none"), guideStorm("full"))
		r.Gates = gates
		change(r)
		return r
	}
	const (
		run    = "stormtest: the run is valid and came to its end = "
		failed = "stormtest.full: full:waves<1 = failure waves is 1.5, want < 1"
		gone   = "stormtest: equal:waves<3 = failure no data: strategy equal did not run"
		held   = "stormtest.none: none: waves<9 = "
	)
	for _, tt := range []struct {
		name string
		r    *record.Result
		want []string
	}{
		{"gates", two(func(*record.Result) {}), []string{run + "passed", held + "passed", failed, gone}},
		{"invalid", two(func(r *record.Result) { r.Valid = false }), []string{run + "error INVALID", held + "skipped INVALID: a gate on the figures of such a run says nothing (waves is 8)", failed, gone}},
		{"interrupted", two(func(r *record.Result) { r.Interrupted = true }), []string{
			run + "error INTERRUPTED", held + "skipped CUT SHORT: held against what there was when the run was cut, which is no pass (waves is 8)", failed, gone,
		}},
		{"no gates", two(func(r *record.Result) { r.Gates = nil }), []string{run + "passed"}},
		{"no gates, invalid", two(func(r *record.Result) { r.Gates, r.Valid = nil, false }), []string{run + "skipped INVALID"}},
		{"no gates, interrupted", two(func(r *record.Result) { r.Gates, r.Interrupted = nil, true }), []string{run + "error INTERRUPTED"}},
		{"one strategy", func() *record.Result {
			r := resultOf(guidePlan, guideStorm("none"))
			r.Gates = []record.Gate{{Gate: "waves<9", OK: true}, {Gate: "waves<9", OK: true}}
			return r
		}(), []string{run + "passed", "stormtest.none: waves<9 = passed", "stormtest.none: waves<9 (2) = passed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suite := strictJUnit(t, tt.r)
			if got := outcomes(suite); !slices.Equal(got, tt.want) {
				t.Errorf("cases\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			red := suite.attrs["failures"] != "0" || suite.attrs["errors"] != "0"
			fails := tt.r.Interrupted || len(tt.r.Gates) > 0 && (!tt.r.Valid || slices.ContainsFunc(tt.r.Gates, func(g record.Gate) bool { return !g.OK }))
			if red != fails {
				t.Errorf("red is %t, and the command fails: %t", red, fails)
			}
		})
	}
}

// TestJUnitSaysWhatItTakesToRepeat: a failure has figure, reason and command, and the plan is in the suite.
func TestJUnitSaysWhatItTakesToRepeat(t *testing.T) {
	r := invalidResult()
	r.Valid = true
	suite := strictJUnit(t, r)
	want := "Gate FAILED: p99<1s\nFound: latency_p99 is 1.25s, want < 1s\nFigure: 1.25e+09\nRepeat it: stormtest --file plan.json --seed 42, where plan.json holds the property plan of this suite"
	if got := suite.named("testcase")[2].children[0].text; got != want {
		t.Errorf("the failure says\n%s\nwant\n%s", got, want)
	}
	r.Gates = []record.Gate{{Gate: "full:verdict!=CLEAR", Value: ptr(4.0), Reason: "verdict is CLEAR, want != CLEAR"}, {Gate: "verdict!=CLEAR @95%", Value: ptr(0.5)}}
	r.Runs[0].Engine, r.Runs[0].Duration = record.EngineVirtual, time.Hour
	for i, want := range []string{"Figure: CLEAR\n", "Figure: 0.5\n"} {
		if got := strictJUnit(t, r).named("testcase")[i+1].children[0].text; !strings.Contains(got, want) {
			t.Errorf("the failure says\n%s\nwithout %s", got, want)
		}
	}
	if got := strictJUnit(t, r).attrs["time"]; got != "0.000" {
		t.Errorf("an hour of virtual time took %s", got)
	}
	properties := map[string]string{}
	for _, p := range suite.named("properties")[0].children {
		properties[p.attrs["name"]] = p.attrs["value"]
	}
	for name, want := range map[string]string{
		"seed": "42", "plan": guidePlan, "plan_hash": "3f9c2d7e41b0", "valid": "true", "full.flags": "PERIODIC METASTABLE", "full.convoy_index": "0.0184", "full.latency_p99": "1.25ms", "full.periodicity": "",
	} {
		if got, has := properties[name]; !has || got != want {
			t.Errorf("property %s is %q, want %q", name, got, want)
		}
	}
	if started := suite.attrs["timestamp"]; started != "2026-03-04T05:06:07" {
		t.Errorf("timestamp %s", started)
	}
	r.StartedAt = time.Time{}
	if _, has := strictJUnit(t, r).attrs["timestamp"]; has {
		t.Error("a timestamp of an unknown moment")
	}
}
