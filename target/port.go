package target

import (
	"fmt"
	"net"
	"net/netip"
)

// A Port is a TCP port that stays the target's while nothing listens on it.
//
// During an outage of mode refuse the listener is closed. The kernel would then be free to
// give the port to one of the thousands of connections that the fleet tries to open, which
// may even connect to itself. So a second socket, bound and never listening, holds it.
type Port struct {
	addr netip.AddrPort
	hold holder
}

// OpenPort takes a free port of an address, such as 127.0.0.1, or a given one.
func OpenPort(addr netip.AddrPort) (*Port, error) {
	hold, port, err := holdPort(addr)
	if err != nil {
		return nil, fmt.Errorf("target: bind %v: %w", addr, err)
	}
	return &Port{addr: netip.AddrPortFrom(addr.Addr(), port), hold: hold}, nil
}

// Addr is the address with the port that was taken.
func (p *Port) Addr() netip.AddrPort { return p.addr }

// Open listens. The listener before must be closed.
func (p *Port) Open() (net.Listener, error) {
	return net.Listen("tcp", p.addr.String())
}

// Close gives the port back.
func (p *Port) Close() error { return p.hold.Close() }
