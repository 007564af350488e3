//go:build !linux

package wake

// newPrecise falls back to the runtime's timers, and the report says so.
func newPrecise() (sleeper, error) { return newTimers(), nil }
