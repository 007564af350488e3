package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Difference is a gate on how a figure differs from that of a base, for comparisons. The zero is not valid;
// ParseDifference makes them.
//
// The grammar is that of a gate with a signed value:
//
//	difference = [ strategy ":" ] metric op sign bound [ "@" "beyond-noise" ]
//	sign       = "+" | "-"                 ; always, also of 0
//	bound      = number "%"                ; of the base, whatever the metric
//	           | value                     ; in the metric's unit, as in a gate
//
// amplification<=+10% holds where the new figure is at most a tenth above the base's, completion<=+2s where it is at most
// two seconds more, success_share>=-0.01 where at most a hundredth of the operations succeeds less. With
// @beyond-noise a difference that is not beyond noise holds too, whatever its size.
type Difference struct {
	Strategy string // empty: every pair of strategies
	Metric   string // the metric's own name, never an alias
	Op       Op
	Bound    float64 // percent where Relative, else in the metric's unit, durations in ns
	Relative bool
	Beyond   bool   // only what is beyond noise fails
	Text     string // as it was given, without the blanks around it
}

// beyondNoise stands behind the "@".
const beyondNoise = "beyond-noise"

// String returns the gate in its shortest form, which ParseDifference reads as the same gate.
func (d Difference) String() string {
	var b strings.Builder
	if d.Strategy != "" {
		b.WriteString(d.Strategy + ":")
	}
	b.WriteString(d.Metric + string(d.Op) + d.FormatBound(d.Bound))
	if d.Beyond {
		b.WriteString("@" + beyondNoise)
	}
	return b.String()
}

// FormatBound writes a bound of this gate, exactly: in percent where it is relative, else in the metric's unit.
func (d Difference) FormatBound(v float64) string {
	sign := "+"
	if v < 0 {
		sign = "-"
	}
	if d.Relative {
		return sign + formatNumber(math.Abs(v)) + "%"
	}
	m, _ := Lookup(d.Metric)
	return sign + FormatValue(math.Abs(v), m)
}

// roundingShare is the part of the figures by which a difference may pass its bound through rounding alone: 4.4 is
// 10 % above 4, which binary fractions do not say.
const roundingShare = 1e-9

// Value returns what the gate bounds: the difference in percent of the base, or in the metric's unit. It is false where
// there is none: of a base of 0 nothing but 0 has a share.
func (d Difference) Value(base, other float64) (float64, bool) {
	v := other - base
	if d.Relative && v != 0 {
		v = v / math.Abs(base) * 100
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Legible rounds what Value returned of base and other for people, and not so far that it would seem to be on another side
// of the bound; counts stay whole.
func (d Difference) Legible(value, base, other float64) float64 {
	m, _ := Lookup(d.Metric)
	switch {
	case d.atBound(value, base, other):
		return d.Bound
	case !d.Relative && m.Unit != Duration && value == math.Trunc(value) && math.Abs(value) < 1<<53:
		return value
	}
	return legible(value, d.Bound)
}

// Holds compares what Value returned of base and other with the bound. It takes what differs by rounding for equal.
func (d Difference) Holds(value, base, other float64) bool {
	if d.atBound(value, base, other) {
		value = d.Bound
	}
	return d.Op.Holds(value, d.Bound)
}

// atBound reports whether a value differs from the bound by rounding alone.
func (d Difference) atBound(value, base, other float64) bool {
	rounding := roundingShare * max(math.Abs(base), math.Abs(other))
	if d.Relative {
		rounding = roundingShare * max(100, math.Abs(d.Bound))
	}
	return math.Abs(value-d.Bound) <= rounding
}

// ParseDifferences parses every gate and returns all faults of all of them, joined; each is an *Error.
func ParseDifferences(texts []string) ([]Difference, error) {
	var list []Difference
	var faults []error
	for _, text := range texts {
		d, err := ParseDifference(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, d)
	}
	return list, errors.Join(faults...)
}

// ParseDifference reads one gate. The error is an *Error with every fault of it.
func ParseDifference(text string) (Difference, error) {
	d := Difference{Text: strings.TrimSpace(text)}
	var problems []string
	fault := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	parts := Split(d.Text)
	if parts.Op == "" {
		fault("no comparison; want metric op difference, as in amplification<=+10%%")
		return Difference{}, &Error{d.Text, problems}
	}
	var err error
	if d.Op, err = ParseOp(parts.Op); err != nil {
		fault("%s", err)
	}
	if d.Strategy = parts.Strategy; parts.HasStrategy && !IsName(d.Strategy) {
		fault("strategy %q is not a name", d.Strategy)
	}
	m, known := Lookup(parts.Metric)
	if !known {
		fault("%s", UnknownMetric(parts.Metric))
	}
	if d.Metric = m.Name; m.Unit == Word {
		fault("%s is a word, which has no difference", m.Name)
	} else if m.OfProbe() {
		fault("%s is of the target before the storm, which is not compared", m.Name)
	} else if err := d.parseBound(parts.Value, m); err != nil {
		fault("%s", err)
	}
	if d.Beyond = parts.HasOver; d.Beyond && parts.Over != beyondNoise {
		fault("%q behind the @, want %s", parts.Over, beyondNoise)
	}
	if problems != nil {
		return Difference{}, &Error{d.Text, problems}
	}
	return d, nil
}

// parseBound reads the signed value.
func (d *Difference) parseBound(text string, m Metric) error {
	if text == "" {
		return errors.New("no difference after the comparison")
	}
	size := strings.TrimSpace(text[1:])
	if text[0] != '+' && text[0] != '-' {
		return fmt.Errorf("%q has no sign: want a difference from the base, as in +10%%%s", text, example(m))
	}
	if strings.HasPrefix(size, "-") || strings.HasPrefix(size, "+") {
		return fmt.Errorf("%q has two signs", text)
	}
	body, relative := strings.CutSuffix(size, "%")
	var err error
	if d.Relative = relative; relative {
		var isNumber bool
		if d.Bound, isNumber = ParseNumber(strings.TrimSpace(body)); !isNumber {
			err = fmt.Errorf("%q, want a number of percent, as in +10%%", text)
		}
	} else {
		d.Bound, err = ParseValue(size, m)
	}
	if text[0] == '-' {
		d.Bound = 0 - d.Bound // and no -0
	}
	return err
}

// example is another bound that the metric could have.
func example(m Metric) string {
	examples := map[Unit]string{Count: " or +2", Ratio: " or +0.05", Share: " or -0.01", Duration: " or +2s", Rate: " or -10/s"}
	return examples[m.Unit]
}

// CheckPairs returns a fault (an *Error, joined) for every gate that names a strategy which is not compared.
func CheckPairs(gates []Difference, names []string) error {
	var faults []error
	for _, d := range gates {
		if d.Strategy != "" && !slices.Contains(names, d.Strategy) {
			problem := fmt.Sprintf("strategy %s is not compared, but %s", d.Strategy, strings.Join(names, ", "))
			faults = append(faults, &Error{d.Text, []string{problem}})
		}
	}
	return errors.Join(faults...)
}
