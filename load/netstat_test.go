package load

import (
	"strings"
	"testing"
)

// netstat is the file of a machine whose queue has overflowed, shortened.
const netstat = `TcpExt: SyncookiesSent EmbryonicRsts ListenOverflows ListenDrops TCPHPHits
TcpExt: 0 6 1843 1851 9
IpExt: InNoRoutes ListenDrops InOctets
IpExt: 0 7 5561
`

func TestParseListenDrops(t *testing.T) {
	tests := []struct {
		name, text string
		want       listenDrops
		ok         bool
	}{
		{"a real file", netstat, listenDrops{1843, 1851}, true},
		{"another order", "IpExt: A\nIpExt: 1\nTcpExt: ListenDrops X ListenOverflows\nTcpExt: 5 0 4\n", listenDrops{4, 5}, true},
		{"64 bits", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 4294967296 9223372036854775807", listenDrops{1 << 32, 1<<63 - 1}, true},
		{"nothing", "", listenDrops{}, false},
		{"without the names", "TcpExt: A B\nTcpExt: 1 2\n", listenDrops{}, false},
		{"one name", "TcpExt: ListenOverflows\nTcpExt: 1\n", listenDrops{1, 0}, false},
		{"names without values", "TcpExt: ListenOverflows ListenDrops", listenDrops{}, false},
		{"too few values", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 1\n", listenDrops{1, 0}, false},
		{"no number", "TcpExt: ListenOverflows ListenDrops\nTcpExt: one 2\n", listenDrops{0, 2}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := parseListenDrops(tt.text); ok != tt.ok || got != tt.want {
				t.Errorf("parseListenDrops = %+v, %v, want %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// D-13 (c): a queue that overflowed is told with its count and its time, and one during the run
// marks it; what was dropped before a run started is none of its arrivals.
func TestListenWatch(t *testing.T) {
	tests := []struct {
		name     string
		readings []listenDrops // before, at t0, at the end; an empty list is a kernel that tells nothing
		notes    []string      // a part of each
		reasons  []string
	}{
		{"none", []listenDrops{{10, 12}, {10, 12}, {10, 12}}, nil, nil},
		{"while connecting", []listenDrops{{10, 12}, {17, 20}, {17, 20}},
			[]string{"overflowed 7 times and the kernel dropped 8 handshakes while the fleet connected"}, nil},
		{"during the run", []listenDrops{{10, 12}, {10, 12}, {13, 15}},
			[]string{"overflowed 3 times and the kernel dropped 3 handshakes during the run (its count is of the whole system"},
			[]string{"the kernel dropped 3 handshakes during the run (its count is of the whole system)"}},
		{"both", []listenDrops{{0, 0}, {1, 1}, {3, 4}},
			[]string{"overflowed 1 times", "overflowed 2 times and the kernel dropped 3 handshakes during"}, []string{"dropped 3 handshakes"}},
		{"a counter that went backwards", []listenDrops{{10, 12}, {1, 1}, {1, 1}}, nil, nil},
		{"nothing known", nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			w := listenWatch{read: func() (listenDrops, bool) {
				if n == len(tt.readings) {
					return listenDrops{}, false
				}
				n++
				return tt.readings[n-1], true
			}}
			w.begin()
			w.started()
			w.ended()
			for what, list := range map[string][2][]string{"notes": {w.notes(), tt.notes}, "reasons": {w.reasons(), tt.reasons}} {
				got, want := list[0], list[1]
				if len(got) != len(want) {
					t.Errorf("%s = %q, want %q", what, got, want)
					continue
				}
				for i := range want {
					if !strings.Contains(got[i], want[i]) {
						t.Errorf("%s = %q, want %q", what, got, want)
					}
				}
			}
		})
	}
}

func TestTheZeroWatchWatchesNothing(t *testing.T) {
	var w listenWatch
	w.begin()
	w.started()
	w.ended()
	if w.notes() != nil || w.reasons() != nil {
		t.Errorf("notes %q, reasons %q of a watch that read nothing", w.notes(), w.reasons())
	}
}
