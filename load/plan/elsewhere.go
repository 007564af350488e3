package plan

import (
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
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
	"Connection", "Content-Length", "Idempotency-Key", "Keep-Alive", "Proxy-Connection", "Stormtest-Attempt", "Stormtest-Client",
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

// secretWords are in the names of headers and query parameters whose values must not go into a
// result that is mailed to a colleague.
var secretWords = []string{
	"auth", "cookie", "credential", "jwt", "key", "passw", "pwd", "secret", "session", "signature", "token",
}

func holdsSecret(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// redactedURL returns a URL without the values of those parameters of its query that hold secrets.
func redactedURL(text string) string {
	path, query, found := strings.Cut(text, "?")
	if !found {
		return text
	}
	parameters := strings.Split(query, "&")
	for i, parameter := range parameters {
		name, _, valued := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if valued && holdsSecret(name) {
			parameters[i] = parameter[:strings.IndexByte(parameter, '=')+1] + "left-out"
		}
	}
	return path + "?" + strings.Join(parameters, "&")
}

// Redacted returns p without what looks like a secret by its name, in a header or in the URL's
// query, for a result. A run is not repeated with it: a target may refuse what is in its place.
func (p Plan) Redacted() Plan {
	headers := make([]string, len(p.Headers))
	for i, h := range p.Headers {
		headers[i] = h
		if name, _, _ := strings.Cut(h, ":"); holdsSecret(name) {
			headers[i] = name + ": (left out)"
		}
	}
	p.Headers, p.URL = headers, redactedURL(p.URL)
	return p
}
