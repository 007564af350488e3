package wire

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A message is what recvmsg wants and brings, for reads with a stamp.
type message struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control struct {
		header unix.Cmsghdr
		stamp  unix.Timespec
		_      [32]byte // room for more than is expected
	}
}

// stamp has the kernel note when data come.
func (r *raw) stamp() bool {
	if r.conn == nil {
		return false
	}
	var fault error
	err := r.conn.Control(func(fd uintptr) {
		fault = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || fault != nil {
		return false
	}
	r.message = new(message)
	return true
}

// receive reads into c.b.
func (m *message) receive(c *call, fd uintptr) {
	m.vector.Base = unsafe.SliceData(c.b)
	m.vector.SetLen(len(c.b))
	m.header.Iov, m.header.Iovlen = &m.vector, 1
	m.header.Control = (*byte)(unsafe.Pointer(&m.control))
	m.header.SetControllen(int(unsafe.Sizeof(m.control)))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
	c.n, c.errno = int(n), errno
}

// oldest is how long ago a stamp can be believed to be: an older one means that the wall clock
// was set.
const oldest = 10 * time.Second

// arrived returns when the data of the last read came, which is now where nobody knows.
//
// The kernel stamps by the wall clock, so the age of the stamp is taken off a moment of the
// clock that cannot be set.
func (r *raw) arrived() time.Time {
	now := time.Now()
	if r.message == nil {
		return now
	}
	c := &r.message.control
	if uint64(r.message.header.Controllen) < uint64(unix.CmsgLen(int(unsafe.Sizeof(c.stamp)))) ||
		c.header.Level != unix.SOL_SOCKET || c.header.Type != unix.SO_TIMESTAMPNS {
		return now
	}
	if age := time.Duration(now.UnixNano() - c.stamp.Nano()); age > 0 && age < oldest {
		return now.Add(-age)
	}
	return now
}
