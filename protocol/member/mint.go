package member

import (
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
)

// mint makes tokens.
type mint struct {
	*core
	slots     *slotTable
	custody   *custody
	events    *events
	admission *admission
	ring      *ring
	generated uint64 // tokens
}

// generate makes a token and takes custody of it. A member that holds one of
// the slot makes no other: its policy may have released it, but nobody has
// accepted it yet. One without a place on the ring (rule P-17) sees none because
// none comes to it, not because it is lost.
func (m *mint) generate(s *slot, founding bool) {
	if m.stopping || m.recalling || m.custody.handoff.Held() >= handoff.MaxHeld || len(m.custody.of(s)) > 0 {
		return
	}
	if m.ring.outside && !founding && s.resource.Policy == catalog.Ring {
		return
	}
	body := token.GenesisBody{
		Resource: s.key.resource, Slot: s.key.number, Generator: m.self,
		Incarnation: m.incarnation, Sequence: m.custody.handoff.DrawSequence(), Time: m.admission.birthTime(s),
	}
	_, _ = m.sources.member.Read(body.Nonce[:]) // never fails
	body.Extensions = m.custody.handoff.Position().Extensions()
	g, err := body.Sign(m.cfg.Group.ID(), m.cfg.Key)
	if err != nil {
		m.reject("genesis not signed")
		return
	}
	m.custody.handoff.Own(g, founding)
	m.generated++
	s.founded = s.founded || founding
	title := token.Title{Genesis: g}
	h := m.custody.hold(s, title, 0)
	m.slots.visit(s, title, false)
	m.events.notify(s, policy.Event{Kind: policy.Generated, Token: m.custody.describe(h)})
}

// found makes the first token of each slot, if this member was told to and has
// not done so before.
func (m *mint) found() {
	if !m.cfg.Found || m.revoked || m.departed {
		return
	}
	for _, s := range m.slots.order {
		if !s.founded && !s.leaving {
			m.generate(s, true)
		}
	}
}
