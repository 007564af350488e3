//go:build !linux

package wire

import (
	"errors"
	"net"
	"time"
)

// A Loop serves many connections from one goroutine, on systems that have it; here there are
// none, and NewLoop says so.
type Loop struct{}

// A Peer is the other end of one connection.
type Peer struct{ State any }

// A Message is what one Peer sent.
type Message struct {
	Peer *Peer
	Data []byte
	At   time.Time
}

// NewLoop returns errors.ErrUnsupported.
func NewLoop() (*Loop, error) { return nil, errors.ErrUnsupported }

// Nothing calls the rest.

// An Intake takes a listener's connections into a Loop.
type Intake struct{ net.Listener }

func (*Loop) Intake(*net.TCPListener) (*Intake, error) { return nil, errors.ErrUnsupported }
func (*Intake) Take() error                            { return errors.ErrUnsupported }

func (*Loop) Run(func([]Message)) error { return errors.ErrUnsupported }
func (*Loop) Open() int                 { return 0 }
func (*Loop) Abort()                    {}
func (*Loop) Close()                    {}
func (*Peer) SendNow([]byte) error      { return errors.ErrUnsupported }
func (*Peer) Close()                    {}
func (*Peer) Abort()                    {}
