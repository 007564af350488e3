// Package figures has what the benches of this folder print alike.
package figures

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Machine is one line about where this runs. With other work on it, only the rows of one table compare.
func Machine() string {
	text := fmt.Sprintf("%d cores, %s", runtime.NumCPU(), runtime.Version())
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += ", Linux " + strings.TrimSpace(string(b))
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(b), " ")
		text += ", load average before " + load
	}
	return text
}

// Median returns the middle of list, the lower one of two; list must not be empty.
func Median[T int64 | float64 | time.Duration](list []T) T {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[(len(list)-1)/2]
}
