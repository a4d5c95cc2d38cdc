package member

import (
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
	// lookEvery is how often a member looks who its neighbour is when nothing
	// has happened: certificates run out.
	lookEvery = time.Minute
)

// neighbour is who follows this member on the ring, as the policies were last told.
type neighbour struct {
	id      ident.Member // zero: nobody
	before  ident.Member // whose neighbour this member is
	members int          // that take part, this one among them
	outside bool         // this member has no place on the ring
	again   clock.Instant
}

// unwilling notes that a member did not take a token. If it is the neighbour, the
// policies learn of another one before they decide anew.
func (m *Member) unwilling(id ident.Member) {
	if id == m.ring.id && !id.IsZero() {
		m.live.absences.missing(id)
		m.lookAround()
	}
}

// lookAround finds the neighbour anew if it may be another one, and tells the
// policies when it is.
func (m *Member) lookAround() {
	if !m.changed && m.now.Boot < m.ring.again {
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
	m.changed = false
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
	if !before.IsZero() && !m.peers.has(before) && m.dir.Dialable(before) {
		m.send(before, &wire.Want{Topic: wire.WantRevocations, Version: m.dir.RevocationVersion()})
	}
}

// findLinks finds to whom a member that only dials out has to be connected: neither of
// those beside it on the ring can pass it a token, or be sure of its request, otherwise.
func (m *Member) findLinks() {
	var links [2]ident.Member
	if m.members.endpoints.dialsOut() && m.hasRing() {
		links[0], _ = m.dir.Before(m.now.Wall, nil)
		links[1], _ = m.dir.After(m.now.Wall, nil)
	}
	m.members.endpoints.link(links)
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
	if !m.live.absences.isAbsent(id) {
		return false
	}
	m.ring.again = min(m.ring.again, m.live.absences.gone[id].until)
	return true
}

func (m *Member) tellNeighbour(s *slot) {
	m.events.notify(s, policy.Event{Kind: policy.Neighbour, From: m.ring.id, Members: m.ring.members})
}
