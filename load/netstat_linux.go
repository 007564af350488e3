package load

import "os"

// readListenDrops returns the kernel's counters, false where it does not tell them.
func readListenDrops() (listenDrops, bool) {
	text, err := os.ReadFile("/proc/net/netstat")
	if err != nil {
		return listenDrops{}, false
	}
	return parseListenDrops(string(text))
}
