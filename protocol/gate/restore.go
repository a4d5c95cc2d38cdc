package gate

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

func newGate(s Settings, slots int, now clock.Reading) (*Gate, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if slots <= 0 || slots > MaxSlots {
		return nil, fmt.Errorf("%w: %d, permitted are 1 to %d", ErrSlots, slots, MaxSlots)
	}
	return &Gate{
		settings: s, memory: newMemory(now.Boot), slots: make([]slot, slots), revoked: make(map[ident.Member]bool), fresh: clock.Never, now: now,
	}, nil
}

// Begin starts a gate without a journal: the first time, or after it was lost. The numbers of its sessions are above the
// floor, which comes from the resource or the operator. Nothing opens for MaxHold, or OpenTimeout if that is longer, and Settle, nor before
// close has confirmed that nothing works at the resource. Errors: ErrFloor if there is no floor, or no number above it, ErrSettings, ErrSlots.
func Begin(s Settings, slots int, floor *uint64, now clock.Reading) (*Gate, []Effect, error) {
	if floor == nil || *floor >= MaxNumber {
		return nil, nil, ErrFloor
	}
	g, err := newGate(s, slots, now)
	if err != nil {
		return nil, nil, err
	}
	g.fence = *floor
	g.persist(&BeginRecord{Floor: *floor, Slots: uint64(slots)})
	for i := range g.slots {
		g.recover(i, session{})
	}
	out := g.effects
	g.effects = nil
	return g, out, nil
}

// recover closes what there may be at a slot since before the start.
func (g *Gate) recover(i int, of session) {
	s := &g.slots[i]
	g.move(i, Recover)
	s.session = of
	s.session.reason = ByRestart
	if of.number == 0 {
		s.shut = g.now.Boot.Add(max(g.settings.MaxHold, g.settings.OpenTimeout) + g.settings.Settle)
	} else {
		s.last = of.permit.Title
	}
	g.runClose(i)
}

// Restore starts a gate from its journal: it closes everything that is journalled, and then serves. The last sessions of all
// members count as ended now. Errors: ErrNoJournal, ErrJournal, ErrSettings, ErrSlots.
func Restore(s Settings, records []Record, now clock.Reading) (*Gate, []Effect, error) {
	if len(records) == 0 {
		return nil, nil, ErrNoJournal
	}
	begin, ok := records[0].(*BeginRecord)
	if !ok {
		return nil, nil, ErrNoJournal
	}
	g, err := newGate(s, int(min(begin.Slots, MaxSlots+1)), now)
	if err != nil {
		return nil, nil, err
	}
	g.fence = begin.Floor
	open := make([]*session, len(g.slots))
	for i := range open {
		open[i] = &session{}
	}
	for n, r := range records[1:] {
		if err := g.replay(r, open); err != nil {
			return nil, nil, fmt.Errorf("record %d: %w", n+2, err)
		}
	}
	for _, mem := range g.memory.generators {
		mem.full = now.Boot
	}
	for i, of := range open {
		if of != nil {
			g.recover(i, *of)
		}
	}
	out := g.effects
	g.effects = nil
	return g, out, nil
}

// replay takes one record; open are the sessions that have not ended.
func (g *Gate) replay(r Record, open []*session) error {
	switch r := r.(type) {
	case *OpeningRecord:
		if r.Session <= g.fence || r.Slot >= uint64(len(open)) || open[r.Slot] != nil {
			return fmt.Errorf("%w: session %d at slot %d", ErrJournal, r.Session, r.Slot)
		}
		g.fence = r.Session
		g.memory.note(r)
		g.memory.open(r.Generator, r.Token, g.now.Boot)
		p := Permit{Title: Title{Token: r.Token, Hop: r.Hop, Holder: r.Member, Hash: r.Title}, Generator: r.Generator}
		for _, m := range r.Moves {
			p.Moves = append(p.Moves, Move{By: m.By, Title: m.Title, Declined: m.Declined})
		}
		open[r.Slot] = &session{number: r.Session, permit: p}
	case *ContinuedRecord:
		if r.Session > g.fence || r.Slot >= uint64(len(open)) || open[r.Slot] != nil {
			return fmt.Errorf("%w: session %d at slot %d", ErrJournal, r.Session, r.Slot)
		}
		open[r.Slot] = &session{number: r.Session, permit: Permit{Title: Title{Token: r.Token, Hop: r.Hop, Holder: r.Member, Hash: r.Title}}}
	case *ClosedRecord:
		if r.Slot >= uint64(len(open)) || open[r.Slot] == nil || open[r.Slot].number != r.Session {
			return fmt.Errorf("%w: end of session %d at slot %d", ErrJournal, r.Session, r.Slot)
		}
		open[r.Slot] = nil
	case *MemberRecord:
		if r.Served > g.fence {
			return fmt.Errorf("%w: member with session %d", ErrJournal, r.Served)
		}
		if r.Served > 0 {
			g.memory.serve(r.Member, r.Served)
		}
		for _, t := range r.Titles {
			*g.memory.title(r.Member, t.Title) = titleMemory{title: t.Title, moved: t.Moved, session: t.Session}
		}
	case *GeneratorRecord:
		for _, t := range r.Tokens {
			g.memory.open(r.Generator, t, g.now.Boot)
		}
	default:
		return fmt.Errorf("%w: a second beginning", ErrJournal)
	}
	return nil
}

// Checkpoint is the shortest journal that rebuilds the gate. A segment may begin with it.
func (g *Gate) Checkpoint() []Record {
	list := []Record{&BeginRecord{Floor: g.fence, Slots: uint64(len(g.slots))}}
	for _, id := range sortedMembers(g.memory.generators) {
		list = append(list, &GeneratorRecord{Generator: id, Tokens: append([]ident.Token(nil), g.memory.generators[id].tokens...)})
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
		if s.state != Idle && s.session.number == 0 {
			continue // what was there before the journal began is still unknown
		}
		list = append(list, &ClosedRecord{Slot: uint64(i), Reason: ByRestart})
		if t := s.session.permit.Title; s.state != Idle {
			list = append(list, &ContinuedRecord{
				Session: s.session.number, Slot: uint64(i), Member: t.Holder, Token: t.Token, Hop: t.Hop, Title: t.Hash,
			})
		}
	}
	return list
}
