//go:build !linux

package wire

import (
	"errors"
	"net"
)

// raw does nothing here: a Conn reads and writes in the ordinary way.
type raw struct {
	start func()
	look  bool
}

func (*raw) init(net.Conn)               {}
func (*raw) ok() bool                    { return false }
func (*raw) send([]byte) (int, error)    { return 0, nil }
func (*raw) receive([]byte) (int, error) { return 0, errors.ErrUnsupported }
