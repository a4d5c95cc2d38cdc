package handoff

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// past is a record while a journal is replayed: bytes instead of verified
// objects, of which only the last few will be needed.
type past struct {
	state                             State
	from                              ident.Member
	accept                            uint64
	taken                             ident.Hash
	transfer, genesis, void, outgoing []byte
}

// Replay rebuilds a machine from the records of its journal. Call Apply with
// each record, oldest first, and then Finish.
type Replay struct {
	m     *Machine
	pasts map[key]*past
	// What others have signed, the last of it, for the witness.
	seen []token.Object
}

// NewReplay begins to rebuild a machine. Before Finish, cfg.Environment must
// know the certificates in the journal.
func NewReplay(cfg Config) *Replay {
	return &Replay{m: New(cfg), pasts: make(map[key]*past)}
}

// Apply adds one record. It ignores records that are not about handoffs. An
// error matches ErrReplay, and means that no member of this group can have
// written the journal so.
func (r *Replay) Apply(rec journal.Record) error {
	var err error
	r.m.openings.note(rec)
	switch rec := rec.(type) {
	case *journal.Counters:
		r.m.numbers.replay(rec)
	case *journal.Floor:
		r.floor(rec)
	case *journal.Settled:
		mem, _ := r.m.recipients.meet(rec.Receiver, rec.Incarnation)
		mem.promised, mem.next = rec.Below, max(mem.next, rec.Below)
	case *journal.Generated:
		err = r.generated(rec)
	case *journal.Held:
		err = r.held(rec)
	case *journal.Sent:
		err = r.sent(rec)
	case *journal.Closed:
		err = r.closed(rec)
	case *journal.Reclaimed:
		err = r.reclaimed(rec)
	case *journal.Voided:
		err = r.voided(rec)
	case *journal.Dropped:
		err = r.dropped(rec)
	case *journal.Taken:
		r.taken(rec)
	case *journal.Evidence:
		r.m.conflicts.count(rec.Accused)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplay, err)
	}
	return nil
}

func (r *Replay) floor(rec *journal.Floor) {
	o := r.m.book.offerers[rec.Offerer]
	if o == nil {
		o = newOfferer(rec.Floor)
		r.m.book.offerers[rec.Offerer] = o
	}
	o.floor = rec.Floor
	for k, p := range r.pasts {
		if p.from == rec.Offerer && p.accept < rec.Floor && forgettable(p.state) {
			delete(r.pasts, k)
		}
	}
}

func forgettable(s State) bool {
	_, ok := after(s, ReceiverForget)
	return ok
}

func (r *Replay) generated(rec *journal.Generated) error {
	_, h, err := token.PeekGenesis(r.m.cfg.Group, rec.Genesis)
	if err != nil {
		return err
	}
	r.pasts[key{ident.Token(h), 0}] = &past{state: Hold, genesis: rec.Genesis}
	return nil
}

func (r *Replay) held(rec *journal.Held) error {
	b, h, err := token.PeekTransfer(r.m.cfg.Group, rec.Transfer)
	if err != nil {
		return err
	}
	r.see(envelope.Genesis, rec.Genesis)
	if b.From != r.m.cfg.Self {
		r.see(envelope.Transfer, rec.Transfer)
	}
	r.see(envelope.Void, rec.Void)
	p := &past{state: Hold, transfer: rec.Transfer, genesis: rec.Genesis, void: rec.Void}
	if len(rec.Void) == 0 {
		p.from, p.accept, p.taken = b.From, b.Accept, h
	}
	r.pasts[key{b.Token, b.Hop}] = p
	return nil
}

func (r *Replay) sent(rec *journal.Sent) error {
	b, _, err := token.PeekTransfer(r.m.cfg.Group, rec.Transfer)
	if err != nil {
		return err
	}
	p := r.pasts[key{b.Token, b.Hop - 1}]
	if p == nil || p.state != Hold {
		return fmt.Errorf("hop %d of token %v was sent but never held", b.Hop, b.Token)
	}
	p.state, p.outgoing = Sent, rec.Transfer
	// The journal need not tell, in this order, which incarnation was met last.
	mem := r.m.recipients.memory(b.To, b.Incarnation)
	mem.open[b.Accept] = true
	mem.next = max(mem.next, b.Accept+1)
	return nil
}

// end closes the past of a hop, which has to be in a state, and its number if an
// answer came.
func (r *Replay) end(k key, from State, answered bool, to State) (*past, error) {
	p := r.pasts[k]
	if p == nil || p.state != from {
		return nil, fmt.Errorf("hop %d of token %v ended but was never %v", k.hop, k.token, from)
	}
	if from == Sent {
		b, _, err := token.PeekTransfer(r.m.cfg.Group, p.outgoing)
		if err != nil {
			return nil, err
		}
		open := r.m.recipients.memory(b.To, b.Incarnation).open
		if answered {
			delete(open, b.Accept)
		} else {
			open[b.Accept] = false
		}
	}
	p.state = to
	if o := r.m.book.offerers[p.from]; p.from.IsZero() || (o != nil && p.accept < o.floor) {
		delete(r.pasts, k)
	}
	return p, nil
}

func (r *Replay) closed(rec *journal.Closed) error {
	r.see(envelope.Receipt, rec.Receipt)
	_, err := r.end(key{rec.Token, rec.Hop}, Sent, len(rec.Receipt) > 0, Closed)
	return err
}

func (r *Replay) reclaimed(rec *journal.Reclaimed) error {
	p, err := r.end(key{rec.Token, rec.Hop - 1}, Sent, true, Closed)
	if err != nil {
		return err
	}
	r.see(envelope.Void, rec.Void)
	r.pasts[key{rec.Token, rec.Hop}] = &past{
		state: Hold, transfer: p.outgoing, genesis: p.genesis, void: rec.Void,
	}
	return nil
}

func (r *Replay) voided(rec *journal.Voided) error {
	b, h, err := token.PeekTransfer(r.m.cfg.Group, rec.Transfer)
	if err != nil {
		return err
	}
	r.see(envelope.Transfer, rec.Transfer)
	r.pasts[key{b.Token, b.Hop}] = &past{state: Voided, from: b.From, accept: b.Accept, taken: h}
	return nil
}

func (r *Replay) dropped(rec *journal.Dropped) error {
	_, err := r.end(key{rec.Token, rec.Hop}, Hold, false, Dropped)
	return err
}

func (r *Replay) taken(rec *journal.Taken) {
	p := &past{state: Closed, from: rec.From, accept: rec.Accept, taken: rec.Transfer}
	if rec.Declined {
		p.state = Voided
	}
	r.pasts[key{rec.Token, rec.Hop}] = p
}

// see notes an object for the witness. A journal may be long, and it remembers
// only so many.
func (r *Replay) see(k envelope.Kind, raw []byte) {
	if len(raw) == 0 {
		return
	}
	if len(r.seen) == 2*recalled {
		r.seen = append(r.seen[:0], r.seen[recalled:]...)
	}
	r.seen = append(r.seen, object(k, raw))
}

// Finish returns the machine. Custody resumes where it was; the first Tick
// sends unanswered transfers again.
func (r *Replay) Finish(now clock.Reading) (*Machine, error) {
	m := r.m
	m.SetNow(now)
	for _, o := range r.seen[max(0, len(r.seen)-recalled):] {
		m.conflicts.detector.Recall(o)
	}
	for k, p := range r.pasts {
		if err := r.revive(k, p); err != nil {
			return nil, fmt.Errorf("%w: token %v hop %d: %w", ErrReplay, k.token, k.hop, err)
		}
	}
	return m, nil
}

func (r *Replay) revive(k key, p *past) (err error) {
	m := r.m
	rec := &record{key: k, state: p.state, from: p.from, accept: p.accept, taken: p.taken}
	if !p.from.IsZero() && m.book.offerers[p.from] == nil {
		return fmt.Errorf("no floor for %v", p.from)
	}
	m.book.add(rec)
	if !rec.hasTitle() {
		return nil
	}
	if err := r.title(rec, p); err != nil {
		return err
	}
	m.certificates.replayed(rec.title.Signers())
	if p.state == Hold {
		return nil
	}
	if rec.sent, err = m.verifier.Transfer(p.outgoing); err != nil {
		return err
	}
	rec.releasedAt, rec.sentAt, rec.tries = m.now.Boot, m.now.Boot, 1
	m.book.wakeAt(rec, m.now.Boot)
	return nil
}

// title verifies what a custody stands on.
func (r *Replay) title(rec *record, p *past) (err error) {
	v := r.m.verifier
	if rec.title.Genesis, err = v.Genesis(p.genesis); err != nil {
		return err
	}
	if len(p.transfer) > 0 {
		if rec.title.Transfer, err = v.Transfer(p.transfer); err != nil {
			return err
		}
	}
	if len(p.void) > 0 {
		if rec.title.Void, err = v.Answer(token.Void, p.void); err != nil {
			return err
		}
	}
	return rec.title.Check()
}
