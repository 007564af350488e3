// Package check holds the gates of a plan: conditions on the figures of a result. A gate is
// parsed and checked before the run, and evaluated on every run after it.
//
// The grammar:
//
//	gate     = [ strategy ":" ] metric op value
//	strategy = name                       ; as in --strategy; without it, every run is meant
//	metric   = name                       ; see Metrics; its aliases are read too
//	name     = letter { letter | digit | "_" | "-" }   ; lower case
//	op       = "<" | "<=" | ">" | ">=" | "==" | "!="
//	value    = duration | number          ; which of them, the metric's unit says
//	duration = number unit { number unit }             ; "250ms", "1m30s"
//	unit     = "ns" | "us" | "µs" | "ms" | "s" | "m" | "h"
//	number   = [ "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//
// Blanks may stand around every part. A duration has a unit always (p99<1 is refused, and so is
// p99<0); a share is a plain number in 0..1 and percent is refused; nothing else has a unit.
// Counts, shares and durations are not negative. Comparisons are exact: durations in whole ns,
// all else in float64.
package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Op is a comparison.
type Op string

var ops = []Op{"<", "<=", ">", ">=", "==", "!="}

// holds compares the figure with the gate's value.
func (o Op) holds(figure, value float64) bool {
	switch o {
	case "<":
		return figure < value
	case "<=":
		return figure <= value
	case ">":
		return figure > value
	case ">=":
		return figure >= value
	case "==":
		return figure == value
	case "!=":
		return figure != value
	}
	panic("check: BUG: unknown op " + string(o))
}

// durationMax is the longest duration that a gate may name: up to it a float64 holds every ns.
const durationMax = 1 << 53 * time.Nanosecond

// A Gate is one condition. The zero Gate is not valid; Parse makes gates.
type Gate struct {
	Strategy string // empty: every run
	Metric   string // the metric's own name, never an alias
	Op       Op
	Value    float64 // in the metric's unit, durations in ns
	Text     string  // as it was given, without the blanks around it
}

// String returns the gate in its shortest form, which Parse reads as the same gate.
func (g Gate) String() string {
	var b strings.Builder
	if g.Strategy != "" {
		b.WriteString(g.Strategy + ":")
	}
	b.WriteString(g.Metric + string(g.Op) + g.formatValue(g.Value))
	return b.String()
}

// formatValue writes a figure of the gate's metric as a gate would: exact, and with its unit.
func (g Gate) formatValue(v float64) string {
	m, _ := Lookup(g.Metric)
	if m.Unit != Duration {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return time.Duration(v).String()
}

// An Error is a gate that cannot be used. Problems is never empty.
type Error struct {
	Gate     string
	Problems []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("check: gate %q: %s", e.Gate, strings.Join(e.Problems, "; "))
}

// ParseAll parses every gate and returns all faults of all of them, joined; each is an *Error.
func ParseAll(texts []string) ([]Gate, error) {
	var gates []Gate
	var faults []error
	for _, text := range texts {
		g, err := Parse(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		gates = append(gates, g)
	}
	return gates, errors.Join(faults...)
}

// Parse reads one gate by the grammar above. The error is an *Error with every fault of the gate.
func Parse(text string) (Gate, error) {
	g := Gate{Text: strings.TrimSpace(text)}
	var problems []string
	fault := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	left, op, value := cut(g.Text)
	if op == "" {
		fault("no comparison; want metric op value, as in convoy_index<0.25")
		return Gate{}, &Error{g.Text, problems}
	}
	if g.Op = op; !slices.Contains(ops, op) {
		fault("operator %q, want one of < <= > >= == !=", string(op))
	}
	name := left
	if strategy, rest, ok := strings.Cut(left, ":"); ok {
		g.Strategy, name = strings.TrimSpace(strategy), strings.TrimSpace(rest)
		if !isName(g.Strategy) {
			fault("strategy %q is not a name", g.Strategy)
		}
	}
	m, known := Lookup(name)
	if !known {
		fault("%s", unknownMetric(name))
	}
	g.Metric = m.Name
	var err error
	if g.Value, err = parseValue(value, m); err != nil {
		fault("%s", err)
	}
	if problems != nil {
		return Gate{}, &Error{g.Text, problems}
	}
	return g, nil
}

// cut splits the gate at its first run of comparison signs, which need not be a known operator.
func cut(gate string) (left string, op Op, value string) {
	const signs = "<>=!"
	from := strings.IndexAny(gate, signs)
	if from < 0 {
		return gate, "", ""
	}
	value = strings.TrimLeft(gate[from:], signs)
	op = Op(gate[from : len(gate)-len(value)])
	return strings.TrimSpace(gate[:from]), op, strings.TrimSpace(value)
}

// parseValue reads the right-hand side. Without a metric (its name was not known) only the form
// can be judged.
func parseValue(text string, m Metric) (float64, error) {
	if text == "" {
		return 0, errors.New("no value after the comparison")
	}
	number, isNumber := parseNumber(text)
	switch m.Unit {
	case Duration:
		return parseDuration(text, isNumber, m.Name)
	case Count, Ratio, Share:
	default:
		return 0, nil // the unknown metric is the fault to tell
	}
	if !isNumber {
		return 0, badNumber(text, m)
	}
	if m.Unit == Share && (number < 0 || number > 1) {
		return 0, fmt.Errorf("%s = %s, want a share in 0..1", m.Name, text)
	}
	if m.Unit == Count && number < 0 {
		return 0, fmt.Errorf("%s = %s, want 0 or more", m.Name, text)
	}
	return number + 0, nil // -0 becomes 0
}

func parseDuration(text string, isNumber bool, metric string) (float64, error) {
	if isNumber {
		return 0, fmt.Errorf("%s needs a unit, as in %sms or %ss", metric, text, text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s = %q, want a duration such as 250ms or 1.5s", metric, text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s = %s, want 0s or more", metric, text)
	}
	if d > durationMax {
		return 0, fmt.Errorf("%s = %s, want at most %s", metric, text, durationMax)
	}
	return float64(d), nil
}

func badNumber(text string, m Metric) error {
	body, percent := strings.CutSuffix(text, "%")
	if v, ok := parseNumber(strings.TrimSpace(body)); percent && ok && m.Unit == Share {
		return fmt.Errorf("%s takes no percent: write %s for %s", m.Name, strconv.FormatFloat(v/100, 'g', 6, 64), text)
	}
	want := map[Unit]string{Count: "a plain number", Ratio: "a plain number", Share: "a plain number in 0..1"}[m.Unit]
	return fmt.Errorf("%s = %q, want %s without a unit", m.Name, text, want)
}

// parseNumber reads the grammar's number, which is narrower than strconv's: no "inf", no hexadecimal
// form, no underscores, no leading "+". A number too large for a float64 is none.
func parseNumber(s string) (float64, bool) {
	rest, ok := digits(strings.TrimPrefix(s, "-"))
	if !ok {
		return 0, false
	}
	if fraction, dot := strings.CutPrefix(rest, "."); dot {
		if rest, ok = digits(fraction); !ok {
			return 0, false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		exponent := rest[1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if rest, ok = digits(exponent); !ok {
			return 0, false
		}
	}
	if rest != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// digits cuts the leading digits off and says whether there was one.
func digits(s string) (rest string, ok bool) {
	rest = strings.TrimLeft(s, "0123456789")
	return rest, len(rest) < len(s)
}

func isName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z'
		inner := c >= '0' && c <= '9' || c == '_' || c == '-'
		if !letter && (i == 0 || !inner) {
			return false
		}
	}
	return s != ""
}

// CheckStrategies returns a fault (an *Error, joined) for every gate that names a strategy which
// is not among those of the plan. Call it before the run: such a gate could only ever fail.
func CheckStrategies(gates []Gate, names []string) error {
	var faults []error
	for _, g := range gates {
		if g.Strategy != "" && !slices.Contains(names, g.Strategy) {
			problem := fmt.Sprintf("strategy %s is not in the plan, which runs %s", g.Strategy, strings.Join(names, ", "))
			faults = append(faults, &Error{g.Text, []string{problem}})
		}
	}
	return errors.Join(faults...)
}
