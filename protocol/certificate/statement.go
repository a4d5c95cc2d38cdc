package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// statement is what a member signs: an endpoint record, a leave or a failure statement.
type statement interface {
	kind() envelope.Kind
	signer() ident.Member // whose key it is signed with
	validate() error
}

func signStatement[B statement](g ident.Group, b B, key *signature.PrivateKey) (signed.Object[B], error) {
	var none signed.Object[B]
	if !belongs(g, b.signer(), key.Public()) {
		return none, ErrSigner
	}
	if err := b.validate(); err != nil {
		return none, err
	}
	form, err := seal(g, b.kind(), b.signer(), &b, key)
	if err != nil {
		return none, err
	}
	return signed.Of(b, form), nil
}

// statementSigner is the key id of a statement.
func statementSigner[B statement](g ident.Group, raw []byte) (ident.Member, error) {
	var b B
	u, err := envelope.Parse(domain(g, b.kind()), raw)
	if err != nil {
		return ident.Member{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return u.KeyID(), nil
}

// peekStatement is what a statement says, unverified and unchecked.
func peekStatement[B statement](g ident.Group, raw []byte) (b B, u envelope.Unverified, err error) {
	u, err = open(g, b.kind(), raw, &b)
	return b, u, err
}

func readStatement[B statement](g ident.Group, raw []byte, key *signature.PublicKey) (Unverified[B, signed.Object[B]], error) {
	var none Unverified[B, signed.Object[B]]
	b, u, err := peekStatement[B](g, raw)
	if err != nil {
		return none, err
	}
	if err := b.validate(); err != nil {
		return none, err
	}
	if b.signer() != u.KeyID() || !belongs(g, b.signer(), key) {
		return none, ErrSigner
	}
	verified := func(v envelope.Verified) signed.Object[B] { return signed.Of(b, v) }
	return Unverified[B, signed.Object[B]]{b, u, key, verified}, nil
}

func belongs(g ident.Group, m ident.Member, key *signature.PublicKey) bool {
	raw := key.Bytes()
	return ident.MemberOf(g, raw[:]) == m
}
