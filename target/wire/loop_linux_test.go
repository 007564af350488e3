package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A bench is a loop under test with what it heard.
type bench struct {
	loop  *Loop
	in    *Intake
	heard chan heard
}

type heard struct {
	peer *Peer
	text string
	at   time.Time
}

// startLoop runs a loop on a listener until the test ends.
func startLoop(t *testing.T) *bench {
	t.Helper()
	l, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{loop: l, heard: make(chan heard, 1000)}
	if b.in, err = l.Intake(ln.(*net.TCPListener)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if err := b.in.Take(); err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("Take = %v, want net.ErrClosed", err)
				}
				return
			}
		}
	})
	wg.Go(func() {
		err := l.Run(func(batch []Message) {
			for _, m := range batch {
				if len(m.Data) == 0 {
					m.Peer.Close()
				}
				b.heard <- heard{m.Peer, string(m.Data), m.At}
			}
		})
		if err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	t.Cleanup(func() {
		_ = b.in.Close()
		l.Close()
		wg.Wait()
		l.Close() // does nothing
		if n := l.Open(); n != 0 {
			t.Errorf("%d connections are left open", n)
		}
	})
	return b
}

func (b *bench) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", b.in.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestLoopAnswers(t *testing.T) {
	b := startLoop(t)
	for range 3 { // so that slots are used again
		c := b.dial(t)
		for _, text := range []string{"one", "two"} {
			_, _ = io.WriteString(c, text)
			m := <-b.heard
			if m.text != text {
				t.Fatalf("heard %q, want %q", m.text, text)
			}
			if err := m.peer.SendNow([]byte("re: " + text)); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 7)
			if _, err := io.ReadFull(c, got); err != nil || string(got) != "re: "+text {
				t.Fatalf("answer %q, %v", got, err)
			}
		}
		_ = c.Close()
		if m := <-b.heard; m.text != "" {
			t.Fatalf("heard %q, want the end", m.text)
		} else if err := m.peer.SendNow([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("SendNow after the end = %v", err)
		}
	}
}

// However late data are read, they came when they came, and in that order. The wait is real:
// the kernel's stamps are.
func TestLoopStampsWhatWaits(t *testing.T) {
	b := startLoop(t)
	var conns []net.Conn
	for range 20 {
		conns = append(conns, b.dial(t))
	}
	for b.loop.Open() < len(conns) {
		time.Sleep(time.Millisecond)
	}
	b.loop.mu.Lock() // the loop finds out whose the data are under its lock
	sent := make([]time.Time, len(conns))
	for i := range conns {
		c := conns[(i*7)%len(conns)]
		_, _ = c.Write([]byte{byte(i)})
		sent[i] = time.Now()
	}
	time.Sleep(30 * time.Millisecond)
	b.loop.mu.Unlock()
	for range conns {
		m := <-b.heard
		i := m.text[0]
		if late := m.at.Sub(sent[i]); late > 15*time.Millisecond || late < -15*time.Millisecond {
			t.Errorf("message %d came %v after it was sent; want about 0, not the 30ms after which it was read", i, late)
		}
	}
}

func TestLoopAborts(t *testing.T) {
	b := startLoop(t)
	c := b.dial(t)
	_, _ = io.WriteString(c, "x")
	<-b.heard
	b.loop.Abort()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read = %v, want a reset", err)
	}
	d := b.dial(t) // the loop goes on
	_, _ = io.WriteString(d, "y")
	if m := <-b.heard; m.text != "y" {
		t.Errorf("heard %q, want y", m.text)
	}
}

// A peer that does not read loses its connection, and nobody waits for it.
func TestLoopDoesNotWait(t *testing.T) {
	b := startLoop(t)
	c := b.dial(t)
	_, _ = io.WriteString(c, "x")
	p := (<-b.heard).peer
	var err error
	for range 100_000 {
		if err = p.SendNow(make([]byte, 1<<10)); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("100 MB were sent to a peer that does not read")
	}
	if err := p.SendNow([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("SendNow afterwards = %v, want closed", err)
	}
}
