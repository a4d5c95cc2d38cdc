package certificate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
)

// Unverified is an object that is whole and consistent, but whose signature
// nobody has checked. It comes from one of the Read functions and says nothing
// of its contents until Verify, or a batch, has turned it into an S. B is the
// plain value.
type Unverified[B, S any] struct {
	body     B
	form     envelope.Unverified
	key      *signature.PublicKey // of the signer
	verified func(envelope.Verified) S
}

// Body is what the object would say if its signature held: a plain value that
// means nothing. The caller must not change its lists.
func (u Unverified[B, S]) Body() B { return u.body }

// Verify checks the signature. Error: ErrSignature.
func (u Unverified[B, S]) Verify() (S, error) {
	signed, err := verify(u.form, u.key)
	if err != nil {
		var none S
		return none, err
	}
	return u.verified(signed), nil
}

// parse verifies what has been read.
func parse[B, S any](u Unverified[B, S], err error) (S, error) {
	if err != nil {
		var none S
		return none, err
	}
	return u.Verify()
}

// AddTo puts the signature into a batch. What the batch says of it is for
// Accept.
func (u Unverified[B, S]) AddTo(b *envelope.Batch) { b.Add(u.form, u.key) }

// Accept is Verify with the answer of the batch. Error: ErrSignature.
func (u Unverified[B, S]) Accept(r envelope.Result) (S, error) {
	if r.Err != nil {
		var none S
		return none, fmt.Errorf("%w: %w", ErrSignature, r.Err)
	}
	return u.verified(r.Verified), nil
}
