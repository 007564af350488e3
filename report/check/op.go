package check

import (
	"fmt"
	"slices"
	"strings"
)

// An Op is a comparison.
type Op string

var ops = []Op{"<", "<=", ">", ">=", "==", "!="}

// Ops lists the operators.
func Ops() []string {
	var list []string
	for _, op := range ops {
		list = append(list, string(op))
	}
	return list
}

// opSigns are the bytes that operators are made of.
const opSigns = "<>=!"

// ParseOp reads one operator. The error says what it may be.
func ParseOp(text string) (Op, error) {
	if op := Op(text); slices.Contains(ops, op) {
		return op, nil
	}
	return "", fmt.Errorf("operator %q, want one of < <= > >= == !=", text)
}

// Holds compares a figure with a gate's value. Nothing holds of NaN, not even "!=".
func (o Op) Holds(figure, value float64) bool {
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
		return figure < value || figure > value
	}
	panic("check: BUG: unknown op " + string(o))
}

// Parts are the texts of a gate, without the blanks around each. Nothing of them has been judged.
type Parts struct {
	Strategy string // what stands before a colon; HasStrategy says whether one does
	Metric   string
	Op       string // the first run of comparison signs; empty where there is none
	Value    string // all behind it, up to the last "@"
	Over     string // what stands behind that "@"; HasOver says whether one does

	HasStrategy, HasOver bool
}

// Split takes a gate apart, or any text of the same form: [strategy:] metric op value [@over].
func Split(text string) Parts {
	var p Parts
	left, right := text, ""
	if from := strings.IndexAny(text, opSigns); from >= 0 {
		left = text[:from]
		right = strings.TrimLeft(text[from:], opSigns)
		p.Op = text[from : len(text)-len(right)]
	}
	if before, after, ok := strings.Cut(left, ":"); ok {
		p.Strategy, p.HasStrategy, left = strings.TrimSpace(before), true, after
	}
	if at := strings.LastIndexByte(right, '@'); at >= 0 {
		p.Over, p.HasOver, right = strings.TrimSpace(right[at+1:]), true, right[:at]
	}
	p.Metric, p.Value = strings.TrimSpace(left), strings.TrimSpace(right)
	return p
}

// IsName reports whether s is a name of the grammar.
func IsName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z'
		inner := c >= '0' && c <= '9' || c == '_' || c == '-'
		if !letter && (i == 0 || !inner) {
			return false
		}
	}
	return s != ""
}
