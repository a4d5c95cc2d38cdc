package evidence

import (
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
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

	Gate *GateAnswer // of a gate's answer, whose Signer is nobody: it has the gate's key only, and a certificate says whose that is
}

// GateAnswer is what a gate's answer says that another can contradict.
type GateAnswer struct {
	SignIn  SignIn
	Slot    uint64
	Session uint64 // that it names; 0: none
	Own     bool   // the session is that of the sign-in
	Refused bool
	Holder  ident.Member // whose session it is, under the statement's token and hop; nobody: it does not say
}

// SignIn is what a gate has answered: the number is one of the connection, and the connection is the exporter value's.
type SignIn struct {
	Key      [envelope.KeyIDSize]byte // of the gate
	Resource string
	Member   ident.Member
	Title    ident.Hash
	Exporter [permit.ExporterSize]byte
	Number   uint64
}

// OfGate is what an answer of the gate with a key says.
func OfGate(b wire.AnswerBody, key [envelope.KeyIDSize]byte, h ident.Hash) Statement {
	g := &GateAnswer{
		SignIn: SignIn{Key: key, Resource: b.Resource, Member: b.Member, Title: b.Title, Exporter: b.Exporter, Number: b.Number}, Slot: b.Slot,
	}
	s := Statement{Kind: envelope.GateAnswer, Hash: h, Gate: g}
	switch a := b.Answer.(type) {
	case gate.OpenAnswer:
		g.Session, g.Own, g.Holder, s.Token, s.Hop = a.Session, true, b.Member, a.Token, a.Hop
	case gate.BusyAnswer:
		if g.Session = a.Session; a.Session > 0 {
			g.Holder, s.Token, s.Hop = a.Holder, a.Token, a.Hop
		}
	case gate.ClosedAnswer:
		g.Session, g.Own = a.Session, a.Session > 0
	case gate.RefuseAnswer:
		g.Refused = true
	}
	return s
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
	case envelope.GateAnswer:
		b, u, err := wire.ReadAnswer(g, o.Raw)
		if err != nil {
			return Statement{}, false
		}
		return OfGate(b, u.KeyID(), u.Hash()), true
	}
	return Statement{}, false
}
