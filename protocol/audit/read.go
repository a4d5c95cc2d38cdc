package audit

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

type hop struct {
	token  ident.Token
	number uint64
}

// Reader takes in the journal of one member, in its order. For each segment
// call Segment, then Frame for each of its frames, and Report if the segment
// cannot be read to its end.
type Reader struct {
	cursor
	intake *intake
	spans  []span // what is at hand
	last   uint64 // when the last record was written
	prior  uint64 // when the one before was

	memory  *memory
	open    map[hop]*Custody
	sent    map[hop]*transfer // by the hop of the custody that was given away
	running map[hop]ident.Grant
	newest  map[slot]*genesis // of those in custody here so far, that with the latest time
	grants  map[ident.Grant]*grant
	before  *before   // what was live where something is missing
	earlier *Reader   // of a journal that the same member had before
	gate    *gateBook // nil: the journal is a member's
}

// span is a time that a journal covers without a gap, by its own clock.
type span struct{ from, to uint64 }

// grant is a program that may run.
type grant struct {
	hop      hop
	resource string
	from     uint64
	bound    uint64 // when it has to be dead by the configuration; 0: no such resource
	alive    uint64 // when its member wrote a record behind that
	in       RecordRef
	asker    *journal.Asker
}

// Segment begins a segment. follows says that nothing is missing before it: it
// continues the segment that was read last, or it is the first one of a
// journal.
func (r *Reader) Segment(follows bool) {
	r.intake.enqueue(item{to: r, event: func(r *Reader) {
		if !follows {
			r.interrupt()
			if r.gate != nil {
				r.gate.interrupt()
			}
		}
	}})
}

// Frame takes in the next frame. Its body must not be changed afterwards.
func (r *Reader) Frame(f journal.Frame) { r.intake.enqueue(item{to: r, frame: f}) }

// Report adds a finding about a segment that the caller cannot read: that it is
// damaged, or diverged, and how. The finding takes the place of the next
// record.
func (r *Reader) Report(k Kind, detail string) {
	r.intake.enqueue(item{to: r, event: func(r *Reader) {
		r.seq++
		r.find(k, ident.Token{}, 0, detail, r.member)
	}})
}

// Anew returns a Reader for a later journal of the same member, which the
// member began when it had lost this one or put it away.
func (r *Reader) Anew() *Reader {
	next := r.intake.journal(r.member)
	next.earlier = r
	return next
}

// lastTime is the latest time that a record may state: half of what fits, so
// that differences do.
const lastTime = 1 << 62

// record takes in one record.
func (r *Reader) record(e Entry, carried bool, objects []object) {
	e.At, e.Durable = min(e.At, lastTime), min(e.Durable, lastTime)
	r.now = e.At
	if carried {
		if r.before != nil {
			r.carry(e, objects)
		}
		return
	}
	r.prior = r.last
	r.cover(e.At)
	switch rec := e.Record.(type) {
	case nil:
		if r.memory != nil && !r.memory.durable {
			r.forget(e.At)
		}
	case *journal.Incarnation:
		r.incarnation(e, rec)
	case *journal.Floor:
		r.floor(rec)
	case *journal.Generated:
		r.generated(e, rec, objects)
	case *journal.Held:
		r.held(e, rec, objects)
	case *journal.Sent:
		r.gave(e, objects)
	case *journal.Closed:
		r.closed(e, rec, objects)
	case *journal.Reclaimed:
		r.reclaimed(e, rec, objects)
	case *journal.Voided:
		r.voided(objects)
	case *journal.Dropped:
		r.dropped(e, rec)
	case *journal.Started:
		r.started(e, rec)
	case *journal.Ended:
		r.ended(e, rec)
	case *journal.Evidence:
		r.exhibits(objects)
	case *journal.Complained:
		r.complained(objects)
	case *journal.Told:
		r.told(pick(objects, envelope.GateAnswer))
	}
	r.notice(e.At)
}

// forget ends the custody memory.
func (r *Reader) forget(at uint64) {
	if r.memory == nil || r.memory.dead {
		return
	}
	r.memory.dead, r.memory.ended = true, at
	for _, c := range r.open {
		c.End, c.Ending, c.covered = at, Forgotten, r.prior
	}
	r.unended(r.grants)
	for _, t := range r.sent {
		t.closure = orphaned
	}
	r.open, r.sent, r.running, r.grants = nil, nil, nil, nil
}

func (r *Reader) incarnation(e Entry, rec *journal.Incarnation) {
	for one := r; one != nil; one = one.earlier {
		one.forget(e.At)
	}
	if r.memories[rec.Incarnation] != nil {
		r.find(Revived, ident.Token{}, 0, fmt.Sprintf("incarnation %v", rec.Incarnation), r.member)
	}
	if rec.Member != r.member {
		r.find(Misfit, ident.Token{}, 0, "incarnation of member "+rec.Member.Short(), r.member)
	}
	r.remember(rec)
}

// remember begins a custody memory.
func (r *Reader) remember(rec *journal.Incarnation) {
	r.memory = &memory{
		member: r.member, incarnation: rec.Incarnation, durable: rec.Durable, floors: make(map[ident.Member]uint64),
	}
	r.open, r.sent = make(map[hop]*Custody), make(map[hop]*transfer)
	r.running, r.grants = make(map[hop]ident.Grant), make(map[ident.Grant]*grant)
	r.memories[rec.Incarnation] = r.memory
}

func (r *Reader) floor(rec *journal.Floor) {
	if r.memory != nil {
		r.memory.floors[rec.Offerer] = max(r.memory.floors[rec.Offerer], rec.Floor)
	}
}

// begun is what every custody needs: a memory that lives.
func (r *Reader) begun(what string, t ident.Token, number uint64) bool {
	if r.memory == nil || r.memory.dead {
		r.find(Misfit, t, number, what+" without an incarnation", r.member)
		return false
	}
	return true
}

func (r *Reader) begin(e Entry, h hop, by *transfer) {
	if !r.begun("custody", h.token, h.number) {
		return
	}
	if r.open[h] != nil || r.sent[h] != nil {
		r.find(Misfit, h.token, h.number, "custody begins twice", r.member)
	}
	c := &Custody{
		Token: h.token, Hop: h.number, Member: r.member, Begin: e.At, End: Forever, RecordRef: r.ref(), by: by, memory: r.memory,
		carried: r.before != nil,
	}
	r.open[h] = c
	r.custodies = append(r.custodies, c)
	if by != nil {
		by.taken = append(by.taken, c)
	}
}

func (r *Reader) generated(e Entry, rec *journal.Generated, objects []object) {
	g := r.genesis(pick(objects, envelope.Genesis))
	if g == nil {
		return
	}
	if g.generator != r.member {
		r.find(Misfit, g.token, 0, "made by another member", r.member)
	}
	if rec.Founding {
		k := slot{g.resource, g.slot}
		r.founded[k] = append(r.founded[k], founding{r.member, g.token, r.ref(), e.At})
	}
	r.backdated(e, g)
	r.begin(e, hop{g.token, 0}, nil)
	r.note(g)
}

// note keeps the latest genesis of a slot.
func (r *Reader) note(g *genesis) {
	k := slot{g.resource, g.slot}
	if newest := r.newest[k]; newest == nil || newest.born < g.born {
		if r.newest == nil {
			r.newest = make(map[slot]*genesis)
		}
		r.newest[k] = g
	}
}

// backdated reports a genesis that is not later than all tokens of its slot that its
// generator has had. One that was in the future by more than the clock allowance does
// not count: nobody would have taken the next one (O-20).
func (r *Reader) backdated(e Entry, g *genesis) {
	newest := r.newest[slot{g.resource, g.slot}]
	if newest == nil || newest.token == g.token || newest.born < g.born || fromMillis(newest.born) > e.At+r.clockAllowance() {
		return
	}
	f := Finding{
		Kind: Backdated, Token: g.token, Members: []ident.Member{r.member}, At: e.At, Records: refs(newest.shown.RecordRef, r.ref()),
		Detail: fmt.Sprintf("%d ms before token %s", newest.born-g.born, newest.token.Short()),
	}
	r.add(f)
}

func (r *Reader) held(e Entry, rec *journal.Held, objects []object) {
	t := r.transfer(pick(objects, envelope.Transfer))
	r.genesisOf(objects, t)
	r.answer(pick(objects, envelope.Void))
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

// genesisOf reads the genesis beside a transfer, which must be its token's.
func (r *Reader) genesisOf(objects []object, t *transfer) {
	o := pick(objects, envelope.Genesis)
	if o == nil || !r.partial() {
		return
	}
	switch g := r.genesis(o); {
	case g == nil || t == nil:
	case g.token != t.token:
		r.find(Misfit, t.token, t.hop, "genesis of another token", r.member)
	case t.to == r.member:
		r.note(g)
	}
}

// end closes a custody, which must be open and idle.
func (r *Reader) end(h hop, how Ending, at uint64) *Custody {
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

func (r *Reader) gave(e Entry, objects []object) {
	t := r.transfer(pick(objects, envelope.Transfer))
	if t == nil {
		return
	}
	if t.from != r.member {
		r.find(Misfit, t.token, t.hop, "sent by another member", r.member)
	}
	h := hop{t.token, t.hop - 1}
	c := r.end(h, Given, e.durable())
	if t.sender == nil {
		t.sender = r.memory
		if r.before == nil { // else it was sent at some time before
			t.sentAt = e.At
		}
	}
	if c == nil {
		return
	}
	c.gave, t.closure = t, unanswered
	r.sent[h] = t
}

// answered ends a transfer.
func (r *Reader) answered(e Entry, h hop, how closure) {
	if !r.begun("answer", h.token, h.number) {
		return
	}
	t := r.sent[h]
	if t == nil {
		r.find(Misfit, h.token, h.number, "answer to nothing that was sent", r.member)
		return
	}
	delete(r.sent, h)
	t.closure, t.closedAt, t.closedIn = how, e.At, r.ref()
}

func (r *Reader) closed(e Entry, rec *journal.Closed, objects []object) {
	r.answer(pick(objects, envelope.Receipt))
	how := receipted
	if len(rec.Receipt) == 0 {
		how = abandoned
	}
	r.answered(e, hop{rec.Token, rec.Hop}, how)
}

func (r *Reader) reclaimed(e Entry, rec *journal.Reclaimed, objects []object) {
	r.answer(pick(objects, envelope.Void))
	r.answered(e, hop{rec.Token, rec.Hop - 1}, voided)
	r.begin(e, hop{rec.Token, rec.Hop}, nil)
}

func (r *Reader) voided(objects []object) {
	r.answer(pick(objects, envelope.Void))
	if t := r.transfer(pick(objects, envelope.Transfer)); t != nil {
		t.declined, t.declinedIn = true, r.ref()
	}
}

func (r *Reader) dropped(e Entry, rec *journal.Dropped) {
	r.end(hop{rec.Token, rec.Hop}, Removed, e.durable())
}
