package plan

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// digitsMost bounds the length of a number's text: longer ones are no honest input, and
// big.Rat would work on them for long.
const digitsMost = 40

// hintMost bounds the numbers that a hint repeats with a unit.
const hintMost = 9

// day is the longest time a plan may hold anywhere.
const day = 24 * time.Hour

// units of a duration. Two-letter units come before their first or last letter alone.
var durationUnits = []struct {
	name string
	ns   int64
}{
	{"ns", 1},
	{"us", int64(time.Microsecond)},
	{"µs", int64(time.Microsecond)}, // micro sign, U+00B5
	{"μs", int64(time.Microsecond)}, // Greek mu, U+03BC
	{"ms", int64(time.Millisecond)},
	{"s", int64(time.Second)},
	{"m", int64(time.Minute)},
	{"h", int64(time.Hour)},
}

// durationForm is what a text should be that is no duration at all.
const durationForm = "a duration such as 1.5s or 100ms"

// parseDuration reads one or more of NUMBER UNIT, such as 100ms, 1.5s or 1m30s. Unlike
// time.ParseDuration it has no sign, refuses 0 without a unit and anything finer than
// 1 ns instead of dropping it. want is empty when the text is good.
func parseDuration(text string) (d time.Duration, want string) {
	if isDecimal(text) && len(text) <= hintMost {
		return 0, "a duration with a unit, such as " + text + "s or " + text + "ms"
	}
	const form = durationForm
	sum, rest := new(big.Rat), text
	for rest != "" {
		number := leadingDecimal(rest)
		rest = rest[len(number):]
		unit := int64(0)
		for _, u := range durationUnits {
			if strings.HasPrefix(rest, u.name) {
				unit, rest = u.ns, rest[len(u.name):]
				break
			}
		}
		part, ok := new(big.Rat), isDecimal(number)
		if ok {
			part, ok = part.SetString(number)
		}
		if !ok || unit == 0 {
			return 0, form
		}
		sum.Add(sum, part.Mul(part, new(big.Rat).SetInt64(unit)))
	}
	switch {
	case text == "":
		return 0, form
	case !sum.IsInt():
		return 0, "a duration of whole nanoseconds"
	case !sum.Num().IsInt64():
		return 0, "a duration of at most " + formatDuration(day)
	}
	return time.Duration(sum.Num().Int64()), ""
}

// formatDuration writes d in one unit, as a person would: 0s, 100ms, 1.5s, 60s, 5m, 24h.
// parseDuration reads it back exactly; negative lengths get a sign, which it refuses.
func formatDuration(d time.Duration) string {
	whole := func(unit time.Duration) bool { return d%unit == 0 }
	in := func(unit time.Duration, name string) string {
		return strconv.FormatInt(int64(d/unit), 10) + name
	}
	switch {
	case d < 0:
		return d.String()
	case d == 0:
		return "0s"
	case d < time.Second:
		switch {
		case whole(time.Millisecond):
			return in(time.Millisecond, "ms")
		case whole(time.Microsecond):
			return in(time.Microsecond, "us")
		}
		return in(1, "ns")
	case whole(time.Hour):
		return in(time.Hour, "h")
	case whole(time.Minute) && d > time.Minute:
		return in(time.Minute, "m")
	}
	fraction := strconv.FormatInt(int64(time.Second+d%time.Second), 10)[1:] // nine digits
	return strings.TrimSuffix(in(time.Second, "")+"."+strings.TrimRight(fraction, "0"), ".") + "s"
}

// rateUnits are how often a second holds the unit of a rate, in the order of preference.
var rateUnits = []struct {
	name      string
	perSecond func(float64) float64
	of        func(perSecond float64) float64
}{
	{"s", func(n float64) float64 { return n }, func(v float64) float64 { return v }},
	{"m", func(n float64) float64 { return n / 60 }, func(v float64) float64 { return float64(v * 60) }},
	{"h", func(n float64) float64 { return n / 3600 }, func(v float64) float64 { return float64(v * 3600) }},
	{"ms", func(n float64) float64 { return float64(n * 1000) }, func(v float64) float64 { return v / 1000 }},
}

// parseRate reads NUMBER/UNIT, UNIT one of ms, s, m, h, as a number per second. A lone 0
// needs no unit.
func parseRate(text string) (perSecond float64, want string) {
	if text == "0" {
		return 0, ""
	}
	if isDecimal(text) && len(text) <= hintMost {
		return 0, "a rate with a unit, such as " + text + "/s"
	}
	number, unit, found := strings.Cut(text, "/")
	if found && isDecimal(number) {
		n, err := strconv.ParseFloat(number, 64)
		for _, u := range rateUnits {
			if err == nil && u.name == unit {
				return u.perSecond(n), ""
			}
		}
	}
	return 0, "a rate such as 1000/s, 0.5/s or 60/m"
}

// formatRate writes a text that parseRate reads back as v: per second, unless that is long
// and another unit is short, as for 1/m.
func formatRate(v float64) string {
	if v == 0 {
		return "0"
	}
	const short = len("10000.5/s")
	perSecond := formatNumber(v) + "/s"
	if len(perSecond) <= short {
		return perSecond
	}
	for _, u := range rateUnits[1:3] {
		// 15 digits: 31/m is 0.516... per second, 60 times which is not quite 31.
		text := strconv.FormatFloat(u.of(v), 'g', 15, 64) + "/" + u.name
		if back, want := parseRate(text); want == "" && back == v && len(text) <= short {
			return text
		}
	}
	return perSecond
}

// parseShare reads a percentage, such as 20% or 12.5%, as a part of a whole.
func parseShare(text string) (share float64, want string) {
	if n, ok := parseNumber(text); ok && len(text) <= hintMost {
		if n < 1 { // a part of a whole was meant
			return 0, "a share in percent, such as " + formatShare(n)
		}
		return 0, "a share in percent, such as " + text + "%"
	}
	number, found := strings.CutSuffix(text, "%")
	if !found || !isDecimal(number) {
		return 0, "a share in percent, such as 20%"
	}
	// The decimal point moves before the number is rounded, so that 33.3% is 0.333.
	share, err := strconv.ParseFloat(number+"e-2", 64)
	if err != nil {
		return 0, "a share in percent, such as 20%"
	}
	return share, ""
}

// formatShare writes the percentage that parseShare reads back as share.
func formatShare(share float64) string {
	text := formatNumber(share)
	if !isDecimal(text) {
		return text + "%"
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction += "00"
	whole = strings.TrimLeft(whole+fraction[:2], "0")
	fraction = strings.TrimRight(fraction[2:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return whole + fraction + "%"
}

// parseNumber reads a plain decimal number: no sign, exponent, NaN or infinity.
func parseNumber(text string) (float64, bool) {
	if !isDecimal(text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// formatNumber writes the shortest decimal that reads back as v.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// isDecimal reports whether text is ASCII digits with at most one point between or before
// them, of a sane length.
func isDecimal(text string) bool {
	return text != "" && len(text) <= digitsMost && leadingDecimal(text) == text &&
		text[len(text)-1] != '.'
}

// isZero reports whether text is the number 0, without a unit.
func isZero(text string) bool { return isDecimal(text) && strings.Trim(text, "0.") == "" }

// leadingDecimal returns the digits, with at most one point, that text begins with.
func leadingDecimal(text string) string {
	points := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.' && points == 0:
			points++
		case c < '0' || c > '9':
			return text[:i]
		}
	}
	return text
}
