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

import (
	"io"
	"net"
)

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

// SendNow is Send for a peer that may not read: where a socket's buffer does not take all of b
// at once, the connection is closed instead of waited for.
func (c *Conn) SendNow(b []byte) error {
	if !c.raw.ok() {
		return c.Send(b)
	}
	n, err := c.raw.send(b)
	if err == nil && n < len(b) {
		_ = c.Close()
		err = io.ErrShortWrite
	}
	return err
}

// ReceiveAfter is Receive for data that cannot come before start has been called, such as the
// answer to what start sends. It begins to watch the connection, calls start, and waits
// without looking first, which would be a system call in vain. It does not call start where
// the connection is closed or past its deadline. Data, or an end, that came before is noticed
// only with what comes after.
func (c *Conn) ReceiveAfter(start func(), b []byte) (int, error) {
	if !c.raw.ok() {
		start()
		return c.Read(b)
	}
	c.raw.start = start
	n, err := c.raw.receive(b)
	c.raw.start = nil
	return n, err
}

// ReceiveAfterLook is ReceiveAfter for a peer that may send, or end, when it is not asked to: it
// looks first, a system call more, and what is there already is received without a call of start.
// Over what is no socket it does not look.
func (c *Conn) ReceiveAfterLook(start func(), b []byte) (int, error) {
	c.raw.look = true
	n, err := c.ReceiveAfter(start, b)
	c.raw.look = false
	return n, err
}

// Receive waits for data and reads at most len(b) bytes of it, like Read. It allocates
// nothing. b must not be empty.
func (c *Conn) Receive(b []byte) (int, error) {
	if !c.raw.ok() {
		return c.Read(b)
	}
	return c.raw.receive(b)
}
