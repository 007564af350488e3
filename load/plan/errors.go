package plan

import (
	"errors"
	"fmt"
	"strconv"
)

// A FieldError names a field of a plan, the text it was given and what it may hold.
//
// Source says where the text stood: "--clients", "STORMTEST_CLIENTS" or
// "storm.yaml:3: clients"; empty means that no source is known, and Field stands in.
type FieldError struct {
	Field, Got, Want, Source string

	element int // of a list
}

// Error gives one line: `--clients: "0": want 1..1000000`. Got is quoted, and cut when it
// is long.
func (e *FieldError) Error() string {
	where := e.Source
	if where == "" {
		where = e.Field
	}
	return fmt.Sprintf("%s: %s: want %s", where, quote(e.Got), e.Want)
}

// quote quotes text for a message, on one line and of bounded length.
func quote(text string) string {
	const most = 80 // bytes, before escapes
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

// joinFaults joins faults into one error, nil for none; a single one stays itself.
func joinFaults(faults []*FieldError) error {
	if len(faults) == 1 {
		return faults[0]
	}
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	return errors.Join(all...)
}

// cut returns text on one line and of bounded length, for a name in a message.
func cut(text string) string {
	if quoted := quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
