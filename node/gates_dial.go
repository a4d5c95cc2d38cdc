package node

import (
	"context"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// gateTargets are the gates of a configuration.
func gateTargets(c group.Config) (list []gateTarget) {
	for _, r := range c.Settings().Resources {
		if !r.Gate.IsZero() {
			list = append(list, gateTarget{resource: r.Name, address: r.Gate.Address, gate: r.Gate.Member})
		}
	}
	return list
}

// dialGate makes a connection with a gate.
func (n *Node) dialGate(ctx context.Context, t gateTarget) (*client.Conn, error) {
	known := acquaintance{n.engine}
	return client.Dial(ctx, client.Config{
		Address: t.address, Resource: t.resource, Gate: t.gate, Group: n.currentGroup,
		Certificate: n.authority.certificate(), Key: n.cfg.Key, Revocations: known.revocationsAbove,
		Learn: n.learnFromGate, Now: n.cfg.Now, Log: n.log,
	})
}

// learnFromGate takes in what a gate knows. It returns when that has been done: a gate that talks too fast has to wait, as peers have.
func (n *Node) learnFromGate(configuration []byte, authorities, revocations [][]byte) {
	n.engine.do(member.Learn{Configuration: configuration, Authorities: authorities, Revocations: revocations})
}

// maxTold bounds the revocations that a gate is told at once, in 16 UPDATEs of the 64 that it reads without a pause. It hears of the others before later sign-ins.
const maxTold = 1000

// revocationsAbove are those that the member knows, signed.
func (a acquaintance) revocationsAbove(above uint64) (version uint64, list [][]byte) {
	a.engine.look(func(m *member.Member) {
		version, list = member.RevocationsAbove(m, above, maxTold)
	})
	return version, list
}

// raw is the newest certificate of a member that is known, encoded.
func (a acquaintance) raw(id ident.Member) (raw []byte) {
	a.engine.look(func(m *member.Member) {
		if c, ok := m.Certificate(id); ok {
			raw = c.Raw()
		}
	})
	return raw
}
