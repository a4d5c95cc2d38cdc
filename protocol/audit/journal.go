package audit

import (
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// Journal is everything that one member wrote, oldest first. Records that a
// checkpoint only repeats are left out.
type Journal struct {
	Member  ident.Member
	Entries []Entry
}

// Entry is one record of a journal.
type Entry struct {
	// At is when the record was written: µs since 1970, or in a simulation any number
	// that grows with time.
	At uint64
	// Durable is when the record could no longer be lost; 0 stands for At. Custody
	// begins at its record's At and ends when the record of its end is durable, so
	// that every doubt counts as custody.
	Durable uint64
	// Seq is the record's sequence number in the journal, 0 if not known.
	Seq uint64
	// Record is nil where the member's process ended, if that is known. It
	// ends the custody memory of a volatile member.
	Record journal.Record
}

func (e Entry) durable() uint64 { return max(e.At, e.Durable) }

// Options of an audit.
type Options struct {
	// Skew is how far the clocks of two journals may be apart, in units of
	// Entry.At, where the journals themselves do not tell. What needs no clock is
	// checked whatever the skew.
	Skew uint64
	// Trust has the keys that verify signatures. With it the journals may be
	// partial, and each has a clock of its own (New). Without it they are whole,
	// have one clock, and no signature is verified (Check).
	Trust *Trust
	// OneByOne verifies each signature alone, for comparison.
	OneByOne bool
	// Parallel runs the tasks of an audit; default one after the other.
	Parallel Runner
	// Random is for batch verification, see signature.Batch; it may be nil.
	Random io.Reader
	// From and To bound what is reported, in units of Entry.At: findings and
	// operations that end before From or begin at To or later are left out. A To of
	// 0 is no bound. The Auditor reads all records nevertheless.
	From, To uint64
	// Resource leaves out what is known to be about another resource; "" leaves out
	// nothing.
	Resource string
}

// RecordRef names a record: Reader.Index of its journal (0 for the first one), and its
// sequence number, from 1 on. The zero RecordRef is none.
type RecordRef struct {
	Journal int
	Seq     uint64
}

// Exhibit is a signed object that a finding rests on.
type Exhibit struct {
	RecordRef
	Kind  envelope.Kind
	print print
}

// Custody is one member's custody of a token at one hop.
type Custody struct {
	Token     ident.Token
	Hop       uint64
	Member    ident.Member
	Begin     uint64 // Entry.At of its record
	End       uint64 // when the record of its end was durable; Forever while it lasts
	Ending    Ending
	RecordRef RecordRef // of the record with which it begins

	carried bool      // it began some time before
	covered uint64    // Forgotten: when the last record before was written
	by      *transfer // that gave it; nil at hop 0, and where it came back by a void
	gave    *transfer // that ended it
	memory  *memory
}

// Forever is the End of a custody that lasts.
const Forever = ^uint64(0)

// Ending says how a custody ended.
type Ending uint8

// The endings.
const (
	Open      Ending = iota // it lasts
	Given                   // by a transfer
	Removed                 // the policy dropped the token
	Forgotten               // the custody memory ended: a volatile member's process did, or a new incarnation began
	Unseen                  // in a part of the journal that is not at hand
)

func (e Ending) String() string {
	switch e {
	case Open:
		return "open"
	case Given:
		return "given away"
	case Removed:
		return "dropped"
	case Forgotten:
		return "forgotten"
	case Unseen:
		return "not at hand"
	}
	return fmt.Sprintf("ending %d", uint8(e))
}

// memory is one incarnation of one member.
type memory struct {
	member      ident.Member
	incarnation ident.Incarnation
	durable     bool
	dead        bool
	ended       uint64 // when the next one began, if it is dead
	floors      map[ident.Member]uint64
}

// transfer is all that the journals say of one transfer.
type transfer struct {
	hash ident.Hash

	// What its sender signed, if the journals have it (read).
	read     bool
	verified bool    // its signature holds
	shown    Exhibit // the copy that verified, or the first one
	token    ident.Token
	hop      uint64
	from, to ident.Member
	inc      ident.Incarnation // of the receiver, as the sender knew it
	accept   uint64
	previous ident.Hash
	void     *ident.Hash
	time     uint64 // the sender's clock, ms since 1970

	sender           *memory // in whose journal it is signed; nil when in none
	sentAt, closedAt uint64  // Entry.At in the sender's journal
	taken            []*Custody
	takenBefore      bool // before what is at hand of its receiver's journal
	declined         bool
	declinedIn       RecordRef
	closure          closure
	closedIn         RecordRef
	answerer         ident.Member // who signed the answers
	receipt, voidIs  Exhibit      // answers that verify; Seq 0: none
}

// closure is what ended a transfer at its sender.
type closure uint8

const (
	unanswered closure = iota
	receipted
	voided
	abandoned // the sender gave up
	orphaned  // the sender's memory ended
	unseen    // in a part of the journal that is not at hand
)

// genesis is what is known of a token.
type genesis struct {
	token       ident.Token
	resource    string
	slot        uint64
	generator   ident.Member
	incarnation ident.Incarnation
	sequence    uint64
	born        uint64 // the generator's clock, ms since 1970
	verified    bool
	shown       Exhibit // the copy that verified, or the first one
}
