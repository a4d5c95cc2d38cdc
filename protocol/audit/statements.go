package audit

import (
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// What the books say of objects, for package evidence to judge.

func (t *transfer) said() evidence.Statement {
	return evidence.Statement{
		Kind: envelope.Transfer, Hash: t.hash, Signer: t.from, Token: t.token, Hop: t.hop,
		To: t.to, Previous: t.previous, Void: t.void,
	}
}

// answered is the receipt or void of a transfer.
func (t *transfer) answered(k envelope.Kind) evidence.Statement {
	return evidence.Statement{Kind: k, Signer: t.answerer, Token: t.token, Hop: t.hop, Answered: t.hash}
}

func (g *genesis) said() evidence.Statement {
	return evidence.Statement{
		Kind: envelope.Genesis, Hash: ident.Hash(g.token), Signer: g.generator, Token: g.token,
		Incarnation: g.incarnation, Sequence: g.sequence,
	}
}

// voidSaid is what a void says itself, whatever its transfer says.
func voidSaid(b token.AnswerBody, h ident.Hash) evidence.Statement {
	return evidence.Statement{
		Kind: envelope.Void, Hash: h, Signer: b.Signer, Token: b.Token, Hop: b.Hop, Answered: b.Transfer,
	}
}
