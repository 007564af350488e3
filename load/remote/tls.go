package remote

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
)

// Values of Config.HTTP.
const (
	HTTPAuto = "auto"
	HTTP1    = "1.1"
	HTTP2    = "2"
)

// protocols are what ALPN offers, by Config.HTTP.
var protocols = map[string][]string{
	"":       {"h2", "http/1.1"},
	HTTPAuto: {"h2", "http/1.1"},
	HTTP1:    {"http/1.1"},
	HTTP2:    {"h2"},
}

// tlsConfig checks what a config says of TLS and HTTP. The configuration is nil for http.
func tlsConfig(cfg Config, scheme, serverName string) (*tls.Config, []*FieldError) {
	var faults []*FieldError
	offered, known := protocols[cfg.HTTP]
	if !known {
		faults = append(faults, &FieldError{"http", cfg.HTTP, "auto, 1.1 or 2"})
	}
	if scheme != "https" {
		return nil, append(faults, unused(cfg)...)
	}
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         serverName,
		NextProtos:         offered,
		InsecureSkipVerify: cfg.Insecure,
	}
	if cfg.CACertPEM != nil {
		roots, err := certificates(cfg.CACertPEM)
		if err != nil {
			faults = append(faults, &FieldError{"cacert", size(cfg.CACertPEM), "certificates in PEM: " + err.Error()})
		}
		c.RootCAs = x509.NewCertPool()
		for _, root := range roots {
			c.RootCAs.AddCert(root)
		}
	}
	if cfg.CertPEM != nil || cfg.KeyPEM != nil {
		pair, fault := keyPair(cfg.CertPEM, cfg.KeyPEM)
		if fault != nil {
			faults = append(faults, fault)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, faults
}

// unused names what is of no use without TLS, and so not what the user thinks it is.
func unused(cfg Config) (faults []*FieldError) {
	const want = "nothing with http://, which has no TLS; did you mean https://?"
	for _, file := range []struct {
		field string
		pem   []byte
	}{{"cacert", cfg.CACertPEM}, {"cert", cfg.CertPEM}, {"key", cfg.KeyPEM}} {
		if file.pem != nil {
			faults = append(faults, &FieldError{file.field, size(file.pem), want})
		}
	}
	if cfg.Insecure {
		faults = append(faults, &FieldError{"insecure", "true", want})
	}
	return faults
}

// size stands for a file's content in a message.
func size(content []byte) string { return strconv.Itoa(len(content)) + " bytes" }

// certificates reads all certificates of a PEM file; other blocks are passed over, but a
// certificate that cannot be read is an error, for a root that is left out in silence shows
// only later, as a target that nobody trusts.
func certificates(content []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("number %d cannot be read: %w", len(list)+1, err)
		}
		list = append(list, cert)
	}
	if len(list) == 0 {
		return nil, errors.New("there is no -----BEGIN CERTIFICATE----- in it")
	}
	return list, nil
}

// keyPair reads the client's certificate and key. Without a key of its own the certificate's
// file may hold both.
func keyPair(certPEM, keyPEM []byte) (tls.Certificate, *FieldError) {
	if certPEM == nil {
		return tls.Certificate{}, &FieldError{"cert", "", "the certificate that --key belongs to"}
	}
	if _, err := certificates(certPEM); err != nil {
		return tls.Certificate{}, &FieldError{"cert", size(certPEM), "a certificate in PEM: " + err.Error()}
	}
	got, want := size(keyPEM), "the private key of --cert in PEM, without a passphrase"
	if keyPEM == nil {
		got, keyPEM = "", certPEM
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return pair, &FieldError{"key", got, fmt.Sprintf("%s: %v", want, err)}
	}
	return pair, nil
}
