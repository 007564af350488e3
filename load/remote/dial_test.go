package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/remote"
)

// A net of addresses that answer as a test says, by IP.
type fakeNet struct {
	replies map[string]error // nil connects, errHang waits for the end of the context
	asked   []string
	network []string
}

var errHang = errors.New("hang")

func (f *fakeNet) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "udp" {
		f.network = append(f.network, address)
	} else {
		f.asked = append(f.asked, address)
	}
	err, known := f.replies[network+" "+address]
	if !known {
		err = f.replies[address]
	}
	if errors.Is(err, errHang) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", err)}
	}
	ours, theirs := net.Pipe()
	_ = theirs.Close()
	return ours, nil
}

// site is a resolved target behind a name with these addresses.
func site(t *testing.T, port int, connect func(context.Context, string, string) (net.Conn, error), addresses ...string) *remote.Site {
	t.Helper()
	s, err := remote.New(remote.Config{URL: fmt.Sprintf("http://localhost:%d", port), Lookup: answers(addresses...), Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Three addresses behind one name, in every state that decides where a dial goes.
func TestDialGoesRound(t *testing.T) {
	const a, b, c = "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"
	for _, tt := range []struct {
		name    string
		client  int
		replies map[string]error
		asked   []string
		err     error
	}{
		{"first", 0, nil, []string{a}, nil},
		{"second", 1, nil, []string{b}, nil},
		{"round", 3, nil, []string{a}, nil},
		{"the largest", 1<<63 - 1, nil, []string{b}, nil},
		{"the largest, refused", 1<<63 - 1, map[string]error{b: syscall.ECONNREFUSED}, []string{b, c}, nil},
		{"refused", 0, map[string]error{a: syscall.ECONNREFUSED}, []string{a, b}, nil},
		{"refused twice, round the end", 1, map[string]error{b: syscall.ECONNREFUSED, c: syscall.EHOSTUNREACH}, []string{b, c, a}, nil},
		{"no answer", 2, map[string]error{c: errHang}, []string{c, a}, nil},
		{"the error of the first", 1, map[string]error{a: errHang, b: syscall.ECONNREFUSED, c: syscall.ENETUNREACH}, []string{b, c, a}, context.DeadlineExceeded},
		{"all refuse", 1, map[string]error{a: syscall.ENETUNREACH, b: syscall.ECONNREFUSED, c: syscall.ENETUNREACH}, []string{b, c, a}, syscall.ECONNREFUSED},
		{"descriptors", 0, map[string]error{a: syscall.EMFILE}, []string{a}, syscall.EMFILE},
		{"descriptors of all", 0, map[string]error{a: syscall.ENFILE}, []string{a}, syscall.ENFILE},
		{"ports", 0, map[string]error{a: syscall.ECONNREFUSED, b: syscall.EADDRNOTAVAIL}, []string{a, b}, syscall.EADDRNOTAVAIL},
		{"buffers", 0, map[string]error{a: syscall.ENOBUFS}, []string{a}, syscall.ENOBUFS},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeNet{replies: tt.replies}
				s := site(t, 80, f.connect, "10.0.0.1", "10.0.0.2", "10.0.0.3")
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				conn, err := s.Dial(ctx, tt.client)
				if !slices.Equal(f.asked, tt.asked) || !errors.Is(err, tt.err) || (conn == nil) != (tt.err != nil) {
					t.Errorf("Dial(%d) = %v, %v after %q, want %v after %q", tt.client, conn, err, f.asked, tt.err, tt.asked)
				}
				local := []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS}
				if got, want := remote.Exhausted(err), slices.Contains(local, tt.err); got != want {
					t.Errorf("Exhausted(%v) = %v, want %v", err, got, want)
				}
			})
		})
	}
}

// What an attempt's time leaves is shared by the addresses that are left, at least 2 s each
// where there is that much.
func TestDialSharesTheTime(t *testing.T) {
	const a, b, c = "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"
	for _, tt := range []struct {
		name    string
		timeout time.Duration // 0: none
		hang    []string
		asked   []string
		took    time.Duration
		ok      bool
	}{
		{"a third", 9 * time.Second, []string{a}, []string{a, b}, 3 * time.Second, true},
		{"half of two thirds", 9 * time.Second, []string{a, b}, []string{a, b, c}, 6 * time.Second, true},
		{"all", 9 * time.Second, []string{a, b, c}, []string{a, b, c}, 9 * time.Second, false},
		{"at least 2 s", 5 * time.Second, []string{a}, []string{a, b}, 2 * time.Second, true},
		{"2 s, 2 s, 1 s", 5 * time.Second, []string{a, b, c}, []string{a, b, c}, 5 * time.Second, false},
		{"not that much", 2 * time.Second, []string{a}, []string{a}, 2 * time.Second, false},
		{"little", time.Millisecond, []string{a}, []string{a}, time.Millisecond, false},
		{"no limit", 0, nil, []string{a}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeNet{replies: map[string]error{}}
				for _, address := range tt.hang {
					f.replies[address] = errHang
				}
				s := site(t, 80, f.connect, "10.0.0.1", "10.0.0.2", "10.0.0.3")
				ctx, start := t.Context(), time.Now()
				if tt.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				_, err := s.Dial(ctx, 0)
				if took := time.Since(start); took != tt.took || (err == nil) != tt.ok || !slices.Equal(f.asked, tt.asked) {
					t.Errorf("Dial: %v after %v and %q, want %v after %v and %q", err, took, f.asked, tt.ok, tt.took, tt.asked)
				}
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Dial: %v, want a deadline exceeded", err)
				}
			})
		})
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeNet{replies: map[string]error{"10.0.0.1:80": errHang}}
		s := site(t, 80, f.connect, "10.0.0.1", "10.0.0.2")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := s.Dial(ctx, 0); !errors.Is(err, context.Canceled) || len(f.asked) != 1 {
			t.Errorf("Dial: %v after %q, want canceled after the first", err, f.asked)
		}
	})
}

// A container without IPv6 may still have ::1 in its hosts file. Dialling it fails like a
// shortage of ports does, so it must not be dialled.
func TestAddressesWithoutRouteAreLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		found []string
		udp   error
		want  []string
	}{
		{"no IPv6", []string{"::1", "127.0.0.1"}, syscall.EADDRNOTAVAIL, []string{"127.0.0.1:80"}},
		{"both", []string{"::1", "127.0.0.1"}, nil, []string{"[::1]:80", "127.0.0.1:80"}},
		{"IPv6 alone", []string{"::1"}, syscall.EADDRNOTAVAIL, []string{"[::1]:80"}},
	} {
		f := &fakeNet{replies: map[string]error{"udp [::1]:80": tt.udp}}
		if got := site(t, 80, f.connect, tt.found...).Addresses(); !slices.Equal(got, tt.want) || len(f.asked) > 0 {
			t.Errorf("%s: addresses = %q after dialling %q, want %q after none", tt.name, got, f.asked, tt.want)
		}
	}
}

// A literal address without a way is said once, and is no shortage of ports in every attempt.
func TestALiteralWithoutRoute(t *testing.T) {
	for _, tt := range []struct {
		udp  error
		want bool
	}{{syscall.EADDRNOTAVAIL, true}, {syscall.ENETUNREACH, true}, {syscall.ECONNREFUSED, false}, {nil, false}} {
		f := &fakeNet{replies: map[string]error{"udp [::1]:80": tt.udp}}
		s, err := remote.New(remote.Config{URL: "http://[::1]/", Connect: f.connect})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Resolve(t.Context()); (err != nil) != tt.want || err != nil && !strings.Contains(err.Error(), "no way to the address ::1") {
			t.Errorf("route %v: Resolve = %v, want an error: %v", tt.udp, err, tt.want)
		}
	}
}

func TestDialBeforeResolveIsABug(t *testing.T) {
	s, err := remote.New(remote.Config{URL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "remote: BUG: ") {
			t.Errorf("Dial before Resolve: %s, want a panic", text)
		}
	}()
	_, _ = s.Dial(t.Context(), 0)
}

// serve accepts connections and says hello on each until the test ends.
func serve(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello"))
			_ = conn.Close()
		}
	}()
	return l
}

// hello dials and reads what serve writes.
func hello(t *testing.T, s *remote.Site, client int) net.Addr {
	t.Helper()
	conn, err := s.Dial(t.Context(), client)
	if err != nil {
		t.Fatalf("Dial(%d): %v", client, err)
	}
	defer func() { _ = conn.Close() }()
	text := make([]byte, 5)
	if _, err := conn.Read(text); err != nil || string(text) != "hello" {
		t.Fatalf("read %q: %v", text, err)
	}
	return conn.RemoteAddr()
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func TestDialIPv6Literal(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	_ = probe.Close()
	l := serve(t, "tcp", "[::1]:0")
	s, err := remote.New(remote.Config{URL: fmt.Sprintf("http://[::1]:%d/", port(l)), Lookup: silent(t)})
	if err != nil {
		t.Fatal(err)
	}
	if got := hello(t, s, 7); got.String() != l.Addr().String() {
		t.Errorf("connected to %v, want %v", got, l.Addr())
	}
	if want := fmt.Sprintf("[::1]:%d", port(l)); s.Authority() != want {
		t.Errorf("authority = %q, want %q", s.Authority(), want)
	}
}

// The unspecified addresses are free because they reach this machine.
func TestDialUnspecified(t *testing.T) {
	l := serve(t, "tcp", "127.0.0.1:0")
	s, err := remote.New(remote.Config{URL: fmt.Sprintf("http://0.0.0.0:%d/", port(l)), Lookup: silent(t)})
	if err != nil {
		t.Fatal(err)
	}
	hello(t, s, 0)
}

func TestDialUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	serve(t, "unix", path)
	s, err := remote.New(remote.Config{URL: "http://Example.com:8080/a", UnixSocket: path, Lookup: silent(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	hello(t, s, 3)
	if got := s.Addresses(); !slices.Equal(got, []string{"unix:" + path}) || s.Authority() != "Example.com:8080" || s.RequestTarget() != "/a" {
		t.Errorf("addresses %q, authority %q, target %q", got, s.Authority(), s.RequestTarget())
	}
}

func TestUnixSocketPath(t *testing.T) {
	for _, path := range []string{strings.Repeat("x", 108), "a\x00b"} {
		_, err := remote.New(remote.Config{URL: "http://localhost", UnixSocket: path})
		if err == nil || !slices.Equal(fields(t, err), []string{"unix-socket"}) {
			t.Errorf("unix socket %q: %v, want a fault of unix-socket", path, err)
		}
	}
}

// Behind the name is one address where nothing listens and one that answers: every client
// connects, those that start at the dead one too, and the resolver is asked once for all.
func TestDialNameWithADeadAddress(t *testing.T) {
	l := serve(t, "tcp", "127.0.0.1:0")
	asked := 0
	s, err := remote.New(remote.Config{
		URL:        fmt.Sprintf("http://two.example:%d", port(l)),
		AllowHosts: []string{"two.example"},
		Lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			asked++
			return answers("127.0.0.2", "127.0.0.1")(ctx, name)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	for client := range 20 {
		if got := hello(t, s, client); got.String() != l.Addr().String() {
			t.Errorf("client %d connected to %v, want %v", client, got, l.Addr())
		}
	}
	if asked != 1 {
		t.Errorf("%d look-ups, want 1", asked)
	}
	dead := site(t, port(l), nil, "127.0.0.2")
	if _, err := dead.Dial(t.Context(), 0); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the dead address: %v, want refused; the test above shows nothing", err)
	}
}

// A proxy of the environment would send the storm elsewhere.
func TestDialUsesNoProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.3:9")
	}
	l := serve(t, "tcp", "127.0.0.1:0")
	if got := hello(t, site(t, port(l), nil, "127.0.0.1"), 0); got.String() != l.Addr().String() {
		t.Errorf("connected to %v, want %v", got, l.Addr())
	}
}
