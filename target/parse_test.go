package target

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseHead(t *testing.T) {
	tests := []struct {
		name string
		head string
		want request
		bad  bool
	}{
		{name: "the fleet's", head: "GET / HTTP/1.1\r\nHost: h\r\nStormtest-Client: 17\r\nStormtest-Attempt: 0000000003\r\n",
			want: request{call: call{origin: origin{client: 17}, attempt: 3}}},
		{name: "a stranger's", head: "GET / HTTP/1.1\r\nHost: h\r\n", want: request{call: call{origin: origin{client: Unknown}}}},
		{name: "with a time left", head: "GET / HTTP/1.1\r\nStormtest-Client: 17\r\nStormtest-Timeout: 01500000u\r\n",
			want: request{call: call{origin: origin{client: 17}, timeout: 1500 * time.Millisecond}}},
		{name: "a time left that is none", head: "GET / HTTP/1.1\r\nStormtest-Timeout: 1.5S\r\n", want: request{call: call{origin: origin{client: Unknown}}}},
		{name: "with a key of the fleet's", head: "GET / HTTP/1.1\r\nStormtest-Client: 17\r\nIdempotency-Key: \"01-full-17-0000000000000000042\"\r\n",
			want: request{call: call{origin: origin{client: 17, operation: 42}}}},
		{name: "with a key that ends in no number", head: "GET / HTTP/1.1\r\nIdempotency-Key: \"8e03978e-40d5-43dd-bc93-6894a57f9324x\"\r\n", want: request{call: call{origin: origin{client: Unknown}}}},
		{name: "names in any case", head: "POST /x HTTP/1.1\r\nstormtest-client:4\r\nCONTENT-LENGTH:  12 \r\n",
			want: request{call: call{origin: origin{client: 4}}, bodyBytes: 12}},
		{name: "a client that is no number is unknown", head: "GET / HTTP/1.1\r\nStormtest-Client: x\r\n", want: request{call: call{origin: origin{client: Unknown}}}},
		{name: "a client past 32 bits is unknown", head: "GET / HTTP/1.1\r\nStormtest-Client: 4294967296\r\n", want: request{call: call{origin: origin{client: Unknown}}}},
		{name: "the last client", head: "GET / HTTP/1.1\r\nStormtest-Client: 4294967294\r\n", want: request{call: call{origin: origin{client: 4294967294}}}},
		{name: "two equal lengths", head: "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n", want: request{call: call{origin: origin{client: Unknown}}, bodyBytes: 1}},
		{name: "two lengths", head: "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n", bad: true},
		{name: "a negative length", head: "GET / HTTP/1.1\r\nContent-Length: -1\r\n", bad: true},
		{name: "a length of 20 digits", head: "GET / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n", bad: true},
		{name: "chunked", head: "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", bad: true},
		{name: "HTTP/1.0", head: "GET / HTTP/1.0\r\n", bad: true},
		{name: "a header without a colon", head: "GET / HTTP/1.1\r\nnonsense\r\n", bad: true},
		{name: "nothing", head: "", bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseHead([]byte(tt.head))
			if tt.bad {
				if !errors.Is(err, errHead) {
					t.Errorf("parseHead(%q) = %+v, %v; want an error", tt.head, got, err)
				}
				return
			}
			tt.want.timeout = cmp.Or(tt.want.timeout, noTimeout)
			tt.want.operation = cmp.Or(tt.want.operation, UnknownOperation)
			if err != nil || got != tt.want {
				t.Errorf("parseHead(%q) = %+v, %v; want %+v", tt.head, got, err, tt.want)
			}
		})
	}
}

// Whatever comes, parseHead neither panics nor makes up a number that is not in the text.
func FuzzParseHead(f *testing.F) {
	for _, seed := range []string{
		"", "\r\n", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nContent-Length: 0\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 1073741824\r\n", "GET / HTTP/1.1\r\nContent-Length: 1073741825\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 9223372036854775807\r\n",
		"GET / HTTP/1.1\r\nStormtest-Client: 4294967295\r\nStormtest-Attempt: 2147483648\r\n", " HTTP/1.1\r\n:\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		req, err := parseHead(head)
		if err != nil {
			return
		}
		if req.bodyBytes < 0 || req.bodyBytes > bodyMaxBytes || req.attempt < 0 {
			t.Errorf("parseHead(%q) = %+v, out of range", head, req)
		}
		if (req.client != Unknown || req.attempt > 0 || req.bodyBytes > 0) && !bytes.ContainsAny(head, "0123456789") {
			t.Errorf("parseHead(%q) = %+v, from a text without a digit but the version's", head, req)
		}
	})
}

func TestParseHeadDoesNotAllocate(t *testing.T) {
	head := []byte("GET / HTTP/1.1\r\nHost: 127.0.0.1:1234\r\nStormtest-Client: 17\r\nStormtest-Attempt: 3\r\n" +
		"Idempotency-Key: \"" + strings.Repeat("a", 40) + "\"\r\n")
	if n := testing.AllocsPerRun(100, func() { _, _ = parseHead(head) }); n != 0 {
		t.Errorf("allocations = %v, want 0", n)
	}
}
