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

// durationMax is the longest duration that a gate may name: up to it a float64 holds every ns.
const durationMax = 1 << 53 * time.Nanosecond

// ParseValue reads a figure of the metric as a gate writes it: durations in ns, rates per second, a word as its place
// in Metric.Words. Of the zero Metric (its name was not known) only the form can be judged. The error says what the
// value may be.
func ParseValue(text string, m Metric) (float64, error) {
	if text == "" {
		return 0, errors.New("no value after the comparison")
	}
	number, isNumber := ParseNumber(text)
	switch m.Unit {
	case Duration:
		return parseDuration(text, isNumber, m.Name)
	case Rate:
		return parseRate(text, isNumber, m.Name)
	case Word:
		return parseWord(text, m)
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
	return number, nil
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

// rateUnits are the seconds in what stands behind the stroke.
var rateUnits = map[string]float64{"s": 1, "m": 60, "h": 3600}

func parseRate(text string, isNumber bool, metric string) (float64, error) {
	if isNumber {
		return 0, fmt.Errorf("%s needs a unit, as in %s/s", metric, text)
	}
	before, unit, _ := strings.Cut(text, "/")
	number, isNumber := ParseNumber(strings.TrimSpace(before))
	seconds, known := rateUnits[strings.TrimSpace(unit)]
	switch {
	case !isNumber || !known:
		return 0, fmt.Errorf("%s = %q, want a rate such as 400/s or 60/m", metric, text)
	case number < 0:
		return 0, fmt.Errorf("%s = %s, want 0/s or more", metric, text)
	}
	return number / seconds, nil
}

func parseWord(text string, m Metric) (float64, error) {
	if i := slices.Index(m.Words, text); i >= 0 {
		return float64(i), nil
	}
	return 0, fmt.Errorf("%s = %q, want one of %s", m.Name, text, strings.Join(m.Words, " "))
}

func badNumber(text string, m Metric) error {
	body, percent := strings.CutSuffix(text, "%")
	if v, ok := ParseNumber(strings.TrimSpace(body)); percent && ok && m.Unit == Share {
		return fmt.Errorf("%s takes no percent: write %s for %s", m.Name, strconv.FormatFloat(v/100, 'g', 6, 64), text)
	}
	want := map[Unit]string{Count: "a plain number", Ratio: "a plain number", Share: "a plain number in 0..1"}[m.Unit]
	return fmt.Errorf("%s = %q, want %s without a unit", m.Name, text, want)
}

// FormatValue writes a figure of the metric as a gate would: exact, and with its unit. What it returns of a value from
// ParseValue, ParseValue reads as the same value.
func FormatValue(v float64, m Metric) string {
	switch m.Unit {
	case Duration:
		if math.Abs(v) < math.MaxInt64 {
			return time.Duration(v).String()
		}
		return formatNumber(v) + "ns"
	case Rate:
		return formatNumber(v) + "/s"
	case Word:
		if i := int(v); float64(i) == v && i >= 0 && i < len(m.Words) {
			return m.Words[i]
		}
	}
	return formatNumber(v)
}

// formatNumber is exact, and without an exponent where that is legible.
func formatNumber(v float64) string {
	form := byte('g')
	if size := math.Abs(v); size == 0 || size >= 1e-6 && size < 1e15 {
		form = 'f'
	}
	return strconv.FormatFloat(v, form, -1, 64)
}

// ParseNumber reads the grammar's number, which is narrower than strconv's: no "inf", no hexadecimal
// form, no underscores, no leading "+". A number too large for a float64 is none, and -0 is 0.
func ParseNumber(s string) (float64, bool) {
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
	return v + 0, err == nil && !math.IsInf(v, 0)
}

// digits cuts the leading digits off and says whether there was one.
func digits(s string) (rest string, ok bool) {
	rest = strings.TrimLeft(s, "0123456789")
	return rest, len(rest) < len(s)
}
