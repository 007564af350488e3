package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of a Loop.
const (
	loopBatch     = 32      // messages at a time
	loopReadBytes = 4 << 10 // of one message; what is longer comes as several
)

// A Loop serves many connections from one goroutine.
//
// A goroutine for each connection costs 8 kB of stack and, for every request, a turn in the
// scheduler behind all others; a Loop asks the kernel which connections have something, reads
// them all, and hands them over in the order in which they came: the kernel stamps data as it
// takes them in, so a request's moment does not depend on when this process got to read it.
//
// Its methods are safe for concurrent use, but for Run, which is called once.
type Loop struct {
	fd   int // an epoll
	stop int // an eventfd that ends Run

	mu     sync.Mutex
	peers  []*Peer // by slot
	free   []int32
	open   int
	closed bool // no connection is taken in any more
	ended  bool // fd and stop are no longer ours
}

// A Peer is the other end of one connection. Its methods are safe for concurrent use.
type Peer struct {
	// State is the owner's, of the goroutine that runs the Loop.
	State any

	loop *Loop
	slot int32
	turn int32 // of the slot, so that a late event does not reach the next who has it

	mu sync.Mutex
	fd int // -1 once closed
}

// A Message is what one Peer sent. Data is valid until the handler returns.
type Message struct {
	Peer *Peer
	Data []byte    // empty: the connection is at its end
	At   time.Time // when it came; of data that came in parts, the last part
}

// stopSlot is the slot of what ends Run.
const stopSlot = -1

// NewLoop returns a Loop. It holds system resources until Run returns after Close, so it must
// be run.
func NewLoop() (*Loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wire: epoll: %w", err)
	}
	stop, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("wire: eventfd: %w", err)
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: stopSlot}
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, stop, &event); err != nil {
		_, _ = unix.Close(fd), unix.Close(stop)
		return nil, fmt.Errorf("wire: epoll_ctl: %w", err)
	}
	return &Loop{fd: fd, stop: stop}, nil
}

// An Intake takes a listener's connections into a Loop.
type Intake struct {
	net.Listener
	loop   *Loop
	file   *os.File // the same socket, for the net package lets nobody else accept from its own
	closed atomic.Bool
}

// Intake returns the intake of a listener, which it closes with itself.
func (l *Loop) Intake(ln *net.TCPListener) (*Intake, error) {
	file, err := ln.File()
	if err != nil {
		return nil, err
	}
	return &Intake{Listener: ln, loop: l, file: file}, nil
}

// Close ends Take and closes the listener.
func (in *Intake) Close() error {
	in.closed.Store(true)
	return errors.Join(in.file.Close(), in.Listener.Close())
}

// Take takes one connection into the loop. It blocks until there is one. The error is
// net.ErrClosed after Close, also that of the loop, or what the system refused.
func (in *Intake) Take() error {
	conn, err := in.file.SyscallConn()
	fd := -1
	var fault error
	if err == nil {
		err = conn.Read(func(listener uintptr) bool {
			fd, _, fault = unix.Accept4(int(listener), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			return !errors.Is(fault, unix.EAGAIN) && !errors.Is(fault, unix.EINTR)
		})
	}
	switch {
	case err != nil && in.closed.Load():
		return net.ErrClosed
	case err != nil:
		return err
	case fault != nil:
		return os.NewSyscallError("accept4", fault)
	}
	return in.loop.add(fd)
}

// add watches a connection.
func (l *Loop) add(fd int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		abortFD(fd)
		return net.ErrClosed
	}
	// A refusal of either costs a little speed or precision, and nothing else.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	p := &Peer{loop: l, fd: fd}
	if n := len(l.free); n > 0 {
		p.slot = l.free[n-1]
		p.turn = l.peers[p.slot].turn + 1
		l.free = l.free[:n-1]
		l.peers[p.slot] = p
	} else {
		p.slot = int32(len(l.peers))
		l.peers = append(l.peers, p)
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: p.slot, Pad: p.turn}
	if err := unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		p.fd = -1
		l.free = append(l.free, p.slot)
		_ = unix.Close(fd)
		return os.NewSyscallError("epoll_ctl", err)
	}
	l.open++
	return nil
}

// Open is how many connections there are.
func (l *Loop) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Run calls handle with what comes, in batches, each in the order of arrival. It returns when
// the loop is closed, then with nil. It blocks a thread where nothing comes: to be watched by
// the runtime's own epoll would make every arrival dearer for its sender.
func (l *Loop) Run(handle func(batch []Message)) error {
	defer l.end()
	r := loopReader{events: make([]unix.EpollEvent, loopBatch), arena: make([]byte, loopBatch*loopReadBytes)}
	for !l.over() {
		n, err := unix.EpollWait(l.fd, r.events, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wire: wait for connections: %w", err)
		default:
			handle(l.read(&r, n))
			runtime.Gosched() // in a wave, whoever has requests to send goes first
		}
	}
	return nil
}

// A loopReader is the room that Run reads into.
type loopReader struct {
	events  []unix.EpollEvent
	arena   []byte
	batch   []Message
	message message
}

// read reads what is ready and puts it in the order in which it came.
func (l *Loop) read(r *loopReader, ready int) []Message {
	r.batch = r.batch[:0]
	now := time.Now()
	for i, e := range r.events[:ready] {
		p := l.peer(e)
		if p == nil {
			continue
		}
		room := r.arena[i*loopReadBytes : (i+1)*loopReadBytes]
		n, errno := p.receive(&r.message, room)
		switch errno {
		case 0:
		case unix.EAGAIN, unix.EINTR:
			continue
		default:
			n = 0
		}
		r.batch = append(r.batch, Message{Peer: p, Data: room[:n], At: r.message.stamp(now, n)})
	}
	slices.SortStableFunc(r.batch, func(a, b Message) int { return a.At.Compare(b.At) })
	return r.batch
}

// peer returns the connection that an event is of, nil where it has gone.
func (l *Loop) peer(e unix.EpollEvent) *Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Fd == stopSlot || l.peers[e.Fd].turn != e.Pad {
		return nil
	}
	return l.peers[e.Fd]
}

// end gives the loop's own descriptors back.
func (l *Loop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.ended = true, true
	_, _ = unix.Close(l.fd), unix.Close(l.stop)
}

func (l *Loop) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close ends Run and every connection, each with a reset.
func (l *Loop) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.Abort()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_, _ = unix.Write(l.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Abort ends every connection with a reset.
func (l *Loop) Abort() {
	l.mu.Lock()
	peers := slices.Clone(l.peers)
	l.mu.Unlock()
	for _, p := range peers {
		p.Abort()
	}
}

func (p *Peer) receive(m *message, room []byte) (int, unix.Errno) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return 0, unix.EAGAIN
	}
	return m.receive(p.fd, room)
}

// SendNow writes b, or closes the connection where its socket does not take all of b at once.
func (p *Peer) SendNow(b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return net.ErrClosed
	}
	c := call{b: b}
	c.do(unix.SYS_SENDTO, uintptr(p.fd), unix.MSG_NOSIGNAL)
	switch {
	case c.errno != 0:
		p.close(false)
		return os.NewSyscallError("sendto", c.errno)
	case c.n < len(b):
		p.close(false)
		return io.ErrShortWrite
	}
	return nil
}

// Close ends the connection in order.
func (p *Peer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(false)
}

// Abort ends the connection with a reset, as a process that dies does.
func (p *Peer) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(true)
}

// close closes the connection once. The caller holds mu.
func (p *Peer) close(reset bool) {
	if p.fd < 0 {
		return
	}
	if reset {
		abortFD(p.fd)
	} else {
		_ = unix.Close(p.fd)
	}
	p.fd = -1
	p.loop.mu.Lock()
	defer p.loop.mu.Unlock()
	p.loop.free = append(p.loop.free, p.slot)
	p.loop.open--
}

func abortFD(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	_ = unix.Close(fd)
}

// A message is what recvmsg wants and brings.
type message struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control struct {
		header unix.Cmsghdr
		stamp  unix.Timespec
		_      [32]byte // room for more than is expected
	}
}

func (m *message) receive(fd int, room []byte) (int, unix.Errno) {
	m.vector.Base = unsafe.SliceData(room)
	m.vector.SetLen(len(room))
	m.header.Iov, m.header.Iovlen = &m.vector, 1
	m.header.Control = (*byte)(unsafe.Pointer(&m.control))
	m.header.SetControllen(int(unsafe.Sizeof(m.control)))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
	return int(n), errno
}

// oldest is how long ago a stamp can be believed to be: an older one means that the wall clock
// was set.
const oldest = 10 * time.Second

// stamp returns when the data came that were received last, which is now where nobody knows.
//
// The kernel stamps by the wall clock, so the age of the stamp is taken off a moment of the
// clock that cannot be set.
func (m *message) stamp(now time.Time, n int) time.Time {
	c := &m.control
	if n <= 0 || uint64(m.header.Controllen) < uint64(unix.CmsgLen(int(unsafe.Sizeof(c.stamp)))) || //nolint:unconvert // its type differs by architecture
		c.header.Level != unix.SOL_SOCKET || c.header.Type != unix.SO_TIMESTAMPNS {
		return now
	}
	if age := time.Duration(now.UnixNano() - c.stamp.Nano()); age > -oldest && age < oldest {
		return now.Add(-age)
	}
	return now
}
