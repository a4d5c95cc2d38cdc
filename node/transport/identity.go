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
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
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

// VouchersOID is the X.509 extension in which a TLS certificate carries the
// statements about the group's CA keys beyond the first, if there are any: so a
// member can verify the certificate that has not heard of the newest key.
// extnValue is the DER of a SEQUENCE of OCTET STRINGs that hold them, each behind
// the one that vouches for it, not critical. The number is made as that of
// CertificateOID, of "wander CA key statements".
var VouchersOID = asn1.ObjectIdentifier{2, 25, 1849619270}

// maxVouchers bounds that extension before it is parsed, in bytes: seven
// statements of a CA have about 2 kB.
const maxVouchers = 4 << 10

// tlsCertificate is a self-signed X.509 certificate for key that carries cert,
// and vouchers for the key that signed it. Its own validity is unlimited: what
// counts is in cert.
func tlsCertificate(key *signature.PrivateKey, cert certificate.Certificate, vouchers [][]byte) (*tls.Certificate, error) {
	extensions, err := extensionsOf(cert, vouchers)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:    big.NewInt(1),
		Subject:         pkix.Name{CommonName: "wander"},
		NotBefore:       time.Unix(0, 0),
		NotAfter:        time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280 §4.1.2.5: no end
		ExtraExtensions: extensions,
	}
	std := key.StdKey()
	der, err := x509.CreateCertificate(nil, template, template, std.Public(), std)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: std}, nil
}

func extensionsOf(cert certificate.Certificate, vouchers [][]byte) ([]pkix.Extension, error) {
	value, err := asn1.Marshal(cert.Raw())
	if err != nil {
		return nil, err
	}
	list := []pkix.Extension{{Id: CertificateOID, Value: value}}
	if len(vouchers) == 0 {
		return list, nil
	}
	if value, err = asn1.Marshal(vouchers); err != nil {
		return nil, err
	}
	if len(value) > maxVouchers {
		return nil, fmt.Errorf("%d bytes of statements about CA keys, permitted are %d", len(value), maxVouchers)
	}
	return append(list, pkix.Extension{Id: VouchersOID, Value: value}), nil
}

// verifier decides whether a TLS peer is a member. It is safe for concurrent
// use.
type verifier struct {
	group       ident.Group
	authorities atomic.Pointer[certificate.Authorities]
	self        ident.Member
	now         func() time.Time
	vouched     func(statements [][]byte)
	read        func(ident.Group, []byte, certificate.Authorities) (certificate.Certificate, error) // of members
}

// newVerifier is one of a group, which no member of it asks yet.
func newVerifier(g ident.Group, cas certificate.Authorities, now func() time.Time) *verifier {
	v := &verifier{group: g, now: now, vouched: func([][]byte) {}, read: certificate.Parse}
	v.trust(cas)
	return v
}

// trust makes authorities the CA keys that count from now on.
func (v *verifier) trust(authorities certificate.Authorities) { v.authorities.Store(&authorities) }

// trusts reports whether a CA key counts.
func (v *verifier) trusts(id [envelope.KeyIDSize]byte) bool {
	return (*v.authorities.Load()).Key(id) != nil
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
	cert, err := v.parse(peer[0], raw)
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

// parse verifies a member certificate with the CA keys that are known, or, when
// it is signed by another, with those that they vouch for by what came with it.
// Only a group learns keys in this way.
func (v *verifier) parse(peer *x509.Certificate, raw []byte) (certificate.Certificate, error) {
	known := v.authorities.Load()
	cert, err := v.read(v.group, raw, *known)
	g, isGroup := (*known).(*group.Group)
	if !isGroup || !errors.Is(err, certificate.ErrUnknownCA) {
		return cert, err
	}
	statements := vouchers(peer)
	more := g.Vouched(statements)
	if more == g {
		return cert, err
	}
	if cert, err = v.read(v.group, raw, more); err != nil {
		return cert, err
	}
	grown := certificate.Authorities(more)
	v.authorities.CompareAndSwap(known, &grown) // unless somebody knew more meanwhile
	v.vouched(statements)
	return cert, nil
}

// extension finds the member certificate in a TLS certificate.
func extension(c *x509.Certificate) ([]byte, error) {
	value, found := valueOf(c, CertificateOID)
	var raw []byte
	switch {
	case !found:
		return nil, ErrNotMember
	case len(value) > maxExtension:
		return nil, fmt.Errorf("%w: extension of %d bytes", ErrCertificate, len(value))
	}
	if rest, err := asn1.Unmarshal(value, &raw); err != nil || len(rest) != 0 {
		return nil, fmt.Errorf("%w: malformed extension", ErrCertificate)
	}
	return raw, nil
}

// vouchers finds the statements about CA keys in a TLS certificate. What is
// malformed or too large is the same as nothing: without them, the refusal is
// the one of a stranger.
func vouchers(c *x509.Certificate) [][]byte {
	value, _ := valueOf(c, VouchersOID)
	if len(value) > maxVouchers {
		return nil
	}
	var statements [][]byte
	if rest, err := asn1.Unmarshal(value, &statements); err != nil || len(rest) != 0 {
		return nil
	}
	return statements
}

func valueOf(c *x509.Certificate, id asn1.ObjectIdentifier) (value []byte, found bool) {
	for _, e := range c.Extensions {
		if e.Id.Equal(id) {
			return e.Value, true
		}
	}
	return nil, false
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
