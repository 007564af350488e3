// Package targettest is an in-memory network for tests: listeners, dialers and connections
// that behave like TCP on one machine and need no sockets.
//
// Everything waits on sync.Cond and on timers of package time, and on nothing else, so a
// goroutine that waits here is durably blocked: in a bubble of testing/synctest time moves
// on and a test of many seconds takes none. Outside a bubble it works in real time.
//
//	var network targettest.Network
//	listener, err := network.Listen("target:80")
//	go server.Serve(listener)
//	client := http.Client{Transport: &http.Transport{DialContext: network.DialContext}}
//	response, err := client.Get("http://target/")
//
// What differs from TCP: data arrives at once and in the chunks it was written in as far as
// the buffers allow, an address is any text, and a write to a peer that has closed fails at
// once, where TCP notices only by the answer to the first such write.
package targettest

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

const (
	// BufferBytes is how much one direction of a connection holds: a write waits only
	// while so much has not been read yet.
	BufferBytes = 64 << 10
	// Backlog is how many connections wait for Accept at most; the dial after them waits
	// for room, as one over TCP does while the kernel repeats it. It is Linux's somaxconn.
	Backlog = 4096
)

// networkName is what the addresses of this package call their network.
const networkName = "memory"

// addr is an address in a Network: any text.
type addr string

func (a addr) Network() string { return networkName }
func (a addr) String() string  { return string(a) }

// A Network is a set of addresses that can be listened on and dialled. The zero value is
// ready and has no listeners. It must not be copied. Safe for concurrent use.
type Network struct {
	mu        sync.Mutex // guards the fields of its listeners, too
	listeners map[string]*Listener
	dialled   uint64
}

// Listen opens a listener on address, which is matched to the letter by those who dial;
// net/http dials "host:80" for http://host/. It fails with syscall.EADDRINUSE inside a
// *net.OpError while another listener is open there, and with EADDRNOTAVAIL for the empty
// address.
func (n *Network) Listen(address string) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refuse := func(errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Net: networkName, Addr: addr(address), Err: os.NewSyscallError("bind", errno)}
	}
	if address == "" {
		return nil, refuse(syscall.EADDRNOTAVAIL)
	}
	if n.listeners[address] != nil {
		return nil, refuse(syscall.EADDRINUSE)
	}
	l := &Listener{network: n, address: addr(address)}
	l.changed.L = &n.mu
	if n.listeners == nil {
		n.listeners = map[string]*Listener{}
	}
	n.listeners[address] = l
	return l, nil
}

// Dial is DialContext without a context.
func (n *Network) Dial(network, address string) (net.Conn, error) {
	return n.DialContext(context.Background(), network, address)
}

// DialContext connects to the listener on address and returns a *Conn. It does not wait for
// Accept. The name of the network appears in errors only. All errors are *net.OpError:
// around syscall.ECONNREFUSED where nobody listens, around ctx.Err() where ctx ends, which
// matters only while the listener's backlog is full.
//
// Its form is that of http.Transport.DialContext.
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refuse := func(err error) error {
		return &net.OpError{Op: "dial", Net: network, Addr: addr(address), Err: err}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, refuse(err)
		}
		l := n.listeners[address]
		if l == nil {
			return nil, refuse(os.NewSyscallError("connect", syscall.ECONNREFUSED))
		}
		if len(l.backlog) < Backlog {
			n.dialled++
			client, server := newPair(addr(fmt.Sprintf("client:%d", n.dialled)), l.address)
			l.backlog = append(l.backlog, server)
			l.changed.Broadcast()
			return client, nil
		}
		stop := context.AfterFunc(ctx, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			l.changed.Broadcast()
		})
		l.changed.Wait()
		stop()
	}
}

// A Listener accepts the connections dialled to its address. Safe for concurrent use.
type Listener struct {
	network *Network
	address addr
	changed sync.Cond // on network.mu: the backlog or closed changed

	// Guarded by network.mu.
	backlog []*Conn
	closed  bool
}

// Accept waits for the next connection and returns it, a *Conn. It fails with net.ErrClosed
// inside a *net.OpError once the listener is closed.
func (l *Listener) Accept() (net.Conn, error) {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	for {
		if l.closed {
			return nil, l.fail("accept")
		}
		if len(l.backlog) > 0 {
			c := l.backlog[0]
			l.backlog[0] = nil
			l.backlog = l.backlog[1:]
			l.changed.Broadcast()
			return c, nil
		}
		l.changed.Wait()
	}
}

// Close ends the listener: its address refuses connections until somebody listens on it
// again, Accept fails, and connections that were not accepted yet are reset. Accepted
// connections live on. A second Close fails with net.ErrClosed.
func (l *Listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.closed {
		return l.fail("close")
	}
	l.closed = true
	delete(l.network.listeners, string(l.address))
	for _, c := range l.backlog {
		c.Abort()
	}
	l.backlog = nil
	l.changed.Broadcast()
	return nil
}

// Addr returns the address that Listen was given, on the network "memory".
func (l *Listener) Addr() net.Addr { return l.address }

func (l *Listener) fail(op string) error {
	return &net.OpError{Op: op, Net: networkName, Addr: l.address, Err: net.ErrClosed}
}
