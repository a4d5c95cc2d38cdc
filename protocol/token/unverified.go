package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
)

// The functions in this file are for who verifies very many objects in batches:
// they do all that a Verifier does, but for the signature. What they return
// means nothing until the envelope has verified with the key of its signer,
// whose id is the envelope's key id.

// Open reads the envelope of an object of a token. Error: ErrMalformed.
func Open(group ident.Group, kind envelope.Kind, raw []byte) (envelope.Unverified, error) {
	u, err := envelope.Parse(domain(group, kind), raw)
	if err != nil {
		return u, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return u, nil
}

// ReadGenesis is what a genesis would say. Errors: ErrMalformed, ErrSigner.
func ReadGenesis(u envelope.Unverified) (GenesisBody, error) {
	return read[GenesisBody](u)
}

// ReadTransfer is what a transfer would say. Errors: ErrMalformed, ErrSigner,
// ErrField.
func ReadTransfer(u envelope.Unverified) (TransferBody, error) {
	return read[TransferBody](u)
}

// ReadAnswer is what a receipt, void or unknown would say. Errors: ErrMalformed,
// ErrSigner.
func ReadAnswer(u envelope.Unverified) (AnswerBody, error) {
	return read[AnswerBody](u)
}

// read decodes what an object says, and checks it against its rules and its key id.
func read[B body](u envelope.Unverified) (b B, err error) {
	if err := canonical.Unmarshal(u.Payload(), &b, payloadLimits); err != nil {
		return b, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := b.validate(); err != nil {
		return b, err
	}
	if ident.Member(u.KeyID()) != b.signer() {
		return b, ErrSigner
	}
	return b, nil
}
