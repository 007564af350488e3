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
	chunked    bool   // the body is in chunks; bodyBytes is 0
	untilEnd   bool   // the body ends with the connection; bodyBytes is 0
}

var (
	headEnd      = []byte("\r\n\r\n")
	crlf         = []byte("\r\n")
	errMalformed = errors.New("fleet: the answer is not HTTP/1")
)

// headMaxBytes bounds an answer's head.
const headMaxBytes = 64 << 10

// parseResponse reads a head, without the empty line that ends it. How long the body is follows
// RFC 9112 6.3, apart from the answer to a HEAD, which is the caller's to know.
func parseResponse(head []byte) (response, error) {
	line, rest, _ := bytes.Cut(head, crlf)
	r, err := parseStatusLine(line)
	if err != nil {
		return r, err
	}
	length, coded := int64(-1), false
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
			coded = true
			r.chunked = is(lastOf(value), "chunked") // nobody unpacks what is coded beside
		case is(name, "connection"):
			r.last = has(value, "close") || r.last && !has(value, "keep-alive")
		case is(name, "retry-after"):
			r.retryAfter = value
		case is(name, "date"):
			r.date = value
		}
	}
	switch {
	case r.status < 200, r.status == 204, r.status == 304: // no body, whatever its headers say
		length, r.chunked = 0, false
	case coded && !r.chunked: // nothing else says where it ends
		length, r.untilEnd = 0, true
	case r.chunked && length >= 0: // one of the two lies, so that nothing after it can be trusted
		length, r.last = 0, true
	case !r.chunked && length < 0:
		r.untilEnd = true
	}
	r.bodyBytes = max(0, length)
	return r, nil
}

// parseStatusLine reads "HTTP/1.1 503 Service Unavailable"; the reason may be empty or absent.
func parseStatusLine(line []byte) (response, error) {
	var r response
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return r, errMalformed
	}
	switch line[7] {
	case '1':
	case '0':
		r.last = true
	default:
		return r, errMalformed
	}
	for _, d := range line[9:12] {
		if d < '0' || d > '9' {
			return r, errMalformed
		}
		r.status = r.status*10 + int(d-'0')
	}
	if r.status < 100 {
		return r, errMalformed
	}
	return r, nil
}

// lastOf returns the last element of a comma list.
func lastOf(list []byte) []byte {
	return bytes.TrimSpace(list[bytes.LastIndexByte(list, ',')+1:])
}

// has reports whether a comma list names a word, without regard to case.
func has(list []byte, lower string) bool {
	for len(list) > 0 {
		var element []byte
		element, list, _ = bytes.Cut(list, []byte(","))
		if is(bytes.TrimSpace(element), lower) {
			return true
		}
	}
	return false
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
