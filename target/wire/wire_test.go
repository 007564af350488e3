package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// pair returns two ends of a TCP connection over loopback.
func pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if a, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// A message arrives whole whatever its size: one that fits, and one of which the socket
// takes only a part at once.
func TestSend(t *testing.T) {
	for _, size := range []int{0, 1, 100, 32 << 20} {
		a, b := pair(t)
		want := bytes.Repeat([]byte("stormtest"), size/9+1)[:size]
		read := make(chan []byte)
		go func() {
			got := make([]byte, size)
			_, _ = io.ReadFull(b, got)
			read <- got
		}()
		if err := NewSender(a).Send(want); err != nil {
			t.Errorf("Send of %d bytes: %v", size, err)
		}
		if got := <-read; !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not arrive as they were sent", size)
		}
	}
}

func TestSendOverWhatIsNoSocket(t *testing.T) {
	a, b := net.Pipe()
	go func() { _ = NewSender(a).Send([]byte("hello")) }()
	got := make([]byte, 5)
	if _, err := io.ReadFull(b, got); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestSendErrors(t *testing.T) {
	a, _ := pair(t)
	s := NewSender(a)
	_ = a.Close()
	if err := s.Send([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Send on a closed connection = %v", err)
	}
	a, b := pair(t)
	s = NewSender(a)
	_ = b.(*net.TCPConn).SetLinger(0)
	_ = b.Close()
	_, _ = a.Read(make([]byte, 1)) // until the reset is here
	err := s.Send([]byte("x"))
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Send after a reset = %v", err)
	}
	a, _ = pair(t)
	_ = a.SetWriteDeadline(time.Unix(1, 0))
	if err := NewSender(a).Send([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Send after the deadline = %v", err)
	}
}

func TestSendDoesNotAllocate(t *testing.T) {
	a, b := pair(t)
	go func() { _, _ = io.Copy(io.Discard, b) }()
	s, msg := NewSender(a), []byte("x")
	if n := testing.AllocsPerRun(100, func() { _ = s.Send(msg) }); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
}
