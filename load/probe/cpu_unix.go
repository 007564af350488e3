//go:build unix

package probe

import (
	"syscall"
	"time"
)

// processorTime is what this process has taken of all cores; 0 where nobody knows.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
