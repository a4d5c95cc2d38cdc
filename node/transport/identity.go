package transport

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// ALPN is the application protocol of QUIC's TLS handshake (RFC 7301).
const ALPN = "wander/1"

// CertificateOID is the X.509 extension in which a TLS certificate carries the
// member certificate: extnValue is the DER of an OCTET STRING that holds the
// COSE_Sign1, not critical.
//
// It is in the arc of UUIDs (ITU-T X.667), 2.25, which needs no registration.
// The number is the first 32 bits of SHA-256("wander member certificate"), of
// which the highest is 0. It is no whole UUID because common X.509 parsers,
// Go's among them, refuse arcs beyond 31 bits. A clash does no harm: what is
// inside is signed, and the ALPN is our own.
var CertificateOID = asn1.ObjectIdentifier{2, 25, 1968744538}

// maxExtension bounds the extension before it is parsed. A member certificate
// has about 300 bytes, and its envelope never more than 16 KiB.
const maxExtension = 4 << 10

// tlsCertificate is a self-signed X.509 certificate for key that carries cert.
// Its own validity is unlimited: what counts is in cert.
func tlsCertificate(key *signature.PrivateKey, cert certificate.Certificate) (*tls.Certificate, error) {
	value, err := asn1.Marshal(cert.Raw())
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:    big.NewInt(1),
		Subject:         pkix.Name{CommonName: "wander"},
		NotBefore:       time.Unix(0, 0),
		NotAfter:        time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280 §4.1.2.5: no end
		ExtraExtensions: []pkix.Extension{{Id: CertificateOID, Value: value}},
	}
	std := key.StdKey()
	der, err := x509.CreateCertificate(nil, template, template, std.Public(), std)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: std}, nil
}

// verifier decides whether a TLS peer is a member.
type verifier struct {
	group       ident.Group
	authorities certificate.Authorities
	self        ident.Member
	now         func() time.Time
}

// identify returns the verified member certificate of a TLS peer, or one of
// the refusals of errors.go. That the peer has the key is what TLS 1.3 itself
// proves (RFC 8446 §4.4.3); the X.509 self-signature proves nothing and is not
// looked at.
func (v *verifier) identify(peer []*x509.Certificate) (certificate.Certificate, error) {
	var none certificate.Certificate
	if len(peer) == 0 {
		return none, ErrNoCertificate
	}
	key, ok := peer[0].PublicKey.(ed25519.PublicKey)
	if !ok || len(peer) != 1 {
		return none, ErrNotMember
	}
	raw, err := extension(peer[0])
	if err != nil {
		return none, err
	}
	cert, err := certificate.Parse(v.group, raw, v.authorities)
	if err != nil {
		return none, parseRefusal(err)
	}
	if cert.Key().Bytes() != [signature.PublicKeySize]byte(key) {
		return none, ErrKeyMismatch
	}
	if cert.Member() == v.self {
		return none, ErrSelf
	}
	return cert, validity(cert, v.now())
}

// extension finds the member certificate in a TLS certificate.
func extension(c *x509.Certificate) ([]byte, error) {
	for _, e := range c.Extensions {
		if !e.Id.Equal(CertificateOID) {
			continue
		}
		var raw []byte
		if len(e.Value) > maxExtension {
			return nil, fmt.Errorf("%w: extension of %d bytes", ErrCertificate, len(e.Value))
		}
		if rest, err := asn1.Unmarshal(e.Value, &raw); err != nil || len(rest) != 0 {
			return nil, fmt.Errorf("%w: malformed extension", ErrCertificate)
		}
		return raw, nil
	}
	return nil, ErrNotMember
}

func parseRefusal(err error) error {
	if errors.Is(err, certificate.ErrGroup) || errors.Is(err, certificate.ErrUnknownCA) {
		return fmt.Errorf("%w: %w", ErrOtherGroup, err)
	}
	return fmt.Errorf("%w: %w", ErrCertificate, err)
}

func validity(cert certificate.Certificate, now time.Time) error {
	err := cert.ValidAt(now)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, certificate.ErrExpired):
		return fmt.Errorf("%w: %w", ErrExpired, err)
	case errors.Is(err, certificate.ErrNotYetValid):
		return fmt.Errorf("%w: %w", ErrNotYetValid, err)
	default:
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
}
