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
func ReadGenesis(u envelope.Unverified) (b GenesisBody, err error) {
	err = read(u, &b, func() (ident.Member, error) { return b.Generator, b.validate() })
	return b, err
}

// ReadTransfer is what a transfer would say. Errors: ErrMalformed, ErrSigner,
// ErrField.
func ReadTransfer(u envelope.Unverified) (b TransferBody, err error) {
	err = read(u, &b, func() (ident.Member, error) { return b.From, b.validate() })
	return b, err
}

// ReadAnswer is what a receipt, void or unknown would say. Errors: ErrMalformed,
// ErrSigner.
func ReadAnswer(u envelope.Unverified) (b AnswerBody, err error) {
	err = read(u, &b, func() (ident.Member, error) { return b.Signer, b.validate() })
	return b, err
}

func read(u envelope.Unverified, body any, check func() (ident.Member, error)) error {
	if err := canonical.Unmarshal(u.Payload(), body, payloadLimits); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	signer, err := check()
	if err != nil {
		return err
	}
	if ident.Member(u.KeyID()) != signer {
		return ErrSigner
	}
	return nil
}
