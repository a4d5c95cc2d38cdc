package gate

import (
	"bytes"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// titleMemory is one title of a member.
type titleMemory struct {
	title   ident.Hash
	moved   bool   // the member's own signature gives it away, or declines it
	session uint64 // the last one under it; 0: none
}

// memberMemory is what the gate remembers of a member.
type memberMemory struct {
	served uint64        // number of its last session; 0: none
	ended  clock.Instant // when its last session ended, or the gate started
	titles []titleMemory // the latest at the end
}

// generatorMemory is what the gate remembers of a member that made tokens.
type generatorMemory struct {
	tokens []ident.Token // the last one opened at the end
	full   clock.Instant // when its ration will be complete again
}

// served is the number of a member's session.
type served struct {
	member  ident.Member
	session uint64
}

// memory is what sessions leave behind. Only a session that is journalled changes it.
type memory struct {
	members    map[ident.Member]*memberMemory
	generators map[ident.Member]*generatorMemory
	last       served // the last session
	other      served // the last one of another member than that
	start      clock.Instant
}

func newMemory(start clock.Instant) memory {
	return memory{
		members: make(map[ident.Member]*memberMemory), generators: make(map[ident.Member]*generatorMemory), start: start,
	}
}

// served is the number of the member's last session.
func (m *memory) served(id ident.Member) uint64 {
	if mem := m.members[id]; mem != nil {
		return mem.served
	}
	return 0
}

// lastOfOthers is the number of the last session of another member.
func (m *memory) lastOfOthers(id ident.Member) uint64 {
	if m.last.member == id {
		return m.other.session
	}
	return m.last.session
}

// judge says whether a member's title is stale or used, or 0 (rule 2).
func (m *memory) judge(t Title) Code {
	mem := m.members[t.Holder]
	if mem == nil {
		return 0
	}
	i := slices.IndexFunc(mem.titles, func(x titleMemory) bool { return x.title == t.Hash })
	switch {
	case i < 0:
		return 0
	case mem.titles[i].moved:
		return Stale
	case mem.titles[i].session > 0 && m.lastOfOthers(t.Holder) > mem.titles[i].session:
		return Used
	}
	return 0
}

// note remembers a session, from its record.
func (m *memory) note(r *OpeningRecord) {
	m.serve(r.Member, r.Session)
	m.title(r.Member, r.Title).session = r.Session
	for _, move := range r.Moves {
		m.title(move.By, move.Title).moved = true
	}
}

// serve notes the number of a member's session.
func (m *memory) serve(id ident.Member, session uint64) {
	mem := m.member(id)
	mem.served = max(mem.served, session)
	switch s := (served{id, session}); {
	case id == m.last.member || m.last.session == 0:
		m.last = served{id, max(session, m.last.session)}
	case session > m.last.session:
		m.last, m.other = s, m.last
	case session > m.other.session:
		m.other = s
	}
}

// member is the memory of a member; one too many is forgotten for it.
func (m *memory) member(id ident.Member) *memberMemory {
	mem := m.members[id]
	if mem != nil {
		return mem
	}
	if len(m.members) >= maxMembers {
		var oldest ident.Member
		for other, o := range m.members {
			if first := m.members[oldest]; first == nil || o.served < first.served || o.served == first.served && other.Compare(oldest) < 0 {
				oldest = other
			}
		}
		delete(m.members, oldest)
	}
	mem = &memberMemory{ended: m.start}
	m.members[id] = mem
	return mem
}

// title is the memory of a member's title, which becomes its latest.
func (m *memory) title(id ident.Member, h ident.Hash) *titleMemory {
	mem := m.member(id)
	t := titleMemory{title: h}
	if i := slices.IndexFunc(mem.titles, func(x titleMemory) bool { return x.title == h }); i >= 0 {
		t = mem.titles[i]
		mem.titles = slices.Delete(mem.titles, i, i+1)
	} else if len(mem.titles) >= MaxTitles {
		mem.titles = slices.Delete(mem.titles, 0, 1)
	}
	mem.titles = append(mem.titles, t)
	return &mem.titles[len(mem.titles)-1]
}

// knows reports whether a session has opened under the generator's token lately.
func (m *memory) knows(generator ident.Member, t ident.Token) bool {
	mem := m.generators[generator]
	return mem != nil && slices.Contains(mem.tokens, t)
}

// rationed is when the generator may have another new token open; not later than now if it may.
func (m *memory) rationed(generator ident.Member, now clock.Instant) clock.Instant {
	mem := m.generators[generator]
	if mem == nil {
		return now
	}
	return mem.full.Add(-(Ration - 1) * RationInterval)
}

// open notes a token under which a session opens, at a time.
func (m *memory) open(generator ident.Member, t ident.Token, now clock.Instant) {
	mem := m.generators[generator]
	if mem == nil {
		if len(m.generators) >= maxMembers {
			var first ident.Member
			for id, o := range m.generators {
				if f := m.generators[first]; f == nil || o.full < f.full || o.full == f.full && id.Compare(first) < 0 {
					first = id
				}
			}
			delete(m.generators, first)
		}
		mem = &generatorMemory{full: now}
		m.generators[generator] = mem
	}
	if i := slices.Index(mem.tokens, t); i >= 0 {
		mem.tokens = append(slices.Delete(mem.tokens, i, i+1), t)
		return
	}
	mem.full = max(mem.full, now).Add(RationInterval)
	if len(mem.tokens) >= MaxTokens {
		mem.tokens = slices.Delete(mem.tokens, 0, 1)
	}
	mem.tokens = append(mem.tokens, t)
}

// sortedMembers are the keys of a map by member, in order.
func sortedMembers[V any](m map[ident.Member]V) []ident.Member {
	list := make([]ident.Member, 0, len(m))
	for id := range m {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b ident.Member) int { return bytes.Compare(a[:], b[:]) })
	return list
}
