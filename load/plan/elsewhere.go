package plan

import (
	"crypto/sha256"
	"fmt"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"stormtest/load/secret"
)

// word is one line of printable text, such as a path; "none" is "".
type word struct {
	at    func(*Plan) *string
	shape string // for help texts
	none  bool   // "none" is the word for ""
}

func (v word) read(p *Plan, text string) string {
	switch {
	case v.none && text == listNone:
		*v.at(p) = ""
	case !isLongLine(text):
		return "one line of at most 4096 bytes, or none"
	default:
		*v.at(p) = text
	}
	return ""
}

func (v word) write(p *Plan) string {
	if s := *v.at(p); s != "" {
		return s
	}
	return listNone
}

func (v word) word() string    { return v.shape }
func (word) choices() []string { return nil }

// text is any UTF-8, also of many lines; the empty one is the default.
type text struct{ at func(*Plan) *string }

const textMostBytes = 16 << 10

func (v text) read(p *Plan, s string) string {
	if len(s) > textMostBytes || !utf8.ValidString(s) {
		return "UTF-8 of at most 16 KiB; body-file takes anything"
	}
	*v.at(p) = s
	return ""
}

func (v text) write(p *Plan) string { return *v.at(p) }
func (text) word() string           { return "TEXT" }
func (text) choices() []string      { return nil }

// parseHost takes any word: package load/remote knows what a host is.
func parseHost(text string) (host, want string) {
	if !isLine(text) || text == listNone || strings.ContainsAny(text, " /") {
		return "", "the name of a host, without scheme and path"
	}
	return text, ""
}

// ownHeaders are those that the fleet writes itself.
var ownHeaders = []string{
	"Connection", "Content-Length", "Idempotency-Key", "Keep-Alive", "Proxy-Connection", "Stormtest-Attempt", "Stormtest-Client", "Stormtest-Timeout",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// parseHeader reads "Name: value" and writes it with one blank.
func parseHeader(text string) (header, want string) {
	const form = "NAME: VALUE on one line, NAME of letters, digits and -"
	name, value, found := strings.Cut(text, ":")
	value = strings.Trim(value, " \t")
	if !found || !isHeaderName(name) || value != "" && !isLongLine(value) {
		return "", form
	}
	for _, own := range ownHeaders {
		if textproto.CanonicalMIMEHeaderKey(name) == own {
			return "", "another header: stormtest writes " + own + " itself"
		}
	}
	return name + ": " + value, ""
}

// isHeaderName reports whether text is a token of RFC 9110.
func isHeaderName(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != ""
}

// Redacted returns p without what looks like a secret by its name, in a header or in the URL's
// query, and with the body's size and the beginning of its SHA-256 in the body's place, for a
// result that others may read. A run is not repeated with it: a target may refuse what is in
// their place.
func (p Plan) Redacted() Plan {
	headers := make([]string, len(p.Headers))
	for i, h := range p.Headers {
		headers[i] = h
		if name, _, _ := strings.Cut(h, ":"); secret.Named(name) {
			headers[i] = name + ": (left out)"
		}
	}
	p.Headers, p.URL = headers, secret.URL(p.URL)
	if p.Body != "" {
		sum := sha256.Sum256([]byte(p.Body))
		p.Body = fmt.Sprintf("(left out: %d bytes, SHA-256 %x...)", len(p.Body), sum[:6])
	}
	return p
}
