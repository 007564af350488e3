package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Explain says in one sentence what is wrong with a certificate or a TLS handshake and which
// flag helps; empty for an error that has another cause.
//
// A server that speaks TLS 1.3 refuses a client's certificate only after the handshake, so
// errors of the first read are worth explaining too.
func Explain(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var roots x509.SystemRootsError
	var record tls.RecordHeaderError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &name):
		return fmt.Sprintf("the certificate is for %s, not for %s: use a name that it has, or --insecure to accept any certificate",
			names(name.Certificate), name.Host)
	case errors.As(err, &authority):
		return fmt.Sprintf("the certificate of the target (%s) is signed by nobody trusted here (%s): give the signer's certificate as --cacert FILE, or --insecure to accept any",
			names(authority.Cert), issuer(authority.Cert))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate (%s, %s) is expired or not valid yet by this machine's clock: renew it, or --insecure to accept any",
			names(invalid.Cert), validity(invalid.Cert))
	case errors.As(err, &invalid):
		return fmt.Sprintf("the certificate (%s) does not hold (%v): give another signer as --cacert FILE, or --insecure to accept any", names(invalid.Cert), invalid)
	case errors.As(err, &roots):
		return "this machine has no list of trusted signers: give the signer's certificate as --cacert FILE, or --insecure to accept any"
	case errors.As(err, &record):
		return "the target does not speak TLS on this port: use http://, or the port of its TLS"
	}
	return explainAlert(err)
}

// explainAlert explains what the target said while it refused the handshake.
func explainAlert(err error) string {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return ""
	}
	// The alert's type is not exported, its text is.
	switch remote.Err.Error() {
	case tls.AlertError(40).Error(), tls.AlertError(116).Error(): // handshake_failure, certificate_required
		return fmt.Sprintf("the target refused the handshake (%v): it may want a client's certificate, --cert FILE --key FILE", remote.Err)
	case tls.AlertError(42).Error(), tls.AlertError(43).Error(), tls.AlertError(44).Error(),
		tls.AlertError(45).Error(), tls.AlertError(46).Error(), tls.AlertError(48).Error(): // bad_certificate ... unknown_ca
		return fmt.Sprintf("the target did not accept the client's certificate (%v): check --cert and --key", remote.Err)
	case tls.AlertError(120).Error(): // no_application_protocol
		return fmt.Sprintf("the target does not speak the asked version of HTTP (%v): try --http auto", remote.Err)
	}
	return ""
}

// names lists what a certificate is for, at most five of them.
func names(cert *x509.Certificate) string {
	if cert == nil {
		return "unknown names"
	}
	const most = 5
	list := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		list = append(list, ip.String())
	}
	if len(list) == 0 {
		return fmt.Sprintf("no host, only the common name %s, which does not count", quote(cert.Subject.CommonName))
	}
	more := ""
	if len(list) > most {
		more = fmt.Sprintf(" and %d more", len(list)-most)
		list = list[:most]
	}
	return clean(strings.Join(list, ", ")) + more
}

func issuer(cert *x509.Certificate) string {
	if cert == nil {
		return "unknown"
	}
	if cert.Subject.String() == cert.Issuer.String() {
		return "it signed itself"
	}
	return clean(cert.Issuer.String())
}

// validity gives a certificate's dates.
func validity(cert *x509.Certificate) string {
	if cert == nil {
		return "dates unknown"
	}
	return cert.NotBefore.UTC().Format(time.DateOnly) + " to " + cert.NotAfter.UTC().Format(time.DateTime) + " UTC"
}

// clean keeps what a stranger's certificate says on one line of bounded length.
func clean(text string) string {
	quoted := quote(text)
	if quoted == `"`+text+`"` {
		return text
	}
	return quoted
}
