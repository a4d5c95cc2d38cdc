package group

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// maxSeconds is the last second of the year 9999, as for certificates.
const maxSeconds = 253402300799

// authorityLimits bound a statement: its few fields and extensions.
var authorityLimits = canonical.Limits{MaxBytes: certificate.MaxPayload, MaxDepth: 4, MaxItems: 64}

// Statement is a statement about a CA key of a group. Times are whole seconds.
type Statement struct {
	Name      string // of the group, for people, see CheckName
	Group     ident.Group
	Key       [signature.PublicKeySize]byte
	NotBefore time.Time
	NotAfter  time.Time // no certificate that the key signs is valid longer
	// Version is the version of the first configuration that lists the key, and
	// 0 for the group's first key. A configuration of this version or a later
	// one that does not list the key retires it. From then on the statement has
	// no effect, so nobody can bring a stolen key back with it.
	Version    uint64
	Extensions canonical.Extensions
}

// statementForm is the payload.
type statementForm struct {
	_          struct{} `cbor:",toarray"`
	Name       string
	Group      ident.Group
	Key        [signature.PublicKeySize]byte
	NotBefore  uint64 // seconds since 1970
	NotAfter   uint64
	Version    uint64
	Extensions canonical.Extensions
}

func (s Statement) check() (*signature.PublicKey, error) {
	if err := CheckName(s.Name); err != nil {
		return nil, err
	}
	for _, t := range []time.Time{s.NotBefore, s.NotAfter} {
		if t.Unix() < 0 || t.Unix() > maxSeconds {
			return nil, fmt.Errorf("%w: %v is not in 1970 to 9999", ErrValidity, t)
		}
	}
	if !s.NotAfter.After(s.NotBefore) {
		return nil, fmt.Errorf("%w: it ends at %v and begins at %v", ErrValidity, s.NotAfter, s.NotBefore)
	}
	if err := s.Extensions.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	key, err := signature.ParsePublicKey(s.Key[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}

// Sign signs the statement. by is the key that the statement is about if that
// is the group's first, and otherwise a key that the group already has. Times
// lose what is below a second. Errors: ErrName, ErrValidity, ErrVersion,
// ErrKey, ErrGroup, ErrMalformed (extensions).
func (s Statement) Sign(by *signature.PrivateKey) (Authority, error) {
	s.NotBefore, s.NotAfter = seconds(s.NotBefore), seconds(s.NotAfter)
	key, err := s.check()
	if err != nil {
		return Authority{}, err
	}
	if by.Public().Equal(key) && !s.isFirst() {
		return Authority{}, ErrGroup
	}
	if err := s.checkVersion(); err != nil {
		return Authority{}, err
	}
	payload, err := canonical.Marshal(&statementForm{
		Name: s.Name, Group: s.Group, Key: s.Key,
		NotBefore: uint64(s.NotBefore.Unix()), NotAfter: uint64(s.NotAfter.Unix()),
		Version: s.Version, Extensions: s.Extensions,
	})
	if err != nil {
		return Authority{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	form, err := envelope.Sign(domain(s.Group, envelope.Authority), certificate.AuthorityID(by.Public()), payload, by)
	if err != nil {
		return Authority{}, err
	}
	return Authority{signed.Of(s, form), key.With(by.Public().Memory())}, nil
}

func seconds(t time.Time) time.Time { return t.Truncate(time.Second).UTC() }

func (s Statement) checkVersion() error {
	if s.isFirst() != (s.Version == 0) {
		return fmt.Errorf("%w: %d, it is 0 for the first key of a group and only for that", ErrVersion, s.Version)
	}
	return nil
}

// isFirst reports whether the key is the one that names the group.
func (s Statement) isFirst() bool { return ident.GroupOf(s.Key[:]) == s.Group }

// Authority is a verified statement about a CA key. It is immutable and safe
// for concurrent use; the zero value is none.
type Authority struct {
	signed.Object[Statement]
	key *signature.PublicKey
}

// GroupOf returns the group that an encoded statement claims to be about. It
// verifies nothing; ParseAuthority has to follow. Error: ErrMalformed.
func GroupOf(raw []byte) (ident.Group, error) {
	// The group is part of what is signed, not of the envelope, so any will do
	// to get at the payload.
	u, err := envelope.Parse(domain(ident.Group{}, envelope.Authority), raw)
	if err != nil {
		return ident.Group{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var f statementForm
	if err := canonical.Unmarshal(u.Payload(), &f, authorityLimits); err != nil {
		return ident.Group{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return f.Group, nil
}

// ParseAuthority reads and verifies a statement about a CA key of group g. The
// key that names the group proves itself; a key in known has to vouch for any
// other. ParseAuthority does not check the time. Errors: ErrMalformed, ErrName,
// ErrValidity, ErrVersion, ErrKey, ErrGroup, certificate.ErrUnknownCA,
// certificate.ErrSignature.
func ParseAuthority(g ident.Group, raw []byte, known certificate.Authorities) (Authority, error) {
	u, err := envelope.Parse(domain(g, envelope.Authority), raw)
	if err != nil {
		return Authority{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	s, err := parseStatement(u.Payload())
	if err != nil {
		return Authority{}, err
	}
	key, err := s.check()
	if err != nil {
		return Authority{}, err
	}
	own := u.KeyID() == certificate.AuthorityID(key)
	if s.Group != g || own && !s.isFirst() {
		return Authority{}, fmt.Errorf("%w: %v", ErrGroup, s.Group)
	}
	if err := s.checkVersion(); err != nil {
		return Authority{}, err
	}
	if own {
		known = alone{key}
	}
	form, err := certificate.VerifyBy(known, u)
	if err != nil {
		return Authority{}, err
	}
	key = key.With(known.Key(u.KeyID()).Memory())
	return Authority{signed.Of(s, form), key}, nil
}

func parseStatement(payload []byte) (Statement, error) {
	var f statementForm
	if err := canonical.Unmarshal(payload, &f, authorityLimits); err != nil {
		return Statement{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if max(f.NotBefore, f.NotAfter) > maxSeconds {
		return Statement{}, fmt.Errorf("%w: a time after 9999", ErrValidity)
	}
	return Statement{
		Name: f.Name, Group: f.Group, Key: f.Key,
		NotBefore:  time.Unix(int64(f.NotBefore), 0).UTC(),
		NotAfter:   time.Unix(int64(f.NotAfter), 0).UTC(),
		Version:    f.Version,
		Extensions: f.Extensions,
	}, nil
}

// alone knows one CA key, whatever its id.
type alone struct{ key *signature.PublicKey }

func (a alone) Key([envelope.KeyIDSize]byte) *signature.PublicKey { return a.key }

// ID returns the key id under which this CA signs.
func (a Authority) ID() [envelope.KeyIDSize]byte { return certificate.AuthorityID(a.key) }

// Key returns the CA's public key.
func (a Authority) Key() *signature.PublicKey { return a.key }

// Voucher returns the id of the CA key that signed the statement.
func (a Authority) Voucher() [envelope.KeyIDSize]byte { return a.KeyID() }

func domain(g ident.Group, kind envelope.Kind) envelope.Domain {
	return envelope.Domain{Version: certificate.Version, Group: g, Kind: kind}
}
