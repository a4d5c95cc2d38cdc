package audit

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// Report is what the journals show. Times are in units of Entry.At, µs since 1970
// or a length in µs.
type Report struct {
	Custodies []Custody // by token, then by begin
	Tokens    []Token   // by id
	Findings  []Finding // broken rules; in the order in which they were found

	// What follows is filled in by an Auditor only.

	More       map[Kind]int // findings beyond the first thousand of a kind, which are not kept
	Records    int          // records read, without the copies in checkpoints
	Signatures int          // signatures verified, each object once
	// Unverified counts the objects whose signer's certificate is in none of the
	// journals, by the signer.
	Unverified map[ident.Member]int
	Members    []Member   // by id: all that are named
	Resources  []Resource // by name; "" holds tokens whose genesis was not seen
	Clocks     []Clocks   // by the members
	// Complaints are those of members about each other, first those about the member
	// that most members complain about.
	Complaints []Complaints
	// Disregarded counts the complaints that Complaints leaves out: of signers that
	// are revoked, or were not members when they signed, and about members beyond
	// the first thousand.
	Disregarded int
	Gates       []Gate // by resource: those whose journals were read

	tokens map[ident.Token]*genesis
}

// ResourceOf returns the resource of a token whose genesis was seen, or "".
func (r *Report) ResourceOf(t ident.Token) string {
	if g := r.tokens[t]; g != nil {
		return g.resource
	}
	return ""
}

// Handoffs returns how many times custody went from one member to another.
func (r *Report) Handoffs() int {
	n := 0
	for i := range r.Custodies {
		if r.Custodies[i].by != nil {
			n++
		}
	}
	return n
}

// HandoffTimes returns the time from each transfer to the custody of its receiver,
// in units of Entry.At, where the journals have both.
func (r *Report) HandoffTimes() (list []uint64) {
	for i := range r.Custodies {
		c := &r.Custodies[i]
		if c.by != nil && c.by.sentAt > 0 && c.Begin >= c.by.sentAt {
			list = append(list, c.Begin-c.by.sentAt)
		}
	}
	return list
}

// Holds reports whether a member had custody of a token at a time.
func (r *Report) Holds(m ident.Member, at uint64) bool {
	return slices.ContainsFunc(r.Custodies, func(c Custody) bool { return c.Member == m && c.Begin <= at && at < c.End })
}

// Count returns how many findings are of a kind.
func (r *Report) Count(k Kind) int {
	n := r.More[k]
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
	// To is the member that the token is in transit to, or was when it was lost.
	To ident.Member
	// Rule is the case by which it was lost, "V1" to "V4" as in Fate; "" when it is
	// not lost, or its sender left it without an answer.
	Rule string
	// Resource, Slot and Generator are those of its genesis, if that was seen.
	Resource  string
	Slot      uint64
	Generator ident.Member
	At        uint64 // until when it was in its last custody
	Receipted bool   // To has given a receipt for it
}

// Fate is where a token is in the end. V1 to V4 are the first four cases of a lost
// token in §7 of spec/journal.md.
type Fate uint8

// The fates.
const (
	Held         Fate = iota + 1 // somebody has custody
	UnderWay                     // signed away, and its receiver can still take it
	Dropped                      // its policy removed it
	OutOfSight                   // somewhere that the journals at hand do not cover
	LostHolder                   // V1: its holder's custody memory ended
	LostReceiver                 // V2: its receiver's custody memory ended before the token came
	LostFloor                    // V4: its receiver has forgotten the reservation that it was sent on
	LostOrphan                   // its sender forgot it, or gave up, and no member is known to have taken it (also V3)
	LostDeparted                 // its holder, or the member that it was sent to, was revoked or has left
	LostUnknown                  // nothing explains where it is: always with a finding
	fates
)

var fateNames = [fates]string{
	Held: "held", UnderWay: "under way", Dropped: "dropped", OutOfSight: "out of sight", LostHolder: "lost with its holder",
	LostReceiver: "lost with its receiver", LostFloor: "lost by a floor", LostOrphan: "orphaned by its sender",
	LostDeparted: "lost with a departed member", LostUnknown: "lost, nobody knows why",
}

func (f Fate) String() string {
	if f > 0 && f < fates {
		return fateNames[f]
	}
	return fmt.Sprintf("fate %d", uint8(f))
}

// Lost reports whether nobody can use the token any more.
func (f Fate) Lost() bool { return f >= LostHolder && f < fates }

// Member is what the journals say of one member.
type Member struct {
	ID   ident.Member
	Name string // in its certificate, "" if that was not seen
	// Spans is what its journals cover, by its own clock; empty if no journal of it
	// is at hand.
	Spans []Span
	Named int // known transfers to it, of any sender
	// Kept counts, for a member without a journal, the tokens that it had last: it
	// has given a receipt, no member has the token from it, and others have used
	// another token of the slot since. The member has kept these tokens, or lost
	// them with its memory, or passed them to another member without a journal.
	Kept int
	// Custodies counts the custodies that its journals record, and those that signed
	// objects in other journals show: receipts, transfers and geneses that it
	// signed.
	Custodies     int
	Operations    int
	Held          uint64 // for how long it had custody, as far as recorded, summed over all tokens
	Revoked, Left bool
	// Users are the local users who asked for its operations, those with most operations first, and at
	// most maxUsers.
	Users []User
}

// User counts the operations of one member that one local user of its machine asked for. The member alone says so:
// it signs nothing about them.
type User struct {
	ID         uint64
	Operations int
}

// maxUsers bounds the local users that are shown of one member: its journal can name any number.
const maxUsers = 64

// Span is a time from the first to the last record.
type Span struct{ From, To uint64 }

// Resource is what the journals say of one resource.
type Resource struct {
	Name                  string
	Tokens, Dropped, Lost int
	Handoffs, Operations  int
	// Open counts the operations whose end is in no journal at hand: they run, or
	// their end is unknown. Bounded counts the operations of which only a bound of
	// their end is known: their member restarted after their deadline. Operations
	// includes both.
	Open, Bounded int
	Overlap       Overlaps
	Gaps          Gaps
	Shares        []Share // by member
	// Classes are the parts of the classes of members, if the newest configuration that was seen gives the resource
	// weights; those without operations and without presence are left out.
	Classes []ClassShare
	// JainOperations and JainHeld are Jain's fairness index of the members'
	// operations and of their times of custody. Both are per time for which a member
	// was present, and weighed by that time. The index is 1 when all members had the
	// same part of their time, and 0 when there were no operations or custodies.
	JainOperations, JainHeld float64

	byMember map[ident.Member]*Share
}

// Share is one member's part in a resource.
type Share struct {
	Member     ident.Member
	Operations int
	Held       uint64
	Present    uint64 // covered by the member's journals
}

// ClassShare is the part of one class of members in the operations of a resource. Only members whose journals are at hand
// count.
type ClassShare struct {
	Class      string // empty: the members of none
	Weight     int
	Members    int
	Operations int
	// Share is the class's part of the operations. Asked is the one that its weight asks for, by the time for which
	// its members were present. A class that wants less often than the others gets less.
	Share, Asked float64
}

// Overlaps says for how long operations of one resource ran at once. With more than one
// slot or token they are there by design; with one they are what soft exclusion permits.
// Operations of one token do not overlap, see the package documentation.
type Overlaps struct {
	// Certain is the time in which at least two programs were running, under every clock
	// difference that was measured. Recorded is the time in which at least two recorded
	// operations can have been running. Possible adds what can have run where no journal
	// is at hand, under tokens that were there.
	Certain, Recorded, Possible uint64
	// MostCertain and MostPossible are the most operations at once.
	MostCertain, MostPossible int
	Pairs                     int // of recorded operations that can have overlapped
	CertainPairs              int // of these, the pairs that did
	List                      []OverlapOf
}

// OverlapOf is one pair of recorded operations.
type OverlapOf struct {
	Members           [2]ident.Member
	Records           [2]RecordRef
	From              uint64 // by the clock of the second member, whose operation began later
	Certain, Possible uint64 // for how long both ran
}

// Gaps are the times between operations of a resource, when none ran.
type Gaps struct {
	Count                int
	Longest, LongestFrom uint64
	P50, P90, P99        uint64
}
