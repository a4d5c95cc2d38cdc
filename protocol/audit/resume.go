package audit

import (
	"maps"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// before is what was live where a part of a journal is missing. The checkpoint
// behind the gap says what still is.
type before struct {
	at      uint64 // of the last record before the gap
	open    map[hop]*Custody
	sent    map[hop]*transfer
	running map[hop]ident.Grant
	grants  map[ident.Grant]*grant
	titles  map[hop]bool // carried, of custody that is over
}

// interrupt notes that a part is missing.
func (r *Reader) interrupt() {
	r.resumed() // in a gap already, if the checkpoint was damaged
	r.before = &before{
		at: r.last, open: r.open, sent: r.sent, running: r.running, grants: r.grants, titles: make(map[hop]bool),
	}
	r.spans = append(r.spans, span{})
	r.open, r.sent = make(map[hop]*Custody), make(map[hop]*transfer)
	r.running, r.grants = make(map[hop]ident.Grant), make(map[ident.Grant]*grant)
}

// cover extends what the journal covers to a record.
func (r *Reader) cover(at uint64) {
	if len(r.spans) == 0 {
		r.spans = append(r.spans, span{})
	}
	s := &r.spans[len(r.spans)-1]
	if s.to == 0 {
		*s = span{at, at}
	}
	s.to = max(s.to, at)
	r.last = max(r.last, at)
}

// carry takes in a record of the checkpoint behind a gap.
func (r *Reader) carry(e Entry, objects []object) {
	r.last = max(r.last, e.At)
	switch rec := e.Record.(type) {
	case *journal.Incarnation:
		r.carryMemory(rec)
	case *journal.Floor:
		r.floor(rec)
	case *journal.Generated:
		if g := r.genesis(pick(objects, envelope.Genesis)); g != nil {
			r.carryCustody(e, hop{g.token, 0}, nil)
		}
	case *journal.Held:
		t := r.transfer(pick(objects, envelope.Transfer))
		r.genesisOf(objects, t)
		r.answer(pick(objects, envelope.Void))
		if t != nil && len(rec.Void) > 0 {
			r.carryCustody(e, hop{t.token, t.hop}, nil)
		} else if t != nil {
			r.carryCustody(e, hop{t.token, t.hop}, t)
		}
	case *journal.Sent:
		r.carrySent(e, objects)
	case *journal.Taken:
		t := r.transferOf(rec.Transfer)
		t.takenBefore = t.takenBefore || !rec.Declined
		t.declined = t.declined || rec.Declined
	case *journal.Told:
		r.told(pick(objects, envelope.GateAnswer))
	case *journal.Started:
		r.carryGrant(e, rec)
	}
}

// carryMemory continues a custody memory, or begins one that began before.
func (r *Reader) carryMemory(rec *journal.Incarnation) {
	if r.memory != nil && r.memory.incarnation == rec.Incarnation {
		return
	}
	if r.memory != nil {
		r.memory.dead = true
	}
	if m := r.memories[rec.Incarnation]; m != nil && m.member == r.member {
		r.memory = m
		return
	}
	open, sent := r.open, r.sent
	r.remember(rec)
	r.open, r.sent = open, sent
}

func (r *Reader) carryCustody(e Entry, h hop, by *transfer) {
	if r.memory == nil {
		r.find(Misfit, h.token, h.number, "custody without an incarnation", r.member)
		return
	}
	switch {
	case r.before.open[h] != nil:
		r.open[h] = r.before.open[h]
	case r.before.sent[h] != nil, by != nil && takenBy(by, r.member):
		r.before.titles[h] = true
	default:
		r.begin(e, h, by)
	}
}

func takenBy(t *transfer, m ident.Member) bool {
	for _, c := range t.taken {
		if c.Member == m {
			return true
		}
	}
	return false
}

func (r *Reader) carrySent(e Entry, objects []object) {
	t := r.transfer(pick(objects, envelope.Transfer))
	if t == nil || r.memory == nil {
		return
	}
	h := hop{t.token, t.hop - 1}
	if r.before.titles[h] {
		r.sent[h] = t
		if t.sender == nil {
			t.sender = r.memory
		}
		return
	}
	r.gave(e, objects)
}

func (r *Reader) carryGrant(e Entry, rec *journal.Started) {
	if g := r.before.grants[rec.Grant]; g != nil {
		r.grants[rec.Grant], r.running[g.hop] = g, rec.Grant
		return
	}
	r.started(e, rec)
}

// resumed ends the checkpoint behind a gap: what it does not carry has ended
// unseen.
func (r *Reader) resumed() {
	b := r.before
	if b == nil {
		return
	}
	r.before = nil
	for h, c := range b.open {
		if r.open[h] != c && c.Ending == Open {
			c.End, c.Ending = max(b.at, c.Begin), Unseen
		}
	}
	for h, t := range b.sent {
		if r.sent[h] != t && t.closure == unanswered {
			t.closure = unseen
		}
	}
	maps.DeleteFunc(b.grants, func(id ident.Grant, g *grant) bool { return r.grants[id] == g })
	r.unended(b.grants)
}
