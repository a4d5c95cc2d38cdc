package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Leave is what a member says when it goes for good. Its id is dead from then
// on: whoever wants to return needs a new key.
type Leave struct {
	_          struct{} `cbor:",toarray"`
	Member     ident.Member
	Time       uint64 // the member's wall clock, ms since 1970: shown, decides nothing
	Extensions canonical.Extensions
}

func (l Leave) validate() error {
	if err := l.Extensions.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

func (Leave) kind() envelope.Kind    { return envelope.Leave }
func (l Leave) signer() ident.Member { return l.Member }

// Sign makes the notice. The key must be the member's (ErrSigner). Other
// errors: ErrMalformed.
func (l Leave) Sign(g ident.Group, key *signature.PrivateKey) (SignedLeave, error) {
	return signStatement(g, l, key)
}

// SignedLeave is a verified notice of leave. It is immutable and safe for
// concurrent use; the zero value is none.
type SignedLeave = signed.Object[Leave]

// LeaveSigner is the member that a notice of leave claims to be of, so that its
// key can be looked up. Nothing is verified. Error: ErrMalformed.
func LeaveSigner(g ident.Group, raw []byte) (ident.Member, error) {
	return statementSigner[Leave](g, raw)
}

// ParseLeave reads a notice of leave and verifies it with its member's key.
// Errors: ErrMalformed, ErrSigner, ErrSignature, the first that applies.
func ParseLeave(g ident.Group, raw []byte, key *signature.PublicKey) (SignedLeave, error) {
	return parse(ReadLeave(g, raw, key))
}

// ReadLeave is ParseLeave without the check of the signature.
func ReadLeave(g ident.Group, raw []byte, key *signature.PublicKey) (Unverified[Leave, SignedLeave], error) {
	return readStatement[Leave](g, raw, key)
}
