package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
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
			_, _ = io.ReadFull(receiver{New(b)}, got)
			read <- got
		}()
		if err := New(a).Send(want); err != nil {
			t.Errorf("Send of %d bytes: %v", size, err)
		}
		if got := <-read; !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not arrive as they were sent", size)
		}
	}
}

// A receiver reads with Receive.
type receiver struct{ c *Conn }

func (r receiver) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	return r.c.Receive(b)
}

func TestOverWhatIsNoSocket(t *testing.T) {
	a, b := net.Pipe()
	go func() { _ = New(a).Send([]byte("hello")) }()
	got := make([]byte, 5)
	if _, err := io.ReadFull(receiver{New(b)}, got); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestSendErrors(t *testing.T) {
	a, _ := pair(t)
	s := New(a)
	_ = a.Close()
	if err := s.Send([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Send on a closed connection = %v", err)
	}
	a, b := pair(t)
	s = New(a)
	_ = b.(*net.TCPConn).SetLinger(0)
	_ = b.Close()
	_, _ = a.Read(make([]byte, 1)) // until the reset is here
	err := s.Send([]byte("x"))
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Send after a reset = %v", err)
	}
	a, _ = pair(t)
	_ = a.SetWriteDeadline(time.Unix(1, 0))
	if err := New(a).Send([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Send after the deadline = %v", err)
	}
}

// The answer to what start sends is received, however soon it comes.
func TestReceiveAfter(t *testing.T) {
	for _, socket := range []bool{true, false} {
		a, b := net.Pipe()
		if socket {
			a, b = pair(t)
		}
		go func() { _, _ = io.Copy(b, b) }()
		c, buf := New(a), make([]byte, 10)
		var sending sync.Mutex // one goroutine sends at a time
		for i := range 1000 {
			n, err := c.ReceiveAfter(func() {
				go func() {
					sending.Lock()
					defer sending.Unlock()
					_ = c.Send([]byte{byte(i)})
				}()
			}, buf)
			if n != 1 || err != nil || buf[0] != byte(i) {
				t.Fatalf("socket %v: ReceiveAfter = %d, %v, %v; want the byte that was sent", socket, n, err, buf[:n])
			}
		}
	}
	a, _ := pair(t)
	_ = a.SetReadDeadline(time.Unix(1, 0))
	if _, err := New(a).ReceiveAfter(func() { t.Error("start was called") }, make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("ReceiveAfter after the deadline = %v", err)
	}
}

// What came before the wait is received instead of waited behind, and nothing is sent then.
func TestReceiveAfterLook(t *testing.T) {
	buf := make([]byte, 10)
	for _, tt := range []struct {
		name  string
		first func(peer net.Conn)
		n     int
		err   error
	}{
		{"data", func(peer net.Conn) { _, _ = peer.Write([]byte("stray")) }, 5, nil},
		{"an end", func(peer net.Conn) { _ = peer.Close() }, 0, io.EOF},
	} {
		if runtime.GOOS != "linux" {
			break // nobody looks
		}
		a, b := pair(t)
		c := New(a)
		tt.first(b)
		socket, err := a.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for ready := false; !ready; { // until it is here
			_ = socket.Control(func(fd uintptr) {
				_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
				ready = !errors.Is(err, syscall.EAGAIN)
			})
		}
		n, err := c.ReceiveAfterLook(func() { t.Errorf("%s: start was called", tt.name) }, buf)
		if n != tt.n || !errors.Is(err, tt.err) {
			t.Errorf("%s: ReceiveAfterLook = %d, %v; want %d, %v", tt.name, n, err, tt.n, tt.err)
		}
	}
	for _, socket := range []bool{true, false} {
		a, b := net.Pipe()
		if socket {
			a, b = pair(t)
		}
		go func() { _, _ = io.Copy(b, b) }()
		c := New(a)
		if n, err := c.ReceiveAfterLook(func() { go func() { _ = c.Send([]byte("x")) }() }, buf); n != 1 || err != nil {
			t.Errorf("socket %v: ReceiveAfterLook = %d, %v; want the byte that was sent", socket, n, err)
		}
	}
}

// A peer that does not read loses its connection, and nobody waits for it.
func TestSendNow(t *testing.T) {
	a, _ := pair(t)
	c := New(a)
	var err error
	for range 100_000 {
		if err = c.SendNow(make([]byte, 1<<10)); err != nil {
			break
		}
	}
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("SendNow to a peer that does not read = %v, want a short write", err)
	}
	if err := c.SendNow([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("SendNow afterwards = %v, want closed", err)
	}
}

func TestReceiveErrors(t *testing.T) {
	b := make([]byte, 10)
	x, y := pair(t)
	_, _ = y.Write([]byte("last"))
	_ = y.Close()
	c := New(x)
	if n, err := c.Receive(b); n != 4 || err != nil {
		t.Errorf("Receive = %d, %v; want 4", n, err)
	}
	if n, err := c.Receive(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Receive after the end = %d, %v; want EOF", n, err)
	}
	x, y = pair(t)
	_ = y.(*net.TCPConn).SetLinger(0)
	_ = y.Close()
	if _, err := New(x).Receive(b); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Receive after a reset = %v", err)
	}
	x, _ = pair(t)
	_ = x.SetReadDeadline(time.Unix(1, 0))
	if _, err := New(x).Receive(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Receive after the deadline = %v", err)
	}
	// A deadline, and Close, end a Receive that waits already.
	x, _ = pair(t)
	waiting := make(chan error)
	go func() {
		_, err := New(x).Receive(b)
		waiting <- err
	}()
	_ = x.SetReadDeadline(time.Unix(1, 0))
	if err := <-waiting; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a waiting Receive ended with %v", err)
	}
	_ = x.Close()
	if _, err := New(x).Receive(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Receive on a closed connection = %v", err)
	}
}

func TestNothingAllocates(t *testing.T) {
	a, b := pair(t)
	s, r, msg, buf := New(a), New(b), []byte("x"), make([]byte, 1)
	if n := testing.AllocsPerRun(100, func() { _ = s.Send(msg); _, _ = r.Receive(buf) }); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
}
