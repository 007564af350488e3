// Package wire moves small messages over sockets without giving up the processor.
//
// An ordinary read or write tells the Go scheduler that the goroutine may block, and while
// it is in the kernel the scheduler may hand its place to another. In a wave of thousands of
// goroutines each one then waits for a turn, again and again: 2,000 sends took 100 ms where
// they take 15. A write to a loopback socket whose buffer is empty does not block, and
// neither does a read that is asked not to, so a Conn makes them as bare system calls.
//
// It is a leaf: fleet and target both stand on it, and it knows neither.
package wire

import "net"

// A Conn is one connection. One goroutine may send and another receive at the same time, but
// not two the same. Deadlines and Close are those of the net.Conn, and end what waits here.
type Conn struct {
	net.Conn
	raw raw
}

// New returns a Conn over a connection of any kind. Only a kernel's socket is used directly.
func New(conn net.Conn) *Conn {
	c := &Conn{Conn: conn}
	c.raw.init(conn)
	return c
}

// Send writes b. It allocates nothing. What the socket's buffer does not take at once is
// written in the ordinary way, which may wait.
func (c *Conn) Send(b []byte) error {
	n, err := c.raw.send(b)
	if err != nil || n == len(b) {
		return err
	}
	_, err = c.Write(b[n:])
	return err
}

// Receive waits for data and reads at most len(b) bytes of it, like Read. It allocates
// nothing. b must not be empty.
func (c *Conn) Receive(b []byte) (int, error) {
	if !c.raw.ok() {
		return c.Read(b)
	}
	return c.raw.receive(b)
}
