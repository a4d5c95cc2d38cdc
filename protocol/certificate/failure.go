package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Failure is what a witness says about a member that does not answer: that it
// is not to be reached where its endpoint record with this sequence number says
// it is. One such statement decides nothing; a quorum of witnesses does, until
// the member signs a higher number.
type Failure struct {
	_          struct{} `cbor:",toarray"`
	Witness    ident.Member
	Subject    ident.Member
	Sequence   uint64 // of the subject's endpoint record
	Time       uint64 // the witness' wall clock, ms since 1970: shown, decides nothing
	Extensions canonical.Extensions
}

func (f Failure) validate() error {
	if err := f.Extensions.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case f.Subject.IsZero():
		return fmt.Errorf("%w: failure of nobody", ErrMalformed)
	case f.Subject == f.Witness:
		return fmt.Errorf("%w: %v", ErrSelf, f.Witness)
	}
	return nil
}

func (Failure) kind() envelope.Kind    { return envelope.Failure }
func (f Failure) signer() ident.Member { return f.Witness }

// Sign makes the statement. The key must be the witness' (ErrSigner). Other
// errors: ErrSelf, ErrMalformed.
func (f Failure) Sign(g ident.Group, key *signature.PrivateKey) (SignedFailure, error) {
	return signStatement(g, f, key)
}

// SignedFailure is a verified failure statement: what is verified is who says
// so, not that it is so. It is immutable and safe for concurrent use; the zero
// value is none.
type SignedFailure = signed.Object[Failure]

// FailureSigner is the witness that a failure statement claims to be of, so
// that its key can be looked up. Nothing is verified. Error: ErrMalformed.
func FailureSigner(g ident.Group, raw []byte) (ident.Member, error) {
	return statementSigner[Failure](g, raw)
}

// ParseFailure reads a failure statement and verifies it with its witness' key.
// Errors: ErrMalformed, ErrSelf, ErrSigner, ErrSignature, the first that
// applies.
func ParseFailure(g ident.Group, raw []byte, key *signature.PublicKey) (SignedFailure, error) {
	return parse(ReadFailure(g, raw, key))
}

// ReadFailure is ParseFailure without the check of the signature.
func ReadFailure(g ident.Group, raw []byte, key *signature.PublicKey) (Unverified[Failure, SignedFailure], error) {
	return readStatement[Failure](g, raw, key)
}

// PeekFailure is what a failure statement says, whoever it is of. Nothing is
// verified: it is for statements that have been. Error: ErrMalformed.
func PeekFailure(g ident.Group, raw []byte) (Failure, error) {
	f, _, err := peekStatement[Failure](g, raw)
	return f, err
}
