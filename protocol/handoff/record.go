package handoff

import (
	"cmp"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// key names one hop of one token. All state is kept by it, never by the token
// alone: a member may have SENT hop 2 and HOLD hop 5 of the same token.
type key struct {
	token ident.Token
	hop   uint64
}

func (k key) compare(o key) int {
	return cmp.Or(k.token.Compare(o.token), cmp.Compare(k.hop, o.hop))
}

// record is what a member knows of one hop of one token.
type record struct {
	key   key
	state State

	// How custody was, or will be, reached by a transfer. from is zero for a
	// token that was made here or that came back by a void.
	from    ident.Member
	accept  uint64
	taken   ident.Hash // H(transfer) that was taken or declined
	serial  uint64     // of the record of it in this opening of the journal; 0: it is from before
	accused bool       // evidence of a second transfer is already written

	// LIVE.
	interrupted bool // the connection with the offerer broke since

	// Custody.
	title  token.Title // HOLD, SENT
	before token.Title // HOLD, SENT: from which the title's transfer follows, for permits
	busy   bool        // EXEC: an operation runs, nothing may be released
	search *search     // HOLD: the next holder is being found

	// SENT.
	sent       token.Transfer
	releasedAt clock.Instant // when the policy released the token
	sentAt     clock.Instant // when the transfer first went out
	tries      int           // transmissions so far
	gotUnknown bool          // the receiver has answered that it cannot tell

	wake clock.Instant // when the machine looks at the record again
	slot int           // place in the book's heap, or absent
}

// isTaken reports whether the record answers its transfer with a receipt.
func (r *record) isTaken() bool { return r.state >= Hold }

// hasTitle reports whether custody is, or may still be, this member's.
func (r *record) hasTitle() bool { return r.state == Hold || r.state == Sent }

// checkpoint is what a checkpoint keeps of the record.
func (r *record) checkpoint() []journal.Record {
	switch r.state {
	case Voided, Closed, Dropped:
		return []journal.Record{&journal.Taken{
			Token: r.key.token, Hop: r.key.hop, Transfer: r.taken,
			From: r.from, Accept: r.accept, Declined: r.state == Voided,
		}}
	case Hold:
		return []journal.Record{r.titleRecord()}
	case Sent:
		return []journal.Record{r.titleRecord(), &journal.Sent{Transfer: r.sent.Raw()}}
	}
	return nil
}

// signers are the members whose certificates the custody depends on.
func (r *record) signers() []ident.Member { return r.title.SignersSince(r.before) }

func (r *record) titleRecord() journal.Record {
	t := r.title
	if t.Transfer.IsZero() {
		return &journal.Generated{Genesis: t.Genesis.Raw()}
	}
	return &journal.Held{
		Transfer: t.Transfer.Raw(), Genesis: t.Genesis.Raw(), Void: t.Void.Raw(),
		Previous: r.before.Transfer.Raw(), PreviousVoid: r.before.Void.Raw(),
	}
}
