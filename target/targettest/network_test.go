package targettest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/target/targettest"
)

func listen(t *testing.T, network *targettest.Network, address string) *targettest.Listener {
	t.Helper()
	l, err := network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, network *targettest.Network, address string) net.Conn {
	t.Helper()
	c, err := network.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestListenerOpensAndCloses is a target that refuses connections for a while.
func TestListenerOpensAndCloses(t *testing.T) {
	var network targettest.Network
	refused := func(address string) {
		t.Helper()
		c, err := network.Dial("tcp", address)
		var op *net.OpError
		if c != nil || !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("Dial(%q) = %v, %v, want ECONNREFUSED in a *net.OpError", address, c, err)
		}
	}
	refused("target:80")
	first := listen(t, &network, "target:80")
	if _, err := network.Listen("target:80"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("Listen on an open address = %v, want EADDRINUSE", err)
	}
	if _, err := network.Listen(""); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("Listen(\"\") = %v, want EADDRNOTAVAIL", err)
	}
	refused("target:81")

	accepted := dial(t, &network, "target:80")
	server, err := first.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if server.RemoteAddr() != accepted.LocalAddr() || server.LocalAddr() != first.Addr() || accepted.RemoteAddr() != first.Addr() {
		t.Errorf("addresses: %v to %v, and %v to %v", accepted.LocalAddr(), accepted.RemoteAddr(), server.LocalAddr(), server.RemoteAddr())
	}
	waiting := dial(t, &network, "target:80")
	if waiting.LocalAddr() == accepted.LocalAddr() {
		t.Errorf("two connections from %v", waiting.LocalAddr())
	}

	if err := first.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	refused("target:80")
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept when closed = %v, want %v", err, net.ErrClosed)
	}
	if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Read from one never accepted = %v, want ECONNRESET", err)
	}
	write(server, "still here")
	if got := make([]byte, 10); func() error { _, err := io.ReadFull(accepted, got); return err }() != nil || string(got) != "still here" {
		t.Errorf("an accepted connection reads %q after its listener closed", got)
	}

	second := listen(t, &network, "target:80")
	if err := first.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close = %v, want %v", err, net.ErrClosed)
	}
	dial(t, &network, "target:80")
	if _, err := second.Accept(); err != nil {
		t.Errorf("Accept after opening again = %v", err)
	}
}

// TestAcceptWaits: Accept sleeps until a dial or Close.
func TestAcceptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network targettest.Network
		l := listen(t, &network, "target:80")
		begin := time.Now()
		time.AfterFunc(time.Second, func() { _, _ = network.Dial("tcp", "target:80") })
		time.AfterFunc(2*time.Second, func() { _ = l.Close() })
		if c, err := l.Accept(); err != nil || time.Since(begin) != time.Second {
			t.Errorf("Accept = %v, %v after %v, want a connection after 1s", c, err, time.Since(begin))
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || time.Since(begin) != 2*time.Second {
			t.Errorf("Accept = %v after %v, want %v after 2s", err, time.Since(begin), net.ErrClosed)
		}
	})
}

// TestBacklog fills it: the next dial waits for room, for its context or for the end.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network targettest.Network
		l := listen(t, &network, "target:80")
		for range targettest.Backlog {
			dial(t, &network, "target:80")
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := network.DialContext(ctx, "tcp", "target:80")
		var op *net.OpError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &op) || !op.Timeout() || time.Since(begin) != time.Second {
			t.Errorf("DialContext = %v after %v, want a timeout after 1s", err, time.Since(begin))
		}

		results := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := network.Dial("tcp", "target:80")
				results <- err
			}()
		}
		synctest.Wait()
		if _, err := l.Accept(); err != nil { // room for one
			t.Error(err)
		}
		if err := <-results; err != nil {
			t.Errorf("Dial when there is room = %v", err)
		}
		if err := l.Close(); err != nil { // refuses the other
			t.Error(err)
		}
		if err := <-results; !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Dial when the listener closes = %v, want ECONNREFUSED", err)
		}

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := network.DialContext(cancelled, "tcp", "target:80"); !errors.Is(err, context.Canceled) {
			t.Errorf("DialContext with a dead context = %v, want %v", err, context.Canceled)
		}
	})
}

// TestHTTP runs an unchanged client and server of net/http over it, in a bubble: ten
// clients at once on a handler that takes a second, a client that times out, one whose
// connection is reset, and a server that goes away and comes back.
func TestHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network targettest.Network
		gone := make(chan time.Duration, 1)
		begin := time.Now()
		mux := http.NewServeMux()
		mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(time.Second):
				_, _ = io.Copy(w, r.Body)
			case <-r.Context().Done():
				gone <- time.Since(begin)
			}
		})
		mux.HandleFunc("/reset", func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.(interface{ SetLinger(int) error }).SetLinger(0)
			_ = c.Close()
		})
		serve := func() *http.Server {
			server := &http.Server{Handler: mux}
			l := listen(t, &network, "target:80")
			go func() { _ = server.Serve(l) }()
			return server
		}
		server := serve()
		transport := &http.Transport{DialContext: network.DialContext}
		client := &http.Client{Transport: transport}

		var done sync.WaitGroup
		for i := range 10 {
			done.Go(func() {
				text := fmt.Sprint("client ", i)
				if got, err := post(t.Context(), client, "/slow", text); got != text || err != nil {
					t.Errorf("POST /slow = %q, %v, want %q", got, err, text)
				}
			})
		}
		done.Wait()
		if took := time.Since(begin); took != time.Second {
			t.Errorf("ten requests of 1s at once took %v, want 1s", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := post(ctx, client, "/slow", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("POST /slow in half a second = %v, want %v", err, context.DeadlineExceeded)
		}
		if at := <-gone; at != 1500*time.Millisecond {
			t.Errorf("the server saw the client leave at %v, want 1.5s", at)
		}
		if _, err := post(t.Context(), client, "/reset", ""); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("POST /reset = %v, want ECONNRESET", err)
		}

		_ = server.Close()
		transport.CloseIdleConnections()
		if _, err := post(t.Context(), client, "/slow", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("POST to a closed server = %v, want ECONNREFUSED", err)
		}
		server = serve()
		if got, err := post(t.Context(), client, "/slow", "back"); got != "back" || err != nil {
			t.Errorf("POST to a server that is back = %q, %v", got, err)
		}
		_ = server.Close()
		transport.CloseIdleConnections()
	})
}

func post(ctx context.Context, client *http.Client, path, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://target"+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
