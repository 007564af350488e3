package wire

import (
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawSender makes the system call. Its function is made once, so that a send allocates
// nothing.
type rawSender struct {
	conn  syscall.RawConn // nil: not a socket
	call  func(fd uintptr) bool
	b     []byte
	n     int
	errno unix.Errno
}

func (r *rawSender) init(conn net.Conn) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	r.conn = raw
	r.call = func(fd uintptr) bool {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(r.b))), uintptr(len(r.b)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		r.n, r.errno = int(n), errno
		return true // also where nothing was written: the ordinary write waits better
	}
}

// send returns how many bytes the socket took at once.
func (r *rawSender) send(b []byte) (int, error) {
	if r.conn == nil || len(b) == 0 {
		return 0, nil
	}
	r.b = b
	if err := r.conn.Write(r.call); err != nil {
		return 0, err
	}
	switch r.errno {
	case 0:
		return r.n, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	}
	return 0, os.NewSyscallError("sendto", r.errno)
}
