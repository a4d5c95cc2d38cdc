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

// configuration puts newer group configurations into force, and hands them on.
type configuration struct {
	*core
	faults    *faults
	records   *records
	endpoints *endpoints
	owner     owner

	assemblies assemblies
}

// onMessage takes in a configuration of a peer.
func (g *configuration) onMessage(from ident.Member, msg *wire.Configuration) {
	switch {
	case msg.Before > 0 && !g.assemblies.of(from).continues(msg):
		// Frames are lost in full queues and with connections: nobody is blamed.
		g.assemblies.drop(from)
		g.reject("configuration part")
	default:
		if raw, whole := g.assemblies.add(from, msg); whole {
			g.learn(from, raw, msg.Authorities)
		}
	}
}

// learn puts a newer group configuration into force, with the CA
// keys that it lists. A lower version is refused and reported; the same one is
// no news.
func (g *configuration) learn(from ident.Member, raw []byte, authorities [][]byte) {
	if bytes.Equal(raw, g.cfg.Group.Config().Raw()) {
		return
	}
	fresh, err := g.adopt(raw, authorities)
	if err != nil {
		g.refuse(from, err)
		return
	}
	for _, a := range fresh {
		g.records.known(journal.KnownAuthority, a)
	}
	g.records.known(journal.KnownConfiguration, raw)
	g.endpoints.refute() // failure may be permanent now
	for _, id := range g.peers.list() {
		if p := g.peers.of(id); id != from && p.configuration < g.settings.Version {
			g.sendTo(id)
		}
	}
	// The last one: it may end connections with those that this is news to.
	g.emit(effect.Reconfigure{Version: g.settings.Version})
}

// learnAuthorities takes in statements about CA keys, which one that is in force
// vouches for. A list may begin with keys that were retired long ago; the first
// that is forged ends it.
func (g *configuration) learnAuthorities(list [][]byte) {
	for _, raw := range list {
		next, err := g.cfg.Group.WithAuthority(raw)
		if errors.Is(err, group.ErrRetired) || errors.Is(err, certificate.ErrUnknownCA) {
			continue
		}
		if err != nil {
			g.reject("statement about a CA key")
			return
		}
		if next == g.cfg.Group {
			continue
		}
		g.cfg.Group = next
		g.dir.SetGroup(next)
		g.records.known(journal.KnownAuthority, raw)
		g.emit(effect.Reconfigure{Version: g.settings.Version})
	}
}

// refuse counts and reports a configuration that was not put into
// force. A peer that has an older one is given the newer; one that has another of
// the same version is not, or the two would never stop.
func (g *configuration) refuse(from ident.Member, err error) {
	switch {
	case errors.Is(err, group.ErrOlder):
		g.faults.stale(from, "older configuration")
		if g.peers.has(from) && !errors.Is(err, group.ErrSameVersion) {
			g.sendTo(from)
		}
	case errors.Is(err, certificate.ErrSignature), errors.Is(err, group.ErrMalformed):
		g.faults.blame(from, "forged configuration")
	default:
		g.reject("configuration")
	}
	g.emit(effect.Report{Kind: "configuration", About: from, Detail: err.Error()})
}

func (g *configuration) sendTo(to ident.Member) {
	if p := g.peers.of(to); p != nil {
		p.configuration = g.settings.Version // it will have it
	}
	for _, part := range wire.ConfigurationParts(g.cfg.Group.Config().Raw(), g.cfg.Group.Vouchers()) {
		g.send(to, part)
	}
}

// adopt puts a configuration into force if it is newer and this build knows its
// policies. It returns the statements about CA keys that were not known.
func (g *configuration) adopt(raw []byte, authorities [][]byte) (fresh [][]byte, err error) {
	old := g.cfg.Group
	if g.cfg.Group, err = old.Update(raw, authorities); err != nil {
		g.cfg.Group = old
		return nil, err
	}
	version := g.cfg.Group.Config().Version()
	if err := g.owner.reconfigure(); err != nil {
		g.cfg.Group = old
		return nil, fmt.Errorf("version %d: %w", version, err)
	}
	known := old.Vouchers()
	return slices.DeleteFunc(g.cfg.Group.Vouchers(), func(a []byte) bool {
		return slices.ContainsFunc(known, func(b []byte) bool { return bytes.Equal(a, b) })
	}), nil
}
