package target

import (
	"math"
	"time"
)

// TimeoutBytes is how long the value of HeaderTimeout is.
const TimeoutBytes = timeoutDigits + 1

// timeoutDigits is how many digits gRPC allows.
const timeoutDigits = 8

// timeoutUnits are the units of gRPC's timeouts, the finest first.
var timeoutUnits = [...]struct {
	letter byte
	length time.Duration
}{
	{'n', time.Nanosecond},
	{'u', time.Microsecond},
	{'m', time.Millisecond},
	{'S', time.Second},
	{'M', time.Minute},
	{'H', time.Hour},
}

// AppendTimeout appends a length of time, nothing where it is negative, as HeaderTimeout holds it: eight digits and the
// letter of the finest unit in which it has no more. What is left of a unit is left out, so that the target never
// believes in more time than there is, nor in less by a part in 10^5.
//
// The form is that of grpc-timeout, with leading zeros: "01500000u" is a second and a half.
// Source: gRPC over HTTP/2, "Timeout".
func AppendTimeout(b []byte, d time.Duration) []byte {
	const most = 99_999_999
	unit := timeoutUnits[0]
	for _, u := range timeoutUnits {
		if unit = u; d/u.length <= most {
			break
		}
	}
	n := int64(min(max(d, 0)/unit.length, most))
	at := len(b)
	b = append(b, "00000000"...)
	for i := at + timeoutDigits - 1; n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, unit.letter)
}

// parseTimeout reads what AppendTimeout and gRPC write: one to eight digits and a unit.
func parseTimeout[T string | []byte](text T) (time.Duration, bool) {
	last := len(text) - 1
	if last < 1 || last > timeoutDigits {
		return 0, false
	}
	var n int64
	for i := range last {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(text[i]-'0')
	}
	for _, u := range timeoutUnits {
		if u.letter != text[last] {
			continue
		}
		if n > math.MaxInt64/int64(u.length) { // longer than any run
			return math.MaxInt64, true
		}
		return time.Duration(n) * u.length, true
	}
	return 0, false
}
