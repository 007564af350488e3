package retry_test

import (
	"testing"
	"unsafe"

	"stormtest/load/retry"
)

// A fleet of millions keeps one Client or State each; growth should be a decision.
func TestClientSize(t *testing.T) {
	if got := unsafe.Sizeof(retry.Client{}); unsafe.Sizeof(uintptr(0)) == 8 && got != 80 {
		t.Errorf("a Client takes %d bytes, want 80", got)
	}
	if got := unsafe.Sizeof(retry.State{}); got != 40 {
		t.Errorf("a State takes %d bytes, want 40", got)
	}
}
