package sim

import (
	"testing"
	"unsafe"
)

// An event reads one line of the cache for its client; growth should be a decision.
func TestClientIsOneLine(t *testing.T) {
	if got := unsafe.Sizeof(client{}); got != 64 {
		t.Errorf("a client takes %d bytes, want 64", got)
	}
}
