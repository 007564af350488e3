package remote

import (
	"context"
	"net"
	"time"

	"stormtest/load/retry"
)

// Dial connects a client, of index 0 and up, by TCP or to the unix socket, without TLS.
//
// Client i starts at address i mod n, so that a fleet spreads over the addresses of a name
// evenly, and goes on to the next where one refuses or does not answer: a dead address costs
// time and no attempt. The time that ctx leaves is shared among the addresses that are left,
// at least 2 s each where there is that much, as [net.Dialer] does; without a deadline every
// one may take as long as the system lets it. Nothing is remembered, so that each dial meets
// the target as it is.
//
// The error is that of the address it started at, for the others only stood in for it, with
// two exceptions that end the dial at once: the end of ctx, and a fault of this machine, which
// [Exhausted] tells and another address would only hide. Safe for concurrent use.
func (s *Site) Dial(ctx context.Context, client int) (net.Conn, error) {
	if s.unixSocket != "" {
		return s.connect(ctx, "unix", s.unixSocket)
	}
	n := len(s.addresses)
	if n == 0 {
		panic("remote: BUG: Dial before Resolve")
	}
	var first error
	for i := range n {
		conn, err := s.try(ctx, s.addresses[(client%n+i)%n], n-i)
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil || Exhausted(err) {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// shareMin is the least time for one of several addresses, where there is that much.
const shareMin = 2 * time.Second

// try dials one address in its share of the time, which it has to itself where it is the last
// of those left.
func (s *Site) try(ctx context.Context, address string, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		rest := time.Until(end)
		if share := max(rest/time.Duration(left), shareMin); share < rest {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, share)
			defer cancel()
		}
	}
	return s.connect(ctx, "tcp", address)
}

// Exhausted reports whether an error of Dial or Resolve says that this machine ran out of
// descriptors, ports or buffers, which is no fault of the target's.
func Exhausted(err error) bool {
	kind, local := LocalFault(err)
	return local && kind != retry.LocalNetwork // another address may have a route
}
