package enrolment

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// AuthoritiesOID is the X.509 extension in which a service's TLS certificate
// carries the statements about the group's CA keys: extnValue is the DER of a
// SEQUENCE OF OCTET STRING, each a COSE_Sign1, the first CA key's first, not
// critical. The number is made as that of transport.CertificateOID, of "wander
// authorities".
var AuthoritiesOID = asn1.ObjectIdentifier{2, 25, 2115443457}

const (
	// ServiceLifetime is that of a service's TLS key, which is only in its
	// memory. A machine whose clock is fast by less than half of it accepts one
	// that is renewed at half of it.
	ServiceLifetime = 48 * time.Hour
	// ServiceBackdate is how long before its making a TLS certificate begins to
	// be valid, for machines whose clocks are slow.
	ServiceBackdate = 2 * time.Hour
	// maxAuthoritiesExtension bounds the extension before it is parsed: eight
	// statements of about 200 bytes, with room for extensions.
	maxAuthoritiesExtension = 8 << 10
)

// organization marks X.509 certificates of services. A CA key signs no other
// X.509 certificates, and a COSE signature cannot be taken for one of these: what
// it signs begins with another byte.
const organization = "wander enrolment service"

// alpn is the application protocol in TLS (RFC 7301).
const alpn = "http/1.1"

// ServiceCertificate is the TLS certificate of a group's service: a new key,
// certified by a CA key. authorities are the statements about all CA keys, as in
// a Publication. It is valid until ServiceLifetime after now, or as long as by.
func ServiceCertificate(g ident.Group, authorities [][]byte, by group.Authority, signer crypto.Signer, now time.Time) (*tls.Certificate, error) {
	value, err := asn1.Marshal(authorities)
	if err != nil {
		return nil, err
	}
	if len(value) > maxAuthoritiesExtension {
		return nil, fmt.Errorf("%w: statements about CA keys have %d bytes, must have at most %d", ErrMalformed, len(value), maxAuthoritiesExtension)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return nil, err
	}
	id := by.ID()
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      subject(g),
		NotBefore:    now.Add(-ServiceBackdate), NotAfter: now.Add(ServiceLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		ExtraExtensions: []pkix.Extension{{Id: AuthoritiesOID, Value: value}},
	}
	if end := by.Body().NotAfter; end.Before(template.NotAfter) {
		template.NotAfter = end
	}
	parent := &x509.Certificate{Subject: pkix.Name{CommonName: "wander CA"}, SubjectKeyId: id[:]}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}, err
}

func subject(g ident.Group) pkix.Name {
	return pkix.Name{Organization: []string{organization}, CommonName: hex.EncodeToString(g[:])}
}

// trust is which CA keys a client accepts.
type trust struct {
	group ident.Group
	// known are keys in force; nil for a newcomer.
	known *group.Group
	// pinned is the key that a newcomer's invite names.
	pinned [envelope.KeyIDSize]byte
	now    func() time.Time
}

// config is a TLS client's that goes on only with the service of the group.
func (t trust) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{alpn}, ServerName: "wander",
		// What is signed by whom is decided by verify, and by nothing else.
		InsecureSkipVerify: true,
		VerifyConnection:   func(s tls.ConnectionState) error { return t.verify(s.PeerCertificates) },
	}
}

// verify decides whether a TLS certificate is that of the group's service. That
// the peer has its key is what TLS 1.3 itself proves. Errors: ErrImpostor,
// *ClockError.
func (t trust) verify(chain []*x509.Certificate) error {
	if len(chain) != 1 {
		return fmt.Errorf("%w: %d TLS certificates", ErrImpostor, len(chain))
	}
	leaf := chain[0]
	if want := subject(t.group).String(); leaf.Subject.String() != want {
		return fmt.Errorf("%w: it is %.100q", ErrImpostor, leaf.Subject.String())
	}
	statements, err := authoritiesIn(leaf)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpostor, err)
	}
	key, err := t.key(leaf.AuthorityKeyId, statements)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpostor, err)
	}
	if err := key.Verify(leaf.RawTBSCertificate, leaf.Signature); err != nil {
		return fmt.Errorf("%w: %w", ErrImpostor, err)
	}
	if now := t.now(); now.Before(leaf.NotBefore) || !now.Before(leaf.NotAfter) {
		return &ClockError{Now: now, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter}
	}
	return nil
}

var (
	errNoStatements = errors.New("the TLS certificate contains no statements about CA keys")
	errNotPinned    = errors.New("the group has no CA key with the invite's fingerprint")
	errSignedBy     = errors.New("signed by a key that is not trusted")
)

// authoritiesIn are the statements that a TLS certificate carries.
func authoritiesIn(c *x509.Certificate) ([][]byte, error) {
	for _, e := range c.Extensions {
		if !e.Id.Equal(AuthoritiesOID) {
			continue
		}
		var statements [][]byte
		if len(e.Value) > maxAuthoritiesExtension {
			return nil, errNoStatements
		}
		rest, err := asn1.Unmarshal(e.Value, &statements)
		if err != nil || len(rest) != 0 || len(statements) > group.MaxAuthorities {
			return nil, errNoStatements
		}
		return statements, nil
	}
	return nil, errNoStatements
}

// key is the trusted CA key with this id.
func (t trust) key(id []byte, statements [][]byte) (*signature.PublicKey, error) {
	if len(id) != envelope.KeyIDSize {
		return nil, errSignedBy
	}
	kid := [envelope.KeyIDSize]byte(id)
	if t.known != nil {
		if key := t.known.Vouched(statements).Key(kid); key != nil {
			return key, nil
		}
		return nil, errSignedBy
	}
	list, err := chainOf(t.group, statements)
	if err != nil {
		return nil, err
	}
	from := list.find(t.pinned)
	if from < 0 {
		return nil, errNotPinned
	}
	// What the keys before the pinned one vouch for besides does not count: they
	// may be retired.
	if key := list[from:from+1].grow(t.group, statements[from+1:]).Key(kid); key != nil {
		return key, nil
	}
	return nil, errSignedBy
}

// authorities are verified statements about the CA keys of one group, each
// vouched for by one before it, the first by itself.
type authorities []group.Authority

// chainOf verifies statements in their order.
func chainOf(g ident.Group, statements [][]byte) (authorities, error) {
	var list authorities
	for _, raw := range statements {
		a, err := group.ParseAuthority(g, raw, list)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// grow is the list with the keys of statements that its own vouch for, one
// after another. The group's first key vouches for itself, so it counts only
// where it is in the list already.
func (l authorities) grow(g ident.Group, statements [][]byte) authorities {
	l = slices.Clone(l)
	for _, raw := range statements {
		a, err := group.ParseAuthority(g, raw, l)
		if err != nil || l.find(a.ID()) >= 0 {
			continue
		}
		if s := a.Body(); ident.GroupOf(s.Key[:]) != g {
			l = append(l, a)
		}
	}
	return l
}

func (l authorities) find(id [envelope.KeyIDSize]byte) int {
	for i, a := range l {
		if a.ID() == id {
			return i
		}
	}
	return -1
}

// Key makes a list a certificate.Authorities.
func (l authorities) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	if at := l.find(id); at >= 0 {
		return l[at].Key()
	}
	return nil
}

var _ certificate.Authorities = authorities{}
