package target

import (
	"math"
	"testing"
	"time"
)

func TestAppendTimeout(t *testing.T) {
	for _, tt := range []struct {
		left time.Duration
		want string
	}{
		{-1, "00000000n"},
		{0, "00000000n"},
		{1, "00000001n"},
		{99_999_999, "99999999n"},
		{100_000_000, "00100000u"},
		{100_000_999, "00100000u"},
		{1500 * time.Millisecond, "01500000u"},
		{100 * time.Second, "00100000m"},
		{99_999_999*time.Millisecond + 1, "99999999m"},
		{100_000_000 * time.Millisecond, "00100000S"},
		{math.MaxInt64, "02562047H"}, // in seconds, and in minutes, it has nine digits
	} {
		if got := string(AppendTimeout(nil, tt.left)); got != tt.want {
			t.Errorf("AppendTimeout(%d) = %q, want %q", tt.left, got, tt.want)
		}
	}
}

// What is read back is never more than was left, and less by a part in 10^5 at most, but for hours.
func FuzzTimeout(f *testing.F) {
	for _, seed := range []int64{0, 1, -1, 99_999_999, 100_000_000, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64} {
		f.Add(seed, "1n")
	}
	for _, seed := range []string{"", "n", "1", "99999999H", "100000000n", "-1S", "1x", " 1S", "00000000n"} {
		f.Add(int64(5), seed)
	}
	f.Fuzz(func(t *testing.T, left int64, text string) {
		written := AppendTimeout(nil, time.Duration(left))
		back, ok := parseTimeout(written)
		if left = max(left, 0); !ok || len(written) != TimeoutBytes || back > time.Duration(left) ||
			time.Duration(left)-back > max(time.Duration(left)/99_999, time.Microsecond) {
			t.Errorf("%d is written as %q and read as %d, %v", left, written, back, ok)
		}
		d, ok := parseTimeout(text)
		if ok && (d < 0 || len(text) < 2 || len(text) > TimeoutBytes) {
			t.Errorf("%q is read as %d", text, d)
		}
		if ok && d < math.MaxInt64 {
			if again, ok := parseTimeout(AppendTimeout(nil, d)); !ok || again > d {
				t.Errorf("%q is read as %d, which comes back as %d", text, d, again)
			}
		}
	})
}
