package fleet

import (
	"bytes"
	"errors"
)

// A response is what the policy needs of an answer's head.
type response struct {
	status     int
	bodyBytes  int64
	retryAfter []byte // aliases the input; nil without the header
	date       []byte // likewise
	last       bool   // the connection ends after this answer
}

var (
	headEnd      = []byte("\r\n\r\n")
	crlf         = []byte("\r\n")
	errMalformed = errors.New("fleet: the answer is not HTTP/1.1 with a Content-Length")
)

// headMaxBytes bounds an answer's head.
const headMaxBytes = 64 << 10

// parseResponse reads a head, without the empty line that ends it.
//
// The built-in target always sends Content-Length. Statuses that have no body are read as RFC
// 9112 6.3 says; a body in a transfer coding, or until the end of the connection, is malformed
// here.
func parseResponse(head []byte) (response, error) {
	line, rest, _ := bytes.Cut(head, crlf)
	// "HTTP/1.1 503 Service Unavailable": the reason may be empty or absent.
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || len(line) > 12 && line[12] != ' ' {
		return response{}, errMalformed
	}
	var r response
	for _, d := range line[9:12] {
		if d < '0' || d > '9' {
			return response{}, errMalformed
		}
		r.status = r.status*10 + int(d-'0')
	}
	if r.status < 100 {
		return response{}, errMalformed
	}
	length := int64(-1)
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, crlf)
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return response{}, errMalformed
		}
		value = bytes.TrimSpace(value)
		switch {
		case is(name, "content-length"):
			n, ok := parseLength(value)
			if !ok || length >= 0 && n != length {
				return response{}, errMalformed
			}
			length = n
		case is(name, "transfer-encoding"):
			return response{}, errMalformed
		case is(name, "connection"):
			r.last = is(value, "close")
		case is(name, "retry-after"):
			r.retryAfter = value
		case is(name, "date"):
			r.date = value
		}
	}
	switch {
	case r.status == 204 || r.status == 304: // no body, whatever its headers say
		length = 0
	case length < 0 && r.status >= 200:
		return response{}, errMalformed
	}
	r.bodyBytes = max(0, length)
	return r, nil
}

// is compares ASCII without regard to case; lower is in lower case.
func is(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}

// parseLength reads a Content-Length of at most 18 digits.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, d := range b {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, true
}
