package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// policyRate and policyBurst bound the POLICY messages between two members, per
	// second and at once, each way: what a member handles, and so what it sends. A
	// policy tells a peer a few things for each operation, and none is needed for
	// safety; the shortest operations of the demo need 70 a second between three
	// members. One costs some 10 µs, so that a peer can take a few
	// thousandths of a core. What makes a policy look up witnesses costs more in groups
	// of thousands (Directory.Witnesses); policies bound that themselves: fair does it a few
	// times a second at most for one peer.
	policyRate  = 200
	policyBurst = 400

	// policyPerSlot is how many of them there may be each second for each slot, where
	// that is more: tokens move independently, and light tells of each hop twice.
	// maxPolicyRate bounds it: a peer can take a twenty-fifth of a core.
	policyPerSlot = 2
	maxPolicyRate = 4000

	// strangerRate and strangerBurst bound the members that are dialled for a POLICY
	// message, per second and at once: each costs 1.3 ms of processor time on both
	// sides together. Connections live for 30 seconds without a message, and a
	// transport keeps 1024.
	strangerRate  = 20
	strangerBurst = 64

	// maxTells bounds the POLICY messages that wait for a dial: an eighth of eight
	// thousand members can be told of a new token. It is 0.7 MB.
	maxTells = 1024
)

// tells are the POLICY messages that wait until their receivers may be dialled.
type tells struct {
	queue []tell
	dials budget
	at    clock.Instant // when the first may go
}

type tell struct {
	to  ident.Member
	msg *wire.Policy
}

// tellPeer sends a message from the policy of a slot to a peer's.
func (m *Member) tellPeer(s *slot, a *policy.Action) {
	m.tellMember(a.To, &wire.Policy{
		Resource: s.key.resource, Slot: s.key.number, Policy: s.resource.Policy,
		Configuration: m.settings.Version, Body: slices.Clone(a.Field),
	})
}

func (m *Member) tellMember(to ident.Member, msg *wire.Policy) {
	t := tell{to, msg}
	switch {
	case t.to == m.self || m.dir.Status(t.to, m.now.Wall) != nil && m.peers[t.to] == nil:
		m.reject("policy message to nobody")
	case m.peers[t.to] == nil && !m.dir.Dialable(t.to):
		m.reject("policy message out of reach")
	case m.peers[t.to] != nil:
		m.tellConnected(t)
	case len(m.tells.queue) >= maxTells:
		m.reject("policy messages waiting")
	default:
		m.tells.queue = append(m.tells.queue, t)
		m.tellStrangers()
	}
}

// policyLimits are how many POLICY messages may go between two members, per second and
// at once, in a group with so many slots.
func policyLimits(slots int) (rate, burst float64) {
	rate = max(policyRate, min(policyPerSlot*float64(slots), maxPolicyRate))
	return rate, rate * policyBurst / policyRate
}

// tellConnected sends no more than the peer handles.
func (m *Member) tellConnected(t tell) {
	if !m.peers[t.to].tells.spend(m.now.Boot, m.policyRate, m.policyBurst) {
		m.reject("own policy rate")
		return
	}
	m.send(t.to, t.msg)
}

// tellStrangers sends what waits, as far as the dials permit.
func (m *Member) tellStrangers() {
	w := &m.tells
	w.at = clock.Never
	for len(w.queue) > 0 {
		t := w.queue[0]
		switch {
		case m.peers[t.to] != nil:
			m.tellConnected(t)
		case w.dials.spend(m.now.Boot, strangerRate, strangerBurst):
			m.send(t.to, t.msg)
		default:
			w.at = m.now.Boot.Add(w.dials.wait(strangerRate))
			return
		}
		w.queue = slices.Delete(w.queue, 0, 1)
	}
	w.queue = nil
}

func (m *Member) policyMessage(from ident.Member, p *peer, msg *wire.Policy) {
	s := m.configuredSlot(msg.Resource, msg.Slot)
	switch {
	case !p.policies.spend(m.now.Boot, m.policyRate, m.policyBurst):
		m.reject("policy rate")
	case s == nil || msg.Configuration != m.settings.Version:
		m.reject("policy mismatch")
	case msg.Policy == Founding:
		m.foundingMessage(from, s, msg.Body)
	case s.resource.Policy != msg.Policy:
		m.reject("policy mismatch")
	default:
		m.tell(s, policy.Event{Kind: policy.Message, From: from, Body: msg.Body})
	}
}
