package remote

import (
	"net/netip"
	"strings"
)

// near reports whether an address is this machine or one of a private network: loopback,
// unspecified (which reaches this machine), RFC 1918 and unique local. Link-local addresses
// are not, for clouds put their metadata services there, and neither are those that a
// provider shares among its customers (RFC 6598).
func near(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsLoopback() || a.IsPrivate() || a.IsUnspecified()
}

// near reports whether the host may be attacked without being named by --allow-host. A name
// other than localhost may not, whatever its addresses: asking for them already tells others.
func (h host) near() bool {
	if h.addr.IsValid() {
		return near(h.addr)
	}
	return h.local()
}

// local reports whether the host is localhost or a name under it.
func (h host) local() bool {
	name := h.bare()
	return name == localhost || strings.HasSuffix(name, "."+localhost)
}

// bare is the name in lower case without the final dot, or the address without zone.
func (h host) bare() string {
	if h.addr.IsValid() {
		return h.addr.WithZone("").String()
	}
	return strings.TrimSuffix(h.name, ".")
}

func (h host) same(other host) bool { return h.bare() == other.bare() }

// parseAllowed reads the hosts of --allow-host.
func parseAllowed(texts []string) (hosts []host, faults []*FieldError) {
	for _, text := range texts {
		inner := text
		if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
			inner = text[1 : len(text)-1]
		}
		h, problem := parseHost(inner)
		if problem != "" {
			if strings.Contains(text, ":") {
				problem = "a host name or address without scheme, port and path"
			}
			faults = append(faults, &FieldError{"allow-host", text, problem})
			continue
		}
		hosts = append(hosts, h)
	}
	return hosts, faults
}

// refusal is the fault of a URL whose host was not named.
func refusal(text string, h host) *FieldError {
	return &FieldError{"url", redact(text), "localhost, a loopback or a private address; " + howToAllow(h)}
}

// howToAllow says why a host is refused and what to do.
func howToAllow(h host) string {
	return "a storm can take a service down, so any other host has to be named: --allow-host " + h.bare()
}
