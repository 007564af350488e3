package station

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Mode is what fails during an outage.
type Mode uint8

// The modes of an outage. The first four concern arrivals, the next two the work, the last one some of the arrivals.
const (
	// ModeStatus answers every arrival with the configured status.
	ModeStatus Mode = iota
	// ModeHang takes every arrival and never answers it: a black hole.
	ModeHang
	// ModeReset resets the connection of every arrival.
	ModeReset
	// ModeRefuse refuses connections.
	ModeRefuse
	// ModeSlow serves Factor times slower.
	ModeSlow
	// ModeCapacity serves at share Factor of the speed; 0 freezes all work.
	ModeCapacity
	// ModeErrors answers share Factor of the arrivals that are not over capacity with the configured status, by
	// chance, and serves the others as ever: a brownout.
	ModeErrors
)

var modeNames = [...]string{"status", "hang", "reset", "refuse", "slow", "capacity", "errors"}

// String returns the mode's name in the text of an outage.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "mode " + strconv.Itoa(int(m))
}

const (
	slowMax = 1e6 // largest Factor of ModeSlow
	billion = 1e9 // a Factor counts in steps of 1/billion
)

// An Outage is a window [From, To) in which the target fails. The zero value is no outage
// and not valid: its window is empty.
type Outage struct {
	// From and To bound the window, 0 <= From < To.
	From, To time.Duration
	// Mode is what fails. Zero: ModeStatus.
	Mode Mode
	// Factor is, for ModeSlow, how many times slower the target serves, 1..1e6, and for
	// ModeCapacity the share of the speed that is left, 0..1. It counts in steps of
	// 1e-9, so that no rounding reaches the work. For ModeErrors it is the chance of an arrival to fail, above 0 and
	// at most 1, in such steps too. Zero for the other modes.
	Factor float64
}

// outageGrammar is what an outage may look like, for errors.
const outageGrammar = "FROM..TO[=MODE], MODE one of status, hang, reset, refuse, slow:N, capacity:P%, errors:P%"

// ParseOutage reads an outage:
//
//	outage   = FROM ".." TO [ "=" mode ]      no mode: status
//	mode     = "status" | "hang" | "reset" | "refuse" | "slow:" N | "capacity:" P "%" | "errors:" P "%"
//
// FROM and TO are as time.ParseDuration takes them, N is a decimal number 1..1000000 with
// at most nine decimals, P one of 0..100 with at most seven. Blanks are not allowed.
// The result is valid. An error names the text and what is allowed in the place that is
// wrong. Outage.String gives the text back, in canonical form.
func ParseOutage(text string) (Outage, error) {
	o, err := parseOutage(text)
	if err != nil {
		return Outage{}, fmt.Errorf("station: outage %q: %w", text, err)
	}
	return o, nil
}

func parseOutage(text string) (Outage, error) {
	window, mode, hasMode := strings.Cut(text, "=")
	from, to, ok := strings.Cut(window, "..")
	if !ok {
		return Outage{}, fmt.Errorf("no \"..\" between two times, want %s", outageGrammar)
	}
	var o Outage
	var err error
	if o.From, err = parseMoment(from); err != nil {
		return Outage{}, fmt.Errorf("from = %w", err)
	}
	if o.To, err = parseMoment(to); err != nil {
		return Outage{}, fmt.Errorf("to = %w", err)
	}
	if hasMode {
		if o.Mode, o.Factor, err = parseMode(mode); err != nil {
			return Outage{}, err
		}
	}
	return o, errors.Join(o.Validate()...)
}

func parseMoment(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q, want a time with a unit such as 1.5s", text)
	}
	return d, nil
}

func parseMode(text string) (Mode, float64, error) {
	name, argument, hasArgument := strings.Cut(text, ":")
	mode := Mode(len(modeNames))
	for i, known := range modeNames {
		if name == known {
			mode = Mode(i)
		}
	}
	switch {
	case int(mode) == len(modeNames):
		return 0, 0, fmt.Errorf("mode = %q, want status, hang, reset, refuse, slow:N, capacity:P%% or errors:P%%%s", text, meantMode(name))
	case mode == ModeSlow:
		steps, ok := parseSteps(argument, 9)
		if !ok {
			return 0, 0, fmt.Errorf("mode = %q, want slow:N with N a decimal number 1..%.0f", text, slowMax)
		}
		return mode, float64(steps) / billion, nil
	case mode == ModeCapacity || mode == ModeErrors:
		percent, hasSign := strings.CutSuffix(argument, "%")
		steps, ok := parseSteps(percent, 7)
		some := steps > 0 || mode == ModeCapacity // no error at all is no outage
		if !hasSign || !ok || steps > billion || !some {
			return 0, 0, fmt.Errorf("mode = %q, want %s:P%% with P a decimal number %s", text, mode, percentRange(mode))
		}
		return mode, float64(steps) / billion, nil
	case hasArgument:
		return 0, 0, fmt.Errorf("mode = %q, want %s without an argument", text, mode)
	}
	return mode, 0, nil
}

// percentRange says in words what P is of a mode that has one.
func percentRange(mode Mode) string {
	if mode == ModeErrors {
		return "above 0 and at most 100"
	}
	return "0..100"
}

// meantMode asks whether a mode was meant of which a name is the beginning, or which is the beginning of it; it is empty
// where there is none.
func meantMode(name string) string {
	const least = 3 // letters: fewer begin too much
	small := strings.ToLower(name)
	for _, known := range modeNames {
		if len(small) >= least && (strings.HasPrefix(known, small) || strings.HasPrefix(small, known)) {
			return "; did you mean " + known + "?"
		}
	}
	return ""
}

// parseSteps reads a decimal number, digits with at most one point, as a count of
// 10^-decimals. It refuses a sign, an exponent, more decimals and 2^64 steps or more.
func parseSteps(text string, decimals int) (uint64, bool) {
	whole, part, hasPoint := strings.Cut(text, ".")
	if whole == "" || hasPoint && part == "" || len(part) > decimals {
		return 0, false
	}
	digits := whole + part + strings.Repeat("0", decimals-len(part))
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	steps, err := strconv.ParseUint(digits, 10, 64)
	return steps, err == nil
}

// formatSteps is the reverse of parseSteps, without trailing zeros.
func formatSteps(steps uint64, decimals int) string {
	digits := fmt.Sprintf("%0*d", decimals+1, steps)
	point := len(digits) - decimals
	return strings.TrimSuffix(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
}

// String returns the outage as ParseOutage reads it, with its mode always named:
// "2s..4s=slow:3". A valid outage whose Factor is a number of 1e-9 steps comes back
// unchanged.
func (o Outage) String() string {
	text := o.From.String() + ".." + o.To.String() + "=" + o.Mode.String()
	valid := o.Factor >= 0 && o.Factor <= slowMax
	switch {
	case o.Mode == ModeSlow && valid:
		return text + ":" + formatSteps(o.steps(), 9)
	case (o.Mode == ModeCapacity || o.Mode == ModeErrors) && valid:
		return text + ":" + formatSteps(o.steps(), 7) + "%"
	case o.Factor != 0:
		return text + ":" + strconv.FormatFloat(o.Factor, 'g', -1, 64)
	}
	return text
}

// Validate returns every fault of o, nil for none.
func (o Outage) Validate() []error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf(format, args...))
	}
	if o.From < 0 {
		fault("from = %v, want 0 or later", o.From)
	}
	if o.To <= o.From {
		fault("to = %v, want later than from = %v", o.To, o.From)
	}
	// The comparisons are written so that NaN fails them.
	switch o.Mode {
	case ModeStatus, ModeHang, ModeReset, ModeRefuse:
		if o.Factor != 0 {
			fault("factor = %v, want 0 for mode %v", o.Factor, o.Mode)
		}
	case ModeSlow:
		if !(o.Factor >= 1 && o.Factor <= slowMax) {
			fault("slow factor = %v, want 1..%.0f", o.Factor, slowMax)
		}
	case ModeCapacity:
		if !(o.Factor == 0 || o.Factor >= 1/billion && o.Factor <= 1) {
			fault("capacity share = %v, want 0 or 1e-9..1", o.Factor)
		}
	case ModeErrors:
		if !(o.Factor >= 1/billion && o.Factor <= 1) {
			fault("error share = %v, want 1e-9..1", o.Factor)
		}
	default:
		fault("mode = %d, want one of the %d modes", o.Mode, len(modeNames))
	}
	return faults
}

// steps returns Factor in steps of 1e-9.
func (o Outage) steps() uint64 {
	return uint64(math.Round(o.Factor * billion))
}

// speed returns the speed num/den of work during o; ok is false where o is no matter of
// speed.
func (o Outage) speed() (num, den uint64, ok bool) {
	switch o.Mode {
	case ModeSlow:
		return billion, o.steps(), true
	case ModeCapacity:
		return o.steps(), billion, true
	default:
		return 0, 0, false
	}
}

// turnsAway reports whether o fails all arrivals.
func (o Outage) turnsAway() bool {
	return o.Mode < ModeSlow
}

// The parts of a target that an outage is of.
const (
	ofArrivals = iota
	ofWork
	ofSome // of the arrivals
	parts
)

func (o Outage) part() int {
	switch {
	case o.turnsAway():
		return ofArrivals
	case o.Mode == ModeErrors:
		return ofSome
	}
	return ofWork
}

// An Overlap is an outage that overlaps one that began before it in a way that has no meaning. Errors and slower work go
// together; no others do.
type Overlap struct{ Before, Outage Outage }

// Overlaps returns the overlaps of outages, each with the one that reaches furthest before it, by their beginnings.
func Overlaps(outages []Outage) []Overlap {
	var found []Overlap
	var furthest [parts]Outage // of those that began before: a long outage may cover several
	for _, o := range sorted(outages) {
		if o.To <= o.From {
			continue // empty, which is a fault of its own
		}
		var before Outage
		part := o.part()
		for other, f := range furthest {
			if o.From < f.To && f.To > before.To && (other == part || other+part != ofWork+ofSome) {
				before = f
			}
		}
		if before != (Outage{}) {
			found = append(found, Overlap{before, o})
		}
		if o.To > furthest[part].To {
			furthest[part] = o
		}
	}
	return found
}
