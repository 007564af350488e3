//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// umask returns the process's file mode mask, which the system lets one read only by
// setting it.
func umask() os.FileMode {
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return os.FileMode(mask)
}
