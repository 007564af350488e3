package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"stormtest/load/secret"
)

// A location is a URL taken apart.
type location struct {
	url    *url.URL
	host   host
	target string // path?query, for the request line
}

// A host is what a URL names: an address or a name, never both.
type host struct {
	addr       netip.Addr // valid for a literal address; may have a zone
	name       string     // lower case; may end in a dot
	written    string     // as in the URL, without brackets and zone
	portNumber uint16
}

const localhost = "localhost"

// parseURL takes a URL apart. It never panics, and the fault shows no password.
func parseURL(text string) (location, *FieldError) {
	fault := func(format string, args ...any) (location, *FieldError) {
		return location{}, &FieldError{"url", redact(text), fmt.Sprintf(format, args...)}
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found || !schemeShaped(scheme) {
		return fault("a URL with its scheme, such as http://%s", secret.URL(suggestion(text)))
	}
	u, err := url.Parse(text)
	if err != nil {
		if strings.Contains(text, "@") { // the cause could quote a part of a password
			return fault("http://HOST[:PORT][/PATH][?QUERY] or the same with https")
		}
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return fault("http://HOST[:PORT][/PATH][?QUERY] or the same with https (%v)", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fault("the scheme http or https")
	case u.User != nil:
		return fault("no user or password in it, for it would be in every report; send -H 'Authorization: ...'")
	case strings.Contains(text, "#"):
		return fault("no fragment (# and what follows), for it is never sent; write %%23 for the character")
	case u.Hostname() == "":
		return fault("a host, such as %s://localhost:8080/", u.Scheme)
	}
	h, problem := parseHost(u.Hostname())
	if problem != "" {
		return fault("%s", problem)
	}
	loc := location{url: u, host: h, target: requestTarget(rest)}
	port, err := strconv.ParseUint(loc.port(), 10, 16)
	if err != nil || port == 0 {
		return fault("a port of 1..65535")
	}
	loc.host.portNumber = uint16(port)
	return loc, nil
}

// schemeShaped reports whether text could be a scheme, so that "://" in a query is not taken
// for the end of one.
func schemeShaped(text string) bool {
	for _, c := range []byte(text) {
		if !letter(c) && !digit(c) && !strings.ContainsRune("+-.", rune(c)) {
			return false
		}
	}
	return text != "" && letter(text[0])
}

// suggestion is what may stand behind http:// for a text without scheme.
func suggestion(text string) string {
	text = strings.TrimLeft(text, "/")
	if u, err := url.Parse("http://" + text); err == nil && u.User == nil && len(text) <= 80 {
		if _, problem := parseHost(u.Hostname()); problem == "" {
			return text
		}
	}
	return "localhost:8080/"
}

// redact leaves out what could be a secret.
func redact(text string) string { return secret.URL(withoutPassword(text)) }

// withoutPassword leaves out what could be a password before the host.
func withoutPassword(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	// Up to the last @, for a password that was not escaped may hold any character.
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		if u, err := url.Parse(text); err != nil || u.User != nil || !found {
			return scheme + "..." + rest[i:]
		}
	}
	return text
}

// port is the one that was written, or the scheme's own.
func (l location) port() string {
	if port := l.url.Port(); port != "" {
		return port
	}
	if l.url.Scheme == "https" {
		return "443"
	}
	return "80"
}

// authority is the value of the Host header.
func (l location) authority() string {
	text := l.host.written
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	if n := l.host.portNumber; n == 80 && l.url.Scheme == "http" || n == 443 && l.url.Scheme == "https" {
		return text
	}
	return text + ":" + strconv.Itoa(int(l.host.portNumber))
}

// parseHost takes a host without brackets and port. The problem is what it should have been,
// empty for none.
func parseHost(text string) (h host, problem string) {
	if addr, err := netip.ParseAddr(text); err == nil {
		written, _, _ := strings.Cut(text, "%")
		return host{addr: addr.Unmap(), written: written}, ""
	}
	if problem := checkName(text); problem != "" {
		return host{}, problem
	}
	return host{name: strings.ToLower(text), written: text}, ""
}

// checkName says what is wrong with a host name, empty for nothing. Underscores pass, for
// container names have them.
func checkName(text string) string {
	name := strings.TrimSuffix(text, ".")
	if name == "" || len(name) > 253 {
		return "a host name of 1..253 bytes"
	}
	var label string
	for label = range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "a host name whose parts have 1..63 bytes each"
		}
		for _, c := range []byte(label) {
			if c >= 0x80 {
				return "a host name in ASCII (its xn-- form)"
			}
			if !letter(c) && !digit(c) && c != '-' && c != '_' {
				return "a host name of letters, digits, - and . or a literal address"
			}
		}
	}
	// The system's resolver takes 127.1 and 0x7f000001 for addresses, others look them up.
	if _, err := strconv.ParseUint(label, 0, 64); err == nil || strings.Trim(label, "0123456789") == "" {
		return "an IPv4 address as four numbers of 0..255 without leading zeros"
	}
	return ""
}

// requestTarget makes the path and query of what stands behind ://, for the request line.
func requestTarget(rest string) string {
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		return "/"
	}
	var b strings.Builder
	if rest[i] == '?' {
		b.WriteByte('/')
	}
	for ; i < len(rest); i++ {
		c := rest[i]
		escaped := c == '%' && i+2 < len(rest) && hexadecimal(rest[i+1]) && hexadecimal(rest[i+2])
		if escaped || letter(c) || digit(c) || strings.ContainsRune(plain, rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// plain are the characters that stand for themselves in a path or query (RFC 3986, 3.3 and
// 3.4), the braces of placeholders, and brackets, which everybody takes in queries.
const plain = "-._~!$&'()*+,;=:@/?{}[]"

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
func hexadecimal(c byte) bool {
	return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}
