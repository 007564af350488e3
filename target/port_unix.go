//go:build unix

package target

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

type holder struct{ file *os.File }

func (h holder) Close() error { return h.file.Close() }

// holdPort binds a socket that shares its address with a later listener, and returns the
// port it got.
func holdPort(addr netip.AddrPort) (holder, uint16, error) {
	family, sa := sockaddr(addr)
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return holder{}, 0, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(fd)
	h := holder{os.NewFile(uintptr(fd), "held port")}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		_ = h.Close()
		return holder{}, 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, sa); err != nil {
		_ = h.Close()
		return holder{}, 0, os.NewSyscallError("bind", err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		_ = h.Close()
		return holder{}, 0, os.NewSyscallError("getsockname", err)
	}
	switch sa := bound.(type) {
	case *unix.SockaddrInet4:
		return h, uint16(sa.Port), nil
	case *unix.SockaddrInet6:
		return h, uint16(sa.Port), nil
	}
	panic("target: BUG: an IP socket with another address")
}

func sockaddr(addr netip.AddrPort) (family int, sa unix.Sockaddr) {
	if addr.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()}
}
