package evidence

import (
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Statement is what a signed object of a token says that another can contradict;
// its signature was not looked at. What an object of its kind does not say is
// zero.
type Statement struct {
	Kind   envelope.Kind
	Hash   ident.Hash // of the object itself
	Signer ident.Member
	Token  ident.Token // a genesis makes the one that its hash names
	Hop    uint64      // to which a transfer leads; an answer has that of its transfer

	// A transfer's.
	To       ident.Member
	Previous ident.Hash  // of the transfer, or genesis, that gave its signer custody
	Void     *ident.Hash // of the void by which it came back, if it did

	Answered ident.Hash // of the transfer that a receipt or void answers

	// A genesis's.
	Incarnation ident.Incarnation
	Sequence    uint64
}

func ofGenesis(b token.GenesisBody, h ident.Hash) Statement {
	return Statement{
		Kind: envelope.Genesis, Hash: h, Signer: b.Generator, Token: ident.Token(h),
		Incarnation: b.Incarnation, Sequence: b.Sequence,
	}
}

func ofTransfer(b token.TransferBody, h ident.Hash) Statement {
	return Statement{
		Kind: envelope.Transfer, Hash: h, Signer: b.From, Token: b.Token, Hop: b.Hop,
		To: b.To, Previous: b.Previous, Void: b.Void,
	}
}

func ofAnswer(k envelope.Kind, b token.AnswerBody, h ident.Hash) Statement {
	return Statement{Kind: k, Hash: h, Signer: b.Signer, Token: b.Token, Hop: b.Hop, Answered: b.Transfer}
}

// peek reads an object. It reports false for what is none.
func peek(g ident.Group, o Object) (Statement, bool) {
	switch o.Kind {
	case envelope.Genesis:
		b, h, err := token.PeekGenesis(g, o.Raw)
		return ofGenesis(b, h), err == nil
	case envelope.Transfer:
		b, h, err := token.PeekTransfer(g, o.Raw)
		return ofTransfer(b, h), err == nil
	case envelope.Void, envelope.Receipt:
		b, h, err := token.PeekAnswer(g, verdictOf(o.Kind), o.Raw)
		return ofAnswer(o.Kind, b, h), err == nil
	}
	return Statement{}, false
}
