package audit

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Report is what the journals prove.
type Report struct {
	Custodies []Custody // by token, then by begin
	Tokens    []Token   // by id
	Findings  []Finding // broken rules; in the order in which they were found
}

// Handoffs is how many times custody went from one member to another.
func (r *Report) Handoffs() int {
	n := 0
	for i := range r.Custodies {
		if r.Custodies[i].by != nil {
			n++
		}
	}
	return n
}

// Count is how many findings are of a kind.
func (r *Report) Count(k Kind) int {
	n := 0
	for _, f := range r.Findings {
		if f.Kind == k {
			n++
		}
	}
	return n
}

// Token is what became of one token.
type Token struct {
	ID   ident.Token
	Hop  uint64 // of its last custody
	Last ident.Member
	Fate Fate
	// To is who the token is under way to, or was when it was lost.
	To ident.Member
}

// Fate is where a token is in the end. The lost ones are those of handoff
// rules §7.
type Fate uint8

// The fates.
const (
	Held         Fate = iota + 1 // somebody has custody
	UnderWay                     // signed away, and its receiver can still take it
	Dropped                      // its policy removed it
	LostHolder                   // V1: its holder's custody memory ended
	LostReceiver                 // V2: its receiver's custody memory ended before the token came
	LostOrphan                   // its sender forgot it, or gave up, and nobody is known to have taken it (also V3)
	LostUnknown                  // nothing explains where it is: always with a finding
	fates
)

var fateNames = [fates]string{
	Held: "held", UnderWay: "under way", Dropped: "dropped", LostHolder: "lost with its holder",
	LostReceiver: "lost with its receiver", LostOrphan: "orphaned by its sender", LostUnknown: "lost, nobody knows why",
}

func (f Fate) String() string {
	if f > 0 && f < fates {
		return fateNames[f]
	}
	return fmt.Sprintf("fate %d", uint8(f))
}

// Lost reports whether nobody can use the token any more.
func (f Fate) Lost() bool { return f >= LostHolder && f < fates }

// Kind is a rule that was broken.
type Kind string

// The rules.
const (
	// Overlap: two custodies of one token at the same time.
	Overlap Kind = "two custodies at once"
	// Fork: one member signed two transfers of one hop of one token.
	Fork Kind = "two transfers of one hop"
	// Twice: one transfer gave custody twice.
	Twice Kind = "transfer used twice"
	// Contradiction: one transfer was taken and declined.
	Contradiction Kind = "transfer taken and declined"
	// Unsent: a transfer was taken that its sender's journal does not hold. It
	// left before it was durable.
	Unsent Kind = "transfer taken that was not recorded as sent"
	// Unheld: a transfer was answered by a receipt, and its durable receiver's
	// journal does not hold it. The receipt left before custody was durable.
	Unheld Kind = "receipt for a transfer that was not recorded as taken"
	// Revived: an incarnation was begun twice.
	Revived Kind = "incarnation begun twice"
	// Minted: two tokens with one sequence number of one incarnation.
	Minted Kind = "sequence number used twice"
	// Busy: a token was given away, dropped or granted again while an
	// operation ran under it.
	Busy Kind = "operation still ran"
	// Misfit: a record does not follow from the records before it.
	Misfit Kind = "record does not fit"
	// Vanished: a token is nowhere, and no crash explains it.
	Vanished Kind = "token vanished"
)

// Finding is one broken rule.
type Finding struct {
	Kind    Kind
	Token   ident.Token
	Hop     uint64
	Members []ident.Member // whose records show it
	Detail  string
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s: token %s hop %d", f.Kind, f.Token.Short(), f.Hop)
	for _, m := range f.Members {
		s += ", member " + m.Short()
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}
