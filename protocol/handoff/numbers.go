package handoff

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// offerer is what a receiver keeps about a peer that offers tokens to it.
type offerer struct {
	floor   uint64             // everything below is forgotten
	records map[uint64]*record // by accept number: reservations and taken ones
	live    int                // records in state LIVE
}

// receiver is what a sender keeps about a peer that it sends tokens to.
type receiver struct {
	incarnation ident.Incarnation
	known       bool                   // incarnation is
	next        uint64                 // 1 + the highest accept number from it
	said        uint64                 // promised, durably: settled below this
	floor       uint64                 // what it said that it forgot
	open        map[uint64]ident.Token // numbers of transfers without an answer
}

// offererOf finds or, with a durable floor, makes the record of an offerer. A
// floor that was deleted is made anew at the next number (handoff rules §1).
func (m *Machine) offererOf(id ident.Member) *offerer {
	o := m.offerers[id]
	if o == nil {
		o = &offerer{floor: m.nextAccept, records: make(map[uint64]*record)}
		m.offerers[id] = o
		m.persist(&journal.Floor{Offerer: id, Floor: o.floor}, true)
	}
	return o
}

// drawAccept spends the next accept number of this incarnation. Numbers are
// reserved in blocks, durably before the first of a block is said.
func (m *Machine) drawAccept() uint64 {
	n := m.nextAccept
	m.nextAccept++
	if m.nextAccept > m.acceptMark {
		m.acceptMark = n + acceptBlock
		m.persistCounters()
	}
	return n
}

// DrawSequence spends the next sequence number for a token made here. A number
// is spent once drawn; gaps are fine.
func (m *Machine) DrawSequence() uint64 {
	n := m.nextSequence
	m.nextSequence++
	if m.nextSequence > m.sequenceMark {
		m.sequenceMark = n + acceptBlock
		m.persistCounters()
	}
	return n
}

func (m *Machine) persistCounters() {
	m.persist(&journal.Counters{Accepts: m.acceptMark, Sequence: m.sequenceMark}, true)
}

// receiverOf finds or makes the record of a receiver.
func (m *Machine) receiverOf(id ident.Member) *receiver {
	r := m.receivers[id]
	if r == nil {
		r = &receiver{open: make(map[uint64]ident.Token)}
		m.receivers[id] = r
	}
	return r
}

// meet notes which incarnation a receiver is. Another one has another memory:
// numbers and promises start anew, and ACCEPTs of the old one are worthless.
func (m *Machine) meet(id ident.Member, incarnation ident.Incarnation) *receiver {
	r := m.receiverOf(id)
	if r.known && r.incarnation == incarnation {
		return r
	}
	*r = receiver{incarnation: incarnation, known: true, open: make(map[uint64]ident.Token)}
	m.dropAccepts(id, func(a accepted) bool { return a.incarnation != incarnation })
	return r
}

// dropAccepts discards ACCEPTs in hand of one peer.
func (m *Machine) dropAccepts(id ident.Member, which func(accepted) bool) {
	for _, rec := range m.passing {
		rec.pass.forget(func(a accepted) bool { return a.from == id && which(a) })
	}
}

// promise renews, when it has grown enough, what this member promises to a
// receiver: everything below the returned number is settled. It is journalled
// ahead of the record that follows in the same step, which is synced, and so
// durable before anything that is said later.
func (m *Machine) promise(id ident.Member, r *receiver) {
	if r.next < r.said+settleBlock {
		return
	}
	below := r.next
	for number := range r.open {
		below = min(below, number)
	}
	for _, rec := range m.passing {
		for _, a := range rec.pass.accepts {
			if a.from == id && a.incarnation == r.incarnation {
				below = min(below, a.number)
			}
		}
	}
	if below < r.said+settleBlock {
		return
	}
	r.said = below
	m.persist(&journal.Settled{Receiver: id, Incarnation: r.incarnation, Below: below}, false)
}

// settledFor is the promise to state to a receiver, or nil.
func (m *Machine) settledFor(id ident.Member) *wire.Settled {
	r := m.receivers[id]
	if r == nil || !r.known || r.said == 0 {
		return nil
	}
	return &wire.Settled{Incarnation: r.incarnation, Below: r.said}
}

// hearSettled raises the floor of an offerer on its promise: raise, sync,
// delete. A promise about another incarnation, or beyond what was ever issued,
// is ignored. Custody and unanswered transfers are never deleted.
func (m *Machine) hearSettled(from ident.Member, s *wire.Settled) {
	o := m.offerers[from]
	if s == nil || o == nil || s.Incarnation != m.cfg.Incarnation || s.Below > m.nextAccept {
		return
	}
	if s.Below < o.floor+settleBlock {
		return
	}
	o.floor = s.Below
	m.persist(&journal.Floor{Offerer: from, Floor: o.floor}, true)
	m.sweep(o)
}

// Offerers are the members of which records are kept, in order of their ids.
func (m *Machine) Offerers() []ident.Member { return sortedMembers(m.offerers) }

// Bury raises the floor of an offerer that has been dead for longer than any
// transfer of it can be under way: everything from it is forgotten, and what is
// still in flight will be answered with UNKNOWN (handoff rules §1).
func (m *Machine) Bury(id ident.Member) {
	o := m.offerers[id]
	if o == nil || o.floor == m.nextAccept {
		return
	}
	o.floor = m.nextAccept
	m.persist(&journal.Floor{Offerer: id, Floor: o.floor}, true)
	m.report("buried", id, "dead for longer than the settlement time")
	m.sweep(o)
}

// sweep deletes what lies below an offerer's floor.
func (m *Machine) sweep(o *offerer) {
	for number, rec := range o.records {
		if number < o.floor {
			m.tryForget(o, rec)
		}
	}
}

// tryForget deletes a record unless it is custody or an unanswered transfer.
func (m *Machine) tryForget(o *offerer, rec *record) {
	if _, ok := after(rec.state, ReceiverForget); !ok {
		return
	}
	if rec.state == Live {
		o.live--
		m.live--
	}
	delete(o.records, rec.accept)
	m.delete(rec)
}
