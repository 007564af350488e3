package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine is one line about where this runs. With other work on it, only the rows of one table compare.
func machine() string {
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
