//go:build !unix

package target

import (
	"net"
	"net/netip"
)

// holder holds nothing here: during an outage of mode refuse the port is free to be taken.
type holder struct{}

func (holder) Close() error { return nil }

// holdPort finds a free port.
func holdPort(addr netip.AddrPort) (holder, uint16, error) {
	ln, err := net.Listen("tcp", addr.String())
	if err != nil {
		return holder{}, 0, err
	}
	port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
	return holder{}, port, ln.Close()
}
