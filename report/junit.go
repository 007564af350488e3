package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
	"stormtest/report/check"
)

// JUnit writes the gates as a test suite in the XML that CI systems read: a first test case for the run itself, and one
// for each row of Gates, failed where the gate failed.
//
// The suite is red exactly where the command that ran has another exit code than 0. A run that ended early is an error of
// the first case, and so is an invalid one that had gates; without gates nothing was asked, and the case is
// skipped. A gate that holds on such a run is skipped too, because it says nothing. So there is always
// a case, and where no gates were asked it is the only one. The run's length is the first case's time; gates and virtual time take none.
func JUnit(w io.Writer, r *record.Result) error {
	plan := readPlan(r)
	cases := append([]junitCase{junitRunCase(r, plan)}, junitGates(r)...)
	if plan.label() != "" { // CI systems group by class: two storms of one pipeline are two
		for i := range cases {
			cases[i].Class = junitSuiteName(plan) + strings.TrimPrefix(cases[i].Class, "stormtest")
		}
	}
	suite := junitSuite{
		Name: junitSuiteName(plan), Package: "stormtest", Hostname: "localhost",
		Time: cases[0].Time, Properties: junitProperties(r), Cases: cases, Out: junitText{junitSummary(r, plan)},
	}
	if !r.StartedAt.IsZero() {
		suite.Timestamp = r.StartedAt.UTC().Format("2006-01-02T15:04:05")
	}
	return writeJUnit(w, suite)
}

// junitSuiteName is the name of the suite and of its classes, with the label.
func junitSuiteName(plan planFields) string {
	if label := plan.label(); label != "" {
		return junitName("stormtest: " + label)
	}
	return "stormtest"
}

// writeJUnit counts the cases of a suite and writes it.
func writeJUnit(w io.Writer, suite junitSuite) error {
	suite.Tests = len(suite.Cases)
	for i := range suite.Cases {
		switch c := &suite.Cases[i]; {
		case c.Error != nil:
			suite.Errors++
		case c.Failure != nil:
			suite.Failures++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	text, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode JUnit: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// The elements, in the order and with the attributes of Ant's schema, which is the strictest in use; Jenkins'
// takes them too. A timestamp has no zone there, and is UTC.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        junitText       `xml:"system-out"`
		Err        junitText       `xml:"system-err"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    string       `xml:"time,attr"`
		Skipped *junitReason `xml:"skipped"`
		Error   *junitReason `xml:"error"`
		Failure *junitReason `xml:"failure"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// junitRunCase is the case of the run itself.
func junitRunCase(r *record.Result, plan planFields) junitCase {
	var length time.Duration
	for i := range r.Runs {
		if r.Runs[i].Engine == record.EngineVirtual {
			continue // nobody waited
		}
		length = min(length+min(max(0, r.Runs[i].Duration), 1<<61), 1<<61) // of a hostile file
	}
	c := junitCase{Class: "stormtest", Name: "the run is valid and came to its end", Time: strconv.FormatFloat(length.Seconds(), 'f', 3, 64)}
	var messages, lines []string
	for _, t := range troubles(r, plan) {
		messages = append(messages, t.word)
		lines = append(lines, t.word+": "+t.text)
		for _, why := range t.why {
			lines = append(lines, "* "+why)
		}
	}
	if messages == nil {
		return c
	}
	lines = append(lines, junitRepeat(r))
	reason := &junitReason{Message: strings.Join(messages, ", "), Type: "run", Text: strings.Join(lines, "\n")}
	if r.Interrupted || !r.Valid && len(r.Gates) > 0 {
		c.Error = reason
	} else {
		reason.Type, c.Skipped = "", reason
	}
	return c
}

// junitGates are the cases of the gates, each with a name of its own: GitLab drops what is named twice.
func junitGates(r *record.Result) []junitCase {
	var cases []junitCase
	seen := map[string]int{}
	for _, g := range r.Gates {
		c := junitCase{Class: junitClass(r, g), Name: junitName(g.Gate), Time: "0.000"}
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name += " (" + strconv.Itoa(seen[c.Name]) + ")"
		}
		reason := clean(g.Reason)
		switch {
		case !g.OK:
			c.Failure = &junitReason{Message: reason, Type: "gate", Text: strings.Join([]string{
				"Gate " + gateFailed + ": " + clean(g.Gate), "Found: " + reason, "Figure: " + junitFigure(g), junitRepeat(r),
			}, "\n")}
		case !r.Valid:
			c.Skipped = &junitReason{Message: "INVALID: a gate on the figures of such a run says nothing (" + reason + ")"}
		case gatesCut(r):
			c.Skipped = &junitReason{Message: "CUT SHORT: held against what there was when the run was cut, which is no pass (" + reason + ")"}
		}
		cases = append(cases, c)
	}
	return cases
}

// junitClass puts a gate under its strategy: the one that its text names, or the only one there is.
func junitClass(r *record.Result, g record.Gate) string {
	name, _, _ := strings.Cut(g.Gate, ":")
	for i := range r.Runs {
		if s := r.Runs[i].Strategy; s == strings.TrimSpace(name) || len(r.Runs) == 1 {
			return "stormtest." + junitName(s)
		}
	}
	return "stormtest"
}

// junitName is a text as a name: no reader keeps two blanks in a row.
func junitName(s string) string {
	return cmp.Or(strings.Join(strings.Fields(clean(s)), " "), "unnamed")
}

// junitRepeat says how to have the run again.
func junitRepeat(r *record.Result) string {
	return "Repeat it: " + repeatCommand(r) + ", where plan.json holds the property plan of this suite"
}

// junitProperties are what the run was and every figure of every strategy, with the unit that a gate on it has; a figure
// without a value is empty.
func junitProperties(r *record.Result) []junitProperty {
	list := []junitProperty{{"version", clean(r.Tool.Version)}, {"seed", plainUint(r.Seed)}, {"plan_hash", clean(r.PlanHash)}, {"valid", strconv.FormatBool(r.Valid)}, {"interrupted", strconv.FormatBool(r.Interrupted)}}
	if compact := new(bytes.Buffer); readPlan(r) != nil && json.Compact(compact, r.Plan) == nil {
		list = append(list, junitProperty{"plan", printableJSON(compact.String())})
	}
	var names []string
	for i := range r.Runs {
		run := &r.Runs[i]
		name := junitName(run.Strategy)
		if slices.Contains(names, name) {
			continue // of a hostile file
		}
		names = append(names, name)
		list = append(list, junitProperty{name + ".flags", strings.Join(cleanFlags(run), " ")})
		for _, m := range check.Metrics() {
			text := ""
			if v := m.Value(run); v != nil {
				text = check.FormatValue(*v, m)
			}
			list = append(list, junitProperty{name + "." + m.Name, text})
		}
		list = append(list, junitInner(run, name)...)
	}
	return list
}

// junitInner are the preset, the phases and the runs inside a run: of these the figures that have a value.
func junitInner(run *record.Run, name string) []junitProperty {
	var list []junitProperty
	add := func(key, text string) { list = append(list, junitProperty{name + "." + key, text}) }
	if p := run.Preset; p != nil {
		add("preset", clean(p.Name)+", "+clean(p.Source)+", "+clean(p.Version))
		for i, hazard := range p.Hazards {
			add("preset.hazard."+strconv.Itoa(i+1), clean(hazard))
		}
	}
	for i := range run.Phases {
		p := &run.Phases[i]
		key := "phase." + junitName(p.Name) + "."
		add(key+"goodput", figureWithUnit(p.GoodputPerSecond, "/s"))
		add(key+"arrivals", strconv.FormatInt(p.Arrivals, 10))
		add(key+"amplification", figureWithUnit(p.Amplification, ""))
		if run.ArrivalsMeasuredAt != "client" {
			add(key+"wasted_share", figureWithUnit(p.WastedShare, ""))
		}
	}
	inner := func(key string, inside *record.Run) {
		if inside == nil {
			return
		}
		for _, m := range check.Metrics() {
			if v := m.Value(inside); v != nil {
				add(key+"."+m.Name, check.FormatValue(*v, m))
			}
		}
	}
	for i := range run.Parts {
		inner("part."+junitName(run.Parts[i].Name), run.Parts[i].Run)
	}
	for i := range run.Layers {
		l := &run.Layers[i]
		inner("service."+junitName(l.Name), l.Run)
		add("service."+junitName(l.Name)+".amplification_end_to_end", figureWithUnit(l.EndToEnd, ""))
	}
	return list
}

// figureWithUnit writes a figure with all its digits; empty where it has no value.
func figureWithUnit(v *float64, unit string) string {
	if !finite(v) {
		return ""
	}
	return exactNumber(v) + unit
}

// junitFigure is the figure of a gate with all its digits, or its word.
func junitFigure(g record.Gate) string {
	if gate, err := check.Parse(g.Gate); err == nil && finite(g.Value) && gate.Over.Kind != check.OverShare {
		if m, _ := check.Lookup(gate.Metric); m.Unit == check.Word {
			return check.FormatValue(*g.Value, m)
		}
	}
	return exactNumber(g.Value)
}

// exactNumber writes a number with all its digits.
func exactNumber(v *float64) string {
	if !finite(v) {
		return none
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// junitSummary is the report in some lines.
func junitSummary(r *record.Result, plan planFields) string {
	var lines []string
	for i := range r.Runs {
		run := &r.Runs[i]
		lines = append(lines, junitName(run.Strategy)+" "+unmarked(verdictWord(run))+": "+unmarked(verdictSentence(run, plan)))
	}
	switch {
	case len(r.Runs) == 0:
		lines = append(lines, "No strategy ran, so there is nothing to report.")
	case len(r.Gates) == 0:
		lines = append(lines, "No gates were asked.")
	default:
		s := gatesSummary(r)
		lines = append(lines, "Gates "+s.word+": "+s.text)
	}
	return strings.ReplaceAll(strings.Join(append(lines, junitRepeat(r)), "\n"), string(nbsp), " ")
}
