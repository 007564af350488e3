package remote_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormtest/load/remote"
)

// A signer is a certificate with its key, which signs others.
type signer struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	certPEM []byte
	keyPEM  []byte
}

func (s signer) pair(t *testing.T) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(s.certPEM, s.keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// sign makes a certificate of a template; a nil parent makes it sign itself.
func sign(t *testing.T, parent *signer, template x509.Certificate) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	template.BasicConstraintsValid = true
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	by, byKey := &template, key
	if parent != nil {
		by, byKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer{cert, key,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}
}

func authority(t *testing.T, name string) signer {
	return sign(t, nil, x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
}

func usage(u x509.ExtKeyUsage) []x509.ExtKeyUsage { return []x509.ExtKeyUsage{u} }

// serveTLS is serve over TLS. The handshake's own errors are the clients' to report.
func serveTLS(t *testing.T, cfg *tls.Config) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			conn := tls.Server(raw, cfg)
			if conn.Handshake() == nil {
				_, _ = conn.Write([]byte("hello"))
			}
			_ = conn.CloseWrite()
			_, _ = io.Copy(io.Discard, raw) // or the alert could be lost to a reset
			_ = conn.Close()
		}
	}()
	return l
}

// greet dials, shakes hands and reads what serveTLS writes.
func greet(t *testing.T, s *remote.Site) (tls.ConnectionState, error) {
	t.Helper()
	if err := s.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := s.Dial(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	conn := tls.Client(raw, s.TLS())
	if err := conn.Handshake(); err != nil {
		return tls.ConnectionState{}, err
	}
	text, err := io.ReadAll(conn)
	if err == nil && string(text) != "hello" {
		err = fmt.Errorf("read %q, want hello", text)
	}
	return conn.ConnectionState(), err
}

// Every certificate that a target may show, against what a client trusts.
func TestCertificates(t *testing.T) {
	ca, other := authority(t, "Our CA"), authority(t, "Other CA")
	leaf := func(parent *signer, change func(*x509.Certificate)) signer {
		template := x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"a.example", "localhost"}, ExtKeyUsage: usage(x509.ExtKeyUsageServerAuth)}
		if change != nil {
			change(&template)
		}
		return sign(t, parent, template)
	}
	good := leaf(&ca, nil)
	for _, tt := range []struct {
		name     string
		host     string
		server   signer
		trusted  []byte
		insecure bool
		explain  []string // nil: it works
	}{
		{"good", "localhost", good, ca.certPEM, false, nil},
		{"two roots", "localhost", good, append(slices.Clone(other.certPEM), ca.certPEM...), false, nil},
		{"unknown authority", "localhost", good, other.certPEM, false, []string{"(CN=Our CA)", "a.example, localhost", "--cacert", "--insecure"}},
		{"the system's roots", "localhost", good, nil, false, []string{"--cacert", "--insecure"}},
		{"unknown authority, insecure", "localhost", good, other.certPEM, true, nil},
		{"signed by itself", "localhost", leaf(nil, nil), ca.certPEM, false, []string{"it signed itself", "--cacert"}},
		{"another name", "b.localhost", good, ca.certPEM, false, []string{"a.example, localhost", "not for b.localhost", "--insecure"}},
		{"another name, insecure", "b.localhost", good, ca.certPEM, true, nil},
		{"name for an address", "127.0.0.1", good, ca.certPEM, false, []string{"not for 127.0.0.1"}},
		{"address", "127.0.0.1", leaf(&ca, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} }), ca.certPEM, false, nil},
		{"common name alone", "localhost", leaf(&ca, func(c *x509.Certificate) { c.DNSNames = nil; c.Subject.CommonName = "localhost" }), ca.certPEM, false,
			[]string{`common name "localhost"`, "not for localhost"}},
		{"many names", "localhost", leaf(&ca, func(c *x509.Certificate) { c.DNSNames = strings.Split("a b c d e f g", " ") }), ca.certPEM, false,
			[]string{"a, b, c, d, e and 2 more"}},
		{"expired", "localhost", leaf(&ca, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2001, 12, 31, 0, 0, 0, 0, time.UTC)
		}), ca.certPEM, false, []string{"2001-01-01 to 2001-12-31", "expired", "--insecure"}},
		{"for clients only", "localhost", leaf(&ca, func(c *x509.Certificate) { c.ExtKeyUsage = usage(x509.ExtKeyUsageClientAuth) }), ca.certPEM, false,
			[]string{"does not hold", "usage", "--insecure"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{tt.server.pair(t)}})
			s, err := remote.New(remote.Config{URL: fmt.Sprintf("https://%s:%d/", tt.host, port(l)), CACertPEM: tt.trusted, Insecure: tt.insecure,
				Lookup: answers("127.0.0.1")})
			if err != nil {
				t.Fatal(err)
			}
			_, err = greet(t, s)
			if (err == nil) != (tt.explain == nil) {
				t.Fatalf("handshake: %v, want an error: %v", err, tt.explain != nil)
			}
			text := remote.Explain(fmt.Errorf("attempt: %w", err))
			for _, want := range tt.explain {
				if !strings.Contains(text, want) {
					t.Errorf("Explain(%v) = %q, want %q in it", err, text, want)
				}
			}
			if strings.Contains(text, "\n") || err == nil && remote.Explain(err) != "" {
				t.Errorf("Explain(%v) = %q", err, text)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	ca, other := authority(t, "Our CA"), authority(t, "Other CA")
	server := sign(t, &ca, x509.Certificate{DNSNames: []string{"localhost"}, ExtKeyUsage: usage(x509.ExtKeyUsageServerAuth)})
	client := sign(t, &ca, x509.Certificate{Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: usage(x509.ExtKeyUsageClientAuth)})
	stranger := sign(t, &other, x509.Certificate{ExtKeyUsage: usage(x509.ExtKeyUsageClientAuth)})
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		l := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{server.pair(t)}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: version})
		for _, tt := range []struct {
			name      string
			cert, key []byte
			explain   string // "": it works
		}{
			{"ours", client.certPEM, client.keyPEM, ""},
			{"both in one file", append(slices.Clone(client.keyPEM), client.certPEM...), nil, ""},
			{"none", nil, nil, "--cert FILE --key FILE"},
			// A server says whom it trusts, and Go's client then shows none of another signer.
			{"a stranger's", stranger.certPEM, stranger.keyPEM, "--cert FILE --key FILE"},
		} {
			t.Run(tls.VersionName(version)+" "+tt.name, func(t *testing.T) {
				s, err := remote.New(remote.Config{URL: fmt.Sprintf("https://localhost:%d/", port(l)), CACertPEM: ca.certPEM, CertPEM: tt.cert, KeyPEM: tt.key,
					Lookup: answers("127.0.0.1")})
				if err != nil {
					t.Fatal(err)
				}
				state, err := greet(t, s)
				if (err == nil) != (tt.explain == "") {
					t.Fatalf("handshake: %v, want %q", err, tt.explain)
				}
				if err == nil && state.Version != version {
					t.Errorf("version = %s, want %s", tls.VersionName(state.Version), tls.VersionName(version))
				}
				if text := remote.Explain(err); !strings.Contains(text, tt.explain) {
					t.Errorf("Explain(%v) = %q, want %q in it", err, text, tt.explain)
				}
			})
		}
	}
}

func TestProtocols(t *testing.T) {
	ca := authority(t, "Our CA")
	server := sign(t, &ca, x509.Certificate{DNSNames: []string{"localhost"}})
	for _, tt := range []struct {
		http    string
		offered []string
		speaks  []string // by the server
		want    string
		explain string
	}{
		{"", []string{"h2", "http/1.1"}, []string{"http/1.1", "h2"}, "http/1.1", ""}, // the server chooses
		{"auto", []string{"h2", "http/1.1"}, []string{"h2", "http/1.1"}, "h2", ""},
		{"auto", []string{"h2", "http/1.1"}, []string{"http/1.1"}, "http/1.1", ""},
		{"1.1", []string{"http/1.1"}, []string{"h2", "http/1.1"}, "http/1.1", ""},
		{"2", []string{"h2"}, []string{"http/1.1", "h2"}, "h2", ""},
		{"2", []string{"h2"}, []string{"acme"}, "", "--http auto"},
	} {
		t.Run(fmt.Sprintf("%s against %v", tt.http, tt.speaks), func(t *testing.T) {
			l := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{server.pair(t)}, NextProtos: tt.speaks})
			s, err := remote.New(remote.Config{URL: fmt.Sprintf("https://LOCALHOST.:%d/", port(l)), CACertPEM: ca.certPEM, HTTP: tt.http, Lookup: answers("127.0.0.1")})
			if err != nil {
				t.Fatal(err)
			}
			if c := s.TLS(); !slices.Equal(c.NextProtos, tt.offered) || c.ServerName != "localhost" || c.MinVersion != tls.VersionTLS12 {
				t.Errorf("offers %q to %q, at least %s", c.NextProtos, c.ServerName, tls.VersionName(c.MinVersion))
			}
			s.TLS().ServerName = "a copy"
			state, err := greet(t, s)
			if text := remote.Explain(err); (err == nil) != (tt.explain == "") || !strings.Contains(text, tt.explain) {
				t.Fatalf("handshake: %v, explained %q, want %q", err, text, tt.explain)
			}
			if state.NegotiatedProtocol != tt.want {
				t.Errorf("protocol = %q, want %q", state.NegotiatedProtocol, tt.want)
			}
		})
	}
}

func TestExplainOthers(t *testing.T) {
	l := serve(t, "tcp", "127.0.0.1:0")
	s, err := remote.New(remote.Config{URL: fmt.Sprintf("https://127.0.0.1:%d/", port(l))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = greet(t, s)
	if text := remote.Explain(err); !strings.Contains(text, "use http://") {
		t.Errorf("a target without TLS: Explain(%v) = %q", err, text)
	}
	if text := remote.Explain(x509.SystemRootsError{}); !strings.Contains(text, "--cacert") {
		t.Errorf("no roots: %q", text)
	}
	badCert := &net.OpError{Op: "remote error", Err: tls.AlertError(42)}
	if text := remote.Explain(badCert); !strings.Contains(text, "check --cert and --key") {
		t.Errorf("Explain(%v) = %q", badCert, text)
	}
	for _, err := range []error{nil, io.EOF, syscall.ECONNREFUSED, errors.New("tls: bad certificate"), &net.OpError{Op: "dial", Err: tls.AlertError(42)},
		&net.OpError{Op: "remote error", Err: tls.AlertError(80)}} {
		if text := remote.Explain(err); text != "" {
			t.Errorf("Explain(%v) = %q, want nothing", err, text)
		}
	}
	// Errors of other makers may come without the certificate.
	for _, err := range []error{x509.UnknownAuthorityError{}, x509.CertificateInvalidError{Reason: x509.Expired}} {
		if text := remote.Explain(err); !strings.Contains(text, "unknown names") {
			t.Errorf("Explain(%T without certificate) = %q", err, text)
		}
	}
}

func TestTLSFlags(t *testing.T) {
	ca := authority(t, "Our CA")
	client, other := sign(t, &ca, x509.Certificate{}), sign(t, &ca, x509.Certificate{})
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no DER")})
	const http, https = "http://localhost", "https://localhost"
	for _, tt := range []struct {
		name   string
		cfg    remote.Config
		fields []string
		want   string // in the message
	}{
		{"nothing", remote.Config{URL: http}, nil, ""},
		{"h2c", remote.Config{URL: http, HTTP: "2"}, nil, ""},
		{"all", remote.Config{URL: https, CACertPEM: ca.certPEM, CertPEM: client.certPEM, KeyPEM: client.keyPEM, Insecure: true, HTTP: "2"}, nil, ""},
		{"a key in the roots", remote.Config{URL: https, CACertPEM: append(slices.Clone(ca.keyPEM), ca.certPEM...)}, nil, ""},
		{"a version", remote.Config{URL: https, HTTP: "3"}, []string{"http"}, "auto, 1.1 or 2"},
		{"empty roots", remote.Config{URL: https, CACertPEM: []byte{}}, []string{"cacert"}, "0 bytes"},
		{"roots of text", remote.Config{URL: https, CACertPEM: []byte("hello")}, []string{"cacert"}, "BEGIN CERTIFICATE"},
		{"a broken root after a good one", remote.Config{URL: https, CACertPEM: append(slices.Clone(ca.certPEM), broken...)}, []string{"cacert"}, "number 2"},
		{"no key", remote.Config{URL: https, CertPEM: client.certPEM}, []string{"key"}, "private key of --cert"},
		{"no certificate", remote.Config{URL: https, KeyPEM: client.keyPEM}, []string{"cert"}, "--key belongs to"},
		{"another key", remote.Config{URL: https, CertPEM: client.certPEM, KeyPEM: other.keyPEM}, []string{"key"}, "does not match"},
		{"exchanged", remote.Config{URL: https, CertPEM: client.keyPEM, KeyPEM: client.certPEM}, []string{"cert"}, "BEGIN CERTIFICATE"},
		{"a broken certificate", remote.Config{URL: https, CertPEM: broken, KeyPEM: client.keyPEM}, []string{"cert"}, "number 1"},
		{"without TLS", remote.Config{URL: http, CACertPEM: ca.certPEM, CertPEM: client.certPEM, KeyPEM: client.keyPEM, Insecure: true},
			[]string{"cacert", "cert", "key", "insecure"}, "https://"},
		{"everything at once", remote.Config{URL: "http://example.com", AllowHosts: []string{"*"}, UnixSocket: "", Insecure: true, HTTP: "x"},
			[]string{"allow-host", "url", "http", "insecure"}, "--allow-host example.com"},
		{"a bad URL and a bad file", remote.Config{URL: "localhost", CACertPEM: []byte("x"), Insecure: true}, []string{"url", "cacert"}, "http://localhost"},
	} {
		_, err := remote.New(tt.cfg)
		if len(tt.fields) == 0 {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err == nil || !slices.Equal(fields(t, err), tt.fields) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want faults of %q with %q", tt.name, err, tt.fields, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "PRIVATE KEY") {
			t.Errorf("%s: %v, which shows a key", tt.name, err)
		}
	}
}
