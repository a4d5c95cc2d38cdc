package token

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// MaxField bounds the policy field of a transfer, in bytes. It equals
// policy.MaxField: the layer below cannot import the one above.
const MaxField = 512

// TransferBody is what a member signs that gives custody away.
type TransferBody struct {
	_           struct{} `cbor:",toarray"`
	Token       ident.Token
	Hop         uint64 // custody moves from Hop-1 to Hop
	From        ident.Member
	To          ident.Member
	Incarnation ident.Incarnation // To's, from its ACCEPT
	Accept      uint64            // the accept number, from the same ACCEPT
	MAC         ident.MAC         // of To over From, Token, Hop and Accept, from the same ACCEPT
	Previous    ident.Hash        // H of the transfer, or genesis, that gave From its custody
	Void        *ident.Hash       // H of the void by which it came back, if it did
	Time        uint64            // From's wall clock, ms since 1970: decides nothing
	Field       []byte            // policy field
	Extensions  canonical.Extensions
}

// Reservation is the ACCEPT that the transfer relies on.
func (b TransferBody) Reservation() ident.Reservation {
	return ident.Reservation{Incarnation: b.Incarnation, Number: b.Accept, MAC: b.MAC}
}

func (b TransferBody) validate() error {
	switch {
	case b.Hop == 0 || b.Hop > ident.MaxHop:
		return fmt.Errorf("%w: transfer to hop %d, permitted are 1 to %d", ErrMalformed, b.Hop, uint64(ident.MaxHop))
	case b.From == b.To:
		return fmt.Errorf("%w: transfer to oneself", ErrMalformed)
	case len(b.Field) > MaxField:
		return fmt.Errorf("%w: %d bytes, permitted are %d", ErrField, len(b.Field), MaxField)
	}
	return nil
}

func (b TransferBody) signer() ident.Member { return b.From }

// extensionLastOperation is the key of an extension that a transfer may have,
// beside its position: when the protected operation last ran under a token of this slot, as
// far as the sender knows, in ms since 1970. It is a hint for programs that
// want the operation to have run lately, by whomever.
const extensionLastOperation = 1

// SetLastOperation notes when the operation last ran, in ms since 1970; 0 for
// never notes nothing.
func (b *TransferBody) SetLastOperation(ms uint64) {
	if ms == 0 {
		return
	}
	b.Extensions = b.Extensions.With(extensionLastOperation, canonical.AppendUint(nil, ms))
}

// LastOperation is what the sender knows of when the operation last ran, in ms
// since 1970; 0 when it does not say, or says something else than a time.
func (b TransferBody) LastOperation() uint64 {
	ms, _, _ := decodeUint(b.Extensions.Get(extensionLastOperation))
	return ms
}

// Sign makes the transfer. The key must be From's. The body is copied: its
// field is usually lent by a policy, until that policy's next step.
func (b TransferBody) Sign(group ident.Group, key *signature.PrivateKey) (Transfer, error) {
	b.Field = bytes.Clone(b.Field)
	if b.Void != nil {
		h := *b.Void
		b.Void = &h
	}
	t, err := sign(group, envelope.Transfer, &b, key)
	return Transfer{t}, err
}

// Transfer is a verified transfer.
type Transfer struct{ signed.Object[TransferBody] }
