package validate

import "math"

// A Check is one figure held against its reference.
type Check struct {
	Group string `json:"group"`
	// Name says which figure of which strategy or formula it is.
	Name string `json:"name"`
	// Source says where the expected value comes from.
	Source   string  `json:"source"`
	Expected float64 `json:"expected"`
	// Low and High bound what passes, both included.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Got is nil where there was nothing to measure, which never passes.
	Got  *float64 `json:"got"`
	Unit string   `json:"unit"` // empty for a number without one
	OK   bool     `json:"ok"`
	// NotJudged says that this machine was the bottleneck, so that OK is nobody's fault.
	NotJudged bool `json:"not_judged,omitempty"`
	// About is what a reader must know of all the figures of the same subject, which is Name up to ": ".
	About string `json:"about,omitempty"`
	// Note is what a reader must know of the reference; empty is nothing.
	Note string `json:"note,omitempty"`
}

// judged returns the check with what was measured; NaN is nothing.
func (c Check) judged(got float64) Check {
	if math.IsNaN(got) || math.IsInf(got, 0) {
		c.Got, c.OK = nil, false
		return c
	}
	c.Got, c.OK = &got, got >= c.Low && got <= c.High
	return c
}

func (c Check) failed() bool { return !c.OK && !c.NotJudged }

// exact expects one value.
func (c Check) exact(want float64) Check {
	return c.within(want, want, want)
}

// around expects a value and allows slack on both sides.
func (c Check) around(want, slack float64) Check {
	return c.within(want, want-slack, want+slack)
}

// within expects a value and allows a range, both ends included.
func (c Check) within(want, low, high float64) Check {
	c.Expected, c.Low, c.High = want, low, high
	return c
}

// noted adds a sentence to the note.
func (c Check) noted(note string) Check {
	switch {
	case note == "":
	case c.Note == "":
		c.Note = note
	default:
		c.Note += "; " + note
	}
	return c
}
