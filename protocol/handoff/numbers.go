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

// Creditors are the members whose transfers were answered here and who have not
// said yet that they know the answer: they may be waiting for it.
func (m *Machine) Creditors() []ident.Member {
	var list []ident.Member
	for _, id := range m.Offerers() {
		for _, rec := range m.offerers[id].records {
			if rec.isTaken() || rec.state == Voided {
				list = append(list, id)
				break
			}
		}
	}
	return list
}

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
	o.remove(rec)
	m.delete(rec)
}
