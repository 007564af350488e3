package targettest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Conn is one end of a connection in memory. Beside net.Conn it has those methods of
// *net.TCPConn that decide how a connection ends. Safe for concurrent use; a write is not
// mixed with other writes.
//
// Errors are those of *net.TCPConn, in a *net.OpError: net.ErrClosed after the own Close,
// syscall.EPIPE for a write after the own CloseWrite or the peer's Close,
// syscall.ECONNRESET for both after the peer's Abort, os.ErrDeadlineExceeded. Only io.EOF
// comes bare.
type Conn struct {
	local, remote addr
	mu            *sync.Mutex // both ends' and both streams'
	in, out       *stream

	// Guarded by mu.
	closed bool
	linger int // -1 for the default
}

// Pipe returns two ends of a connection without a network around it.
func Pipe() (client, server *Conn) {
	return newPair("client", "server")
}

func newPair(client, server addr) (*Conn, *Conn) {
	mu := new(sync.Mutex)
	up, down := newStream(mu), newStream(mu)
	return &Conn{local: client, remote: server, mu: mu, in: down, out: up, linger: -1},
		&Conn{local: server, remote: client, mu: mu, in: up, out: down, linger: -1}
}

// Read waits for data and returns what there is, at most len(p) bytes. It returns io.EOF
// when the peer has closed, or closed for writing, and all it wrote is read.
func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

// Write returns when all of p is buffered for the peer, waiting while the buffer is full.
// After an error it returns how many bytes the buffer took.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// Close ends the connection. The peer reads what was written before and then io.EOF, and
// its writes fail; after SetLinger(0), Close is Abort. Calls that wait here fail with
// net.ErrClosed, and so does a second Close.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close(c.linger == 0)
}

// Abort resets the connection: the peer loses what it has not read yet, and its reads and
// writes fail with syscall.ECONNRESET. It is SetLinger(0) and Close in one, and does
// nothing to a connection that is closed.
func (c *Conn) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.close(true) // closed already: nothing to abort
}

// SetLinger makes Close an Abort if seconds is 0. All other values are the default: what
// was written is the peer's at once, so there is nothing to linger for.
func (c *Conn) SetLinger(seconds int) error {
	return c.set(func() { c.linger = seconds })
}

// CloseWrite ends the outgoing direction only: the peer reads io.EOF after what was written
// before, and can still write.
func (c *Conn) CloseWrite() error {
	return c.set(func() {
		c.out.end()
		c.out.refuseWrites(syscall.EPIPE)
	})
}

// LocalAddr returns the listener's address or, for the end that dialled, a name of its own
// such as "client:1".
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the LocalAddr of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is SetReadDeadline and SetWriteDeadline in one.
func (c *Conn) SetDeadline(t time.Time) error {
	return c.set(func() {
		c.in.readDeadline.set(t)
		c.out.writeDeadline.set(t)
	})
}

// SetReadDeadline makes reads fail with os.ErrDeadlineExceeded from t on, those that wait
// included and those that would find data as well. The zero time is no deadline.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.set(func() { c.in.readDeadline.set(t) })
}

// SetWriteDeadline is SetReadDeadline for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.set(func() { c.out.writeDeadline.set(t) })
}

// set calls change unless c is closed.
func (c *Conn) set(change func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.wrap("set", net.ErrClosed)
	}
	change()
	return nil
}

// close is called with mu held.
func (c *Conn) close(abort bool) error {
	if c.closed {
		return c.wrap("close", net.ErrClosed)
	}
	c.closed = true
	c.in.readDeadline.set(time.Time{})
	c.out.writeDeadline.set(time.Time{})
	// The own calls first: what this end did explains its errors better than what the
	// peer may do to it.
	c.in.readErr, c.out.writeErr = net.ErrClosed, net.ErrClosed
	c.in.drop()
	c.out.end()
	if abort {
		c.out.drop()
		c.out.refuseReads(syscall.ECONNRESET)
		c.in.refuseWrites(syscall.ECONNRESET)
	} else {
		c.in.refuseWrites(syscall.EPIPE)
	}
	return nil
}

func (c *Conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: networkName, Source: c.local, Addr: c.remote, Err: err}
}

// stream is one direction of a connection. All methods are called with mu held.
type stream struct {
	changed sync.Cond // on mu
	data    bytes.Buffer
	ended   bool  // nothing more will be written: io.EOF after data
	readErr error // why no read succeeds any more, or nil
	// writeErr is why no write succeeds any more, or nil.
	writeErr error
	writing  bool // a write is under way; others wait for their turn

	readDeadline, writeDeadline deadline
}

func newStream(mu *sync.Mutex) *stream {
	s := &stream{}
	s.changed.L = mu
	s.readDeadline.changed, s.writeDeadline.changed = &s.changed, &s.changed
	return s
}

func (s *stream) read(p []byte) (int, error) {
	for {
		switch {
		case s.readErr != nil:
			return 0, s.readErr
		case len(p) == 0:
			return 0, nil
		case s.readDeadline.passed:
			return 0, os.ErrDeadlineExceeded
		case s.data.Len() > 0:
			s.changed.Broadcast()
			return s.data.Read(p)
		case s.ended:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	for s.writing { // what ends the write under way ends this one as well
		s.changed.Wait()
	}
	s.writing = true
	defer func() {
		s.writing = false
		s.changed.Broadcast()
	}()
	for {
		switch room := BufferBytes - s.data.Len(); {
		case s.writeErr != nil:
			return n, s.writeErr
		case s.writeDeadline.passed:
			return n, os.ErrDeadlineExceeded
		case n == len(p):
			return n, nil
		case room > 0:
			k, _ := s.data.Write(p[n:min(n+room, len(p))]) // a bytes.Buffer has no errors
			n += k
			s.changed.Broadcast()
		default:
			s.changed.Wait()
		}
	}
}

func (s *stream) end() {
	s.ended = true
	s.changed.Broadcast()
}

// drop forgets what has not been read, and its memory.
func (s *stream) drop() {
	s.data = bytes.Buffer{}
	s.changed.Broadcast()
}

// refuseReads and refuseWrites say why the other end's calls fail from now on, unless
// there is a reason already.
func (s *stream) refuseReads(err error) {
	if s.readErr == nil {
		s.readErr = err
	}
	s.changed.Broadcast()
}

func (s *stream) refuseWrites(err error) {
	if s.writeErr == nil {
		s.writeErr = err
	}
	s.changed.Broadcast()
}

// deadline is a moment after which calls fail. Its fields are guarded by changed.L.
type deadline struct {
	changed *sync.Cond
	timer   *time.Timer
	passed  bool
}

func (d *deadline) set(t time.Time) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer, d.passed = nil, false
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			d.changed.L.Lock()
			defer d.changed.L.Unlock()
			if d.timer == timer { // not one that was replaced while it fired
				d.passed = true
				d.changed.Broadcast()
			}
		})
		d.timer = timer
		return
	}
	d.passed = true
	d.changed.Broadcast()
}
