package certificate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxName bounds a member's name, in bytes: that of one label of a host name
// and a little, so that names fit log lines and tables.
const MaxName = 64

// maxSeconds is the last second of the year 9999. Later times have no form in
// RFC 3339, in which logs and JSON show them.
const maxSeconds = 253402300799

// Claims are what the CA says about a member.
type Claims struct {
	Name      string    // for people; 1 to 64 of a-z, 0-9, '.', '-'
	Serial    uint64    // of this certificate, from 1 on; a CA never uses one twice
	NotBefore time.Time // validity begins; whole seconds, as all times here
	NotAfter  time.Time // validity has ended at this second
	IssuedAt  time.Time
	Key       [signature.PublicKeySize]byte // the member's Ed25519 public key
	Group     ident.Group
	// ConfigVersion and RevocationVersion are those that the CA had published
	// when it issued this: whoever shows the certificate must be able to know
	// at least those versions.
	ConfigVersion     uint64
	RevocationVersion uint64
	Role              Role   // zero: a member
	Class             string // of a member, by which a resource may weigh it; empty: none
	Extensions        canonical.Extensions
}

// claimsForm is the payload of a certificate: a CWT claims set (RFC 8392 §3)
// with a confirmation key (RFC 8747 §3.2). The extensions, the role and the class, and only they,
// may be missing. The extensions and the class are when there are none, and the role is a member's.
type claimsForm struct {
	Name              string                `cbor:"2,keyasint"`
	NotAfter          uint64                `cbor:"4,keyasint"`
	NotBefore         uint64                `cbor:"5,keyasint"`
	IssuedAt          uint64                `cbor:"6,keyasint"`
	Serial            [8]byte               `cbor:"7,keyasint"`
	Confirmation      confirmation          `cbor:"8,keyasint"`
	Group             ident.Group           `cbor:"-70001,keyasint"`
	ConfigVersion     uint64                `cbor:"-70002,keyasint"`
	RevocationVersion uint64                `cbor:"-70003,keyasint"`
	Extensions        *canonical.Extensions `cbor:"-70004,keyasint,omitempty"`
	Role              *uint64               `cbor:"-70005,keyasint,omitempty"`
	Class             *string               `cbor:"-70006,keyasint,omitempty"`
}

type confirmation struct {
	Key coseKey `cbor:"1,keyasint"`
}

// coseKey is a public key (RFC 9053 §7.2): type OKP, curve Ed25519, x.
type coseKey struct {
	Type  int                           `cbor:"1,keyasint"`
	Curve int                           `cbor:"-1,keyasint"`
	X     [signature.PublicKeySize]byte `cbor:"-2,keyasint"`
}

const (
	typeOKP      = 1
	curveEd25519 = 6
)

// Sign makes the certificate. Times lose what is below a second. Errors:
// ErrName, ErrSerial, ErrValidity, ErrKey, ErrRole, ident.ErrClass, ErrMalformed (extensions),
// ErrTooLarge.
func (c Claims) Sign(ca *signature.PrivateKey) (Certificate, error) {
	c.NotBefore, c.NotAfter, c.IssuedAt = seconds(c.NotBefore), seconds(c.NotAfter), seconds(c.IssuedAt)
	key, err := c.check()
	if err != nil {
		return Certificate{}, err
	}
	signed, err := seal(c.Group, envelope.Certificate, AuthorityID(ca.Public()), c.form(), ca)
	if err != nil {
		return Certificate{}, err
	}
	return newCertificate(c, key.With(ca.Public().Memory()), signed), nil
}

func seconds(t time.Time) time.Time { return t.Truncate(time.Second).UTC() }

// check validates everything that does not need a signature.
func (c Claims) check() (*signature.PublicKey, error) {
	if err := CheckName(c.Name); err != nil {
		return nil, err
	}
	if c.Serial == 0 {
		return nil, ErrSerial
	}
	for _, t := range []time.Time{c.NotBefore, c.NotAfter, c.IssuedAt} {
		if s := t.Unix(); s < 0 || s > maxSeconds {
			return nil, fmt.Errorf("%w: %v is not in 1970 to 9999", ErrValidity, t)
		}
	}
	if !c.NotAfter.After(c.NotBefore) {
		return nil, fmt.Errorf("%w: it ends at %v and begins at %v", ErrValidity, c.NotAfter, c.NotBefore)
	}
	if err := c.Extensions.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	key, err := signature.ParsePublicKey(c.Key[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, cmp.Or(c.Role.validate(), c.checkClass())
}

// checkClass returns ident.ErrClass for a class that cannot be one, or that is a gate's: gates have no turns.
func (c Claims) checkClass() error {
	switch {
	case c.Class == "":
		return nil
	case c.Role == GateRole:
		return fmt.Errorf("%w: a gate has none", ident.ErrClass)
	}
	return ident.CheckClass(c.Class)
}

// CheckName returns ErrName unless name can be a member's: 1 to MaxName of
// a-z, 0-9, '.' and '-', beginning and ending with a letter or digit. So it is
// also a file name, and never taken for an option.
func CheckName(name string) error {
	if len(name) == 0 || len(name) > MaxName {
		return fmt.Errorf("%w: %d characters, permitted are 1 to %d", ErrName, len(name), MaxName)
	}
	for i := range len(name) {
		b := name[i]
		letter := b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
		inner := i > 0 && i < len(name)-1 && (b == '.' || b == '-')
		if !letter && !inner {
			return fmt.Errorf("%w: %q, permitted are a-z, 0-9 and, inside, '.' and '-'", ErrName, name)
		}
	}
	return nil
}

func (c Claims) form() claimsForm {
	f := claimsForm{
		Name:     c.Name,
		NotAfter: uint64(c.NotAfter.Unix()), NotBefore: uint64(c.NotBefore.Unix()), IssuedAt: uint64(c.IssuedAt.Unix()),
		Confirmation:  confirmation{coseKey{Type: typeOKP, Curve: curveEd25519, X: c.Key}},
		Group:         c.Group,
		ConfigVersion: c.ConfigVersion, RevocationVersion: c.RevocationVersion,
	}
	binary.BigEndian.PutUint64(f.Serial[:], c.Serial)
	if c.Extensions.Len() > 0 {
		f.Extensions = &c.Extensions
	}
	if c.Role != MemberRole {
		role := uint64(c.Role)
		f.Role = &role
	}
	if c.Class != "" {
		f.Class = &c.Class
	}
	return f
}

// claims refuses what has a form but no meaning.
func (f claimsForm) claims() (Claims, error) {
	if k := f.Confirmation.Key; k.Type != typeOKP || k.Curve != curveEd25519 {
		return Claims{}, fmt.Errorf("%w: not an Ed25519 key", ErrKey)
	}
	if max(f.NotBefore, f.NotAfter, f.IssuedAt) > maxSeconds {
		return Claims{}, fmt.Errorf("%w: a time after 9999", ErrValidity)
	}
	c := Claims{
		Name: f.Name, Serial: binary.BigEndian.Uint64(f.Serial[:]),
		NotBefore: instant(f.NotBefore), NotAfter: instant(f.NotAfter), IssuedAt: instant(f.IssuedAt),
		Key: f.Confirmation.Key.X, Group: f.Group,
		ConfigVersion: f.ConfigVersion, RevocationVersion: f.RevocationVersion,
	}
	if f.Extensions != nil {
		if f.Extensions.Len() == 0 {
			return Claims{}, fmt.Errorf("%w: empty extensions", ErrMalformed)
		}
		c.Extensions = *f.Extensions
	}
	if f.Role != nil {
		if c.Role = Role(*f.Role); c.Role == MemberRole {
			return Claims{}, fmt.Errorf("%w: the role of a member, which is not written", ErrMalformed)
		}
	}
	if f.Class != nil {
		if c.Class = *f.Class; c.Class == "" {
			return Claims{}, fmt.Errorf("%w: an empty class", ErrMalformed)
		}
	}
	return c, nil
}

// instant is a time of at most maxSeconds.
func instant(s uint64) time.Time { return time.Unix(int64(s), 0).UTC() }
