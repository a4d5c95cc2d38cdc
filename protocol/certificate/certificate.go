package certificate

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Certificate is a verified certificate of a member, or of a gate if ParseAny or ParseGate has
// read it. It is immutable and safe for concurrent use; the zero value is none.
type Certificate struct {
	signed.Object[Claims]
	member ident.Member
	key    *signature.PublicKey
}

func newCertificate(c Claims, key *signature.PublicKey, form envelope.Verified) Certificate {
	return Certificate{signed.Of(c, form), ident.MemberOf(c.Group, c.Key[:]), key}
}

// Parse reads and verifies a certificate of a member of group g. It does not look at the
// time. Errors: ErrMalformed, ErrName, ErrSerial, ErrValidity, ErrKey, ErrRole also for
// a gate's, ident.ErrClass, ErrGroup, ErrUnknownCA, ErrSignature, the first that applies.
func Parse(g ident.Group, raw []byte, cas Authorities) (Certificate, error) {
	return parse(Read(g, raw, cas))
}

// ParseGate is Parse for the certificate of a gate: ErrRole for a member's.
func ParseGate(g ident.Group, raw []byte, cas Authorities) (Certificate, error) {
	return parse(read(g, raw, cas, func(r Role) error { return r.is(GateRole) }))
}

// ParseAny is Parse for a certificate of any role that is known. It is for the authority and for
// what is shown to people; who asks for a member uses Parse.
func ParseAny(g ident.Group, raw []byte, cas Authorities) (Certificate, error) {
	return parse(read(g, raw, cas, Role.validate))
}

// Peek is what a certificate claims. Nothing is verified: it is for finding out
// whether this is the certificate that one has. Errors: ErrMalformed, ErrKey,
// ErrValidity.
func Peek(g ident.Group, raw []byte) (Claims, error) {
	var form claimsForm
	if _, err := open(g, envelope.Certificate, raw, &form); err != nil {
		return Claims{}, err
	}
	return form.claims()
}

// Read is Parse without the check of the signature. ErrUnknownCA it gives.
func Read(g ident.Group, raw []byte, cas Authorities) (Unverified[Claims, Certificate], error) {
	return read(g, raw, cas, func(r Role) error { return r.is(MemberRole) })
}

func read(g ident.Group, raw []byte, cas Authorities, permits func(Role) error) (Unverified[Claims, Certificate], error) {
	var none Unverified[Claims, Certificate]
	var form claimsForm
	u, err := open(g, envelope.Certificate, raw, &form)
	if err != nil {
		return none, err
	}
	c, err := form.claims()
	if err != nil {
		return none, err
	}
	key, err := c.check()
	if err != nil {
		return none, err
	}
	if err := permits(c.Role); err != nil {
		return none, err
	}
	if c.Group != g {
		return none, fmt.Errorf("%w: %v", ErrGroup, c.Group)
	}
	ca, err := authorityOf(cas, u)
	if err != nil {
		return none, err
	}
	key = key.With(ca.Memory())
	verified := func(v envelope.Verified) Certificate { return newCertificate(c, key, v) }
	return Unverified[Claims, Certificate]{c, u, ca, verified}, nil
}

// KeyOf is the key that a certificate is about, whether or not its signature holds: the
// member's id is made from it.
func KeyOf(u Unverified[Claims, Certificate]) *signature.PublicKey {
	return u.verified(envelope.Verified{}).key
}

// Member is the id of the member, or gate, that this is about.
func (c Certificate) Member() ident.Member { return c.member }

// Name is the member's name, for people.
func (c Certificate) Name() string { return c.Body().Name }

// Class is the member's, by which a resource may weigh it. It is empty if it has none.
func (c Certificate) Class() string { return c.Body().Class }

// Key is the member's public key.
func (c Certificate) Key() *signature.PublicKey { return c.key }

// Authority is the id of the CA key that signed this, see AuthorityID.
func (c Certificate) Authority() [envelope.KeyIDSize]byte { return c.KeyID() }

// ValidAt is nil when the certificate is valid at t, from NotBefore on and
// before NotAfter (RFC 8392 §3.1.4 and §3.1.5), otherwise ErrNotYetValid or
// ErrExpired.
func (c Certificate) ValidAt(t time.Time) error {
	switch {
	case t.Before(c.Body().NotBefore):
		return fmt.Errorf("%w: it will be at %s", ErrNotYetValid, c.Body().NotBefore.Format(time.RFC3339))
	case !t.Before(c.Body().NotAfter):
		return fmt.Errorf("%w at %s", ErrExpired, c.Body().NotAfter.Format(time.RFC3339))
	}
	return nil
}
