package member

import (
	"bytes"
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
	// eight thousand members can be told of a new token. It is 0.7 MB at most.
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

// urgency is which POLICY messages go first where several wait for a dial.
type urgency uint8

const (
	statements urgency = iota // of keepers
	questions                 // of a keeper to all members
	hints                     // of policies
	urgencies
)

// tells are the POLICY messages that wait until their receivers may be dialled, or answer a
// dial.
type tells struct {
	waiting [urgencies][]tell
	dialled map[ident.Member]dialled
	dials   budget
	at      clock.Instant // when the next member may be dialled
}

type tell struct {
	to    ident.Member
	msg   *wire.Policy
	asker *slot // of a question: whose policy it is of
}

func (t tell) urgency() urgency {
	switch {
	case t.asker != nil:
		return questions
	case shareOf(t.msg.Body) == ofKeepers:
		return statements
	}
	return hints
}

// dialled is a member that was dialled for a message.
type dialled struct {
	at     clock.Instant
	failed bool  // it did not answer
	asker  *slot // of the message, if it was a question
}

// tellPeer sends a message from the policy of a slot to a peer's.
func (m *Member) tellPeer(s *slot, a *policy.Action) {
	t := tell{to: a.To, msg: &wire.Policy{
		Resource: s.key.resource, Slot: s.key.number, Policy: s.resource.Policy,
		Configuration: m.settings.Version, Body: slices.Clone(a.Field),
	}}
	if a.Question {
		t.asker = s
	}
	m.tellMember(t)
}

func (m *Member) tellMember(t tell) {
	w, list := &m.tells, &m.tells.waiting[t.urgency()]
	switch d := w.dialled[t.to]; {
	case t.to == m.self || m.dir.Status(t.to, m.now.Wall) != nil && !m.peers.has(t.to):
		m.reject("policy message to nobody")
	case !m.peers.has(t.to) && !m.dir.Dialable(t.to):
		m.reject("policy message out of reach")
	case m.peers.has(t.to):
		m.tellConnected(t)
	case d.failed && t.asker != nil && m.now.Boot < d.at.Add(m.settings.Silence):
		// A question is not worth a second dial so soon.
	case m.dialsFor(t):
	case len(*list) >= maxTells:
		m.reject("policy messages waiting")
		m.unsent(t.asker, t.to)
	default:
		*list = append(*list, t)
		m.queues(t, 1)
	}
}

// queues counts the questions that wait, and tells the policy of the first and the last.
func (m *Member) queues(t tell, n int) {
	s := t.asker
	if s == nil {
		return
	}
	before := s.queued
	if s.queued += n; before == 0 || s.queued == 0 {
		m.events.notify(s, policy.Event{Kind: policy.Queued, Members: s.queued})
	}
}

// unsent tells a policy that a question has not gone.
func (m *Member) unsent(asker *slot, to ident.Member) {
	if asker != nil {
		m.events.notify(asker, policy.Event{Kind: policy.Unsent, From: to})
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
	case m.peers.of(t.to).tells[of].spend(m.now.Boot, m.policyRate, m.policyBurst):
		m.send(t.to, t.msg)
	case of == ofKeepers:
		m.reject("own keeper rate")
		m.unsent(t.asker, t.to)
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
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t tell) bool {
			goes := m.dialsFor(t)
			if goes {
				m.queues(t, -1)
			}
			return goes
		})
		if len(w.waiting[i]) == 0 {
			w.waiting[i] = nil
		}
	}
}

// dialsFor dials for a message, and reports whether it may.
func (m *Member) dialsFor(t tell) bool {
	w := &m.tells
	d, known := w.dialled[t.to]
	switch {
	case known && !d.failed && m.now.Boot < d.at.Add(dialPatience):
		w.at = min(w.at, d.at.Add(dialPatience))
	case w.dials.spend(m.now.Boot, strangerRate, strangerBurst):
		if len(w.dialled) >= maxDialled {
			clear(w.dialled)
		}
		w.dialled[t.to] = dialled{at: m.now.Boot, asker: t.asker}
		m.send(t.to, t.msg)
		return true
	default:
		w.at = min(w.at, m.now.Boot.Add(w.dials.wait(strangerRate)))
	}
	return false
}

// tellAnswered sends what waits for a member that is connected now.
func (m *Member) tellAnswered(id ident.Member) {
	delete(m.tells.dialled, id)
	m.takeTells(id, m.tellConnected)
}

// tellUnanswered drops what waits for a member that was dialled and does not answer. If the
// failure was on this side the member is dialled again.
func (m *Member) tellUnanswered(in Unreachable) {
	w := &m.tells
	d, known := w.dialled[in.Peer]
	switch {
	case !known || d.failed:
	case in.Silent || in.Refused:
		d.failed = true
		w.dialled[in.Peer] = d
		m.takeTells(in.Peer, func(tell) {})
	default:
		delete(w.dialled, in.Peer)
		m.unsent(d.asker, in.Peer)
		w.at = min(w.at, m.now.Boot)
	}
}

// takeTells takes what waits for a member out of the queues.
func (m *Member) takeTells(id ident.Member, use func(tell)) {
	w := &m.tells
	for i := range w.waiting {
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t tell) bool {
			if t.to != id {
				return false
			}
			use(t)
			m.queues(t, -1)
			return true
		})
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
	case m.recalling && of == ofKeepers:
		m.recall.keepWord(policyEvent{s, policy.Event{Kind: policy.Message, From: from, Body: bytes.Clone(msg.Body)}})
	default:
		m.events.notify(s, policy.Event{Kind: policy.Message, From: from, Body: msg.Body})
	}
}
