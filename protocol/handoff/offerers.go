package handoff

import "github.com/wandertoken/wander/protocol/ident"

// offerer is what a receiver keeps about a peer that offers tokens to it.
type offerer struct {
	floor   uint64             // accept numbers below it are forgotten
	records map[uint64]*record // by accept number: reservations and decided transfers
	live    int                // records in state LIVE
}

func newOfferer(floor uint64) *offerer {
	return &offerer{floor: floor, records: make(map[uint64]*record)}
}

// interrupt notes that an offerer may have started again: another token may have been made
// since in place of one that was reserved for here.
func (o *offerer) interrupt() {
	for _, rec := range o.records {
		rec.interrupted = rec.interrupted || rec.state == Live
	}
}

// remove takes a record off the list, unless its number stands for another one by now:
// an old journal that was put back without being noticed draws numbers again.
func (o *offerer) remove(rec *record) {
	if o.records[rec.accept] == rec {
		delete(o.records, rec.accept)
	}
}

// hasRoom reports whether an offerer may have one more reservation.
func (o *offerer) hasRoom() bool {
	return o.live < MaxReservationsPerPeer && len(o.records) < MaxUnsettled
}

// isOwed reports whether this member has answered a transfer of the offerer that the
// offerer has not reported settled: it may still wait for the answer.
func (o *offerer) isOwed() bool {
	for _, rec := range o.records {
		if rec.isTaken() || rec.state == Voided {
			return true
		}
	}
	return false
}

// Offerers returns the members about whose transfers records are kept, in order
// of their ids.
func (b *Book) Offerers() []ident.Member { return sortedMembers(b.offerers) }

// Creditors returns the members whose transfers were answered here and that
// have not said yet that they know the answer: they may be waiting for it.
func (b *Book) Creditors() []ident.Member {
	var list []ident.Member
	for _, id := range b.Offerers() {
		if b.offerers[id].isOwed() {
			list = append(list, id)
		}
	}
	return list
}
