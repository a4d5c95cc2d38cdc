package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// policyRate and policyBurst bound the POLICY messages of one share between two
	// members, per second and at once, each way: what a member handles, and so what it sends. A
	// policy tells a peer a few things for each operation, and none is needed for
	// safety; the shortest operations of the demo need 70 a second between three
	// members. One costs about 10 µs, so that a peer can take four
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

	// maxTells bounds the POLICY messages of one urgency that wait for a dial: an eighth of
	// eight thousand members can be told of a new token. It is 0.7 MB.
	maxTells = 1024

	// maxDialled bounds the members that are remembered to have been dialled for them.
	maxDialled = 4096
)

// share is what POLICY messages are counted against. Each has a ration of its own with each
// peer, so that a policy with much to say, or a liar, does not keep a keeper from being heard.
type share uint8

const (
	ofKeepers share = iota
	ofPolicies
	shares
)

func shareOf(body []byte) share {
	if len(body) > 0 && body[0] >= policy.KeeperKind {
		return ofKeepers
	}
	return ofPolicies
}

// rations are the budgets of the shares.
type rations [shares]budget

func newRations(left float64, now clock.Instant) rations {
	return rations{{left, now}, {left, now}}
}

// tells are the POLICY messages that wait until their receivers may be dialled, or answer a
// dial.
type tells struct {
	waiting [shares][]tell // the keepers' go first
	dialled map[ident.Member]clock.Instant
	dials   budget
	at      clock.Instant // when the next member may be dialled
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
	t, list := tell{to, msg}, &m.tells.waiting[shareOf(msg.Body)]
	switch {
	case t.to == m.self || m.dir.Status(t.to, m.now.Wall) != nil && m.peers[t.to] == nil:
		m.reject("policy message to nobody")
	case m.peers[t.to] == nil && !m.dir.Dialable(t.to):
		m.reject("policy message out of reach")
	case m.peers[t.to] != nil:
		m.tellConnected(t)
	case len(*list) >= maxTells:
		m.reject("policy messages waiting")
	default:
		*list = append(*list, t)
		m.tells.at = min(m.tells.at, m.now.Boot)
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
	of := shareOf(t.msg.Body)
	switch {
	case m.peers[t.to].tells[of].spend(m.now.Boot, m.policyRate, m.policyBurst):
		m.send(t.to, t.msg)
	case of == ofKeepers:
		m.reject("own keeper rate")
	default:
		m.reject("own policy rate")
	}
}

// tellStrangers sends what waits, as far as the dials permit: one message to each member
// that is dialled, and the others when it has answered.
func (m *Member) tellStrangers() {
	w := &m.tells
	if m.now.Boot < w.at {
		return
	}
	w.at = clock.Never
	for i := range w.waiting {
		if w.waiting[i] = slices.DeleteFunc(w.waiting[i], m.dialsFor); len(w.waiting[i]) == 0 {
			w.waiting[i] = nil
		}
	}
}

// dialsFor reports whether a message that waits has gone now.
func (m *Member) dialsFor(t tell) bool {
	w := &m.tells
	at, dialled := w.dialled[t.to]
	switch {
	case dialled && m.now.Boot < at.Add(dialPatience):
		w.at = min(w.at, at.Add(dialPatience))
	case w.dials.spend(m.now.Boot, strangerRate, strangerBurst):
		if len(w.dialled) >= maxDialled {
			clear(w.dialled)
		}
		w.dialled[t.to] = m.now.Boot
		m.send(t.to, t.msg)
		return true
	default:
		w.at = min(w.at, m.now.Boot.Add(w.dials.wait(strangerRate)))
	}
	return false
}

// tellAnswered sends what waits for a member that is connected now.
func (m *Member) tellAnswered(id ident.Member) {
	w := &m.tells
	delete(w.dialled, id)
	for i := range w.waiting {
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t tell) bool {
			if t.to == id {
				m.tellConnected(t)
			}
			return t.to == id
		})
	}
}

// tellUnanswered drops what waits for a member that does not answer. After a dial that has
// failed otherwise it is dialled again.
func (m *Member) tellUnanswered(in Unreachable) {
	w := &m.tells
	if _, dialled := w.dialled[in.Peer]; !dialled {
		return
	}
	delete(w.dialled, in.Peer)
	w.at = min(w.at, m.now.Boot)
	if !in.Silent && !in.Refused {
		return
	}
	for i := range w.waiting {
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t tell) bool { return t.to == in.Peer })
	}
}

func (m *Member) policyMessage(from ident.Member, p *peer, msg *wire.Policy) {
	s, of := m.configuredSlot(msg.Resource, msg.Slot), shareOf(msg.Body)
	heard := p.policies[of].spend(m.now.Boot, m.policyRate, m.policyBurst)
	switch {
	case !heard && of == ofKeepers:
		m.reject("keeper rate")
	case !heard:
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
