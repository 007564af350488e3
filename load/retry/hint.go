package retry

import (
	"strings"
	"time"
)

// A Hint is what one answer's Retry-After said. The zero Hint means that it had none.
type Hint struct {
	// After is how long the server asked to be left alone, counted from the receipt of the
	// answer; 0 unless Valid, never negative.
	After time.Duration
	Valid bool // the value follows the grammar
	Seen  bool // there was a value; Seen and not Valid is counted as invalid and obeyed nowhere
}

// The three forms of HTTP-date (RFC 9110, 5.6.7). All are GMT: the literal keeps a foreign
// zone name from being read by the zone table of this machine.
var dateForms = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT",  // IMF-fixdate
	"Monday, 02-Jan-06 15:04:05 GMT", // RFC 850
	"Mon Jan _2 15:04:05 2006",       // asctime
}

// ParseRetryAfter reads the value of a Retry-After header:
//
//	Retry-After = HTTP-date / 1*DIGIT     ; digits are seconds
//
// Spaces and tabs around the value are ignored; "" is no header at all. A date counts from
// the answer's own Date header, given as date, or where that does not parse from received,
// the wall time at which the answer came; a date in the past is 0. What is longer than
// afterMax, however many digits it has, is afterMax; afterMax <= 0 or beyond NoLimit means
// NoLimit.
// Everything else ("-5", "+5", "1.5", other zones than GMT) is Seen and not Valid.
//
// Dates are read leniently where RFC 9110 asks for it: the weekday is not checked. The two
// digits of an RFC 850 year are 1969..2068, not a window around now. A leap second counts
// as the first second of the next minute.
// Source: RFC 9110, 10.2.3 and 5.6.7.
func ParseRetryAfter(value, date string, received time.Time, afterMax time.Duration) Hint {
	if afterMax <= 0 || afterMax > NoLimit {
		afterMax = NoLimit
	}
	value = trimSpace(value)
	if value == "" {
		return Hint{}
	}
	if isDigits(value) {
		return Hint{After: saturatedSeconds(value, afterMax), Valid: true, Seen: true}
	}
	at, ok := parseDate(value)
	if !ok {
		return Hint{Seen: true}
	}
	from, ok := parseDate(trimSpace(date))
	if !ok {
		from = received
	}
	// Sub saturates, so year 9999 cannot wrap round to the past.
	return Hint{After: min(max(at.Sub(from), 0), afterMax), Valid: true, Seen: true}
}

// saturatedSeconds returns the time of a decimal number of seconds, at most afterMax.
func saturatedSeconds(digits string, afterMax time.Duration) time.Duration {
	var seconds int64
	for i := range len(digits) {
		seconds = seconds*10 + int64(digits[i]-'0')
		if seconds > int64(afterMax/time.Second) {
			return afterMax
		}
	}
	return time.Duration(seconds) * time.Second
}

// parseDate reads an HTTP-date in any of its three forms.
func parseDate(text string) (at time.Time, ok bool) {
	// Package time knows no second 60; RFC 9110 allows it in the last minute of a day.
	const leap, before = " 23:59:60", " 23:59:59"
	var extra time.Duration
	if strings.Contains(text, leap) {
		text = strings.Replace(text, leap, before, 1)
		extra = time.Second
	}
	for _, form := range dateForms {
		if at, err := time.Parse(form, text); err == nil {
			return at.Add(extra), true
		}
	}
	return time.Time{}, false
}

// trimSpace cuts optional white space as HTTP knows it: spaces and tabs, nothing else.
func trimSpace(text string) string {
	return strings.Trim(text, " \t")
}
