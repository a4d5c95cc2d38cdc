package evidence

import (
	"bytes"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Object is one signed object: a genesis, transfer, receipt or void of a token, or an answer of a gate.
type Object = token.Object

func verdictOf(k envelope.Kind) token.Verdict {
	if k == envelope.Void {
		return token.Void
	}
	return token.Receipt
}

// verifyGate checks the signature of a gate's answer.
func verifyGate(g ident.Group, o Object, key *signature.PublicKey) error {
	_, err := wire.ParseAnswer(g, o.Raw, key)
	return err
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
func named(g ident.Group, by Statement, raw []byte) (Statement, bool) {
	for _, kind := range namedKinds {
		if s, ok := peek(g, Object{Kind: kind, Raw: raw}); ok && names(by, s) {
			return s, true
		}
	}
	return Statement{}, false
}
