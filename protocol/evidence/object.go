package evidence

import (
	"bytes"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Object is one signed object of a token: a genesis, transfer, receipt or void.
type Object = token.Object

// statement is what an object says, its signature not looked at.
type statement struct {
	kind     envelope.Kind
	hash     ident.Hash
	signer   ident.Member
	genesis  token.GenesisBody
	transfer token.TransferBody
	answer   token.AnswerBody
}

// peek reads an object. It reports false for what is none.
func peek(g ident.Group, o Object) (statement, bool) {
	s := statement{kind: o.Kind}
	var err error
	switch o.Kind {
	case envelope.Genesis:
		s.genesis, s.hash, err = token.PeekGenesis(g, o.Raw)
		s.signer = s.genesis.Generator
	case envelope.Transfer:
		s.transfer, s.hash, err = token.PeekTransfer(g, o.Raw)
		s.signer = s.transfer.From
	case envelope.Void, envelope.Receipt:
		s.answer, s.hash, err = token.PeekAnswer(g, verdictOf(o.Kind), o.Raw)
		s.signer = s.answer.Signer
	default:
		return statement{}, false
	}
	return s, err == nil
}

func verdictOf(k envelope.Kind) token.Verdict {
	if k == envelope.Void {
		return token.Void
	}
	return token.Receipt
}

// verify checks the signature of an object.
func verify(v *token.Verifier, o Object) error {
	var err error
	switch o.Kind {
	case envelope.Genesis:
		_, err = v.Genesis(o.Raw)
	case envelope.Transfer:
		_, err = v.Transfer(o.Raw)
	default:
		_, err = v.Answer(verdictOf(o.Kind), o.Raw)
	}
	return err
}

// blank is an object without its signature: it has zeros instead. An object that
// only serves to show what a hash is of then has one form.
func blank(raw []byte) []byte {
	raw = bytes.Clone(raw)
	if n := len(raw) - signature.SignatureSize; n > 0 {
		clear(raw[n:])
	}
	return raw
}

// namedKinds are what a transfer can name.
var namedKinds = []envelope.Kind{envelope.Transfer, envelope.Genesis, envelope.Void}

// named finds what an object is of which a transfer names the hash.
func named(g ident.Group, by token.TransferBody, raw []byte) (statement, bool) {
	for _, kind := range namedKinds {
		if s, ok := peek(g, Object{Kind: kind, Raw: raw}); ok && names(by, s) {
			return s, true
		}
	}
	return statement{}, false
}

// names reports whether a transfer has the hash of an object in the place where
// an object of its kind belongs.
func names(by token.TransferBody, s statement) bool {
	switch s.kind {
	case envelope.Genesis, envelope.Transfer:
		return by.Previous == s.hash
	case envelope.Void:
		return by.Void != nil && *by.Void == s.hash
	}
	return false
}
