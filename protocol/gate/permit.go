package gate

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Title is what a verified permit says: who holds which token at which hop. Hash and Holder together are
// the title; the hop is for people.
type Title struct {
	Token  ident.Token
	Hop    uint64
	Holder ident.Member
	Hash   ident.Hash // of the transfer, or genesis, that the title ends with
}

// Move is a title that its holder's own signature, seen in a permit, gives away or declines.
type Move struct {
	By       ident.Member
	Title    ident.Hash
	Declined bool
}

// maxMoves is how many moves a permit shows: its transfer, the one before, and a void of each.
const maxMoves = 4

// Permit is what the gate reads of a verified permit. All signatures in it hold.
type Permit struct {
	Title     Title
	Generator ident.Member
	Born      uint64 // the genesis's time, ms since 1970
	Moves     []Move
}

// PermitOf is what the gate reads of a title and the title before it, which must have been
// verified. Before is zero at hop 0.
func PermitOf(title, before token.Title) Permit {
	g := title.Genesis.Body()
	p := Permit{
		Title:     Title{Token: title.Token(), Hop: title.Hop(), Holder: title.Holder(), Hash: title.Hash()},
		Generator: g.Generator, Born: g.Time,
	}
	for _, t := range []token.Title{title, before} {
		if t.Transfer.IsZero() {
			continue
		}
		b := t.Transfer.Body()
		p.Moves = append(p.Moves, Move{By: b.From, Title: b.Previous})
		if !t.Void.IsZero() {
			p.Moves = append(p.Moves, Move{By: t.Void.Body().Signer, Title: t.Transfer.Hash(), Declined: true})
		}
	}
	return p
}

// follows: one of the permit's transfers follows from the title, by the holder's own signature (rule 1).
func (p Permit) follows(t Title) bool {
	for _, m := range p.Moves {
		if !m.Declined && m.By == t.Holder && m.Title == t.Hash {
			return true
		}
	}
	return false
}

// signers are the members by whose word the presenter holds the token.
func (p Permit) signers() []ident.Member {
	list := []ident.Member{p.Generator}
	for _, m := range p.Moves {
		list = append(list, m.By)
	}
	return list
}
