package member

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// joiningPace is how soon a member that has not got its snapshots yet asks
	// somebody again: at first. The pauses double up to gossip_interval, and are
	// short again when somebody else connects.
	joiningPace = time.Second

	// strangerEvery is which of a member's exchanges is with one drawn from all: the
	// others are with members that are connected, which costs a third of a dial. A
	// member is drawn as often as before, by those that it is connected with. With an
	// exchange each 5 seconds, and connections that are closed after 30 without one,
	// a member has about eight: together they are a random graph whose diameter is
	// little above that of all with all.
	strangerEvery = 6

	// cutOffAfter is how many gossip intervals without a connection make a member
	// one that was cut off.
	cutOffAfter = 3

	// gossipRate and gossipBurst bound the GOSSIP of one peer, per second and at
	// once. Each costs an answer and perhaps a repair; MinGossipInterval is a
	// tenth of a second.
	gossipRate  = 12
	gossipBurst = 30

	// askedWorkRate and askedWorkBurst bound the pages and summaries that one
	// peer is given, per second and at once. A page costs 50 µs and 30 kB, so
	// that a joiner gets a directory of a million members in some minutes, and
	// nobody more than a few megabytes a second.
	askedWorkRate  = 100
	askedWorkBurst = 1000
)

// exchange is how a member keeps its directory like everybody else's.
type exchange struct {
	at      clock.Instant // the next one
	early   bool          // it may come up to half an interval early, as a peer has just begun one
	aloneAt clock.Instant // since when nobody is connected; Never: somebody is
	rounds  uint64        // exchanges that this member began
	pause   time.Duration // before the next one, while snapshots are missing
}

// gossip compares notes with a random member once each gossip_interval, and with
// one that is said to have failed: so the halves of a broken network find each
// other when it is whole again.
func (m *Member) gossip() {
	m.noteAlone()
	e := &m.exchange
	early := e.early && m.snapshots.caughtUp() && m.now.Boot >= e.at.Add(-m.settings.GossipInterval/2)
	e.early = false
	switch {
	case early:
		e.at = e.at.Add(m.settings.GossipInterval)
	case m.now.Boot >= e.at:
		e.at = m.now.Boot.Add(m.gossipPause())
	default:
		return
	}
	m.refreshSample()
	if m.stopping {
		return
	}
	if id, ok := m.partner(); ok {
		m.exchange.rounds++
		m.greeter.greet(id)
	}
	if id, ok := m.dir.DrawFailed(m.sources.member, m.now.Wall); ok && !m.peers.has(id) {
		m.greeter.greet(id)
	}
}

// partner draws the member of the next exchange: mostly from those connected, and each
// strangerEvery-th time from all.
func (m *Member) partner() (id ident.Member, ok bool) {
	if m.snapshots.caughtUp() && m.exchange.rounds%strangerEvery != 0 {
		if id, ok := m.drawConnected(); ok {
			return id, true
		}
	}
	return m.dir.Choose(m.sources.member, m.now.Wall, m.live.detector.isSuspect)
}

// drawConnected draws one of the connected peers in good standing, each with the
// same chance. It asks for the standing of those alone that it draws.
func (m *Member) drawConnected() (id ident.Member, ok bool) {
	random := rand.New(m.sources.member)
	for list := m.peers.list(); len(list) > 0; {
		at := random.IntN(len(list))
		if m.dir.Status(list[at], m.now.Wall) == nil {
			return list[at], true
		}
		list = slices.Delete(list, at, at+1)
	}
	return id, false
}

func (m *Member) gossipPause() time.Duration {
	e := &m.exchange
	if m.snapshots.caughtUp() {
		return m.settings.GossipInterval
	}
	e.pause = min(max(2*e.pause, joiningPace), m.settings.GossipInterval)
	return e.pause
}

// noteAlone begins anew with the snapshots of a member that was cut off.
func (m *Member) noteAlone() {
	switch {
	case m.peers.len() > 0:
		m.exchange.aloneAt = clock.Never
	case m.exchange.aloneAt == clock.Never:
		m.exchange.aloneAt = m.now.Boot
	case m.now.Boot.Sub(m.exchange.aloneAt) >= cutOffAfter*m.settings.GossipInterval:
		clear(m.snapshots.from)
	}
}

// gossipMessage compares a peer's notes with this member's own: versions first,
// then directories.
func (m *Member) gossipMessage(from ident.Member, p *peer, msg *wire.Gossip) {
	if !p.gossips.spend(m.now.Boot, gossipRate, gossipBurst) {
		m.reject("gossip rate")
		return
	}
	m.compareVersions(from, p, msg.Configuration, msg.Revocations)
	if !msg.Answer {
		m.send(from, m.greeter.notes(true))
		m.exchange.early = true // two exchanges at one time wake the process half as often
	}
	m.compareDirectories(from, p, msg)
}

// compareVersions asks for what is newer there. What is newer here the peer asks
// for, as it is shown the same.
func (m *Member) compareVersions(from ident.Member, p *peer, configuration, revocations uint64) {
	p.configuration, p.revocations = max(p.configuration, configuration), max(p.revocations, revocations)
	if configuration > m.settings.Version {
		m.send(from, &wire.Want{Topic: wire.WantConfiguration, Version: m.settings.Version})
	}
	if own := m.dir.RevocationVersion(); revocations > own {
		m.send(from, &wire.Want{Topic: wire.WantRevocations, Version: own})
	}
}

func (m *Member) compareDirectories(from ident.Member, p *peer, msg *wire.Gossip) {
	members, fingerprint := m.dir.Fingerprint()
	switch {
	case m.dir.Sampled():
		m.askSample(from, p)
	case msg.Fingerprint == fingerprint && msg.Members == members:
		m.snapshots.add(from)
	case msg.Members == 0: // it knows a sample only, or nobody: there is nothing to learn
	default:
		m.repair(from, p)
	}
}
