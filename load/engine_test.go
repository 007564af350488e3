package load_test

import (
	"net"
	"strings"
	"testing"

	"stormtest/load"
	"stormtest/load/plan"
	"stormtest/target"
)

// What only virtual time can do is refused by the clock's engine, as a fault of the plan's.
func TestWhatOnlyVirtualTimeCan(t *testing.T) {
	for _, line := range []string{"latency: 10ms~2ms", "loss: 1%", "model: occ", "model: reject-if-busy", "clients: 1000001"} {
		p := scenario(t, line)
		field, _, _ := strings.Cut(line, ":")
		result, err := load.Run(t.Context(), p, load.Env{})
		if result != nil || !load.IsUsage(err) || !strings.Contains(err.Error(), field+": ") {
			t.Errorf("Run with %s = %v, %v, want a fault of %s", line, result, err, field)
		}
		if field != "model" { // a service has no clients, and no network of ours
			continue
		}
		result, err = load.Serve(t.Context(), p, load.Service{Opener: closed{}}, load.Env{})
		if result != nil || !load.IsUsage(err) || !strings.Contains(err.Error(), field+": ") {
			t.Errorf("Serve with %s = %v, %v, want a fault of %s", line, result, err, field)
		}
	}
	p := scenario(t, "transport: memory", "clients: 3", "repeat: 1")
	if err := p.For(plan.Real); err != nil {
		t.Errorf("For(Real) = %v, want nil", err)
	}
}

// closed is a place that must not be opened.
type closed struct{ target.Opener }

func (closed) Open() (net.Listener, error) { panic("a listener was opened") }
