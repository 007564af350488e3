package plan

import "unicode/utf8"

// labelMost is the most characters of a label.
const labelMost = 100

// A label is a field of one short line, or the word for none.
type label struct{ at func(*Plan) *string }

func (v label) read(p *Plan, text string) string {
	if text == listNone {
		text = ""
	} else if !isLongLine(text) || utf8.RuneCountInString(text) > labelMost {
		return "one line of 1 to 100 characters, or none"
	}
	*v.at(p) = text
	return ""
}

func (v label) write(p *Plan) string {
	if *v.at(p) == "" {
		return listNone
	}
	return *v.at(p)
}

func (v label) word() string { return "TEXT" }

func (label) choices() []string { return nil }
