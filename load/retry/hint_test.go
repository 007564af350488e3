package retry_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"stormtest/load/retry"
)

// received is a wall time between two seconds, as answers arrive.
var received = time.Date(2026, time.March, 1, 12, 0, 0, 400e6, time.UTC)

// The three forms of HTTP-date, the way servers write them.
const (
	fixdate = "Mon, 02 Jan 2006 15:04:05 GMT"
	rfc850  = "Monday, 02-Jan-06 15:04:05 GMT"
	asctime = "Mon Jan _2 15:04:05 2006"
)

// A hintTest is one value of Retry-After with one of Date, read at received and with the
// maximum hintMax.
type hintTest struct {
	name, value, date string
	want              retry.Hint
}

const hintMax = 10 * time.Hour

func (tt hintTest) run(t *testing.T) {
	if got := retry.ParseRetryAfter(tt.value, tt.date, received, hintMax); got != tt.want {
		t.Errorf("ParseRetryAfter(%q, %q) = %+v, want %+v", tt.value, tt.date, got, tt.want)
	}
}

var (
	absent  = retry.Hint{}
	invalid = retry.Hint{Seen: true}
)

func valid(after time.Duration) retry.Hint {
	return retry.Hint{After: after, Valid: true, Seen: true}
}

// dateAt writes the second of received, moved on by after.
func dateAt(form string, after time.Duration) string {
	return received.Truncate(time.Second).Add(after).Format(form)
}

func TestParseRetryAfterSeconds(t *testing.T) {
	const s = time.Second
	tests := []hintTest{
		{"absent", "", "", absent},
		{"only spaces", " \t ", "", absent},
		{"zero", "0", "", valid(0)},
		{"one", "1", "", valid(s)},
		{"zeros in front", "0007", "", valid(7 * s)},
		{"spaces around", " \t7 ", "", valid(7 * s)},
		{"date header does not matter", "7", dateAt(fixdate, -time.Hour), valid(7 * s)},
		{"just below the maximum", "35999", "", valid(35999 * s)},
		{"maximum", "36000", "", valid(hintMax)},
		{"above the maximum", "36001", "", valid(hintMax)},
		{"MaxInt64", "9223372036854775807", "", valid(hintMax)},
		{"2^64 + 1", "18446744073709551617", "", valid(hintMax)},
		{"20 digits", "99999999999999999999", "", valid(hintMax)},
		{"21 digits of zero", "000000000000000000000", "", valid(0)},
		{"wraps round to 1 in 64 bits of ns", "18446744074", "", valid(hintMax)},

		{"negative", "-5", "", invalid},
		{"minus zero", "-0", "", invalid},
		{"plus", "+5", "", invalid},
		{"decimals", "1.5", "", invalid},
		{"exponent", "1e3", "", invalid},
		{"hexadecimal", "0x10", "", invalid},
		{"unit", "5s", "", invalid},
		{"two numbers", "5 6", "", invalid},
		{"list", "5, 6", "", invalid},
		{"arabic digits", "٥", "", invalid},
		{"wide digits", "５", "", invalid},
		{"other space", "\u00a05", "", invalid},
		{"new line", "5\n", "", invalid},
		{"word", "soon", "", invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestParseRetryAfterDate(t *testing.T) {
	const s = time.Second
	tests := []hintTest{
		{"fixdate", dateAt(fixdate, 3*s), dateAt(fixdate, 0), valid(3 * s)},
		{"RFC 850", dateAt(rfc850, 3*s), dateAt(fixdate, 0), valid(3 * s)},
		{"asctime", dateAt(asctime, 3*s), dateAt(fixdate, 0), valid(3 * s)},
		{"spaces around a date", " " + dateAt(asctime, 3*s) + "\t", " " + dateAt(fixdate, 0) + " ", valid(3 * s)},
		{"server's clock is an hour slow", dateAt(fixdate, 3*s-time.Hour), dateAt(fixdate, -time.Hour), valid(3 * s)},
		{"server's Date in another form", dateAt(fixdate, 3*s), dateAt(asctime, 0), valid(3 * s)},
		{"no Date", dateAt(fixdate, 3*s), "", valid(2600 * ms)},
		{"Date does not parse", dateAt(fixdate, 3*s), "yesterday", valid(2600 * ms)},
		{"same second", dateAt(fixdate, 0), dateAt(fixdate, 0), valid(0)},
		{"date past", dateAt(fixdate, -time.Hour), dateAt(fixdate, 0), valid(0)},
		{"date past, no Date", dateAt(fixdate, 0), "", valid(0)},
		{"date long past", "Thu, 01 Jan 1970 00:00:00 GMT", "", valid(0)},
		{"year 1", "Mon, 01 Jan 0001 00:00:00 GMT", "", valid(0)},
		{"year 0", "Sat, 01 Jan 0000 00:00:00 GMT", "", valid(0)},
		{"year 9999", "Fri, 31 Dec 9999 23:59:59 GMT", "", valid(hintMax)},
		{"year 9999 from year 0", "Fri, 31 Dec 9999 23:59:59 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", valid(hintMax)},
		{"year 0 from year 9999", "Sat, 01 Jan 0000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", valid(0)},
		{"wrong weekday", "Fri, 01 Mar 2026 12:00:03 GMT", dateAt(fixdate, 0), valid(3 * s)},
		{"leap second", "Sat, 28 Feb 2026 23:59:60 GMT", "Sat, 28 Feb 2026 23:59:58 GMT", valid(2 * s)},
		{"leap second, RFC 850", "Saturday, 28-Feb-26 23:59:60 GMT", "Sat, 28 Feb 2026 23:59:58 GMT", valid(2 * s)},
		{"leap second, asctime", "Sat Feb 28 23:59:60 2026", "Sat Feb 28 23:59:60 2026", valid(0)},
		{"second 60 at noon", "Sat, 28 Feb 2026 12:00:60 GMT", "", invalid},
		{"second 61", "Sat, 28 Feb 2026 23:59:61 GMT", "", invalid},
		{"day that does not exist", "Sun, 29 Feb 2026 12:00:00 GMT", "", invalid},
		{"other zone", "Sun, 01 Mar 2026 13:00:03 CET", "", invalid},
		{"other zone, RFC 850", "Sunday, 01-Mar-26 13:00:03 EST", "", invalid},
		{"offset", "Sun, 01 Mar 2026 13:00:03 +0100", "", invalid},
		{"RFC 3339", "2026-03-01T12:00:03Z", "", invalid},
		{"date with a tail", dateAt(fixdate, 3*s) + " x", "", invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestParseRetryAfterMaximum(t *testing.T) {
	tests := []struct {
		name           string
		value          string
		afterMax, want time.Duration
	}{
		{"zero is NoLimit", "99999999999999999999", 0, retry.NoLimit},
		{"negative is NoLimit", "99999999999999999999", -1, retry.NoLimit},
		{"beyond NoLimit", "99999999999999999999", math.MaxInt64, retry.NoLimit},
		{"date", "Fri, 31 Dec 9999 23:59:59 GMT", 0, retry.NoLimit},
		{"no whole second", "2", 1500 * ms, 1500 * ms},
		{"below a second", "1", 1, 1},
		{"below a second, zero", "0", 1, 0},
		{"at most", "1", time.Second, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := retry.Hint{After: tt.want, Valid: true, Seen: true}
			if got := retry.ParseRetryAfter(tt.value, "", received, tt.afterMax); got != want {
				t.Errorf("ParseRetryAfter(%q, max %v) = %+v, want %+v", tt.value, tt.afterMax, got, want)
			}
		})
	}
}

// Whatever a server sends, the hint is in range and its flags agree.
func FuzzParseRetryAfter(f *testing.F) {
	values := []string{
		"0", "1", "9223372036854775807", "9223372036854775806", "9223372036", "9223372037", "99999999999999999999", "-5", "-1",
		"", " ", "\t", "٥", "５", " 5 ", "5 5", "+5", "1.5", "1e9",
		"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sat, 01 Jan 0000 00:00:00 GMT",
		"Sat, 28 Feb 2026 23:59:60 GMT", "Saturday, 28-Feb-26 23:59:60 GMT", "Sat Feb 28 23:59:60 2026", "Fri, 31 Dec 9999 23:59:60 GMT",
		"Sunday, 01-Mar-26 12:00:03 GMT", "Sun Mar  1 12:00:03 2026", "Sun, 01 Mar 2026 12:00:03 GMT",
	}
	for _, value := range values {
		f.Add(value, "", int64(time.Hour))
		f.Add(value, "Sun, 01 Mar 2026 12:00:00 GMT", int64(math.MaxInt64))
		f.Add("10", value, int64(0))
		f.Add("Sun, 01 Mar 2026 12:00:03 GMT", value, int64(1))
	}
	f.Fuzz(func(t *testing.T, value, date string, afterMax int64) {
		limit := time.Duration(afterMax)
		if limit <= 0 || limit > retry.NoLimit {
			limit = retry.NoLimit
		}
		h := retry.ParseRetryAfter(value, date, received, time.Duration(afterMax))
		if h.After < 0 || h.After > limit {
			t.Errorf("ParseRetryAfter(%q, %q, max %v) = %+v, want After in [0, %v]", value, date, time.Duration(afterMax), h, limit)
		}
		if h.Valid && !h.Seen || !h.Valid && h.After != 0 {
			t.Errorf("ParseRetryAfter(%q, %q) = %+v, want Seen if Valid, and nothing if not", value, date, h)
		}
	})
}

// What a server means is what we read, in all four ways to write it.
func FuzzRetryAfterRoundTrip(f *testing.F) {
	for _, seconds := range []int64{0, 1, -1, 59, 60, 86400, -3600, 1e9, math.MaxInt32} {
		f.Add(seconds)
	}
	f.Fuzz(func(t *testing.T, seconds int64) {
		now := received.Truncate(time.Second)
		seconds %= 40 * 365 * 86400 // an RFC 850 year has two digits
		want := retry.Hint{After: max(time.Duration(seconds)*time.Second, 0), Valid: true, Seen: true}
		for _, form := range []string{fixdate, rfc850, asctime} {
			value := now.Add(time.Duration(seconds) * time.Second).Format(form)
			if got := retry.ParseRetryAfter(value, now.Format(fixdate), received, 0); got != want {
				t.Errorf("ParseRetryAfter(%q) = %+v, want %+v", value, got, want)
			}
		}
		value := strconv.FormatInt(seconds, 10)
		if seconds < 0 {
			want = retry.Hint{Seen: true}
		}
		if got := retry.ParseRetryAfter(value, "", received, 0); got != want {
			t.Errorf("ParseRetryAfter(%q) = %+v, want %+v", value, got, want)
		}
	})
}
