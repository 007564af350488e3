package load

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// descriptorLimit is how many descriptors this process may open. The Go runtime has raised
// the soft limit to the hard one.
func descriptorLimit() int64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return -1
	}
	return capped(r.Cur)
}

// portCount is how many local ports the system hands out for outgoing connections.
func portCount() int64 {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return -1
	}
	var from, to int64
	if _, err := fmt.Sscan(string(b), &from, &to); err != nil {
		return -1
	}
	return to - from + 1
}
