package load

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"

	"stormtest/load/plan"
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

// What descriptors the clients leave are shared by the services behind the first one.
func TestConnectionsOfLayers(t *testing.T) {
	tests := []struct {
		name            string
		clients, layers int
		descriptors     int64
		want            int // 0: too few
	}{
		{"no layers", 2000, 0, 100, connectionsMost},
		{"nothing known", 2000, 3, -1, connectionsMost},
		{"as many as are of use", 2000, 2, 1 << 20, connectionsMost},
		{"what is left", 2000, 3, 20000, (20000 - 64 - 4000) / 6},
		{"the least", 100, 2, 64 + 200 + 64, connectionsFirst},
		{"one less", 100, 2, 64 + 200 + 63, 0},
		{"nothing left", 2000, 1, 1000, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := connectionsOfLayers(tt.clients, tt.layers, tt.descriptors)
			if got != tt.want || (err == nil) != (tt.want > 0) || err != nil && !errors.Is(err, ErrLimit) {
				t.Errorf("connectionsOfLayers(%d, %d, %d) = %d, %v, want %d", tt.clients, tt.layers, tt.descriptors, got, err, tt.want)
			}
		})
	}
}

// A port serves once for each address, and a unix socket needs none.
func TestPortsTo(t *testing.T) {
	for _, tt := range []struct {
		ports        int64
		destinations int
		want         int64
	}{{28232, 1, 28232}, {28232, 3, 84696}, {28232, 0, -1}, {-1, 2, -2}} {
		if got := portsTo(tt.ports, tt.destinations); got != tt.want {
			t.Errorf("portsTo(%d, %d) = %d, want %d", tt.ports, tt.destinations, got, tt.want)
		}
	}
	p := plan.Default()
	p.URL = "http://a.localhost/"
	env := Env{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}, nil
	}}
	for want, socket := range map[int]string{2: "", 0: "/a/socket"} {
		p.UnixSocket = socket
		if e, err := newElsewhere(t.Context(), p, env); err != nil || e.destinations(p) != want {
			t.Errorf("unix socket %q: %d destinations, %v; want %d", socket, e.destinations(p), err, want)
		}
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
