package fleet

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"reflect"
	"testing"
)

func TestParseResponse(t *testing.T) {
	tests := []struct {
		name string
		head string
		want response
		bad  bool
	}{
		{name: "the target's", head: "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 0\r\n",
			want: response{status: 503, retryAfter: []byte("2")}},
		{name: "a body", head: "HTTP/1.1 200 OK\r\ncontent-length: 12\r\nDate: now\r\n", want: response{status: 200, bodyBytes: 12, date: []byte("now")}},
		{name: "no reason", head: "HTTP/1.1 204\r\n", want: response{status: 204}},
		{name: "an empty reason", head: "HTTP/1.1 304 \r\n", want: response{status: 304}},
		{name: "a status without a body", head: "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n", want: response{status: 304}},
		{name: "an interim answer", head: "HTTP/1.1 103 Early Hints\r\n", want: response{status: 103}},
		{name: "closing", head: "HTTP/1.1 503 x\r\nConnection: close\r\nContent-Length: 0\r\n", want: response{status: 503, last: true}},
		{name: "a body until the end", head: "HTTP/1.1 200 OK\r\n", want: response{status: 200, untilEnd: true}},
		{name: "chunked", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n", want: response{status: 200, chunked: true}},
		{name: "chunked, and a length", head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", want: response{status: 200, chunked: true, last: true}},
		{name: "chunked without a body", head: "HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n", want: response{status: 304}},
		{name: "another coding", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", want: response{status: 200, chunked: true}},
		{name: "codings on two lines", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", want: response{status: 200, chunked: true}},
		{name: "not in chunks at last", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 5\r\n", want: response{status: 200, untilEnd: true}},
		{name: "a coding without a body", head: "HTTP/1.1 304 x\r\nTransfer-Encoding: gzip\r\n", want: response{status: 304}},
		{name: "a list of options", head: "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 0\r\n", want: response{status: 200, last: true}},
		{name: "HTTP/1.0 kept alive", head: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n", want: response{status: 200}},
		{name: "HTTP/2 in disguise", head: "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n", bad: true},
		{name: "two lengths", head: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n", bad: true},
		{name: "a negative length", head: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", bad: true},
		{name: "another protocol", head: "SSH-2.0-OpenSSH_9.2\r\n", bad: true},
		{name: "HTTP/1.0", head: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n", want: response{status: 200, last: true}},
		{name: "four digits", head: "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n", bad: true},
		{name: "letters", head: "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n", bad: true},
		{name: "status 099", head: "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n", bad: true},
		{name: "nothing", head: "", bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseResponse([]byte(tt.head))
			if tt.bad {
				if !errors.Is(err, errMalformed) {
					t.Errorf("parseResponse(%q) = %+v, %v; want an error", tt.head, got, err)
				}
				return
			}
			after, date := string(got.retryAfter) == string(tt.want.retryAfter), string(got.date) == string(tt.want.date)
			got.retryAfter, got.date, tt.want.retryAfter, tt.want.date = nil, nil, nil, nil
			if err != nil || !after || !date || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("parseResponse(%q) = %+v, %v; want %+v", tt.head, got, err, tt.want)
			}
		})
	}
}

// Whatever comes, parseResponse does not panic, and what it accepts is in range.
func FuzzParseResponse(f *testing.F) {
	for _, seed := range []string{
		"", "HTTP/1.1 ", "HTTP/1.1 200", "HTTP/1.1 999 \r\nContent-Length: 0\r\n", "HTTP/1.1 000\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n",
		"HTTP/1.1 200 OK\r\nRetry-After:\r\nContent-Length: 0\r\n", "HTTP/1.1 101 x\r\n:\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		r, err := parseResponse(head)
		if err == nil && (r.status < 100 || r.status > 999 || r.bodyBytes < 0) {
			t.Errorf("parseResponse(%q) = %+v, out of range", head, r)
		}
	})
}

// An alert of the server's after the handshake is TLS's failure and no reset.
func TestRefusedTLS(t *testing.T) {
	for op, want := range map[string]bool{"remote error": true, "local error": false, "read": false} {
		if got := refusedTLS(fmt.Errorf("x: %w", &net.OpError{Op: op, Err: tls.AlertError(116)})); got != want {
			t.Errorf("an alert as a %s: %v, want %v", op, got, want)
		}
	}
}

func TestRequestIsOverwrittenInPlace(t *testing.T) {
	r := Request{Method: "POST", Host: "h:1", Target: "/", Agent: "stormtest/test", ClientHeader: "C", AttemptHeader: "A", KeyPrefix: "k"}
	b := r.build(7)
	b.set(12, 345)
	want := "POST / HTTP/1.1\r\nHost: h:1\r\nUser-Agent: stormtest/test\r\nC: 7\r\nA: 0000000345\r\n" +
		"Idempotency-Key: \"k-7-0000000000000000012\"\r\nContent-Length: 0\r\n\r\n"
	if got := string(b.text); got != want {
		t.Errorf("request = %q, want %q", got, want)
	}
	b.set(0, 0)
	b.set(9223372036854775807, 2147483647)
	if got := string(b.operation) + " " + string(b.attempt); got != "9223372036854775807 2147483647" {
		t.Errorf("numbers = %s, want the greatest", got)
	}
	if n := testing.AllocsPerRun(100, func() { b.set(5, 6) }); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
	r.KeyPrefix, r.Method = "", "GET"
	bare := r.build(7)
	bare.set(1, 2) // without a key there is no operation to write
	if got := string(bare.text); got != "GET / HTTP/1.1\r\nHost: h:1\r\nUser-Agent: stormtest/test\r\nC: 7\r\nA: 0000000002\r\n\r\n" {
		t.Errorf("request = %q", got)
	}
}

// The words of a template stand for their numbers wherever they may stand, and the length of
// the body follows.
func TestTemplates(t *testing.T) {
	r := Request{
		Method: "PUT", Host: "h", Target: "/u/{client}?o={operation}", Agent: "a", ClientHeader: "C", AttemptHeader: "A",
		Header: []Field{{"X-Try", "{attempt} of {client}"}, {"Host", "other"}, {"user-agent", "mine"}},
		Body:   []byte(`{"o":{operation}}`),
	}
	b := r.build(7)
	for _, tt := range []struct {
		operation int64
		attempt   int
		want      string
	}{
		{3, 0, "PUT /u/7?o=3 HTTP/1.1\r\nHost: other\r\nUser-Agent: mine\r\nC: 7\r\nX-Try: 0 of 7\r\nA: 0000000000\r\nContent-Length: 7\r\n\r\n{\"o\":3}"},
		{10, 12, "PUT /u/7?o=10 HTTP/1.1\r\nHost: other\r\nUser-Agent: mine\r\nC: 7\r\nX-Try: 12 of 7\r\nA: 0000000012\r\nContent-Length: 8\r\n\r\n{\"o\":10}"},
	} {
		b.set(tt.operation, tt.attempt)
		if got := string(b.text); got != tt.want {
			t.Errorf("request = %q\nwant      %q", got, tt.want)
		}
	}
}
