package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// Founding is what POLICY names in the place of a policy when it is about the
	// first token of a slot. No policy has this name.
	Founding = "founding"

	// maxFounders is how many members may generate the first token of a slot: those
	// that rank highest for it. With so many, some are alive.
	maxFounders = 4

	// foundersLooked is how many of the highest are looked at for them: those that do
	// not answer are passed over.
	foundersLooked = 16

	// foundingAsks is how many members at random a founder asks besides the other
	// founders: in a small group all, in a large one enough that a member that comes
	// late to a configuration finds one that has seen the slot's token.
	foundingAsks = 8

	// foundingPause is for how long a founder waits for answers: far above a round
	// trip, and three dials on the way.
	foundingPause = time.Second

	// foundingStagger is between the first questions about two slots: some thousand
	// slots at once ask for no more than the peers take (policyRate).
	foundingStagger = 5 * time.Millisecond

	// foundingFor is after what time the slot's policy is left to generate the token,
	// below the least time without a token after which the default policy does.
	foundingFor = 20 * time.Second
)

// The bodies of POLICY messages about founding.
const (
	foundingAsk   byte = iota + 1 // the sender is about to generate the first token
	foundingClear                 // it may, as far as the sender knows
	foundingWait                  // another founder, which ranks higher, is about to
	foundingKnown                 // a token of the slot has been seen
)

// founding is the state of one member's part in the first token of a slot that a
// configuration has added while the group works. A member founds when it ranks among
// the highest for the slot, those above it say that they do not, and of those asked
// somebody answers and nobody objects. It is a hint, like every message of a policy: at
// worst there are two tokens, or none until the policy generates one.
type founding struct {
	active    bool
	looked    bool // whether this member is one of the founders
	candidate bool // it is, as of the last look
	broad     bool // the last question went to more than those above
	objected  bool // since the last question
	at, until clock.Instant
	asked     []ident.Member
	clear     []ident.Member // who answered that this member may
	rival     ident.Member   // asked too, and ranks higher
	rivalAt   clock.Instant
}

// beginFounding begins to found the slots among these that the former configuration
// lacks.
func (m *Member) beginFounding(slots []*slot, former group.Settings) {
	at := m.now.Boot.Add(foundingPause / 4) // others learn of the configuration
	for _, s := range slots {
		if m.knowsToken(s) || has(former, s.key) {
			continue
		}
		if m.cfg.Found && !s.founded {
			s.founded = true // the operator's word is about the slots that there were
			m.persist(&journal.Founded{Resource: s.key.resource, Slot: s.key.number}, false)
		}
		if m.dir.Sampled() {
			continue // it cannot tell who ranks highest
		}
		s.founding = founding{active: true, at: at, until: at.Add(foundingFor)}
		m.added = append(m.added, s)
		at = at.Add(foundingStagger)
	}
}

// has reports whether a configuration has a slot.
func has(s group.Settings, k slotKey) bool {
	return slices.ContainsFunc(s.Resources, func(r group.Resource) bool {
		return r.Name == k.resource && k.number < uint64(r.Slots)
	})
}

// knowsToken reports whether a token of the slot is here, or was since the slot began.
func (m *Member) knowsToken(s *slot) bool { return s.lastSeen != 0 || len(m.holdsOf(s)) > 0 }

// founders are the members that may generate the first token of a slot, but for those
// that do not answer: those that rank above this one, and those below. It is false when
// this member is none of them.
func (m *Member) founders(s *slot) (above, below []ident.Member, candidate bool) {
	if m.dir.Candidates() == 0 {
		return nil, nil, true // though nobody can dial it
	}
	ranked := m.dir.Witnesses(directory.SlotID(s.key.resource, s.key.number), foundersLooked, m.now.Wall, nil)
	ranked = slices.DeleteFunc(ranked, m.shunned)
	ranked = ranked[:min(maxFounders, len(ranked))]
	at := slices.Index(ranked, m.self)
	if at < 0 {
		return ranked, nil, false
	}
	return ranked[:at], ranked[at+1:], true
}

// foundSlots goes on with the first tokens of slots.
func (m *Member) foundSlots() {
	if m.recalling {
		return
	}
	m.added = slices.DeleteFunc(m.added, func(s *slot) bool {
		if s.founding.active && s.founding.at <= m.now.Boot {
			m.foundSlot(s)
		}
		return !s.founding.active
	})
}

func (m *Member) foundSlot(s *slot) {
	f := &s.founding
	if m.knowsToken(s) || m.now.Boot >= f.until || m.stopping || m.departed || m.revoked {
		*f = founding{}
		return
	}
	f.at = m.now.Boot.Add(foundingPause)
	above, below, candidate := m.founders(s)
	f.looked, f.candidate = true, candidate
	switch {
	case !candidate || m.outranked(f):
		f.broad, f.clear = false, nil
		return
	case !f.cleared(above):
		f.broad = false
		m.askFounding(s, above)
		return
	case f.broad && !f.objected && (len(f.clear) > 0 || m.dir.Candidates() == 0):
		*f = founding{}
		m.generate(s, false)
		return
	}
	f.broad = true
	m.askFounding(s, m.dir.DrawSome(m.sources.member, foundingAsks, m.now.Wall, func(id ident.Member) bool {
		return slices.Contains(above, id) || slices.Contains(below, id) || m.shunned(id)
	}, slices.Concat(above, below)))
}

// outranked reports whether a member that ranks higher has asked just now.
func (m *Member) outranked(f *founding) bool {
	return !f.rival.IsZero() && m.now.Boot < f.rivalAt.Add(2*foundingPause)
}

// cleared reports whether all of a list have said that this member may generate.
func (f *founding) cleared(list []ident.Member) bool {
	for _, id := range list {
		if !slices.Contains(f.clear, id) {
			return false
		}
	}
	return true
}

func (m *Member) askFounding(s *slot, list []ident.Member) {
	s.founding.objected, s.founding.asked = false, list
	for _, id := range list {
		m.tellFounding(s, id, foundingAsk)
	}
}

func (m *Member) tellFounding(s *slot, to ident.Member, what byte) {
	m.tellMember(tell{to: to, msg: &wire.Policy{
		Resource: s.key.resource, Slot: s.key.number, Policy: Founding,
		Configuration: m.settings.Version, Body: []byte{what},
	}})
}

// foundingMessage answers a question about the first token of a slot, or takes in an
// answer.
func (m *Member) foundingMessage(from ident.Member, s *slot, body []byte) {
	f := &s.founding
	switch {
	case len(body) != 1:
		m.reject("policy mismatch")
	case body[0] == foundingAsk:
		m.tellFounding(s, from, m.answerFounding(from, s))
	case !f.active || !slices.Contains(f.asked, from):
		m.reject("policy mismatch")
	case body[0] == foundingKnown:
		*f = founding{}
	case body[0] == foundingWait:
		f.objected = true
	case body[0] == foundingClear && !slices.Contains(f.clear, from):
		f.clear = append(f.clear, from)
	}
}

// answerFounding says what is known of a slot's first token. Of two members that ask,
// the one that ranks lower is told to wait, and waits itself when it is this one.
func (m *Member) answerFounding(from ident.Member, s *slot) byte {
	f := &s.founding
	if m.knowsToken(s) {
		return foundingKnown
	}
	if !f.active {
		return foundingClear
	}
	if !f.looked {
		_, _, f.candidate = m.founders(s)
		f.looked = true
	}
	ranks := directory.NewWitnessRank(m.cfg.Group.ID(), directory.SlotID(s.key.resource, s.key.number))
	switch asks := ranks.Of(from); {
	case f.candidate && directory.Above(ranks.Of(m.self), asks),
		m.outranked(f) && directory.Above(ranks.Of(f.rival), asks):
		return foundingWait
	default:
		f.rival, f.rivalAt = from, m.now.Boot
		return foundingClear
	}
}
