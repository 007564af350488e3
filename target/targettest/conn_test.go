package targettest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"stormtest/target/targettest"
)

// tcp is what *net.TCPConn and *targettest.Conn have in common.
type tcp interface {
	net.Conn
	SetLinger(seconds int) error
	CloseWrite() error
}

var (
	_ tcp = (*net.TCPConn)(nil)
	_ tcp = (*targettest.Conn)(nil)
)

// past is a deadline that has passed on every clock.
var past = time.Unix(1, 0)

// errorKind names err by what callers branch on.
func errorKind(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{nil, "ok"}, {io.EOF, "EOF"}, {net.ErrClosed, "closed"}, {os.ErrDeadlineExceeded, "deadline"},
		{syscall.EPIPE, "EPIPE"}, {syscall.ECONNRESET, "ECONNRESET"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return err.Error()
}

// scenarios are ways in which connections end. Each returns what its steps came to, and
// what they come to over TCP is the standard: see TestLikeTCP.
var scenarios = []struct {
	name string
	run  func(client, server tcp) []string
	want []string
}{
	{"close: the peer reads the rest, then EOF", func(client, server tcp) []string {
		write(client, "abc")
		_ = client.Close()
		return []string{readAll(server)}
	}, []string{"abc then ok"}},
	{"closed: own calls", func(client, _ tcp) []string {
		_ = client.Close()
		_, readErr := client.Read(make([]byte, 1))
		_, writeErr := client.Write([]byte("a"))
		return []string{
			errorKind(readErr), errorKind(writeErr), errorKind(client.Close()), errorKind(client.CloseWrite()),
			errorKind(client.SetDeadline(past)), errorKind(client.SetLinger(0)),
		}
	}, []string{"closed", "closed", "closed", "closed", "closed", "closed"}},
	{"half close: the other way stays open", func(client, server tcp) []string {
		write(client, "question")
		_ = client.CloseWrite()
		asked := readAll(server)
		write(server, "answer")
		_ = server.Close()
		_, err := client.Write([]byte("a"))
		return []string{asked, readAll(client), errorKind(err)}
	}, []string{"question then ok", "answer then ok", "EPIPE"}},
	{"reset: a waiting read", func(client, server tcp) []string {
		_ = client.SetLinger(0)
		go func() { _ = client.Close() }()
		_, err := server.Read(make([]byte, 1))
		return []string{errorKind(err)}
	}, []string{"ECONNRESET"}},
	{"linger on: no reset", func(client, server tcp) []string {
		_ = client.SetLinger(0)
		_ = client.SetLinger(-1)
		write(client, "abc")
		_ = client.Close()
		return []string{readAll(server)}
	}, []string{"abc then ok"}},
	{"deadline passed: no read, no write", func(client, server tcp) []string {
		write(server, "abc")
		_ = client.SetDeadline(past)
		_, readErr := client.Read(make([]byte, 1))
		_, writeErr := client.Write([]byte("a"))
		_ = client.SetDeadline(time.Time{})
		n, err := io.ReadFull(client, make([]byte, 3))
		return []string{errorKind(readErr), errorKind(writeErr), strconv.Itoa(n), errorKind(err)}
	}, []string{"deadline", "deadline", "3", "ok"}},
	{"close: a waiting read of its own", func(client, _ tcp) []string {
		go func() { _ = client.Close() }()
		_, err := client.Read(make([]byte, 1))
		return []string{errorKind(err)}
	}, []string{"closed"}},
	{"nothing to read or write", func(client, _ tcp) []string {
		n, err := client.Read(nil)
		m, writeErr := client.Write(nil)
		return []string{fmt.Sprint(n, m), errorKind(err), errorKind(writeErr)}
	}, []string{"0 0", "ok", "ok"}},
}

func write(c net.Conn, text string) {
	if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
		panic(fmt.Sprint("Write: ", n, err))
	}
}

// readAll returns what c gives until EOF; io.ReadAll hides that one.
func readAll(c net.Conn) string {
	data, err := io.ReadAll(c)
	return string(data) + " then " + errorKind(err)
}

// TestLikeTCP plays the scenarios over memory, in a bubble, and over real loopback sockets.
func TestLikeTCP(t *testing.T) {
	for _, scenario := range scenarios {
		t.Run(scenario.name+", memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := targettest.Pipe()
				if got := scenario.run(client, server); !slices.Equal(got, scenario.want) {
					t.Errorf("got %q, want %q", got, scenario.want)
				}
			})
		})
		t.Run(scenario.name+", TCP", func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal("no loopback here: ", err)
			}
			defer func() { _ = listener.Close() }()
			client, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			server, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Close() }()
			if got := scenario.run(client.(tcp), server.(tcp)); !slices.Equal(got, scenario.want) {
				t.Errorf("got %q, want %q", got, scenario.want)
			}
		})
	}
}

// TestPeerGone is about the end that did nothing, where memory is quicker than TCP.
func TestPeerGone(t *testing.T) {
	tests := []struct {
		name        string
		leave       func(peer *targettest.Conn)
		read, write string
	}{
		{"close", func(c *targettest.Conn) { _ = c.Close() }, "abc then ok", "EPIPE"},
		{"abort", func(c *targettest.Conn) { c.Abort() }, " then ECONNRESET", "ECONNRESET"},
		{"linger 0 and close", func(c *targettest.Conn) { _ = c.SetLinger(0); _ = c.Close() }, " then ECONNRESET", "ECONNRESET"},
		{"close, then abort", func(c *targettest.Conn) { _ = c.Close(); c.Abort() }, "abc then ok", "EPIPE"},
		{"half close, then abort", func(c *targettest.Conn) { _ = c.CloseWrite(); c.Abort() }, " then ECONNRESET", "ECONNRESET"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, server := targettest.Pipe()
			write(server, "abc")
			test.leave(server)
			_, err := client.Write([]byte("a"))
			if got := errorKind(err); got != test.write {
				t.Errorf("Write = %v, want %v", err, test.write)
			}
			if got := readAll(client); got != test.read {
				t.Errorf("read %q, want %q", got, test.read)
			}
			if err := client.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
			_, err = client.Read(make([]byte, 1))
			if got := errorKind(err); got != "closed" {
				t.Errorf("Read after the own Close = %v, want %v", err, net.ErrClosed)
			}
		})
	}
}

// TestOwnReasonFirst: whatever the peer does later, an end that has closed is closed.
func TestOwnReasonFirst(t *testing.T) {
	for _, leave := range []func(*targettest.Conn){(*targettest.Conn).Abort, func(c *targettest.Conn) { _ = c.Close() }} {
		client, server := targettest.Pipe()
		_ = client.Close()
		leave(server)
		_, readErr := client.Read(make([]byte, 1))
		_, writeErr := client.Write([]byte("a"))
		if !errors.Is(readErr, net.ErrClosed) || !errors.Is(writeErr, net.ErrClosed) {
			t.Errorf("Read, Write = %v, %v, want %v", readErr, writeErr, net.ErrClosed)
		}
	}
}

// TestErrorsAreOpErrors looks at the form of an error, which clients print and unwrap.
func TestErrorsAreOpErrors(t *testing.T) {
	client, server := targettest.Pipe()
	server.Abort()
	_, err := client.Read(make([]byte, 1))
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "read" || op.Source != client.LocalAddr() || op.Addr != client.RemoteAddr() {
		t.Errorf("Read = %#v, want a *net.OpError of read with both addresses", err)
	}
	if want := "read memory client->server: read: connection reset by peer"; err.Error() != want {
		t.Errorf("Read = %q, want %q", err, want)
	}
	client, _ = targettest.Pipe()
	_ = client.SetDeadline(past)
	_, err = client.Write([]byte("a"))
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("Write = %v, want a net.Error that is a timeout", err)
	}
}

// TestBufferIsBounded: writes wait only when BufferBytes are unread, and go on with the
// reader.
func TestBufferIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := targettest.Pipe()
		full := bytes.Repeat([]byte("x"), targettest.BufferBytes)
		if n, err := client.Write(full); n != len(full) || err != nil {
			t.Fatalf("Write(%d bytes) = %d, %v, want no waiting", len(full), n, err)
		}
		var wrote bool
		go func() {
			if n, err := client.Write([]byte("yz")); n != 2 || err != nil {
				t.Errorf("Write(2 bytes) = %d, %v", n, err)
			}
			wrote = true
		}()
		synctest.Wait()
		if wrote {
			t.Error("a write into a full buffer did not wait")
		}
		if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatalf("Read = %d, %v", n, err)
		}
		synctest.Wait()
		if wrote {
			t.Error("a write of 2 bytes into 1 byte of room did not wait")
		}
		rest, err := io.ReadAll(io.LimitReader(server, targettest.BufferBytes+1))
		synctest.Wait()
		if !wrote || err != nil || len(rest) != targettest.BufferBytes+1 || string(rest[len(rest)-3:]) != "xyz" {
			t.Errorf("the write returned: %v; the rest is %d bytes, %v", wrote, len(rest), err)
		}
	})
}

// TestFullWriteEnds: a write that waits for room returns what it wrote when it cannot go on.
func TestFullWriteEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(client, server *targettest.Conn)
		want string
	}{
		{"deadline", func(client, _ *targettest.Conn) { _ = client.SetWriteDeadline(time.Now().Add(time.Second)) }, "deadline"},
		{"own close", func(client, _ *targettest.Conn) { _ = client.Close() }, "closed"},
		{"own half close", func(client, _ *targettest.Conn) { _ = client.CloseWrite() }, "EPIPE"},
		{"peer's close", func(_, server *targettest.Conn) { _ = server.Close() }, "EPIPE"},
		{"peer's abort", func(_, server *targettest.Conn) { server.Abort() }, "ECONNRESET"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := targettest.Pipe()
				var done sync.WaitGroup
				for i := range 2 { // the second waits for the first
					done.Go(func() {
						n, err := client.Write(make([]byte, targettest.BufferBytes+1))
						if got := errorKind(err); got != test.want || n != 0 && n != targettest.BufferBytes {
							t.Errorf("Write %d = %d, %v, want %v", i, n, err, test.want)
						}
					})
				}
				synctest.Wait()
				test.end(client, server)
				done.Wait()
			})
		})
	}
}

// TestWritesAreWhole: concurrent writes larger than the buffer do not mix.
func TestWritesAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, size = 8, 3*targettest.BufferBytes + 7
		client, server := targettest.Pipe()
		var done sync.WaitGroup
		for i := range byte(writers) {
			done.Go(func() {
				if n, err := client.Write(bytes.Repeat([]byte{i}, size)); n != size || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			})
		}
		for range writers {
			p := make([]byte, size)
			if _, err := io.ReadFull(server, p); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(p, bytes.Repeat(p[:1], size)) {
				t.Error("writes are mixed")
			}
		}
		done.Wait()
	})
}

// TestDeadlines runs on the bubble's clock.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := targettest.Pipe()
		begin := time.Now()
		read := func(wantError string, wantAt time.Duration) {
			t.Helper()
			_, err := client.Read(make([]byte, 9))
			if got, at := errorKind(err), time.Since(begin); got != wantError || at != wantAt {
				t.Errorf("Read = %v at %v, want %v at %v", err, at, wantError, wantAt)
			}
		}
		_ = client.SetReadDeadline(begin.Add(time.Second))
		read("deadline", time.Second)
		read("deadline", time.Second) // it stays
		// A wall clock without a monotonic reading is a deadline as well.
		_ = client.SetReadDeadline(begin.Add(2 * time.Second).Round(0))
		read("deadline", 2*time.Second)
		// Moved while a read waits: nearer, further, away.
		_ = client.SetReadDeadline(begin.Add(time.Hour))
		time.AfterFunc(time.Second, func() { _ = client.SetReadDeadline(begin.Add(4 * time.Second)) })
		read("deadline", 4*time.Second)
		_ = client.SetReadDeadline(begin.Add(5 * time.Second))
		time.AfterFunc(time.Second/2, func() { _ = client.SetDeadline(begin.Add(6 * time.Second)) })
		read("deadline", 6*time.Second)
		_ = client.SetReadDeadline(begin.Add(7 * time.Second))
		time.AfterFunc(time.Second/2, func() { _ = client.SetReadDeadline(time.Time{}) })
		time.AfterFunc(3*time.Second, func() { write(server, "x") })
		read("ok", 9*time.Second)
		// Into the past while a read waits.
		time.AfterFunc(time.Second, func() { _ = client.SetReadDeadline(past) })
		read("deadline", 10*time.Second)
		// Each direction and each end has its own.
		if _, err := client.Write([]byte("x")); errorKind(err) != "deadline" {
			t.Errorf("Write = %v, want the deadline that SetDeadline left for writes", err)
		}
		_ = client.SetWriteDeadline(time.Time{})
		write(client, "x")
		if _, err := server.Read(make([]byte, 1)); err != nil {
			t.Errorf("the peer's Read = %v, want its own deadline only", err)
		}
		// Close leaves no timer behind that could fire.
		_ = client.SetReadDeadline(time.Now().Add(time.Hour))
		_ = client.Close()
		time.Sleep(2 * time.Hour)
		read("closed", 10*time.Second+2*time.Hour)
	})
}

// TestBytesArrive sends random chunks through random reads, both ways at once.
func TestBytesArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 7, 4096, targettest.BufferBytes - 1, targettest.BufferBytes, 100_000}), 0, 6)
		client, server := targettest.Pipe()
		var done sync.WaitGroup
		for _, way := range []struct{ from, to *targettest.Conn }{{client, server}, {server, client}} {
			writes, reads := sizes.Draw(t, "writes"), append(sizes.Draw(t, "reads"), 1000)
			var want []byte
			for i, size := range writes {
				for k := range size {
					want = append(want, byte(k*31+i))
				}
			}
			done.Go(func() {
				rest := want
				for _, size := range writes {
					if n, err := way.from.Write(rest[:size]); n != size || err != nil {
						t.Errorf("Write(%d bytes) = %d, %v", size, n, err)
					}
					rest = rest[size:]
				}
				if err := way.from.CloseWrite(); err != nil {
					t.Errorf("CloseWrite = %v", err)
				}
			})
			done.Go(func() {
				var got []byte
				for i := 0; ; i++ {
					p := make([]byte, reads[i%len(reads)])
					n, err := way.to.Read(p)
					got = append(got, p[:n]...)
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Errorf("Read = %v", err)
						return
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d bytes arrived, want the %d that were sent", len(got), len(want))
				}
			})
		}
		done.Wait()
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	client, server := targettest.Pipe()
	go func() { _, _ = io.Copy(server, server) }()
	defer func() { _ = client.Close() }()
	p := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(p); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, p); err != nil {
			b.Fatal(err)
		}
	}
}
