package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

func newGate(s Settings, now clock.Reading) (*Gate, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	return &Gate{views: newViews(s, now.Wall), memory: newMemory(now.Boot), now: now}, nil
}

// Begin starts a gate without a journal: the first time, or after it was lost. The numbers of its sessions are above the
// floor, which comes from the resource or the operator. Nothing opens for MaxHold, or OpenTimeout if that is longer, and Settle, nor before
// close has confirmed that nothing works at the resource. Errors: ErrFloor if there is no floor, or no number above it, ErrSettings, ErrSlots.
func Begin(s Settings, floor *uint64, now clock.Reading) (*Gate, []Effect, error) {
	if floor == nil || *floor >= MaxNumber {
		return nil, nil, ErrFloor
	}
	g, err := newGate(s, now)
	if err != nil {
		return nil, nil, err
	}
	g.fence, g.written = *floor, *floor
	g.write(&BeginRecord{Floor: *floor}, true)
	g.slots = make(slots, s.places())
	for i := range g.slots {
		g.recover(i, session{})
	}
	return g, g.taken(), nil
}

// recover closes what there may be at a slot since before the start.
func (g *Gate) recover(i int, of session) {
	g.occupy(i, of, Recover)
	g.runClose(i)
}

// occupy puts a session of before the start into a slot.
func (g *Gate) occupy(i int, of session, by Event) {
	s := &g.slots[i]
	g.move(i, by)
	s.session = of
	s.session.reason = ByRestart
	if of.number == 0 {
		s.shut = g.now.Boot.Add(max(g.settings.MaxHold, g.settings.OpenTimeout) + g.settings.Settle)
	}
}

// Restore starts a gate from its journal: it closes everything that is journalled, and then serves. The last sessions of all
// members count as ended now. Slots of the settings that the journal does not know are closed as after Begin.
// Errors: ErrNoJournal, ErrCheckpoint, ErrJournal, ErrSettings, ErrSlots.
func Restore(s Settings, records []Record, now clock.Reading) (*Gate, []Effect, error) {
	if len(records) == 0 {
		return nil, nil, ErrNoJournal
	}
	begin, ok := records[0].(*BeginRecord)
	if !ok {
		return nil, nil, ErrNoJournal
	}
	g, err := newGate(s, now)
	if err != nil {
		return nil, nil, err
	}
	g.fence = begin.Floor
	r := replay{g: g, checkpoint: begin.Checkpoint, count: 1, served: make(map[uint64]bool)}
	for n, one := range records[1:] {
		if err := r.take(one); err != nil {
			return nil, nil, fmt.Errorf("record %d: %w", n+2, err)
		}
	}
	if r.checkpoint {
		return nil, nil, ErrCheckpoint
	}
	r.finish()
	return g, g.taken(), nil
}

// place is what a journal says of a slot.
type place struct {
	known bool    // what was there before the journal began has ended
	open  session // that has not ended; number 0: none
	stuck bool
	last  last
}

// replay reads the records of a journal.
type replay struct {
	g          *Gate
	checkpoint bool            // its end has not come yet
	count      uint64          // records so far
	served     map[uint64]bool // sessions that were the last ones of their members
	places     [MaxSlots]place
}

func contradiction(format string, arguments ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrJournal}, arguments...)...)
}

// take reads one record.
func (r *replay) take(one Record) error {
	defer func() { r.count++ }()
	if err := validate(one); err != nil {
		return err
	}
	switch one := one.(type) {
	case *OpeningRecord:
		if r.checkpoint {
			return contradiction("session %d in a checkpoint", one.Session)
		}
		return r.opening(one)
	case *ClosedRecord:
		return r.closed(one)
	case *StuckRecord:
		return r.stuck(one)
	case *RevokedRecord:
		if added := r.g.revoke(one.Members); len(added) < len(one.Members) {
			return contradiction("a member that is revoked twice")
		}
		return nil
	}
	if !r.checkpoint {
		return contradiction("%T outside a checkpoint", one)
	}
	switch one := one.(type) {
	case *MemberRecord:
		return r.member(one)
	case *GeneratorRecord:
		return r.generator(one)
	case *ContinuedRecord:
		return r.continued(one)
	case *EndRecord:
		if one.Records != r.count {
			return contradiction("a checkpoint of %d records that says %d", r.count, one.Records)
		}
		r.checkpoint = false
		return nil
	}
	return contradiction("a second beginning")
}

// opening: a session begins.
func (r *replay) opening(one *OpeningRecord) error {
	p := &r.places[one.Slot]
	if one.Session <= r.g.fence || !p.known || p.open.number > 0 || r.occupied(one.Member) {
		return contradiction("session %d at slot %d", one.Session, one.Slot)
	}
	r.g.fence = one.Session
	r.g.memory.note(one)
	r.g.memory.token(one.Generator, one.Token)
	permit := Permit{Title: Title{Token: one.Token, Hop: one.Hop, Holder: one.Member, Hash: one.Title}, Generator: one.Generator}
	for _, m := range one.Moves {
		permit.Moves = append(permit.Moves, Move{By: m.By, Title: m.Title, Declined: m.Declined})
	}
	p.open, p.last = session{number: one.Session, permit: permit}, last{one.Session, permit.Title}
	return nil
}

// occupied reports whether a member has a session that has not ended, elsewhere than at a stuck slot.
func (r *replay) occupied(id ident.Member) bool {
	return slices.ContainsFunc(r.places[:], func(p place) bool { return p.open.number > 0 && !p.stuck && p.open.permit.Title.Holder == id })
}

// continued: a session that has begun before the checkpoint.
func (r *replay) continued(one *ContinuedRecord) error {
	p := &r.places[one.Slot]
	mem := r.g.memory.members[one.Member] // nil: forgotten since
	if one.Session > r.g.fence || mem != nil && mem.served < one.Session || !p.known || p.last.number > 0 || r.begun(one.Session) {
		return contradiction("session %d at slot %d", one.Session, one.Slot)
	}
	t := Title{Token: one.Token, Hop: one.Hop, Holder: one.Member, Hash: one.Title}
	p.open, p.last = session{number: one.Session, permit: Permit{Title: t}}, last{one.Session, t}
	return nil
}

// begun reports whether a session has begun at some slot.
func (r *replay) begun(session uint64) bool {
	return slices.ContainsFunc(r.places[:], func(p place) bool { return p.last.number == session })
}

// closed: a session has ended, or what there was before the journal.
func (r *replay) closed(one *ClosedRecord) error {
	p := &r.places[one.Slot]
	if p.open.number != one.Session || p.known != (one.Session > 0) {
		return contradiction("end of session %d at slot %d", one.Session, one.Slot)
	}
	p.known, p.open, p.stuck = true, session{}, false
	return nil
}

// stuck: the close of a session has failed, or of what there was before the journal.
func (r *replay) stuck(one *StuckRecord) error {
	p := &r.places[one.Slot]
	if p.open.number != one.Session || p.known != (one.Session > 0) || p.stuck {
		return contradiction("stuck after session %d at slot %d", one.Session, one.Slot)
	}
	p.stuck = true
	return nil
}

// member: what a checkpoint remembers of a member.
func (r *replay) member(one *MemberRecord) error {
	m := &r.g.memory
	if m.members[one.Member] != nil || len(m.members) >= maxMembers || one.Served > r.g.fence || r.served[one.Served] {
		return contradiction("member with session %d", one.Served)
	}
	mem := m.member(one.Member)
	if one.Served > 0 {
		r.served[one.Served] = true
		m.serve(one.Member, one.Served)
	}
	for _, t := range one.Titles {
		if t.Session > one.Served || t.Session == 0 && !t.Moved || m.shown(Title{Holder: one.Member, Hash: t.Title}) {
			return contradiction("title of session %d of a member with session %d", t.Session, one.Served)
		}
		mem.titles = append(mem.titles, titleMemory{title: t.Title, moved: t.Moved, session: t.Session})
	}
	return nil
}

// generator: the tokens of a generator that a checkpoint remembers.
func (r *replay) generator(one *GeneratorRecord) error {
	m := &r.g.memory
	if m.generators[one.Generator] != nil || len(m.generators) >= maxMembers {
		return contradiction("a generator twice, or too many")
	}
	for _, t := range one.Tokens {
		if m.token(one.Generator, t) {
			return contradiction("a token twice")
		}
	}
	return nil
}

// finish closes what has not ended, and keeps shut what is stuck.
func (r *replay) finish() {
	g := r.g
	g.written, g.durable = g.fence, g.fence
	g.fence = min(g.fence+MaxAhead, MaxNumber) // so many numbers may have left before a crash, and their records not be durable
	n := g.settings.places()
	for i, p := range r.places {
		if p.known || p.stuck {
			n = max(n, i+1)
		}
	}
	g.slots = make(slots, n)
	for i := range g.slots {
		p := r.places[i]
		g.slots[i].last = p.last
		switch {
		case p.stuck:
			p.open.abandoned = true
			g.occupy(i, p.open, RecoverStuck)
			g.slots[i].recorded, g.slots[i].wake = true, clock.Never
			g.do(Alarm{Kind: AlarmStuck, Slot: i, Session: p.open.number})
		case !p.known || p.open.number > 0:
			g.recover(i, p.open)
		}
	}
}

// Checkpoint is the shortest journal that rebuilds the gate. A segment may begin with it.
func (g *Gate) Checkpoint() []Record {
	list := []Record{&BeginRecord{Floor: g.fence, Checkpoint: true}}
	for batch := range slices.Chunk(sortedMembers(g.revoked), maxRevokedRecord) {
		list = append(list, &RevokedRecord{Members: batch})
	}
	for _, id := range sortedMembers(g.memory.generators) {
		list = append(list, &GeneratorRecord{Generator: id, Tokens: slices.Clone(g.memory.generators[id].tokens)})
	}
	for _, id := range sortedMembers(g.memory.members) {
		mem := g.memory.members[id]
		r := &MemberRecord{Member: id, Served: mem.served}
		for _, t := range mem.titles {
			r.Titles = append(r.Titles, TitleRecord{Title: t.title, Moved: t.moved, Session: t.session})
		}
		list = append(list, r)
	}
	for i, s := range g.slots {
		list = append(list, s.records(uint64(i))...)
	}
	return append(list, &EndRecord{Records: uint64(len(list))})
}

// records are what a checkpoint says of a slot.
func (s *slot) records(i uint64) (list []Record) {
	unknown := s.state != Idle && s.session.number == 0 // what was there before the journal began
	if !unknown {
		list = append(list, &ClosedRecord{Slot: i, Reason: ByRestart})
		if t := s.last.title; s.last.number > 0 {
			list = append(list, &ContinuedRecord{Session: s.last.number, Slot: i, Member: t.Holder, Token: t.Token, Hop: t.Hop, Title: t.Hash})
		}
		if s.state == Idle && s.last.number > 0 {
			list = append(list, &ClosedRecord{Session: s.last.number, Slot: i, Reason: ByRestart})
		}
	}
	if s.recorded {
		list = append(list, &StuckRecord{Session: s.session.number, Slot: i})
	}
	return list
}

// sortedMembers are the keys of a map by member, in order.
func sortedMembers[V any](m map[ident.Member]V) []ident.Member {
	return slices.SortedFunc(maps.Keys(m), ident.Member.Compare)
}
