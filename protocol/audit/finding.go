package audit

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Kind names the rule that a finding says was broken.
type Kind string

// The kinds. Those in the first group can be proved; the others rest on what a
// member wrote in its journal, or on clocks.
const (
	// Fork: one member signed two transfers of one hop of one token.
	Fork Kind = "two transfers of one hop"
	// Contradiction: one transfer was taken and declined.
	Contradiction Kind = "transfer taken and declined"
	// Disowned: a member declined a transfer permanently, and gave the token on by it.
	Disowned Kind = "transfer declined and given on"
	// Broken: a transfer does not follow from what it names as its previous.
	Broken Kind = "transfer does not follow"
	// Minted: one incarnation made two tokens with one sequence number.
	Minted Kind = "sequence number used twice"

	// NumberTwice: a gate signed answers by which one session has two sign-ins, holders or tokens.
	NumberTwice Kind = "one session number for two sessions"
	// TwoAnswers: a gate signed two sessions for one sign-in, or a session and a refusal.
	TwoAnswers Kind = "two answers to one sign-in"

	// Overlap: two custodies of one token at the same time.
	Overlap Kind = "two custodies at once"
	// Twice: one transfer gave custody twice.
	Twice Kind = "transfer used twice"
	// Unsent: a transfer was taken that its sender's journal does not hold. It
	// left before it was durable, or the record was removed.
	Unsent Kind = "transfer taken that was not recorded as sent"
	// Unheld: a transfer was answered by a receipt, and its durable receiver's
	// journal does not hold it. The receipt left before custody was durable, or the
	// record was removed.
	Unheld Kind = "receipt for a transfer that was not recorded as taken"
	// Revived: an incarnation was begun twice.
	Revived Kind = "incarnation begun twice"
	// Busy: a token was given away, dropped or granted again while an
	// operation ran under it.
	Busy Kind = "operation still ran"
	// Misfit: a record does not follow from the records before it.
	Misfit Kind = "record does not fit"
	// Vanished: a token is nowhere, and no crash explains it.
	Vanished Kind = "token vanished"
	// Damaged: a journal cannot be read to its end.
	Damaged Kind = "journal is damaged"
	// Diverged: there are two versions of one journal, of which neither continues
	// the other: it was restored or copied, and both were written to.
	Diverged Kind = "two versions of one journal"
	// Forged: a journal holds an object whose signature does not hold.
	Forged Kind = "signature does not hold"
	// Outlived: a program ran on after the deadline of its grant.
	Outlived Kind = "grant outlived its deadline"
	// Closed: a program was let run, by its member's own clock, while the windows of its resource were closed, or beyond their
	// end. The clock may have been set, or the member keeps no windows.
	Closed Kind = "operation outside the windows"
	// Excess: a member made tokens faster than its policy permits.
	Excess Kind = "too many tokens made"
	// Backdated: a genesis is not later than an earlier token of its slot that was with
	// its generator before. Programs under the new token have lower fences than they had
	// under that one.
	Backdated Kind = "genesis not later than an earlier token"
	// Foreign: a token is of a resource or slot that no known configuration has.
	Foreign Kind = "token of what the group does not share"
	// Refounded: a slot was founded more than once.
	Refounded Kind = "slot founded twice"
	// Invalid: a member signed while none of its known certificates was valid.
	Invalid Kind = "signed without a valid certificate"
	// Revoked: a member signed after it was revoked. It may not have heard of the
	// revocation.
	Revoked Kind = "signed by a revoked member"
	// Departed: a member signed after it had left.
	Departed Kind = "signed after leaving"
	// Struck: others say that they have struck a member (its keepers pass it no
	// token for a while) for what became of tokens there. A member that keeps the
	// rules strikes no other such member, unless two members lie together about that
	// one. So either the first one of Members breaks the rules, or others do.
	Struck Kind = "struck by others"

	// TwoSessions: a gate's journal has a session that begins before the one before it at its slot has
	// ended, or with a number that is not above all before it.
	TwoSessions Kind = "two sessions at a gate"
	// NoCustody: a gate had a session of a member whose journal has no custody of that token. The gate lies, or
	// the member's journal lacks a record.
	NoCustody Kind = "session without custody"
	// NoTitle: a gate had a session under a transfer that names another member.
	NoTitle Kind = "session under the title of another"
	// NoSession: a program ran under a grant, and the gate of its resource had no session of it. It went around the
	// gate, or the gate let it in and did not write so.
	NoSession Kind = "operation without session"
	// TimesCross: by the times that a gate signed, a session at a slot began before the one with a lower number had ended. The
	// gate lies, or its clock was set back.
	TimesCross Kind = "sessions cross by the gate's own times"
	// Unwritten: a gate signed an answer about a session that its journal does not have, or has otherwise. The gate lies, or its
	// journal was lost or changed.
	Unwritten Kind = "answer against the gate's journal"
	// ShutGate: by its own clock, a gate opened a session while the windows of its resource were closed, or said that one would last
	// beyond their end. The clock may have been set, or the gate keeps no windows.
	ShutGate Kind = "session outside the windows"
)

// Finding is one broken rule.
type Finding struct {
	Kind  Kind
	Token ident.Token // zero: it is about none
	Hop   uint64
	// Accused is the member that is proved to have broken the rule: by Exhibits, two
	// objects that it signed and of which a member that keeps the rules signs at
	// most one. Zero where it is only suspected.
	Accused  ident.Member
	Exhibits []Exhibit
	Members  []ident.Member // suspected, or with records that show it
	Records  []RecordRef    // that show it
	At       uint64         // when, by the clock of the record's writer; 0: not known
	Again    int            // how many more times the same was found of the member
	Detail   string
}

// Proved reports whether the finding is proved: anybody who has the exhibits can
// check it without believing a journal or a clock.
func (f Finding) Proved() bool { return len(f.Exhibits) > 0 }

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
