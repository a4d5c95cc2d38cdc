package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestSender_ShunnedHasAccepted_AnotherOneGetsIt: an ACCEPT in hand counts no more.
func TestSender_ShunnedHasAccepted_AnotherOneGetsIt(t *testing.T) {
	for _, shuns := range []bool{false, true} {
		g := newGroup(t, 3)
		tok := g[0].own().ID()
		offer := sent[*wire.Offer](g[0].prepare(tok, 0))
		g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
		g[0].takes(g[1], sent[*wire.Accept](g[1].takes(g[0], offer)))
		if shuns {
			g[0].world.shuns = g[1].id
		}
		b, _ := transferBody(t, sent[*wire.Transfer](g[0].release(tok, 0)))
		assert.Equal(t, !shuns, b.To == g[1].id)
		assert.Equal(t, shuns, b.To == g[2].id)
	}
}

// TestSender_ShunnedAloneHasAccepted_NotPassed: it stays, and another one is asked.
func TestSender_ShunnedAloneHasAccepted_NotPassed(t *testing.T) {
	g := newGroup(t, 3)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	g[0].world.shuns, g[0].world.choices = g[1].id, []ident.Member{g[2].id}
	o := g[0].release(tok, 0)
	require.NotContains(t, o.String(), "TRANSFER")
	assert.Equal(t, g[2].id, o.to(), "at once, not when the ACCEPT would be renewed")
}

// TestSender_ShunnedIsBeingAsked_AnotherOneIsAsked: the offer to it is not repeated.
func TestSender_ShunnedIsBeingAsked_AnotherOneIsAsked(t *testing.T) {
	for _, shuns := range []bool{false, true} {
		g := newGroup(t, 3)
		tok := g[0].own().ID()
		require.Equal(t, g[1].id, g[0].prepare(tok, 0).to())
		if shuns {
			g[0].world.shuns, g[0].world.choices = g[1].id, []ident.Member{g[2].id}
		}
		o := g[0].wait(g[0].m.NextDeadline().Sub(g[0].now.Boot))
		require.NotNil(t, sent[*wire.Offer](o))
		assert.Equal(t, shuns, o.to() == g[2].id)
	}
}

// TestSender_ShunnedIsNamed_GetsIt: the policy knows why.
func TestSender_ShunnedIsNamed_GetsIt(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].world.shuns = g[2].id
	o := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	require.Equal(t, g[2].id, o.to())
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], sent[*wire.Offer](o))))
	assert.Equal(t, "sent! TRANSFER", g[0].releaseTo(tok, 0, g[2].id).String())
}
