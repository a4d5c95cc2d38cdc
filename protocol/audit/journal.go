package audit

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// Journal is everything that one member wrote, oldest first. Records that a
// checkpoint only carried forward are left out, unless the journal's beginning
// is gone: then the first checkpoint stands for it.
type Journal struct {
	Member  ident.Member
	Entries []Entry
}

// Entry is one record of a journal.
type Entry struct {
	// At is when the record was written, on a clock that all journals share:
	// µs since 1970, or any number that grows with time.
	At uint64
	// Durable is when the record could no longer be lost; 0 stands for At.
	// Custody begins At its record and ends when the record of its end is
	// durable, so that every doubt counts as custody.
	Durable uint64
	// Record is nil where the member's process ended, if that is known. It
	// ends the custody memory of a volatile member.
	Record journal.Record
}

func (e Entry) durable() uint64 { return max(e.At, e.Durable) }

// Options of an audit.
type Options struct {
	// Skew is how far the clocks of two journals may be apart, in units of
	// Entry.At: custodies that overlap by no more are not reported. What
	// needs no clock is checked whatever the skew.
	Skew uint64
}

// Custody is one member's custody of a token at one hop.
type Custody struct {
	Token  ident.Token
	Hop    uint64
	Member ident.Member
	Begin  uint64 // Entry.At of its record
	End    uint64 // when the record of its end was durable; Forever while it lasts
	Ending Ending

	by     *transfer // that gave it; nil at hop 0, and where it came back by a void
	gave   *transfer // that ended it
	memory *memory
}

// Forever is the End of a custody that lasts.
const Forever = ^uint64(0)

// Ending is how a custody ended.
type Ending uint8

// The endings.
const (
	Open      Ending = iota // it lasts
	Given                   // by a transfer
	Removed                 // the policy dropped the token
	Forgotten               // the custody memory ended: a volatile member's process did, or a new incarnation began
)

// memory is one incarnation of one member.
type memory struct {
	member      ident.Member
	incarnation ident.Incarnation
	durable     bool
	dead        bool
}

// transfer is all that the journals say of one transfer.
type transfer struct {
	hash     ident.Hash
	token    ident.Token
	hop      uint64
	from, to ident.Member
	inc      ident.Incarnation // of the receiver, as the sender knew it

	sender   *memory // in whose journal it is signed; nil when in none
	taken    []*Custody
	declined bool
	closure  closure
}

// closure is what ended a transfer at its sender.
type closure uint8

const (
	unanswered closure = iota
	receipted
	voided
	abandoned // the sender gave up
	orphaned  // the sender's memory ended
)
