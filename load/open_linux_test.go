package load_test

import (
	"os"
	"runtime"
	"testing"

	"stormtest/load"
)

// D-11: when a run over real sockets returns, every socket and every goroutine of it is gone,
// however many attempts failed.
func TestNothingIsLeftOpen(t *testing.T) {
	p := scenario(t, "strategy: constant", "clients: 50", "base: 2ms", "cap: 2ms", "max-retries: 9", "capacity: 0")
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	var files, goroutines int
	for i := range 2 { // the first run opens what the runtime keeps
		result, err := load.Run(t.Context(), p, load.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if run := result.Runs[0]; run.Attempts.Sent != 500 || run.Generator.Connections != 50 {
			t.Errorf("%d attempts over %d connections, want 500 over 50", run.Attempts.Sent, run.Generator.Connections)
		}
		if n, m := descriptors(), runtime.NumGoroutine(); i > 0 && (n > files || m > goroutines) {
			t.Errorf("after the second run %d descriptors and %d goroutines, after the first %d and %d", n, m, files, goroutines)
		}
		files, goroutines = descriptors(), runtime.NumGoroutine()
	}
}
