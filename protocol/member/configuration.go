package member

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// configurationMessage takes in a configuration of a peer.
func (m *Member) configurationMessage(from ident.Member, p *peer, msg *wire.Configuration) {
	switch {
	case m.ignored(from):
		m.reject("ignored peer")
	case msg.Before == 0 && !p.configurations.spend(m.now.Boot, configurationRate, configurationBurst):
		m.reject("configuration rate")
	case msg.Before > 0 && !m.assemblies.of(from).continues(msg):
		// Frames are lost in full queues and with connections: nobody is blamed.
		m.assemblies.drop(from)
		m.reject("configuration part")
	default:
		if raw, whole := m.assemblies.add(from, msg); whole {
			m.learnConfiguration(from, raw, msg.Authorities)
		}
	}
}

// learnConfiguration puts a newer group configuration into force, with the CA
// keys that it lists. A lower version is refused and reported; the same one is
// no news.
func (m *Member) learnConfiguration(from ident.Member, raw []byte, authorities [][]byte) {
	if bytes.Equal(raw, m.cfg.Group.Config().Raw()) {
		return
	}
	fresh, err := m.adopt(raw, authorities)
	if err != nil {
		m.refuseConfiguration(from, err)
		return
	}
	for _, a := range fresh {
		m.persist(&journal.Known{What: journal.KnownAuthority, Object: a}, false)
	}
	m.persist(&journal.Known{What: journal.KnownConfiguration, Object: raw}, false)
	m.refute() // failure may be for ever now
	for _, id := range m.peers.list() {
		if p := m.peers.of(id); id != from && p.configuration < m.settings.Version {
			m.sendConfiguration(id)
		}
	}
	// The last one: it may end connections with those that this is news to.
	m.emit(effect.Reconfigure{Version: m.settings.Version})
}

// learnAuthorities takes in statements about CA keys, which one that is in force
// vouches for. A list may begin with keys that were retired long ago; the first
// that is forged ends it.
func (m *Member) learnAuthorities(list [][]byte) {
	for _, raw := range list {
		g, err := m.cfg.Group.WithAuthority(raw)
		if errors.Is(err, group.ErrRetired) || errors.Is(err, certificate.ErrUnknownCA) {
			continue
		}
		if err != nil {
			m.reject("statement about a CA key")
			return
		}
		if g == m.cfg.Group {
			continue
		}
		m.cfg.Group = g
		m.dir.SetGroup(g)
		m.persist(&journal.Known{What: journal.KnownAuthority, Object: raw}, false)
		m.emit(effect.Reconfigure{Version: m.settings.Version})
	}
}

// refuseConfiguration counts and reports a configuration that was not put into
// force. A peer that has an older one is given the newer; one that has another of
// the same version is not, or the two would go on for ever.
func (m *Member) refuseConfiguration(from ident.Member, err error) {
	switch {
	case errors.Is(err, group.ErrOlder):
		m.stale(from, "older configuration")
		if m.peers.has(from) && !errors.Is(err, group.ErrSameVersion) {
			m.sendConfiguration(from)
		}
	case errors.Is(err, certificate.ErrSignature), errors.Is(err, group.ErrMalformed):
		m.blame(from, "forged configuration")
	default:
		m.reject("configuration")
	}
	m.emit(effect.Report{Kind: "configuration", About: from, Detail: err.Error()})
}

func (m *Member) sendConfiguration(to ident.Member) {
	if p := m.peers.of(to); p != nil {
		p.configuration = m.settings.Version // it will have it
	}
	for _, part := range wire.ConfigurationParts(m.cfg.Group.Config().Raw(), m.cfg.Group.Vouchers()) {
		m.send(to, part)
	}
}

// adopt puts a configuration into force if it is newer and this build knows its
// policies. It returns the statements about CA keys that were not known.
func (m *Member) adopt(raw []byte, authorities [][]byte) (fresh [][]byte, err error) {
	old, former := m.cfg.Group, m.settings
	g, err := old.Update(raw, authorities)
	if err != nil {
		return nil, err
	}
	m.cfg.Group = g
	slots, err := m.configure()
	if err != nil {
		m.cfg.Group = old
		return nil, fmt.Errorf("version %d: %w", g.Config().Version(), err)
	}
	m.dir.SetGroup(g)
	m.exchange.at = min(m.exchange.at, m.now.Boot.Add(m.settings.GossipInterval))
	m.housekeepAt = min(m.housekeepAt, m.now.Boot) // the settlement time may be another
	for _, s := range slots {
		m.resumeSlot(s)
	}
	if m.handoff != nil { // or the journal is still being read: see noteConfiguration
		m.beginFounding(slots, former)
	}
	known := old.Vouchers()
	return slices.DeleteFunc(g.Vouchers(), func(a []byte) bool {
		return slices.ContainsFunc(known, func(b []byte) bool { return bytes.Equal(a, b) })
	}), nil
}
