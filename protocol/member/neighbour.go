package member

import (
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// absentFirst and absentMax bound for how long a member that could not be
	// reached, or takes no token, is passed over as a neighbour: at first about as long as a
	// daemon needs to start again, then twice as long each time. One that
	// connects is back at once.
	absentFirst = 5 * time.Second
	absentMax   = 5 * time.Minute

	// lookEvery is how often a member looks who its neighbour is when nothing
	// has happened: certificates run out.
	lookEvery = time.Minute

	// maxGone bounds how many absent members are kept in mind, and looked at
	// each time that the neighbour is looked for. Beyond it, one that is gone
	// stays the neighbour until others have been absent for long enough: a ring
	// does not get past so many that are gone in a row.
	maxGone = 4096
)

// neighbour is who follows this member on the ring, as the policies were last told.
type neighbour struct {
	id      ident.Member    // zero: nobody
	before  ident.Member    // whose neighbour this member is
	links   [2]ident.Member // whom a member that only dials out keeps connected, absent or not
	members int             // that take part, this one among them
	outside bool            // this member has no place on the ring
	again   clock.Instant
	due     bool // something has happened since
}

// absence is since when and until when a member is passed over.
type absence struct {
	until clock.Instant
	pause time.Duration
}

// missing notes that a member could not be reached, or took no token.
func (m *Member) missing(id ident.Member) {
	a := m.gone[id]
	if a.until > m.now.Boot {
		return
	}
	if len(m.gone) >= maxGone {
		maps.DeleteFunc(m.gone, func(_ ident.Member, old absence) bool { return old.until <= m.now.Boot })
	}
	if len(m.gone) >= maxGone {
		return
	}
	a.pause = min(max(2*a.pause, absentFirst), absentMax)
	a.until = m.now.Boot.Add(a.pause)
	m.gone[id] = a
	m.ring.due = true
}

// unwilling notes that a member did not take a token. If it is the neighbour, the
// policies learn of another one before they decide anew.
func (m *Member) unwilling(id ident.Member) {
	if id == m.ring.id && !id.IsZero() {
		m.missing(id)
		m.lookAround()
	}
}

// present notes that a member is there.
func (m *Member) present(id ident.Member) {
	delete(m.gone, id)
	m.ring.due = true
}

// lookAround finds the neighbour anew if it may be another one, and tells the
// policies when it is.
func (m *Member) lookAround() {
	if !m.ring.due && m.now.Boot < m.ring.again {
		return
	}
	if m.findNeighbour() {
		for _, s := range m.order {
			m.tellNeighbour(s)
		}
	}
}

// findNeighbour reports whether the neighbour is another one than before.
func (m *Member) findNeighbour() bool {
	m.ring.due = false
	m.ring.again = m.now.Boot.Add(lookEvery)
	m.greetBefore()
	m.findLinks()
	m.findPlace()
	id, _ := m.dir.After(m.now.Wall, m.isGone)
	members := m.dir.RingLen()
	if id == m.ring.id && members == m.ring.members {
		return false
	}
	m.ring.id, m.ring.members = id, members
	return true
}

// greetBefore lets the member before this one know that this one is here: it may
// have passed over this one while it was away. The question is one that is worth
// asking anyway.
func (m *Member) greetBefore() {
	before, _ := m.dir.Before(m.now.Wall, m.isGone)
	if before == m.ring.before {
		return
	}
	m.ring.before = before
	if !before.IsZero() && m.peers[before] == nil && m.dir.Dialable(before) {
		m.send(before, &wire.Want{Topic: wire.WantRevocations, Version: m.dir.RevocationVersion()})
	}
}

// findLinks finds to whom a member that only dials out has to be connected: neither of
// those beside it on the ring can pass it a token, or be sure of its request, otherwise.
func (m *Member) findLinks() {
	var links [2]ident.Member
	if m.where.announced && len(m.where.addresses) == 0 && m.hasRing() {
		links[0], _ = m.dir.Before(m.now.Wall, nil)
		links[1], _ = m.dir.After(m.now.Wall, nil)
	}
	if links != m.ring.links {
		m.ring.links = links
		m.where.attachAt = min(m.where.attachAt, m.now.Boot)
	}
}

// linkRing dials those beside this member on the ring who are not connected. A
// connection that a member has made which only dials out is kept.
func (m *Member) linkRing() {
	for i, id := range m.ring.links {
		if !id.IsZero() && m.peers[id] == nil && m.dir.Dialable(id) && (i == 0 || id != m.ring.links[0]) {
			m.greet(id)
		}
	}
}

// findPlace notes whether this member has a place on the ring.
func (m *Member) findPlace() {
	outside := !m.dir.OnRing(m.now.Wall) && m.hasRing()
	if outside && !m.ring.outside {
		m.emit(effect.Report{
			Kind: "no place on the ring", About: m.self,
			Detail: "more than half of the members only dial out, and this one gets no turns",
		})
	}
	m.ring.outside = outside
}

// hasRing reports whether a resource is shared in a ring.
func (m *Member) hasRing() bool {
	return slices.ContainsFunc(m.settings.Resources, func(r group.Resource) bool { return r.Policy == catalog.Ring })
}

// isGone reports whether a member is passed over. Who is looks again when that
// ends.
func (m *Member) isGone(id ident.Member) bool {
	if m.isShunned(id) {
		m.ring.again = min(m.ring.again, m.shuns.until(id))
		return true
	}
	if !m.isAbsent(id) {
		return false
	}
	m.ring.again = min(m.ring.again, m.gone[id].until)
	return true
}

// isAbsent reports whether a member could not be reached of late, or took no token.
func (m *Member) isAbsent(id ident.Member) bool { return m.gone[id].until > m.now.Boot }

func (m *Member) tellNeighbour(s *slot) {
	m.tell(s, policy.Event{Kind: policy.Neighbour, From: m.ring.id, Members: m.ring.members})
}
