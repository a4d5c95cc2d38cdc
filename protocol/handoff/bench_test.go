package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// BenchmarkHandoff passes one token back and forth between two durable members:
// four messages, three signatures and six verified ones a handoff.
func BenchmarkHandoff(b *testing.B) {
	parties := newGroup(b, 2)
	at := map[ident.Member]*party{parties[0].id: parties[0], parties[1].id: parties[1]}
	var step func(p *party, f func(*handoff.Machine))
	step = func(p *party, f func(*handoff.Machine)) {
		p.m.SetNow(p.now)
		f(p.m)
		effects, _ := p.m.Drain()
		for _, e := range effects {
			if s, ok := e.(effect.Send); ok {
				step(at[s.To], func(m *handoff.Machine) { deliver(m, p.id, s.Message) })
			}
		}
	}
	tok := parties[0].own().ID()
	hop := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		p := parties[hop%2]
		step(p, func(m *handoff.Machine) { m.Prepare(tok, hop, ident.Member{}) })
		step(p, func(m *handoff.Machine) { m.Release(tok, hop, ident.Member{}, nil) })
		hop++
	}
	require.True(b, parties[hop%2].holds(tok, hop))
}

// deliver gives a message to a machine. What it refuses, the benchmark sees at its end.
func deliver(m *handoff.Machine, from ident.Member, message wire.Message) {
	switch msg := message.(type) {
	case *wire.Offer:
		m.OnOffer(from, msg)
	case *wire.Accept:
		m.OnAccept(from, msg)
	case *wire.Transfer:
		_ = m.OnTransfer(from, msg)
	case *wire.Receipt:
		_ = m.OnAnswer(from, token.Receipt, msg.Receipt)
	}
}
