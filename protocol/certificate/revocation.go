package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Revocation is what the CA says about a member that is no more. It kills the
// member's id permanently, whatever certificates it has.
type Revocation struct {
	_          struct{} `cbor:",toarray"`
	Version    uint64   // of the revocation list that this belongs to: the CA counts them from 1
	Member     ident.Member
	Serial     uint64 // of its last certificate, or 0 when the CA knows none
	Reason     string // for people; see CheckReason
	Time       uint64 // by the CA's wall clock, ms since 1970
	Extensions canonical.Extensions
}

func (r Revocation) validate() error {
	if err := r.Extensions.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case r.Version == 0:
		return ErrVersion
	case r.Member.IsZero():
		return fmt.Errorf("%w: revocation of nobody", ErrMalformed)
	}
	return CheckReason(r.Reason)
}

// Sign makes the revocation. Errors: ErrVersion, ErrReason, ErrMalformed,
// ErrTooLarge.
func (r Revocation) Sign(g ident.Group, ca *signature.PrivateKey) (SignedRevocation, error) {
	if err := r.validate(); err != nil {
		return SignedRevocation{}, err
	}
	form, err := seal(g, envelope.Revocation, AuthorityID(ca.Public()), &r, ca)
	if err != nil {
		return SignedRevocation{}, err
	}
	return signed.Of(r, form), nil
}

// SignedRevocation is a verified revocation. It is immutable and safe for
// concurrent use; the zero value is none.
type SignedRevocation = signed.Object[Revocation]

// ParseRevocation reads and verifies a revocation in group g. Errors:
// ErrMalformed, ErrVersion, ErrReason, ErrUnknownCA, ErrSignature, the first
// that applies. One of another group fails like one that was altered: the
// group is not in it but in what was signed.
func ParseRevocation(g ident.Group, raw []byte, cas Authorities) (SignedRevocation, error) {
	var r Revocation
	u, err := open(g, envelope.Revocation, raw, &r)
	if err != nil {
		return SignedRevocation{}, err
	}
	if err := r.validate(); err != nil {
		return SignedRevocation{}, err
	}
	form, err := VerifyBy(cas, u)
	if err != nil {
		return SignedRevocation{}, err
	}
	return signed.Of(r, form), nil
}

// PeekRevocation is what a revocation claims. Nothing is verified. Errors:
// ErrMalformed, ErrVersion, ErrReason.
func PeekRevocation(g ident.Group, raw []byte) (Revocation, error) {
	var r Revocation
	if _, err := open(g, envelope.Revocation, raw, &r); err != nil {
		return Revocation{}, err
	}
	return r, r.validate()
}
