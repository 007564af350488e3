//go:build !linux

package load

// readListenDrops does not know how to ask this system.
func readListenDrops() (listenDrops, bool) { return listenDrops{}, false }
