package gate

import (
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
	ration ration        // of new tokens that it presents
}

// generatorMemory is what the gate remembers of a member that made tokens.
type generatorMemory struct {
	tokens []ident.Token // the last one opened at the end
	ration ration        // of new tokens that it has made
}

// ration is when as many new tokens as Ration may open again.
type ration clock.Instant

// ready is when the next new token may open; not later than now if it may at once.
func (r ration) ready() clock.Instant { return clock.Instant(r).Add(-(Ration - 1) * RationInterval) }

// use takes one token's part.
func (r *ration) use(now clock.Instant) { *r = ration(max(clock.Instant(*r), now).Add(RationInterval)) }

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

// shown reports whether a session was journalled that showed a title: one under it, or one whose permit gave it away.
func (m *memory) shown(t Title) bool {
	mem := m.members[t.Holder]
	return mem != nil && slices.ContainsFunc(mem.titles, func(x titleMemory) bool { return x.title == t.Hash })
}

// end notes when a member's session ended.
func (m *memory) end(id ident.Member, at clock.Instant) {
	if mem := m.members[id]; mem != nil {
		mem.ended = at
	}
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

// rationed is when a new token may open: by the ration of its generator, or if that is used up by the presenter's. So neither
// strangers that present a generator's old tokens nor a generator whose tokens a member presents keep a token out.
func (m *memory) rationed(p Permit, now clock.Instant) clock.Instant {
	made, presents := now, now
	if mem := m.generators[p.Generator]; mem != nil {
		made = mem.ration.ready()
	}
	if mem := m.members[p.Title.Holder]; mem != nil {
		presents = mem.ration.ready()
	}
	return min(made, presents)
}

// open notes the token under which a session opens.
func (m *memory) open(r *OpeningRecord, now clock.Instant) {
	if m.token(r.Generator, r.Token) {
		return
	}
	if made := &m.generators[r.Generator].ration; made.ready() <= now {
		made.use(now)
		return
	}
	m.member(r.Member).ration.use(now)
}

// token notes that a generator's token is its last one, and reports whether the gate knew it.
func (m *memory) token(generator ident.Member, t ident.Token) (known bool) {
	mem := m.generators[generator]
	if mem == nil {
		if len(m.generators) >= maxMembers {
			var first ident.Member
			for id, o := range m.generators {
				if f := m.generators[first]; f == nil || o.ration < f.ration || o.ration == f.ration && id.Compare(first) < 0 {
					first = id
				}
			}
			delete(m.generators, first)
		}
		mem = new(generatorMemory)
		m.generators[generator] = mem
	}
	if i := slices.Index(mem.tokens, t); i >= 0 {
		mem.tokens = append(slices.Delete(mem.tokens, i, i+1), t)
		return true
	}
	if len(mem.tokens) >= MaxTokens {
		mem.tokens = slices.Delete(mem.tokens, 0, 1)
	}
	mem.tokens = append(mem.tokens, t)
	return false
}
