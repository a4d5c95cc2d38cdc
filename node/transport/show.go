package transport

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// TLSCertificate is what a member shows where it is a TLS client or server,
// here and to the enrolment service: a self-signed X.509 certificate for its key
// that carries its member certificate. The statements about CA keys are left
// out: the service knows them all.
func TLSCertificate(key *signature.PrivateKey, cert certificate.Certificate) (*tls.Certificate, error) {
	return tlsCertificate(key, cert, nil)
}

// Identify is the verified member certificate that a TLS client showed, of a
// connection whose handshake has succeeded. With ErrExpired and ErrNotYetValid
// it is returned too. Other errors: ErrNoCertificate, ErrNotMember,
// ErrCertificate, ErrOtherGroup, ErrKeyMismatch.
// A gate is refused with ErrCertificate, which wraps certificate.ErrRole.
func Identify(g ident.Group, cas certificate.Authorities, peer []*x509.Certificate, now time.Time) (certificate.Certificate, error) {
	v := newVerifier(g, cas, func() time.Time { return now })
	return v.identify(peer)
}

// IdentifyAny is Identify for members and gates: the enrolment service serves both.
func IdentifyAny(g ident.Group, cas certificate.Authorities, peer []*x509.Certificate, now time.Time) (certificate.Certificate, error) {
	v := newVerifier(g, cas, func() time.Time { return now })
	v.read = certificate.ParseAny
	return v.identify(peer)
}
