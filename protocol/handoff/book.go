package handoff

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// Book has one record for each hop of each token that this member knows of. It
// alone moves a record from one state to another, by the table Transitions, so
// its counters and lists always agree with the records.
type Book struct {
	records  map[key]*record
	offerers map[ident.Member]*offerer // the records that were reached by a transfer, by whose it was
	heap     wakeups                   // the records that wait for a time
	held     int                       // records in HOLD
	live     int                       // records in LIVE
}

func newBook() *Book {
	return &Book{records: make(map[key]*record), offerers: make(map[ident.Member]*offerer)}
}

// in is the record of a hop if it is in this state, or nil.
func (b *Book) in(s State, t ident.Token, hop uint64) *record {
	if rec := b.records[key{t, hop}]; rec != nil && rec.state == s {
		return rec
	}
	return nil
}

// move applies an event by the table. It reports whether the event can happen.
func (b *Book) move(rec *record, e Event) bool {
	to, ok := after(rec.state, e)
	if ok {
		b.count(rec, -1)
		rec.state = to
		b.count(rec, 1)
	}
	return ok
}

// count adds a record to the counters of its state, or takes it away.
func (b *Book) count(rec *record, by int) {
	switch rec.state {
	case Hold:
		b.held += by
	case Live:
		b.live += by
		b.offerers[rec.from].live += by
	}
}

// add puts a new record into the book, in the state that it has.
func (b *Book) add(rec *record) {
	rec.slot, rec.wake = absent, clock.Never
	b.records[rec.key] = rec
	if o := b.offerers[rec.from]; o != nil {
		o.records[rec.accept] = rec
	}
	b.count(rec, 1)
}

// hold adds custody that no transfer has brought here.
func (b *Book) hold(k key, title, before token.Title) {
	b.add(&record{key: k, state: Hold, title: title, before: before})
}

// decide makes a transfer that is taken or declined the record of its hop, in place
// of a reservation, if there is one.
func (b *Book) decide(k key, rec *record, t token.Transfer, e Event) *record {
	if rec == nil {
		rec = &record{key: k}
		b.add(rec)
	} else {
		b.offerers[rec.from].remove(rec)
	}
	b.move(rec, e)
	b.wakeAt(rec, clock.Never)
	body := t.Body()
	rec.from, rec.accept, rec.taken = body.From, body.Accept, t.Hash()
	b.offerers[rec.from].records[rec.accept] = rec
	return rec
}

// retire drops what a closed or dropped record no longer needs, and the record
// itself when no transfer can ask for it again.
func (b *Book) retire(rec *record) {
	rec.title, rec.before, rec.sent = token.Title{}, token.Title{}, token.Transfer{}
	b.wakeAt(rec, clock.Never)
	if rec.from.IsZero() {
		delete(b.records, rec.key)
		return
	}
	if rec.accept < b.offerers[rec.from].floor {
		b.forget(rec)
	}
}

// forget deletes a record unless it is custody or an unanswered transfer.
func (b *Book) forget(rec *record) {
	if !b.move(rec, ReceiverForget) {
		return
	}
	b.wakeAt(rec, clock.Never)
	b.offerers[rec.from].remove(rec)
	delete(b.records, rec.key)
}

// raise sets an offerer's floor and forgets what lies below it. The floor
// has been persisted: raise, sync, delete.
func (b *Book) raise(o *offerer, floor uint64) {
	o.floor = floor
	for number, rec := range o.records {
		if number < floor {
			b.forget(rec)
		}
	}
}

// vacate makes room for custody that comes back by a void. A reservation in its
// place is a lie's, of somebody who offered this very hop without having it, and
// is forgotten. It reports false when a transfer of the hop was taken or declined
// here, which takes two chains of one token: then this one waits.
func (b *Book) vacate(k key) bool {
	old := b.records[k]
	if old == nil {
		return true
	}
	if old.state != Live && old.state != Lapsed {
		return false
	}
	b.forget(old)
	return true
}

// hasRoom reports whether one more reservation fits.
func (b *Book) hasRoom() bool { return b.live < MaxReservations && b.held+b.live < MaxHeld }

// Held returns how many tokens are in custody here.
func (b *Book) Held() int { return b.held }

// Reserved returns how many transfers may still come for reservations that
// nobody has cancelled. After Stop, the machine declines these transfers.
func (b *Book) Reserved() int { return b.live }

// Expects reports whether this member has a reservation for the offer of a token by a hop, so that the offerer may transfer it.
func (b *Book) Expects(from ident.Member, t ident.Token, hop uint64) bool {
	rec := b.in(Live, t, hop)
	return rec != nil && rec.from == from
}

// Unanswered returns how many transfers have no answer yet.
func (b *Book) Unanswered() int {
	n := 0
	for _, rec := range b.records {
		if rec.state == Sent {
			n++
		}
	}
	return n
}

// Title returns the proof that this member holds the token at this hop.
func (b *Book) Title(t ident.Token, hop uint64) (token.Title, bool) {
	rec := b.in(Hold, t, hop)
	if rec == nil {
		return token.Title{}, false
	}
	return rec.title, true
}

// Before is the title from which the transfer follows that has brought a held token here; the zero
// value of a token that was made here and has not left.
func (b *Book) Before(t ident.Token, hop uint64) token.Title {
	if rec := b.in(Hold, t, hop); rec != nil {
		return rec.before
	}
	return token.Title{}
}

// Holding is one token in custody.
type Holding struct {
	Title token.Title
	Hop   uint64
	Busy  bool
}

// Holdings returns the tokens in custody here, in order of token and hop.
func (b *Book) Holdings() []Holding {
	var list []Holding
	for _, k := range b.keys() {
		if rec := b.records[k]; rec.state == Hold {
			list = append(list, Holding{Title: rec.title, Hop: k.hop, Busy: rec.busy})
		}
	}
	return list
}

// Signers returns the members whose certificates are needed to verify the
// tokens in custody here, and those whose answers are awaited.
func (b *Book) Signers() map[ident.Member]bool {
	needed := make(map[ident.Member]bool)
	for _, rec := range b.records {
		if !rec.hasTitle() {
			continue
		}
		for _, s := range rec.signers() {
			needed[s] = true
		}
		if rec.state == Sent {
			needed[rec.sent.Body().To] = true
		}
	}
	return needed
}

// checkpoint returns the floors and the records for a checkpoint, and the
// members whose certificates these need.
func (b *Book) checkpoint() (marks, custody []journal.Record, signers map[ident.Member]bool) {
	signers = make(map[ident.Member]bool)
	for _, id := range b.Offerers() {
		marks = append(marks, &journal.Floor{Offerer: id, Floor: b.offerers[id].floor})
	}
	for _, k := range b.keys() {
		rec := b.records[k]
		custody = append(custody, rec.checkpoint()...)
		if rec.hasTitle() {
			for _, s := range rec.signers() {
				signers[s] = true
			}
		}
	}
	return marks, custody, signers
}

func (b *Book) keys() []key { return slices.SortedFunc(maps.Keys(b.records), key.compare) }

func sortedMembers[V any](byMember map[ident.Member]V) []ident.Member {
	return slices.SortedFunc(maps.Keys(byMember), ident.Member.Compare)
}
