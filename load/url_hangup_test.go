package load_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"stormtest/load"
)

// A server that hangs up after its answer without having said so costs a client that watches its idle
// connection another connection, and no attempt; and what it says unasked is nobody's answer. Over
// real sockets, where the end is often here before the client waits again.
func TestAServerThatHangsUpInSilence(t *testing.T) {
	const clients, retries = 40, 3
	for _, tt := range []struct{ name, stray string }{
		{"an end", ""},
		{"a stray answer and an end", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				wg.Go(func() {
					defer func() { _ = conn.Close() }()
					if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						_, _ = io.WriteString(conn, "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")
						_, _ = io.WriteString(conn, tt.stray)
					}
				})
			}
		})
		p := scenario(t, "url: http://"+listener.Addr().String(), fmt.Sprint("clients: ", clients), fmt.Sprint("max-retries: ", retries),
			"strategy: constant", "base: 20ms", "duration: 5s")
		result := visit(t.Context(), t, p, load.Env{})
		if got, want := outcomes(result), fmt.Sprintf("map[503:%d] map[]", clients*(retries+1)); got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
		if got := result.Runs[0].Generator.Connections; got != clients*(retries+1) {
			t.Errorf("%s: %d connections, want one an attempt", tt.name, got)
		}
		_ = listener.Close()
		wg.Wait()
	}
}
