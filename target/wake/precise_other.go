//go:build !linux

package wake

import "time"

// spinStretch is more than the runtime's timers oversleep on their grid of 1 ms.
const spinStretch = 2 * time.Millisecond

// newPrecise falls back to the runtime's timers, and the report says so.
func newPrecise() (sleeper, error) { return newTimers(), nil }
