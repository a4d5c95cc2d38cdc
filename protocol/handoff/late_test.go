package handoff_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// late is a group of which the first member has released its token to the second one, which has not answered in time. The ACCEPT
// of that one is on its way.
func late(t *testing.T, n int) (g []*party, tok ident.Token, accept *wire.Accept) {
	t.Helper()
	g = newGroup(t, n)
	tok = g[0].own().ID()
	accept = g[0].inVain(g[1], tok)
	require.NotNil(t, accept)
	return g, tok, accept
}

// inVain releases a token to a member that does not answer in time, and returns what it answers.
func (p *party) inVain(q *party, tok ident.Token) *wire.Accept {
	p.t.Helper()
	var accept *wire.Accept
	o := p.releaseTo(tok, 0, q.id)
	for range 3 * handoff.DefaultTuning.OffersPerPeer {
		for _, offer := range messages[*wire.Offer](o) {
			accept = sent[*wire.Accept](q.takes(p, offer))
		}
		if p.noticed(handoff.Unwanted) {
			return accept
		}
		o = p.wait(p.m.NextDeadline().Sub(p.now.Boot))
	}
	p.t.Fatal("it is asked without end")
	return nil
}

func (o outcome) receiver() ident.Member {
	o.t.Helper()
	b, _ := transferBody(o.t, sent[*wire.Transfer](o))
	return b.To
}

// TestSender_TargetAcceptsLate_GetsTheToken: H-22. Where each target answers when the next one is asked, one that takes only the
// answer of the last one would keep the token.
func TestSender_TargetAcceptsLate_GetsTheToken(t *testing.T) {
	t.Run("when another one is asked", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		require.Equal(t, "OFFER", g[0].releaseTo(tok, 0, g[2].id).String())
		assert.Equal(t, g[1].id, g[0].takes(g[1], accept).receiver())
	})
	t.Run("before another one is asked", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		require.Empty(t, g[0].takes(g[1], accept).String(), "the policy has not released it again")
		assert.Equal(t, g[1].id, g[0].releaseTo(tok, 0, g[2].id).receiver())
	})
	t.Run("while the operation runs again", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
		g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
		require.Empty(t, g[0].takes(g[1], accept).String())
		g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, false) })
		assert.Equal(t, g[1].id, g[0].releaseTo(tok, 0, g[2].id).receiver())
	})
	t.Run("when anybody is asked", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].world.shuns = g[1].id
		g[0].releaseTo(tok, 0, ident.Member{})
		assert.Equal(t, g[1].id, g[0].takes(g[1], accept).receiver(), "it is shunned only as it did not answer")
	})
}

// TestSender_TargetAcceptsToo_Preferred: the policy has named it.
func TestSender_TargetAcceptsToo_Preferred(t *testing.T) {
	g, tok, accept := late(t, 3)
	o := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], sent[*wire.Offer](o))))
	g[0].takes(g[1], accept)
	o = g[0].releaseTo(tok, 0, g[2].id)
	assert.Equal(t, g[2].id, o.receiver())
	assert.Contains(t, o.String(), "CANCEL", "the other one is told")
}

// TestSender_LateAcceptInHand_TargetIsAsked: what another one has accepted is no reason not to ask the member that the policy
// has named.
func TestSender_LateAcceptInHand_TargetIsAsked(t *testing.T) {
	g, tok, accept := late(t, 3)
	g[0].takes(g[1], accept)
	o := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	assert.Equal(t, "OFFER", o.String())
	assert.Equal(t, g[2].id, o.to())
}

// TestSender_LateAccept_DoesNotCount: of a member that has refused since, that gets no token, or that nobody has released it to, and
// after the policy has taken the token back.
func TestSender_LateAccept_DoesNotCount(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].takes(g[1], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
		g[0].releaseTo(tok, 0, g[2].id)
		assert.Equal(t, "CANCEL", g[0].takes(g[1], accept).String())
	})
	t.Run("refused at once", func(t *testing.T) {
		g := newGroup(t, 3)
		tok := g[0].own().ID()
		accept := sent[*wire.Accept](g[1].takes(g[0], sent[*wire.Offer](g[0].releaseTo(tok, 0, g[1].id))))
		g[0].takes(g[1], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
		require.True(t, g[0].noticed(handoff.Unwanted))
		g[0].releaseTo(tok, 0, g[2].id)
		assert.Equal(t, "CANCEL", g[0].takes(g[1], accept).String())
	})
	t.Run("shunned", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].world.shunsLate = g[1].id
		offer := sent[*wire.Offer](g[0].releaseTo(tok, 0, g[2].id))
		require.Empty(t, g[0].takes(g[1], accept).String())
		o := g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
		assert.Equal(t, g[2].id, o.receiver())
	})
	t.Run("prepared only", func(t *testing.T) {
		g := newGroup(t, 3)
		tok := g[0].own().ID()
		accept := sent[*wire.Accept](g[1].takes(g[0], sent[*wire.Offer](g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[1].id) }))))
		for range handoff.DefaultTuning.OffersPerPeer {
			g[0].wait(10 * time.Second)
		}
		g[0].releaseTo(tok, 0, g[2].id)
		assert.Equal(t, "CANCEL", g[0].takes(g[1], accept).String())
	})
	t.Run("taken back", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].do(func(m *handoff.Machine) { m.Keep(tok, 0) })
		g[0].releaseTo(tok, 0, g[2].id)
		assert.Equal(t, "CANCEL", g[0].takes(g[1], accept).String())
	})
	t.Run("outdated", func(t *testing.T) {
		g, tok, accept := late(t, 3)
		g[0].takes(g[1], accept)
		g[0].wait(2 * handoff.DefaultTuning.Lifetime)
		assert.Equal(t, "OFFER", g[0].releaseTo(tok, 0, g[2].id).String())
	})
}

// TestSender_ManyLate_LastOnesCount: a holder remembers as many as it keeps ACCEPTs of.
func TestSender_ManyLate_LastOnesCount(t *testing.T) {
	const others, kept = 6, 4
	for i := 1; i <= others; i++ {
		g := newGroup(t, others+2)
		tok := g[0].own().ID()
		accepts := make([]*wire.Accept, others+1)
		for k := 1; k <= others; k++ {
			accepts[k] = g[0].inVain(g[k], tok)
		}
		g[0].releaseTo(tok, 0, g[others+1].id)
		o := g[0].takes(g[i], accepts[i])
		if i <= others-kept {
			assert.Equal(t, "CANCEL", o.String())
		} else {
			assert.Equal(t, g[i].id, o.receiver())
		}
	}
}
