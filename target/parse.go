package target

import (
	"bytes"
	"errors"
	"math"
)

// A request is what the target wants to know of a request's head.
type request struct {
	call
	bodyBytes int64
}

var (
	headEnd = []byte("\r\n\r\n")
	crlf    = []byte("\r\n")
	errHead = errors.New("target: not a request that Serve takes")

	nameClient   = []byte(HeaderClient)
	nameAttempt  = []byte(HeaderAttempt)
	nameTimeout  = []byte(HeaderTimeout)
	nameKey      = []byte(KeyHeader)
	nameLength   = []byte("Content-Length")
	nameEncoding = []byte("Transfer-Encoding")
	version11    = []byte(" HTTP/1.1")
)

// parseHead reads a request line and headers, each ending in CRLF, without the empty line.
// It reads what it needs and refuses what would make it lose its place in the stream: another
// version, chunked bodies, a Content-Length that is no number or differs from a second one.
func parseHead(head []byte) (request, error) {
	req := request{call: call{origin: origin{Unknown, UnknownOperation}, timeout: noTimeout}}
	line, rest, _ := bytes.Cut(head, crlf)
	if !bytes.HasSuffix(line, version11) {
		return req, errHead
	}
	length := int64(-1)
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, crlf)
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return req, errHead
		}
		value = bytes.TrimSpace(value)
		switch {
		case equalFold(name, nameClient):
			if n, ok := parseNumber(value, math.MaxUint32-1); ok {
				req.client = uint32(n)
			}
		case equalFold(name, nameAttempt):
			if n, ok := parseNumber(value, math.MaxInt32); ok {
				req.attempt = int(n)
			}
		case equalFold(name, nameTimeout):
			if timeout, ok := parseTimeout(value); ok {
				req.timeout = timeout
			}
		case equalFold(name, nameKey):
			req.operation = keyNumber(value)
		case equalFold(name, nameLength):
			n, ok := parseNumber(value, bodyMaxBytes)
			if !ok || length >= 0 && n != length {
				return req, errHead
			}
			length = n
		case equalFold(name, nameEncoding):
			return req, errHead
		}
	}
	req.bodyBytes = max(0, length)
	return req, nil
}

// keyNumber returns the number of the operation that a quoted Idempotency-Key ends in, after its last -; UnknownOperation where
// there is none. It is how the fleet writes its keys.
func keyNumber(key []byte) int64 {
	key = bytes.Trim(key, `"`)
	if n, ok := parseNumber(key[bytes.LastIndexByte(key, '-')+1:], math.MaxInt64); ok {
		return n
	}
	return UnknownOperation
}

// equalFold compares ASCII without regard to case. Unlike bytes.EqualFold it looks at the
// length first, which settles most header names.
func equalFold(a, b []byte) bool {
	return len(a) == len(b) && bytes.EqualFold(a, b)
}

// parseNumber reads decimal digits up to a greatest value.
func parseNumber(b []byte, most int64) (int64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var n int64
	for _, d := range b {
		if d < '0' || d > '9' || n > (most-int64(d-'0'))/10 {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, true
}
