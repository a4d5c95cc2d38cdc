package main

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/sim/cluster"
)

// memory is what a member's process and journal have, beside the tokens.
type memory struct {
	incarnation ident.Incarnation
	floors      map[ident.Member]uint64 // durable
	unsynced    []change
}

// change is what a record that is not yet durable will be on disk.
type change struct {
	story *story
	place place
	to    record
	floor *journal.Floor // or this
}

// grant is where a grant's program runs.
type grant struct {
	story *story
	place place
}

// translator makes steps of what drivers do.
type translator struct {
	fates    []fate
	memories map[ident.Member]*memory
	stories  map[ident.Token]*story
	grants   map[ident.Grant]grant
	told     []*story
	now      cluster.Moment
}

func newTranslator(f []fate) *translator {
	return &translator{
		fates: f, memories: make(map[ident.Member]*memory), stories: make(map[ident.Token]*story),
		grants: make(map[ident.Grant]grant),
	}
}

func (t *translator) memory(m ident.Member) *memory {
	if t.memories[m] == nil {
		t.memories[m] = &memory{floors: make(map[ident.Member]uint64)}
	}
	return t.memories[m]
}

// moment takes in the i-th thing that happened.
func (t *translator) moment(i int, m cluster.Moment) {
	t.now = m
	switch m.Deed {
	case cluster.Wrote:
		t.wrote(m.Record)
		if t.fates[i] == kept {
			t.sync()
		}
	case cluster.Synced:
		t.sync()
	case cluster.Said:
		t.said(m.Message)
	case cluster.Granted:
		if s := t.stories[m.Token]; s != nil {
			t.step(s, "sender", int(m.Hop), "GRANT")
		}
	case cluster.Crashed, cluster.Stopped:
		t.crashed()
	}
}

// step adds a step of the member of this moment.
func (t *translator) step(s *story, machine string, hop int, event string) place {
	p := place{s.node(t.now.Member, t.now.Durable), hop}
	s.step(line{at: t.now.At, machine: machine, node: p.node, hop: hop, event: event})
	return p
}

// change is a step that is a record: it reaches the disk later.
func (t *translator) change(s *story, machine string, hop int, event string, to record) *slot {
	p := t.step(s, machine, hop, event)
	t.pend(s, p, to)
	return s.slot(p)
}

func (t *translator) pend(s *story, p place, to record) {
	s.slot(p).memory = to
	mem := t.memory(t.now.Member)
	mem.unsynced = append(mem.unsynced, change{story: s, place: p, to: to})
}

// wrote is a record that was appended.
func (t *translator) wrote(r journal.Record) {
	switch r := r.(type) {
	case *journal.Incarnation:
		t.began(r)
	case *journal.Floor:
		mem := t.memory(t.now.Member)
		mem.unsynced = append(mem.unsynced, change{floor: r})
	case *journal.Generated:
		if _, id, err := token.PeekGenesis(t.now.Group, r.Genesis); err == nil {
			s := newStory()
			t.stories[ident.Token(id)] = s
			t.told = append(t.told, s)
			p := place{s.node(t.now.Member, t.now.Durable), 0}
			s.slot(p).memory, s.slot(p).disk = hold, hold
		}
	case *journal.Started:
		if s := t.stories[r.Token]; s != nil {
			t.change(s, "sender", int(r.Hop), "START", hold)
			t.grants[r.Grant] = grant{s, place{s.node(t.now.Member, t.now.Durable), int(r.Hop)}}
		}
	case *journal.Ended:
		if g, known := t.grants[r.Grant]; known {
			t.change(g.story, "sender", g.place.hop, "END", hold)
		}
	default:
		t.custody(r)
	}
}

// began is a new custody memory. The model has none for a durable member: what it
// is in ends there.
func (t *translator) began(r *journal.Incarnation) {
	mem := t.memory(t.now.Member)
	if t.now.Durable && mem.incarnation != (ident.Incarnation{}) {
		for _, s := range t.told {
			if _, in := s.nodes[t.now.Member]; in {
				s.ended = true
			}
		}
	}
	mem.incarnation = r.Incarnation
}

// custody is a record of a handoff.
func (t *translator) custody(r journal.Record) {
	switch r := r.(type) {
	case *journal.Held:
		if s, b := t.transfer(r.Transfer); s != nil {
			t.decided(t.change(s, "receiver", int(b.Hop), "TAKE", hold), b)
		}
	case *journal.Voided:
		if s, b := t.transfer(r.Transfer); s != nil {
			t.decided(t.change(s, "receiver", int(b.Hop), "DECLINE", voided), b)
		}
	case *journal.Sent:
		t.released(r)
	case *journal.Closed:
		if s := t.stories[r.Token]; s != nil {
			event := "RECEIPT"
			if len(r.Receipt) == 0 {
				event = "GIVEUP"
			}
			t.change(s, "sender", int(r.Hop), event, over)
		}
	case *journal.Reclaimed:
		if s := t.stories[r.Token]; s != nil {
			t.change(s, "sender", int(r.Hop)-1, "VOID", over)
			t.pend(s, place{s.nodes[t.now.Member], int(r.Hop)}, hold)
		}
	case *journal.Dropped:
		if s := t.stories[r.Token]; s != nil {
			t.change(s, "sender", int(r.Hop), "DROP", over)
		}
	}
}

// transfer reads a transfer and finds its token's story.
func (t *translator) transfer(raw []byte) (*story, token.TransferBody) {
	b, _, err := token.PeekTransfer(t.now.Group, raw)
	if err != nil {
		return nil, b
	}
	return t.stories[b.Token], b
}

// decided is a transfer that was taken or declined: the reservation is used up.
func (t *translator) decided(x *slot, b token.TransferBody) {
	x.from, x.accept, x.reservation = b.From, b.Accept, 0
}

func (t *translator) released(r *journal.Sent) {
	s, b := t.transfer(r.Transfer)
	if s == nil {
		return
	}
	p := place{s.node(t.now.Member, t.now.Durable), int(b.Hop) - 1}
	to, known := s.nodes[b.To]
	if !known {
		to = mostHops // it never accepted: no model allows this
	}
	s.step(line{at: t.now.At, machine: "sender", node: p.node, hop: p.hop, event: "RELEASE", to: to, rid: t.class(s, to, b)})
	t.pend(s, p, sent)
}

// class is what has become of the number that a transfer names.
func (t *translator) class(s *story, to int, b token.TransferBody) string {
	mem := t.memory(b.To)
	switch {
	case b.Incarnation != mem.incarnation || b.Accept < mem.floors[b.From]:
		return "DEAD"
	case s.slot(place{to, int(b.Hop)}).reservation == b.Accept:
		return "CUR"
	}
	return "OLD"
}

// sync makes durable what was written. All of it is at once: floors come last, since
// the model raises none over what is not on the disk.
func (t *translator) sync() {
	mem := t.memory(t.now.Member)
	for _, c := range mem.unsynced {
		if c.floor == nil {
			c.story.slot(c.place).disk = c.to
			if t.now.Durable {
				t.step(c.story, "sender", c.place.hop, "FSYNC")
			}
		}
	}
	for _, c := range mem.unsynced {
		if c.floor != nil {
			t.raised(mem, c.floor)
		}
	}
	mem.unsynced = nil
	t.forget(mem)
}

// raised is a floor that is durable.
func (t *translator) raised(mem *memory, f *journal.Floor) {
	mem.floors[f.Offerer] = f.Floor
	for _, s := range t.told {
		n, in := s.nodes[t.now.Member]
		for hop := 0; in && hop < mostHops; hop++ {
			if x := s.slots[place{n, hop}]; x != nil {
				t.bury(s, hop, x, f)
			}
		}
	}
}

// bury takes the numbers below a floor out of use. The model knows two classes of
// numbers that count: the present one and all earlier ones. Where only some of the
// earlier ones are below the floor, nothing is left to say.
func (t *translator) bury(s *story, hop int, x *slot, f *journal.Floor) {
	some, all, earlier := false, true, true
	for i := range x.issued {
		r := &x.issued[i]
		if r.offerer == f.Offerer && r.accept < f.Floor && !r.dead {
			some, r.dead = true, true
		}
		all = all && r.dead
		earlier = earlier && (r.dead || r.accept == x.reservation)
	}
	switch {
	case some && all:
		t.step(s, "receiver", hop, "FLOOR")
		x.reservation = 0
	case some && earlier:
		t.step(s, "receiver", hop, "FLOOR_OLD")
	}
}

// forget deletes the records that are below the floors and over.
func (t *translator) forget(mem *memory) {
	for _, s := range t.told {
		n, in := s.nodes[t.now.Member]
		for hop := 0; in && !s.ended && hop < mostHops; hop++ {
			x := s.slots[place{n, hop}]
			if x == nil || x.memory != x.disk || !x.memory.forgettable() || x.from.IsZero() || x.accept >= mem.floors[x.from] {
				continue
			}
			t.step(s, "receiver", hop, "FORGET")
			x.memory, x.disk = none, none
		}
	}
}

// crashed is the end of a process. A volatile member remembers nothing.
func (t *translator) crashed() {
	mem := t.memory(t.now.Member)
	event := "CRASH_"
	if t.now.Durable {
		event = "POWER"
	} else {
		mem.incarnation = ident.Incarnation{}
		clear(mem.floors)
	}
	mem.unsynced = nil
	for _, s := range t.told {
		n, in := s.nodes[t.now.Member]
		if !in {
			continue
		}
		t.step(s, "memory", 0, event)
		for _, p := range slices.Collect(maps.Keys(s.slots)) {
			if p.node != n {
				continue
			}
			x := s.slots[p]
			if t.now.Durable {
				x.memory, x.reservation = x.disk, 0
			} else {
				*x = slot{}
			}
		}
	}
}
