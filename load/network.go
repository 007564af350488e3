package load

import (
	"context"
	"net"
	"net/netip"

	"stormtest/target"
)

// A Place is where one run's target listens and how its clients get there.
type Place struct {
	Opener target.Opener
	Dial   func(ctx context.Context, client int) (net.Conn, error)
	Host   string // the authority in requests
	Close  func() error
}

// Loopback takes a free TCP port of 127.0.0.1.
func Loopback() (Place, error) {
	port, err := target.OpenPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
	if err != nil {
		return Place{}, err
	}
	addr := port.Addr().String()
	var d net.Dialer
	return Place{
		Opener: port,
		Dial:   func(ctx context.Context, _ int) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) },
		Host:   addr,
		Close:  port.Close,
	}, nil
}
