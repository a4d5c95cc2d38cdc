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
	Expires  uint64 // when the signer's certificate does, ms since 1970; 0: never
}

// maxMoves is how many moves a permit shows: its transfer, the one before, and a void of each.
const maxMoves = 4

// Permit is what the gate reads of a verified permit. All signatures in it hold.
type Permit struct {
	Title     Title
	Generator ident.Member
	Born      uint64 // the genesis's time, ms since 1970
	Expires   uint64 // when the generator's certificate does, ms since 1970; 0: never
	Moves     []Move // those of the transfer that leads to the title, then those of the transfer before
}

// PermitOf is what the gate reads of a title and the title before it, which must have been
// verified. Before is zero at hop 0. The third argument says when the certificate of a signer expires, in ms since 1970.
func PermitOf(title, before token.Title, expires func(ident.Member) uint64) Permit {
	g := title.Genesis.Body()
	p := Permit{
		Title:     Title{Token: title.Token(), Hop: title.Hop(), Holder: title.Holder(), Hash: title.Hash()},
		Generator: g.Generator, Born: g.Time, Expires: expires(g.Generator),
	}
	for _, t := range []token.Title{title, before} {
		if t.Transfer.IsZero() {
			continue
		}
		b := t.Transfer.Body()
		p.Moves = append(p.Moves, Move{By: b.From, Title: b.Previous, Expires: expires(b.From)})
		if !t.Void.IsZero() {
			by := t.Void.Body().Signer
			p.Moves = append(p.Moves, Move{By: by, Title: t.Transfer.Hash(), Declined: true, Expires: expires(by)})
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

// leadsTo is the title that the permit shows by one of its moves: its own, or the one before, which the permit gives away. Of that
// it says only holder and hash.
func (p Permit) leadsTo(move int) Title {
	for i := 1; i <= move; i++ {
		if !p.Moves[i].Declined {
			return Title{Holder: p.Moves[0].By, Hash: p.Moves[0].Title}
		}
	}
	return p.Title
}
