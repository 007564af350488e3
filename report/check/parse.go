// Package check holds the gates of a plan: conditions on the figures of a result. A gate is
// parsed and checked before the run, and evaluated on every run after it.
//
// The grammar:
//
//	gate     = [ strategy ":" ] metric op value [ "@" over ]
//	strategy = name                       ; as in --strategy, --preset or --fleet; without it, every run is meant. Also a layer
//	                                      ; of the plan: that service in every run, of which with a repeat only the first
//	                                      ; seed is known
//	metric   = name                       ; see Metrics and record.Families; aliases are read too
//	name     = letter { letter | digit | "_" | "-" }   ; lower case
//	op       = "<" | "<=" | ">" | ">=" | "==" | "!="
//	value    = duration | rate | number | word   ; which of them, the metric's unit says
//	duration = number unit { number unit }             ; "250ms", "1m30s"
//	unit     = "ns" | "us" | "µs" | "ms" | "s" | "m" | "h"
//	rate     = number "/" ( "s" | "m" | "h" )          ; "400/s"
//	number   = [ "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//	word     = one of Metric.Words, with "==" or "!=" alone
//	over     = "worst" | "mean" | "first" | percent    ; over the seeds of --repeat
//	percent  = digits [ "." digits ] "%"               ; above 0 % and up to 100 %, at most 4 decimals
//
// Blanks may stand around every part. A duration has a unit always (p99<1 is refused, and so is
// p99<0), and so has a rate; a share is a plain number in 0..1 and percent is refused; nothing else has a unit.
// Counts, shares, rates and durations are not negative. Comparisons are exact: durations in whole ns,
// all else in float64.
//
// Over says what of the seeds is judged:
//
//	worst    every seed must hold; what is meant where nothing is said
//	mean     the mean over the seeds, of which each must have a value; of no word
//	95%      at least that share of the seeds must hold; one without a value does not
//	first    the first seed alone, whose run the report shows
//
// One seed is judged alike by all of them. Where not every seed came to its end that was asked for, only a gate on the
// first can pass.
package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Gate is one condition. The zero Gate is not valid; Parse makes gates.
type Gate struct {
	Strategy string // empty: every run
	Metric   string // the metric's own name, never an alias
	Op       Op
	Value    float64 // in the metric's unit, durations in ns
	Over     Over
	Text     string // as it was given, without the blanks around it
}

// String returns the gate in its shortest form, which Parse reads as the same gate.
func (g Gate) String() string {
	var b strings.Builder
	if g.Strategy != "" {
		b.WriteString(g.Strategy + ":")
	}
	m, _ := Lookup(g.Metric)
	b.WriteString(g.Metric + string(g.Op) + FormatValue(g.Value, m) + g.Over.String())
	return b.String()
}

// An Error is a gate that cannot be used. Problems is never empty.
type Error struct {
	Gate     string
	Problems []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%q: %s", e.Gate, strings.Join(e.Problems, "; "))
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

	parts := Split(g.Text)
	if parts.Op == "" {
		fault("no comparison; want metric op value, as in convoy_index<0.25")
		return Gate{}, &Error{g.Text, problems}
	}
	var err error
	if g.Op, err = ParseOp(parts.Op); err != nil {
		fault("%s", err)
	}
	if g.Strategy = parts.Strategy; parts.HasStrategy && !IsName(g.Strategy) {
		fault("strategy %q is not a name", g.Strategy)
	}
	m, known := Lookup(parts.Metric)
	if !known {
		fault("%s", UnknownMetric(parts.Metric))
	}
	g.Metric = m.Name
	if g.Value, err = ParseValue(parts.Value, m); err != nil {
		fault("%s", err)
	}
	if m.OfProbe() && g.Strategy != "" {
		fault("%s is of the target before the storm, not of a strategy", m.Name)
	}
	if m.Unit == Word && err == nil && g.Op != "==" && g.Op != "!=" && g.Op != "" {
		fault("%s is a word: want == or !=, not %s", m.Name, g.Op)
	}
	if parts.HasOver {
		if g.Over, err = ParseOver(parts.Over); err != nil {
			fault("%s", err)
		} else if m.Unit == Word && g.Over.Kind == OverMean {
			fault("%s is a word, of which there is no mean: want @worst, @first or a share such as @95%%", m.Name)
		}
	}
	if problems != nil {
		return Gate{}, &Error{g.Text, problems}
	}
	return g, nil
}

// CheckStrategies returns a fault (an *Error, joined) for every gate that names a strategy which
// is not among those of the plan, or a preset or a part of a mixed fleet, or that two of them have the name of. Call it before the run: such a gate could only ever fail.
func CheckStrategies(gates []Gate, names []string) error {
	var faults []error
	for _, g := range gates {
		if g.Strategy != "" && !slices.Contains(names, g.Strategy) {
			problem := fmt.Sprintf("%s is no strategy, part or service of the plan, which runs %s", g.Strategy, strings.Join(names, ", "))
			faults = append(faults, &Error{g.Text, []string{problem}})
		}
		if i := slices.Index(names, g.Strategy); i >= 0 && slices.Contains(names[i+1:], g.Strategy) {
			problem := fmt.Sprintf("%s is the name of two: of %s", g.Strategy, strings.Join(names, ", "))
			faults = append(faults, &Error{g.Text, []string{problem}})
		}
	}
	return errors.Join(faults...)
}
