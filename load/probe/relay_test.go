package probe

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// An addressed is a relay's end of a connection from a given address.
type addressed struct {
	net.Conn
	from string
}

func (a addressed) RemoteAddr() net.Addr { return a }
func (addressed) Network() string        { return "tcp" }
func (a addressed) String() string       { return a.from }

// The system gives hey's end of a connection an address that one before it had: the gate of that address is
// shut again, and opens again, whether anybody passed it in between or not.
func TestAnAddressComesAgain(t *testing.T) {
	server := serve(t, ok)
	r, err := newRelay(t.Context(), to(server).withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	const from, never = "127.0.0.1:40000", "127.0.0.1:40001"
	for i := range 3 {
		near, ours := net.Pipe()
		r.wg.Go(func() { r.serve(t.Context(), addressed{near, from}) })
		r.admit(from)
		_, _ = io.WriteString(ours, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(ours), nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("connection %d: %v, %v", i, response, err)
		}
		_, _ = response.Body.Close(), ours.Close()
		r.mu.Lock()
		if len(r.gates) != 0 {
			t.Errorf("connection %d: gates %v are left, want none", i, r.gates)
		}
		r.mu.Unlock()
		r.admit(never)
		r.admit(never) // of connections that ended before they were accepted
		if !r.pass(t.Context(), never) {
			t.Error("an admitted connection does not pass")
		}
	}
}
