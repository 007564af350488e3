package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw makes the system calls of one connection. Its functions are made once, so that a call
// allocates nothing.
type raw struct {
	conn     syscall.RawConn // nil: not a socket
	out, in  call
	sendOnce func(fd uintptr) bool
	read     func(fd uintptr) bool
	start    func() // called before the first read, in its place
	look     bool   // before start is called
}

// A call is one system call's arguments and results.
type call struct {
	b     []byte
	n     int
	errno unix.Errno
}

func (c *call) do(number, fd, flags uintptr) {
	n, _, errno := unix.RawSyscall6(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(c.b))), uintptr(len(c.b)),
		flags|unix.MSG_DONTWAIT, 0, 0)
	c.n, c.errno = int(n), errno
}

func (r *raw) init(conn net.Conn) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	rc, err := c.SyscallConn()
	if err != nil {
		return
	}
	r.conn = rc
	r.sendOnce = func(fd uintptr) bool {
		r.out.do(unix.SYS_SENDTO, fd, unix.MSG_NOSIGNAL)
		return true // also where nothing was written: the ordinary write waits better
	}
	r.read = func(fd uintptr) bool {
		if start := r.start; start != nil {
			if r.look {
				if r.in.do(unix.SYS_RECVFROM, fd, 0); r.in.errno != unix.EAGAIN && r.in.errno != unix.EINTR {
					return true
				}
			}
			r.start = nil
			start()
			return false
		}
		r.in.do(unix.SYS_RECVFROM, fd, 0)
		return r.in.errno != unix.EAGAIN && r.in.errno != unix.EINTR
	}
}

func (r *raw) ok() bool { return r.conn != nil }

// send returns how many bytes the socket took at once.
func (r *raw) send(b []byte) (int, error) {
	if r.conn == nil || len(b) == 0 {
		return 0, nil
	}
	r.out.b = b
	if err := r.conn.Write(r.sendOnce); err != nil {
		return 0, err
	}
	switch r.out.errno {
	case 0:
		return r.out.n, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	}
	return 0, os.NewSyscallError("sendto", r.out.errno)
}

// receive waits until there is something to read.
func (r *raw) receive(b []byte) (int, error) {
	r.in.b = b
	if err := r.conn.Read(r.read); err != nil {
		return 0, err
	}
	switch {
	case r.in.errno != 0:
		return 0, os.NewSyscallError("recvfrom", r.in.errno)
	case r.in.n == 0:
		return 0, io.EOF
	}
	return r.in.n, nil
}
