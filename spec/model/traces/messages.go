package main

import (
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// said is a message that left.
func (t *translator) said(m wire.Message) {
	switch m := m.(type) {
	case *wire.Offer:
		if s := t.stories[m.Token]; s != nil && !s.offered[int(m.Hop)] {
			s.offered[int(m.Hop)] = true
			t.step(s, "sender", int(m.Hop)-1, "OFFER")
		}
	case *wire.Accept:
		if s := t.stories[m.Token]; s != nil {
			t.accepted(s, m)
		}
	case *wire.Transfer:
		if s, b := t.transfer(m.Transfer); s != nil && !s.passed[int(b.Hop)] {
			s.passed[int(b.Hop)] = true
			t.step(s, "sender", int(b.Hop)-1, "RETRANSMIT")
		}
	case *wire.Receipt:
		t.answered(token.Receipt, m.Receipt)
	case *wire.Void:
		t.answered(token.Void, m.Void)
	case *wire.Unknown:
		t.answered(token.Unknown, m.Unknown)
	}
}

// accepted is an ACCEPT that left. That a reservation has lapsed, and was forgotten,
// shows only now. One that leaves after its hop was decided brings nothing about.
func (t *translator) accepted(s *story, m *wire.Accept) {
	p := place{s.node(t.now.Member, t.now.Durable), int(m.Hop)}
	x := s.slot(p)
	if x.reservation == m.Accept || x.memory != none {
		return
	}
	if x.reservation != 0 {
		t.step(s, "receiver", p.hop, "EXPIRE")
		t.step(s, "receiver", p.hop, "FORGET")
	}
	t.step(s, "receiver", p.hop, "OFFER")
	x.reservation = m.Accept
	x.issued = append(x.issued, rid{accept: m.Accept, offerer: t.now.To})
}

// answered is an answer that left. Only the first RECEIPT or VOID is a step.
func (t *translator) answered(v token.Verdict, raw []byte) {
	b, _, err := token.PeekAnswer(t.now.Group, v, raw)
	s := t.stories[b.Token]
	if err != nil || s == nil {
		return
	}
	hop := int(b.Hop)
	if v == token.Unknown {
		if s.slot(place{s.nodes[t.now.Member], hop}).memory == none {
			t.step(s, "receiver", hop, "STALE")
		}
		return
	}
	if !s.replied[hop] {
		s.replied[hop] = true
		t.step(s, "receiver", hop, "DUPLICATE")
	}
}
