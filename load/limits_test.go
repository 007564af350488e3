package load

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestFits(t *testing.T) {
	tests := []struct {
		name               string
		clients            int
		descriptors, ports int64
		want               string // in the error; empty: it fits
	}{
		{"a small fleet", 2000, 20000, 28232, ""},
		{"the largest for the descriptors", 9968, 20000, 28232, ""},
		{"one more", 9969, 20000, 28232, "at most 9968 clients fit, or raise the limit (ulimit -n 20002)"},
		{"no descriptors to speak of", 1, 10, 28232, "at most 0 clients fit"},
		{"the largest for the ports", 28232, 1 << 20, 28232, ""},
		{"one more than ports", 28233, 1 << 20, 28232, "at most 28232 clients fit"},
		{"nothing known", 1_000_000, -1, -1, ""},
		{"no limit", 1_000_000, math.MaxInt64, math.MaxInt64, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := fits(tt.clients, 2, tt.descriptors, tt.ports)
			if tt.want == "" {
				if err != nil {
					t.Errorf("fits(%d, %d, %d) = %v, want nil", tt.clients, tt.descriptors, tt.ports, err)
				}
				return
			}
			if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("fits(%d, %d, %d) = %v, want ErrLimit with %q", tt.clients, tt.descriptors, tt.ports, err, tt.want)
			}
		})
	}
}

func TestLimitsOfThisMachineAreRead(t *testing.T) {
	if n := descriptorLimit(); n == 0 {
		t.Error("descriptors = 0")
	}
	if n := portCount(); n == 0 {
		t.Error("ports = 0")
	}
	if got := capped(math.MaxUint64); got != math.MaxInt64 {
		t.Errorf("capped(infinity) = %d, want MaxInt64", got)
	}
}
