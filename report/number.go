package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// none stands for a figure without a value. In ASCII it is "-".
const none = "–"

// count writes a whole number with separators: 1,234,567.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// countOr is count, or none for nil.
func countOr(n *int64) string {
	if n == nil {
		return none
	}
	return count(*n)
}

// plural writes a count with its noun: 1 wave, 2 waves.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(noun, "ay") {
		return count(n) + " " + stem + "ies"
	}
	return count(n) + " " + noun + "s"
}

// finite reports whether v points to a number.
func finite(v *float64) bool { return v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) }

// number writes a figure with 3 significant digits and separators: 0.0123, 4.06, 20.0, 1,234.
func number(v *float64) string {
	if !finite(v) {
		return none
	}
	return significant(*v)
}

func significant(v float64) string {
	const digits = 3
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 1e15 || a < 1e-4:
		return strconv.FormatFloat(v, 'e', digits-1, 64)
	case a >= 999.5:
		return count(int64(math.Round(v)))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	exponent := int(math.Floor(math.Log10(math.Abs(rounded)) + 1e-12))
	return strconv.FormatFloat(rounded, 'f', max(0, digits-1-exponent), 64)
}

// index writes an index of 0..1 with 2 decimals, and with more where rounding would carry it
// to a threshold that it did not reach: 0.2496 is no convoy and must not read 0.25.
func index(v *float64) string {
	if !finite(v) {
		return none
	}
	return honest(*v, 2, 0.10, 0.25)
}

// times writes a ratio to the capacity: 20.0x. A ratio that is not 1 never reads 1.00x.
func times(v *float64) string {
	if !finite(v) {
		return none
	}
	if *v > 0.9 && *v < 1.1 {
		return honest(*v, 2, 1, math.Nextafter(1, 2)) + "x"
	}
	return significant(*v) + "x"
}

// honest rounds v to the decimals, or to as many more as keep it on its side of every threshold.
func honest(v float64, decimals int, thresholds ...float64) string {
	for ; decimals < 15; decimals++ {
		s := strconv.FormatFloat(v, 'f', decimals, 64)
		shown, _ := strconv.ParseFloat(s, 64)
		kept := true
		for _, t := range thresholds {
			kept = kept && (v < t) == (shown < t)
		}
		if kept {
			return s
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// percent writes a share. Nothing but none of it reads 0 %, and nothing but all reads 100 %.
func percent(v *float64) string {
	if !finite(v) || !isFinite(*v*100) {
		return none
	}
	return percentDigits(*v) + string(nbsp) + "%"
}

func percentDigits(share float64) string {
	if !isFinite(share * 100) {
		return none // a share beyond 1e306 is no share
	}
	s := strconv.FormatFloat(share*100, 'f', 1, 64)
	switch {
	case share > 0 && s == "0.0":
		return "<0.1"
	case share < 1 && s == "100.0":
		return ">99.9"
	}
	return strings.TrimSuffix(s, ".0")
}

type durationUnit struct {
	name     string
	ns, from float64
}

// clockFrom is the length in ns from which on one is written as a clock shows it, rounded to the second or not.
const clockFrom = 119.5e9

// clock writes a length of two minutes or more as the flags take it: 2m, 16m42s, 1h1m12.8s.
func clock(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// durationUnits are tried from the largest; a unit is used from the length `from` on, in ns, so that three
// digits stand before or behind the point: 99.9 s, 119 s.
var durationUnits = []durationUnit{
	{"s", 1e9, 0.9995e9}, {"ms", 1e6, 0.9995e6}, {"µs", 1e3, 0.9995e3}, {"ns", 1, 0},
}

// length writes a length of time with 3 significant digits: 831 µs, 12.3 ms, 1.25 s; from two minutes on to the second: 16m42s.
func length(ns float64) string {
	if ns == 0 {
		return "0" + string(nbsp) + "s"
	}
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	if ns >= clockFrom {
		return sign + clock(time.Duration(min(ns, 9e18)).Round(time.Second))
	}
	u := unitOf(ns)
	if u.ns == 1 {
		return sign + count(int64(math.Round(ns))) + string(nbsp) + u.name
	}
	return sign + lengthDigits(ns/u.ns) + string(nbsp) + u.name
}

// unitOf is the unit in which a length of so many ns, 0 or more, is written.
func unitOf(ns float64) durationUnit {
	for _, u := range durationUnits {
		if ns >= u.from {
			return u
		}
	}
	return durationUnits[len(durationUnits)-1]
}

// lengthDigits writes a number of units with 3 significant digits, but with 2 decimals from 0.1 to 1.
func lengthDigits(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return count(int64(math.Round(max(min(v, 1e18), -1e18))))
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a < 0.0995: // of a range whose mean chose the unit
		return significant(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// lengthOr is length, or none for nil.
func lengthOr(ns *int64) string {
	if ns == nil {
		return none
	}
	return length(float64(*ns))
}

// moment writes a moment or a length that the user gave, without losing digits: 100 ms, 1 s, 2.5 s, 1h1m12.8s.
func moment(d time.Duration) string {
	if d.Abs() >= 2*time.Minute {
		return clock(d)
	}
	unit, name := time.Second, "s"
	switch a := d.Abs(); {
	case a == 0 || a >= time.Second:
	case a >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	default:
		unit, name = time.Microsecond, "µs"
	}
	return decimal(d, unit) + string(nbsp) + name
}

// seconds writes d in seconds without losing digits: 0.1, 1,800.
func seconds(d time.Duration) string { return decimal(d, time.Second) }

// decimal is d/unit as an exact decimal number with separators.
func decimal(d, unit time.Duration) string {
	whole, rest := d/unit, (d % unit).Abs()
	s := count(int64(whole))
	if whole == 0 && d < 0 {
		s = "-" + s
	}
	if rest == 0 {
		return s
	}
	digits := strconv.FormatInt(int64(unit+rest), 10)[1:] // with leading zeros
	return s + "." + strings.TrimRight(digits, "0")
}
