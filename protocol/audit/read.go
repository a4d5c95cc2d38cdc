package audit

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

type hop struct {
	token  ident.Token
	number uint64
}

// reader goes through one journal.
type reader struct {
	*auditor
	member  ident.Member
	memory  *memory
	open    map[hop]*Custody
	sent    map[hop]*transfer // by the hop of the custody that was given away
	running map[hop]ident.Grant
	grants  map[ident.Grant]hop
}

func (a *auditor) read(j Journal) {
	r := &reader{auditor: a, member: j.Member}
	for _, e := range j.Entries {
		r.entry(e)
	}
}

func (r *reader) entry(e Entry) {
	switch rec := e.Record.(type) {
	case nil:
		if r.memory != nil && !r.memory.durable {
			r.forget(e.At)
		}
	case *journal.Incarnation:
		r.incarnation(e, rec)
	case *journal.Generated:
		r.generated(e, rec)
	case *journal.Held:
		r.held(e, rec)
	case *journal.Sent:
		r.gave(e, rec)
	case *journal.Closed:
		r.closed(rec)
	case *journal.Reclaimed:
		r.reclaimed(e, rec)
	case *journal.Voided:
		r.voided(rec)
	case *journal.Dropped:
		r.dropped(e, rec)
	case *journal.Started:
		r.started(rec)
	case *journal.Ended:
		r.ended(rec)
	}
}

// forget ends the custody memory.
func (r *reader) forget(at uint64) {
	if r.memory == nil || r.memory.dead {
		return
	}
	r.memory.dead = true
	for _, c := range r.open {
		c.End, c.Ending = at, Forgotten
	}
	for _, t := range r.sent {
		t.closure = orphaned
	}
	r.open, r.sent, r.running, r.grants = nil, nil, nil, nil
}

func (r *reader) incarnation(e Entry, rec *journal.Incarnation) {
	r.forget(e.At)
	r.memory = &memory{member: rec.Member, incarnation: rec.Incarnation, durable: rec.Durable}
	r.open, r.sent = make(map[hop]*Custody), make(map[hop]*transfer)
	r.running, r.grants = make(map[hop]ident.Grant), make(map[ident.Grant]hop)
	if r.memories[rec.Incarnation] != nil {
		r.find(Revived, ident.Token{}, 0, fmt.Sprintf("incarnation %v", rec.Incarnation), r.member)
	}
	r.memories[rec.Incarnation] = r.memory
}

// begun is what every custody needs: a memory that lives.
func (r *reader) begun(what string, t ident.Token, number uint64) bool {
	if r.memory == nil || r.memory.dead {
		r.find(Misfit, t, number, what+" without an incarnation", r.member)
		return false
	}
	return true
}

func (r *reader) begin(e Entry, h hop, by *transfer) {
	if !r.begun("custody", h.token, h.number) {
		return
	}
	if r.open[h] != nil || r.sent[h] != nil {
		r.find(Misfit, h.token, h.number, "custody begins twice", r.member)
	}
	c := &Custody{
		Token: h.token, Hop: h.number, Member: r.member, Begin: e.At, End: Forever, by: by, memory: r.memory,
	}
	r.open[h] = c
	r.custodies = append(r.custodies, c)
	if by != nil {
		by.taken = append(by.taken, c)
	}
}

func (r *reader) generated(e Entry, rec *journal.Generated) {
	b, id, err := token.PeekGenesis(r.group, rec.Genesis)
	if err != nil {
		r.find(Misfit, ident.Token{}, 0, err.Error(), r.member)
		return
	}
	n := mint{b.Generator, b.Incarnation, b.Sequence}
	if other, used := r.minted[n]; used && other != ident.Token(id) {
		r.find(Minted, ident.Token(id), 0, fmt.Sprintf("number %d, as token %s", b.Sequence, other.Short()), r.member)
	}
	r.minted[n] = ident.Token(id)
	r.begin(e, hop{ident.Token(id), 0}, nil)
}

func (r *reader) held(e Entry, rec *journal.Held) {
	t := r.transfer(rec.Transfer)
	switch {
	case t == nil:
	case len(rec.Void) > 0: // carried forward: it came back
		r.begin(e, hop{t.token, t.hop}, nil)
	case t.to != r.member:
		r.find(Misfit, t.token, t.hop, "held by a transfer to another member", r.member)
	default:
		r.begin(e, hop{t.token, t.hop}, t)
	}
}

// end closes a custody, which must be open and idle.
func (r *reader) end(h hop, how Ending, at uint64) *Custody {
	if !r.begun(how.String(), h.token, h.number) {
		return nil
	}
	c := r.open[h]
	if c == nil {
		r.find(Misfit, h.token, h.number, how.String()+" without custody", r.member)
		return nil
	}
	if _, busy := r.running[h]; busy {
		r.find(Busy, h.token, h.number, how.String(), r.member)
	}
	delete(r.open, h)
	c.End, c.Ending = at, how
	return c
}

func (r *reader) gave(e Entry, rec *journal.Sent) {
	t := r.transfer(rec.Transfer)
	if t == nil {
		return
	}
	h := hop{t.token, t.hop - 1}
	c := r.end(h, Given, e.durable())
	if t.sender == nil {
		t.sender = r.memory
	}
	if c == nil {
		return
	}
	c.gave, t.closure = t, unanswered
	r.sent[h] = t
}

// answered ends a transfer.
func (r *reader) answered(h hop, how closure) {
	if !r.begun("answer", h.token, h.number) {
		return
	}
	t := r.sent[h]
	if t == nil {
		r.find(Misfit, h.token, h.number, "answer to nothing that was sent", r.member)
		return
	}
	delete(r.sent, h)
	t.closure = how
}

func (r *reader) closed(rec *journal.Closed) {
	how := receipted
	if len(rec.Receipt) == 0 {
		how = abandoned
	}
	r.answered(hop{rec.Token, rec.Hop}, how)
}

func (r *reader) reclaimed(e Entry, rec *journal.Reclaimed) {
	r.answered(hop{rec.Token, rec.Hop - 1}, voided)
	r.begin(e, hop{rec.Token, rec.Hop}, nil)
}

func (r *reader) voided(rec *journal.Voided) {
	if t := r.transfer(rec.Transfer); t != nil {
		t.declined = true
	}
}

func (r *reader) dropped(e Entry, rec *journal.Dropped) {
	r.end(hop{rec.Token, rec.Hop}, Removed, e.durable())
}

func (r *reader) started(rec *journal.Started) {
	h := hop{rec.Token, rec.Hop}
	if !r.begun("grant", h.token, h.number) {
		return
	}
	if r.open[h] == nil {
		r.find(Misfit, h.token, h.number, "grant without custody", r.member)
	}
	if _, busy := r.running[h]; busy {
		r.find(Busy, h.token, h.number, "granted again", r.member)
	}
	r.running[h], r.grants[rec.Grant] = rec.Grant, h
}

func (r *reader) ended(rec *journal.Ended) {
	if h, known := r.grants[rec.Grant]; known && r.running[h] == rec.Grant {
		delete(r.running, h)
	}
}
