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

// releaseTo releases a token towards one member only.
func (p *party) releaseTo(t ident.Token, hop uint64, target ident.Member) outcome {
	return p.do(func(m *handoff.Machine) { m.Release(t, hop, target, nil) })
}

func TestSender_Target_PassedTo(t *testing.T) {
	g := newGroup(t, 3)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	o := g[0].releaseTo(tok, 0, g[2].id)
	assert.Equal(t, "CANCEL OFFER", o.String(), "who was found before is not it")
	offer := sent[*wire.Offer](o)
	assert.Equal(t, "CANCEL", g[0].takes(g[1], accept).String(), "nor when it says so again")
	o = g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
	b, _ := transferBody(t, sent[*wire.Transfer](o))
	assert.Equal(t, g[2].id, b.To)
}

func TestSender_Prepare_OffersToTarget(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	o := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	assert.Equal(t, g[2].id, o.to())
	again := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	assert.Empty(t, again.String(), "it is being asked")
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], sent[*wire.Offer](o))))
	assert.Equal(t, "sent! TRANSFER", g[0].releaseTo(tok, 0, g[2].id).String())
}

// TestSender_AnyMember_IncludesTheTarget: who was prepared may get a token that is
// for anybody.
func TestSender_AnyMember_IncludesTheTarget(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	o := g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], sent[*wire.Offer](o))))
	b, _ := transferBody(t, sent[*wire.Transfer](g[0].release(tok, 0)))
	assert.Equal(t, g[2].id, b.To)
}

// TestSender_TargetGone_Returned: nobody else gets the token, and the policy
// is told at once, in all ways in which a target can fail.
func TestSender_TargetGone_Returned(t *testing.T) {
	for name, fail := range map[string]func(g []*party, tok ident.Token){
		"it refuses": func(g []*party, tok ident.Token) {
			g[0].takes(g[2], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
		},
		"it cannot be reached": func(g []*party, _ ident.Token) {
			g[0].do(func(m *handoff.Machine) { m.PeerDown(g[2].id) })
		},
		"it does not answer": func(g []*party, _ ident.Token) {
			for range handoff.DefaultTuning.OffersPerPeer {
				require.False(t, g[0].noticed(handoff.Unwanted))
				g[0].wait(10 * time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3)
			tok := g[0].own().ID()
			g[0].releaseTo(tok, 0, g[2].id)
			fail(g, tok)
			require.True(t, g[0].noticed(handoff.Unwanted))
			assert.True(t, g[0].holds(tok, 0))
			o := g[0].releaseTo(tok, 0, g[2].id)
			assert.Empty(t, o.String(), "the same again waits for the pause to end")
			o = g[0].releaseTo(tok, 0, g[1].id)
			assert.Equal(t, g[1].id, o.to(), "another one is asked at once")
		})
	}
}

// TestSender_TargetSilent_AskedAgain: after its pause it does.
func TestSender_TargetSilent_AskedAgain(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].releaseTo(tok, 0, g[2].id)
	g[0].do(func(m *handoff.Machine) { m.PeerDown(g[2].id) })
	g[0].releaseTo(tok, 0, g[2].id)
	o := g[0].wait(2 * handoff.DefaultTuning.NobodyPause)
	assert.Equal(t, "OFFER", o.String())
	assert.Equal(t, g[2].id, o.to())
}

// TestSender_PreparedTargetSilent_ReturnedAtOnce: what a target has not answered while the token was in use need not be asked again.
// It is asked on, and gets the token when it answers. One that has refused may take it by now.
func TestSender_PreparedTargetSilent_ReturnedAtOnce(t *testing.T) {
	prepared := func(t *testing.T) ([]*party, ident.Token) {
		g := newGroup(t, 3)
		tok := g[0].own().ID()
		g[0].do(func(m *handoff.Machine) { m.Prepare(tok, 0, g[2].id) })
		return g, tok
	}
	silent := func(g []*party) {
		for range handoff.DefaultTuning.OffersPerPeer {
			g[0].wait(10 * time.Second)
		}
	}
	t.Run("it does not answer", func(t *testing.T) {
		g, tok := prepared(t)
		silent(g)
		require.False(t, g[0].noticed(handoff.Unwanted), "nobody has released it")
		assert.Empty(t, g[0].releaseTo(tok, 0, g[2].id).String())
		assert.True(t, g[0].noticed(handoff.Unwanted))
		g[0].releaseTo(tok, 0, g[2].id)
		assert.False(t, g[0].noticed(handoff.Unwanted), "the same again waits for the pause to end")
	})
	t.Run("it cannot be reached", func(t *testing.T) {
		g, tok := prepared(t)
		g[0].do(func(m *handoff.Machine) { m.PeerDown(g[2].id) })
		g[0].releaseTo(tok, 0, g[2].id)
		assert.True(t, g[0].noticed(handoff.Unwanted))
	})
	t.Run("it answers later", func(t *testing.T) {
		g, tok := prepared(t)
		silent(g)
		offer := sent[*wire.Offer](g[0].wait(2 * handoff.DefaultTuning.NobodyPause))
		require.NotNil(t, offer)
		g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
		assert.Equal(t, "sent! TRANSFER", g[0].releaseTo(tok, 0, g[2].id).String())
	})
	t.Run("it refuses later", func(t *testing.T) {
		g, tok := prepared(t)
		silent(g)
		require.NotNil(t, sent[*wire.Offer](g[0].wait(2*handoff.DefaultTuning.NobodyPause)))
		g[0].takes(g[2], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
		g[0].releaseTo(tok, 0, g[2].id)
		assert.False(t, g[0].noticed(handoff.Unwanted))
	})
	t.Run("it is in use", func(t *testing.T) {
		g, tok := prepared(t)
		g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
		silent(g)
		g[0].releaseTo(tok, 0, g[2].id)
		assert.False(t, g[0].noticed(handoff.Unwanted))
	})
}

// TestSender_NoAccept_KeepsTheToken: what was released and is taken back stays, whoever accepts it,
// until it is released again.
func TestSender_NoAccept_KeepsTheToken(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	accept := sent[*wire.Accept](g[1].takes(g[0], sent[*wire.Offer](g[0].release(tok, 0))))
	keep := func(m *handoff.Machine) { m.Keep(tok, 0) }
	assert.Empty(t, g[0].do(keep).String())
	assert.Empty(t, g[0].takes(g[1], accept).String())
	assert.Empty(t, g[0].wait(time.Hour).String())
	assert.True(t, g[0].holds(tok, 0))

	g[0].takes(g[1], sent[*wire.Accept](g[1].takes(g[0], sent[*wire.Offer](g[0].prepare(tok, 0)))))
	assert.Equal(t, "CANCEL", g[0].do(keep).String(), "who has accepted is told")

	accept = sent[*wire.Accept](g[1].takes(g[0], sent[*wire.Offer](g[0].release(tok, 0))))
	assert.Equal(t, "sent! TRANSFER", g[0].takes(g[1], accept).String())
}

// TestSender_NobodyAnswers_Returned: a token for anybody does not wait without end for
// peers that are connected and mute.
func TestSender_NobodyAnswers_Returned(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	g[0].release(tok, 0)
	told := 0
	for range 40 {
		g[0].wait(time.Second)
		if g[0].noticed(handoff.Unwanted) {
			told++
		}
	}
	assert.Equal(t, 1, told, "the policy decides anew")
	assert.True(t, g[0].holds(tok, 0))
}
