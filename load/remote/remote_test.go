package remote_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stormtest/load/remote"
)

// silent is a resolver that nobody may ask.
func silent(t *testing.T) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, name string) ([]netip.Addr, error) {
		t.Errorf("the resolver was asked for %s", name)
		return nil, &net.DNSError{Err: "test", Name: name}
	}
}

// answers is a resolver with one answer for every name.
func answers(texts ...string) func(context.Context, string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return func(context.Context, string) ([]netip.Addr, error) { return addrs, nil }
}

// fields lists the fields of the FieldErrors in err, in their order.
func fields(t *testing.T, err error) []string {
	t.Helper()
	list := []error{err}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		list = all.Unwrap()
	}
	var names []string
	for _, e := range list {
		var f *remote.FieldError
		if !errors.As(e, &f) {
			t.Fatalf("%v is a %T, want a *FieldError", e, e)
		}
		names = append(names, f.Field)
	}
	return names
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		url, address, authority, target string
	}{
		{"http://127.0.0.1", "127.0.0.1:80", "127.0.0.1", "/"},
		{"https://127.0.0.1", "127.0.0.1:443", "127.0.0.1", "/"},
		{"http://127.0.0.1:443/", "127.0.0.1:443", "127.0.0.1:443", "/"},
		{"https://127.0.0.1:80/", "127.0.0.1:80", "127.0.0.1:80", "/"},
		{"HTTP://10.1.2.3:/a", "10.1.2.3:80", "10.1.2.3", "/a"},
		{"http://127.255.255.254:65535?x", "127.255.255.254:65535", "127.255.255.254:65535", "/?x"},
		{"http://[::1]:8080//a/../b", "[::1]:8080", "[::1]:8080", "//a/../b"},
		{"http://[0:0:0:0:0:0:0:1]/", "[::1]:80", "[0:0:0:0:0:0:0:1]", "/"},
		{"http://[::1%25lo]/", "[::1%lo]:80", "[::1]", "/"},
		{"http://[::ffff:127.0.0.1]/", "127.0.0.1:80", "[::ffff:127.0.0.1]", "/"},
		{"http://[fd12::1]/?", "[fd12::1]:80", "[fd12::1]", "/?"},
		{"http://0.0.0.0:1/", "0.0.0.0:1", "0.0.0.0:1", "/"},
		{"http://[::]:1/", "[::]:1", "[::]:1", "/"},
		{"http://[::%25lo]:1/", "[::%lo]:1", "[::]:1", "/"},
		{"http://172.31.0.1/c{client}/o{operation}?a={attempt}&b={x}", "172.31.0.1:80", "172.31.0.1", "/c{client}/o{operation}?a={attempt}&b={x}"},
		{"http://192.168.0.1/a%2Fb%20c d/é?q=a b\"<>\\^`|%&r=%zz%4", "192.168.0.1:80", "192.168.0.1",
			"/a%2Fb%20c%20d/%C3%A9?q=a%20b%22%3C%3E%5C%5E%60%7C%25&r=%25zz%254"},
		{"http://127.0.0.1/@a?u=http://b@c/", "127.0.0.1:80", "127.0.0.1", "/@a?u=http://b@c/"},
	} {
		s, err := remote.New(remote.Config{URL: tt.url, Lookup: silent(t)})
		if err != nil {
			t.Errorf("New(%q): %v", tt.url, err)
			continue
		}
		if err := s.Resolve(t.Context()); err != nil {
			t.Errorf("Resolve(%q): %v", tt.url, err)
		}
		if got := s.Addresses(); !slices.Equal(got, []string{tt.address}) {
			t.Errorf("addresses of %q = %q, want %q alone", tt.url, got, tt.address)
		}
		if s.Authority() != tt.authority || s.RequestTarget() != tt.target {
			t.Errorf("%q: authority %q, target %q, want %q, %q", tt.url, s.Authority(), s.RequestTarget(), tt.authority, tt.target)
		}
		if secure := strings.HasPrefix(tt.url, "https"); s.Secure() != secure || (s.TLS() != nil) != secure {
			t.Errorf("%q: secure = %v, TLS %v", tt.url, s.Secure(), s.TLS())
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"", "such as http://localhost:8080/"},
		{"localhost:8080/x?a=b", "such as http://localhost:8080/x?a=b"},
		{"127.0.0.1:8080", "such as http://127.0.0.1:8080"},
		{"//localhost/", "such as http://localhost/"},
		{"localhost/?u=http://b", "such as http://localhost/?u=http://b"},
		{"/a path", "such as http://localhost:8080/"},
		{"http:localhost", "such as http://"},
		{"ftp://localhost/", "the scheme http or https"},
		{"ws://localhost/", "the scheme http or https"},
		{"http://", "a host"},
		{"http:///path", "a host"},
		{"http://:80/", "a host"},
		{"http://localhost/#", "no fragment"},
		{"http://localhost/a#b", "no fragment"},
		{"http://u@localhost/", "-H 'Authorization"},
		{"http://@localhost/", "-H 'Authorization"},
		{"http://localhost:0/", "a port of 1..65535"},
		{"http://localhost:65536/", "a port of 1..65535"},
		{"http://localhost:x/", "invalid port"},
		{"http://{client}.localhost/", "invalid character"},
		{"http://localhost\n/", "invalid control character"},
		{"http://bücher.localhost/", "in ASCII"},
		{"http://a..localhost/", "1..63 bytes"},
		{"http://" + strings.Repeat("a", 64) + ".localhost/", "1..63 bytes"},
		{"http://" + strings.Repeat("a.", 127) + "localhost/", "1..253 bytes"},
		{"http://127.1/", "four numbers"},
		{"http://0x7f000001/", "four numbers"},
		{"http://2130706433/", "four numbers"},
		{"http://127.0.0.01/", "four numbers"},
		{"http://127.0.0.1./", "four numbers"},
		{"http://127.0.0.08/", "four numbers"},
		{"http://127.0.0.256/", "four numbers"},
	} {
		_, err := remote.New(remote.Config{URL: tt.url, Lookup: silent(t)})
		if err == nil || !slices.Equal(fields(t, err), []string{"url"}) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%q): %v, want a fault of url with %q", tt.url, err, tt.want)
		}
	}
}

func TestFaultsShowNoPassword(t *testing.T) {
	for _, text := range []string{
		"http://user:sesame@localhost/", "http://user:ses/ame@localhost/", "user:sesame@localhost", "http://user:sesame@localhost:x/",
		"http://user:ses#ame@localhost/", "http://user:ses?ame@localhost/", "http://user:ses@ame@localhost/", "ftp://user:sesame@localhost/",
		"http://user:sesame@example.com/", "http:user:sesame@localhost",
		"http://example.com/?token=sesame", "localhost/?api_key=sesame", "ftp://localhost/?a=b&pass=sesame", "http://localhost/?code=sesame#x",
	} {
		_, err := remote.New(remote.Config{URL: text})
		if err == nil {
			t.Errorf("New(%q): no error", text)
			continue
		}
		if message := err.Error(); strings.Contains(message, "ses") || strings.Contains(message, "ame@") {
			t.Errorf("New(%q): %v, which shows the password", text, err)
		}
	}
}

// A host that is not this machine's or a private network's is refused before anybody is
// asked about it, and the message says why and how to allow it.
func TestOtherHostsAreRefusedBeforeDNS(t *testing.T) {
	for _, tt := range []struct{ url, name string }{
		{"http://example.com/", "example.com"},
		{"https://EXAMPLE.com.:8443/x", "example.com"},
		{"http://localhost.example.com/", "localhost.example.com"},
		{"http://notlocalhost/", "notlocalhost"},
		{"http://db/", "db"},
		{"http://my_service.internal/", "my_service.internal"},
		{"http://8.8.8.8/", "8.8.8.8"},
		{"http://[::ffff:8.8.8.8]/", "8.8.8.8"},
		{"http://[2001:db8::1]/", "2001:db8::1"},
		{"http://[64:ff9b::7f00:1]/", "64:ff9b::7f00:1"},
		{"http://169.254.169.254/", "169.254.169.254"},
		{"http://[fe80::1]/", "fe80::1"},
		{"http://[fe80::1%25eth0]/", "fe80::1"},
		{"http://100.64.0.1/", "100.64.0.1"},
		{"http://224.0.0.1/", "224.0.0.1"},
		{"http://255.255.255.255/", "255.255.255.255"},
		{"http://172.32.0.1/", "172.32.0.1"},
		{"http://128.0.0.1/", "128.0.0.1"},
		{"http://0.0.0.1/", "0.0.0.1"},
	} {
		_, err := remote.New(remote.Config{URL: tt.url, Lookup: silent(t)})
		if err == nil || !slices.Equal(fields(t, err), []string{"url"}) {
			t.Errorf("New(%q): %v, want a fault of url", tt.url, err)
			continue
		}
		if text := err.Error(); !strings.HasSuffix(text, "--allow-host "+tt.name) || !strings.Contains(text, "take a service down") {
			t.Errorf("New(%q): %v, want the reason and --allow-host %s", tt.url, err, tt.name)
		}
		for _, allow := range []string{tt.name, strings.ToUpper(tt.name), "[" + tt.name + "]"} {
			if _, err := remote.New(remote.Config{URL: tt.url, AllowHosts: []string{"a.example", allow}, Lookup: silent(t)}); err != nil {
				t.Errorf("New(%q) with --allow-host %s: %v", tt.url, allow, err)
			}
		}
		if _, err := remote.New(remote.Config{URL: tt.url, AllowHosts: []string{"example.org", "1.1.1.1"}, Lookup: silent(t)}); err == nil {
			t.Errorf("New(%q) passes where others are allowed", tt.url)
		}
		if _, err := remote.New(remote.Config{URL: tt.url, UnixSocket: "/run/x", Lookup: silent(t)}); err != nil {
			t.Errorf("New(%q) over a unix socket: %v", tt.url, err)
		}
	}
}

func TestAllowHostsAreHosts(t *testing.T) {
	for _, text := range []string{"", ".", "*", "*.example.com", "example.com:443", "http://example.com", "10.0.0.0/8", "a b", "[::1", "[::1]:80", "127.1", "exa;mple"} {
		_, err := remote.New(remote.Config{URL: "http://localhost", AllowHosts: []string{text}})
		if err == nil || !slices.Equal(fields(t, err), []string{"allow-host"}) {
			t.Errorf("--allow-host %q: %v, want a fault of allow-host", text, err)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		name  string
		url   string
		allow []string
		found []string
		want  []string // nil: refused
	}{
		{"localhost", "http://localhost:81", nil, []string{"127.0.0.1"}, []string{"127.0.0.1:81"}},
		{"order kept, twins removed", "http://LocalHost.:81", nil, []string{"10.0.0.9", "127.0.0.1", "::ffff:10.0.0.9", "10.0.0.1", "127.0.0.1"},
			[]string{"10.0.0.9:81", "127.0.0.1:81", "10.0.0.1:81"}},
		{"under localhost", "https://a.b.localhost", nil, []string{"192.168.1.1"}, []string{"192.168.1.1:443"}},
		{"localhost that is public", "http://localhost", nil, []string{"127.0.0.1", "8.8.8.8"}, nil},
		{"localhost that is link-local", "http://x.localhost", nil, []string{"169.254.169.254"}, nil},
		{"localhost that is public and allowed", "http://localhost", []string{"LOCALHOST."}, []string{"8.8.8.8"}, []string{"8.8.8.8:80"}},
		{"allowed", "http://Example.com.", []string{"example.COM"}, []string{"93.184.216.34", "10.0.0.1"}, []string{"93.184.216.34:80", "10.0.0.1:80"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			s, err := remote.New(remote.Config{URL: tt.url, AllowHosts: tt.allow, Lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
				asked++
				return answers(tt.found...)(ctx, name)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if s.Addresses() != nil || asked > 0 {
				t.Errorf("before Resolve: addresses %q, %d look-ups, want none", s.Addresses(), asked)
			}
			err = s.Resolve(t.Context())
			if tt.want == nil {
				var f *remote.FieldError
				if !errors.As(err, &f) || f.Field != "url" || !strings.Contains(f.Want, "--allow-host") {
					t.Errorf("Resolve: %v, want a fault of url", err)
				}
				return
			}
			if again := s.Resolve(t.Context()); err != nil || again != nil {
				t.Fatalf("Resolve: %v, again: %v", err, again)
			}
			if got := s.Addresses(); !slices.Equal(got, tt.want) || asked != 1 {
				t.Errorf("addresses = %q after %d look-ups, want %q after 1", got, asked, tt.want)
			}
		})
	}
}

func TestResolveTellsDNSApart(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer error // nil: no addresses
	}{
		{"failure", &net.DNSError{Err: "server misbehaving", Name: "db.example", IsTemporary: true}},
		{"unknown", &net.DNSError{Err: "no such host", Name: "db.example", IsNotFound: true}},
		{"empty", nil},
	} {
		asked := 0
		s, err := remote.New(remote.Config{URL: "http://db.example", AllowHosts: []string{"db.example"},
			Lookup: func(context.Context, string) ([]netip.Addr, error) { asked++; return nil, tt.answer }})
		if err != nil {
			t.Fatal(err)
		}
		var dns *net.DNSError
		var field *remote.FieldError
		if err = s.Resolve(t.Context()); !errors.As(err, &dns) || dns.Name != "db.example" || errors.As(err, &field) || asked != 1 {
			t.Errorf("%s: Resolve: %v after %d look-ups, want a DNSError of db.example after 1", tt.name, err, asked)
		}
	}
}

// A resolver that does not know the names under localhost is asked for localhost itself.
func TestResolveNamesUnderLocalhost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		host   string
		answer net.DNSError // for every name but localhost
		known  bool         // localhost is
		asked  []string
	}{
		{"not named", "free.localhost", net.DNSError{Err: "no such host", IsNotFound: true}, true, []string{"localhost"}},
		{"not named, nothing at all", "free.localhost.", net.DNSError{}, false, []string{"localhost"}},
		{"unknown", "app.localhost", net.DNSError{Err: "no such host", IsNotFound: true}, true, []string{"app.localhost", "localhost"}},
		{"no server", "app.localhost", net.DNSError{Err: "network is unreachable", IsTemporary: true}, true, []string{"app.localhost", "localhost"}},
		{"nothing at all", "app.localhost", net.DNSError{Err: "server misbehaving"}, false, []string{"app.localhost", "localhost"}},
		{"localhost itself", "localhost", net.DNSError{}, false, []string{"localhost"}},
	} {
		var asked []string
		s, err := remote.New(remote.Config{URL: "http://" + tt.host + ":8080", AllowHosts: []string{"app.localhost"}, Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			asked = append(asked, name)
			if name == "localhost" && tt.known {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			fault := tt.answer
			fault.Name = name
			return nil, &fault
		}})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if tt.known {
			want = []string{"127.0.0.1:8080"}
		}
		var dns *net.DNSError
		err = s.Resolve(t.Context())
		if errors.As(err, &dns) == tt.known || dns != nil && dns.Name != tt.asked[0] || !slices.Equal(s.Addresses(), want) {
			t.Errorf("%s: Resolve: %v, addresses %q, want %q", tt.name, err, s.Addresses(), want)
		}
		if !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: asked for %q, want %q", tt.name, asked, tt.asked)
		}
	}
}

// FuzzNew: no text makes New panic, and what it accepts without --allow-host is localhost, a
// name under it, or a literal address of this machine or a private network. The request
// target is one word that means the same path.
func FuzzNew(f *testing.F) {
	for _, text := range []string{
		"", "http://", "http://localhost", "https://[::1]:65535/a b?c={client}#d", "http://127.0.0.1:0", "http://127.1/", "http://[::ffff:8.8.8.8]/",
		"http://a.localhost./%2f%zz", "http://[fe80::1%25eth0]/", "http://u:p@10.0.0.1/", "localhost:80", "http://localhost?%", "http://0x7f.1/",
		"http://localhost\\@example.com/", "http://localhost%2eexample.com/", "http://[::1%25lo%0a]/", "http://127.0.0.1\x00.example.com/",
	} {
		f.Add(text)
	}
	private := []string{"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "0.0.0.0/32", "::1/128", "::/128", "fc00::/7"}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := remote.New(remote.Config{URL: text, Lookup: silent(t)})
		if err != nil {
			if got := fields(t, err); !slices.Equal(got, []string{"url"}) {
				t.Errorf("New(%q): faults of %q", text, got)
			}
			return
		}
		u := s.URL()
		if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); name != "localhost" && !strings.HasSuffix(name, ".localhost") {
			addr, err := netip.ParseAddr(name)
			if err != nil || !slices.ContainsFunc(private, func(p string) bool {
				return netip.MustParsePrefix(p).Contains(addr.Unmap().WithZone(""))
			}) {
				t.Errorf("New(%q) accepts host %q", text, name)
			}
		}
		target := s.RequestTarget()
		if !strings.HasPrefix(target, "/") || strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Errorf("New(%q): request target %q", text, target)
		}
		path, query, _ := strings.Cut(target, "?")
		want := cmp.Or(u.Path, "/")
		if got, err := url.Parse("http://localhost" + path); err != nil || got.Path != want {
			t.Errorf("New(%q): request target %q has the path %v, want %q (%v)", text, target, got, want, err)
		}
		if strings.Contains(query, " ") || (query == "") != (u.RawQuery == "") {
			t.Errorf("New(%q): query %q, want %q", text, query, u.RawQuery)
		}
		if authority := s.Authority(); strings.ContainsAny(authority, "%/@# \r\n") {
			t.Errorf("New(%q): authority %q", text, authority)
		}
	})
}
