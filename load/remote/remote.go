// Package remote reaches a storm's target that is not ours: a URL is checked before anything
// is sent, its name looked up once, and every client dials an address of it.
//
// The tool can take a service down, so its user has to say which: loopback and private
// addresses and localhost are free, every other host needs to be named in
// [Config.AllowHosts], and is refused before any look-up where it is not.
//
// No proxy is ever used and no variable of the environment read, with one exception that is
// crypto/x509's: SSL_CERT_FILE and SSL_CERT_DIR say where the system's roots are.
package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// A Config says where the target is and how to speak to it.
type Config struct {
	// URL is http:// or https://, a host and an optional port, path and query, without user
	// or fragment. {client}, {operation} and {attempt} may stand in its path and query.
	URL string
	// UnixSocket is the path of a socket to dial instead; the URL then only gives the Host
	// header, the path and the name in the certificate. "@name" is Linux's abstract socket.
	UnixSocket string
	// AllowHosts are names and literal addresses, without port, that may be public.
	AllowHosts []string
	// CACertPEM, where not nil, holds the only roots that are trusted. CertPEM and KeyPEM are
	// the client's certificate and its key, which may stand in CertPEM too; nil for none.
	CACertPEM, CertPEM, KeyPEM []byte
	// Insecure accepts every certificate.
	Insecure bool
	// HTTP is auto (over https ALPN decides, over http it is 1.1), 1.1 or 2; empty means auto.
	HTTP string

	// Lookup gives the addresses of a name; nil asks the system's resolver.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Connect opens a connection to a literal address; nil uses a [net.Dialer] without
	// keep-alive probes. The network is tcp or unix, or udp where Resolve asks whether there
	// is a route to an IPv6 address.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Site is a checked target.
//
// Resolve comes before everything that dials and not beside it; after it all methods are safe
// for concurrent use.
type Site struct {
	url        *url.URL
	host       host
	authority  string
	target     string // path?query
	unixSocket string
	tls        *tls.Config // nil for http
	listed     bool        // the host is in AllowHosts
	lookup     func(ctx context.Context, name string) ([]netip.Addr, error)
	connect    func(ctx context.Context, network, address string) (net.Conn, error)

	addresses []string // host:port, not empty once resolved; unused with unixSocket
}

// New checks everything that can be checked without the network, so also whether the host may
// be attacked at all. The error is one *FieldError or several joined.
func New(cfg Config) (*Site, error) {
	s := &Site{unixSocket: cfg.UnixSocket, lookup: cfg.Lookup, connect: cfg.Connect}
	if s.lookup == nil {
		s.lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if s.connect == nil {
		// An attempt has its own time limit, so probes would only cost system calls.
		s.connect = (&net.Dialer{KeepAlive: -1}).DialContext
	}
	faults := checkSocket(cfg.UnixSocket)
	allowed, bad := parseAllowed(cfg.AllowHosts)
	faults = append(faults, bad...)
	loc, fault := parseURL(cfg.URL)
	if fault != nil {
		// Whether TLS is wanted is not known then, but the files can be looked at.
		_, bad = tlsConfig(cfg, "https", "")
		return nil, join(append(append([]*FieldError{fault}, faults...), bad...))
	}
	s.url, s.host, s.authority, s.target = loc.url, loc.host, loc.authority(), loc.target
	s.listed = slices.ContainsFunc(allowed, s.host.same)
	if cfg.UnixSocket == "" && !s.listed && !s.host.near() {
		faults = append(faults, refusal(cfg.URL, s.host))
	}
	s.tls, bad = tlsConfig(cfg, loc.url.Scheme, s.host.bare())
	if faults = append(faults, bad...); len(faults) > 0 {
		return nil, join(faults)
	}
	if s.host.addr.IsValid() {
		s.addresses = []string{net.JoinHostPort(s.host.addr.String(), loc.port())}
	}
	return s, nil
}

// socketMaxBytes is what fits in a unix socket's address on Linux, beside its final zero.
const socketMaxBytes = 107

func checkSocket(path string) []*FieldError {
	if len(path) <= socketMaxBytes && !strings.Contains(path, "\x00") {
		return nil
	}
	return []*FieldError{{"unix-socket", path, fmt.Sprintf("a path of at most %d bytes", socketMaxBytes)}}
}

// Resolve looks the name up, once: after the first success it does nothing, so that a run
// never depends on the resolver. Without a name it only sees whether there is a way to an IPv6
// address, because connecting without one fails like a shortage of ports.
//
// An error of the look-up wraps a *net.DNSError where the resolver gave one. A name that is
// free only because it is localhost and has a public address is a *FieldError.
func (s *Site) Resolve(ctx context.Context) error {
	switch {
	case s.unixSocket != "" || len(s.addresses) > 0 && !s.host.addr.Is6():
		return nil
	case len(s.addresses) > 0:
		return s.hasWay(ctx)
	}
	found, err := s.find(ctx)
	if err != nil {
		return fmt.Errorf("remote: look up %s: %w", s.host.name, err)
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if !s.listed {
		for _, a := range addrs {
			if !near(a) {
				return &FieldError{"url", redact(s.url.String()), fmt.Sprintf(
					"a name of this machine: %s has the address %v, which is neither loopback nor private; %s", s.host.name, a, howToAllow(s.host))}
			}
		}
	}
	for _, a := range s.routed(ctx, addrs) {
		s.addresses = append(s.addresses, netip.AddrPortFrom(a, s.host.portNumber).String())
	}
	return nil
}

// find asks the resolver. All names under localhost are this machine (RFC 6761, 6.3), but many
// resolvers ask a server for them, which may not be told before the user named the host: then
// localhost stands in, also where one that was named is unknown.
func (s *Site) find(ctx context.Context) ([]netip.Addr, error) {
	name, under := s.host.name, s.host.local() && s.host.bare() != localhost
	if under && !s.listed {
		name = localhost
	}
	found, err := s.lookup(ctx, name)
	if errors.As(err, new(*net.DNSError)) && under && s.listed {
		if own, fault := s.lookup(ctx, localhost); fault == nil {
			found, err = own, nil
		}
	}
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: s.host.name, IsNotFound: true}
	}
	return found, err
}

// hasWay is the error of a literal IPv6 address that this machine has no way to.
func (s *Site) hasWay(ctx context.Context) error {
	err := s.touch(ctx, s.host.addr)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EAFNOSUPPORT) {
		return fmt.Errorf("remote: this machine has no way to the address %v: %w", s.host.addr, err)
	}
	return nil
}

// touch connects a UDP socket to an address, which sends nothing, and closes it.
func (s *Site) touch(ctx context.Context, a netip.Addr) error {
	conn, err := s.connect(ctx, "udp", netip.AddrPortFrom(a, s.host.portNumber).String())
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// routed leaves out the IPv6 addresses that this machine has no way to, as long as others
// remain. Connecting to them fails like a shortage of ports, so that a container without IPv6
// whose hosts file has ::1 for localhost would look exhausted. A connected UDP socket finds
// out and sends nothing.
func (s *Site) routed(ctx context.Context, addrs []netip.Addr) []netip.Addr {
	if !slices.ContainsFunc(addrs, netip.Addr.Is4) {
		return addrs
	}
	return slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool {
		return !a.Is4() && s.touch(ctx, a) != nil
	})
}

// Addresses lists what Dial dials, such as 127.0.0.1:80 and [::1]:80, in the order of the
// resolver, or unix: and the socket's path. Nil for a name before Resolve. The slice is the
// caller's.
func (s *Site) Addresses() []string {
	if s.unixSocket != "" {
		return []string{"unix:" + s.unixSocket}
	}
	return slices.Clone(s.addresses)
}

// URL is the target's address, a copy. Its String writes the braces of placeholders as %7B
// and %7D; RequestTarget does not.
func (s *Site) URL() *url.URL {
	u := *s.url
	return &u
}

// Secure reports whether the scheme is https.
func (s *Site) Secure() bool { return s.tls != nil }

// Authority is the value of the Host header: the host as it was written, without an IPv6
// zone, and the port where it is not the scheme's own.
func (s *Site) Authority() string { return s.authority }

// RequestTarget is the path and query for the request line, such as /a?b={client}. Braces
// stand as they were written; every other byte that may not be there is percent-encoded.
func (s *Site) RequestTarget() string { return s.target }

// TLS returns a copy of the client's configuration, nil for http. One serves all connections.
func (s *Site) TLS() *tls.Config { return s.tls.Clone() }
