package handoff_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Each test is a row, or a sentence, of handoff rules §3: the sender, from releasing
// a token on.

func TestSender_Release_DurableBefore(t *testing.T) {
	g := newGroup(t, 2)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	field := []byte("from the policy")
	o := g[0].do(func(m *handoff.Machine) { m.Release(tok, 0, ident.Member{}, field) })
	assert.Equal(t, "sent! TRANSFER", o.String())
	assert.True(t, g[0].noticed(handoff.Parted))
	b, _ := transferBody(t, sent[*wire.Transfer](o))
	assert.Equal(t, field, b.Field)
	assert.Equal(t, g[1].id, b.To)
	assert.Equal(t, accept.Accept, b.Accept)
	assert.Equal(t, accept.Incarnation, b.Incarnation)
	assert.False(t, g[0].holds(tok, 0))
	assert.Zero(t, g[0].m.Held())
}

func TestSender_NotChosen_Cancelled(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
	offer := sent[*wire.Offer](g[0].prepare(tok, 0))
	g[0].takes(g[1], sent[*wire.Accept](g[1].takes(g[0], offer)))
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
	g[0].release(tok, 0)
	o := g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, false) })
	assert.Equal(t, "CANCEL sent! TRANSFER", o.String())
	b, _ := transferBody(t, sent[*wire.Transfer](o))
	assert.Equal(t, g[2].id, b.To, "the newest ACCEPT")
	assert.EqualValues(t, 1, sent[*wire.Cancel](o).Hop)
}

func TestSender_Retry_SameTransfer(t *testing.T) {
	g := newGroup(t, 2)
	_, transfer := g[0].underWay(g[1])
	again := sent[*wire.Transfer](g[0].wait(time.Second))
	assert.Equal(t, transfer.Transfer, again.Transfer)
	assert.Empty(t, transfer.Certificates)
	assert.Equal(t, [][]byte{g[0].id[:]}, again.Certificates, "every repetition carries the certificates")
	o := g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, &wire.Hello{Incarnation: g[1].cfg.Incarnation}) })
	assert.Equal(t, transfer.Transfer, sent[*wire.Transfer](o).Transfer, "at once, when the peer is back")
	g[0].restart(nil)
	assert.Equal(t, transfer.Transfer, sent[*wire.Transfer](g[0].wait(0)).Transfer, "after a restart")
}

func TestSender_Sent_NeverReselected(t *testing.T) {
	g := newGroup(t, 3)
	tok, _ := g[0].underWay(g[1])
	for _, m := range []wire.Message{
		&wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy},
		&wire.Accept{Token: tok, Hop: 1, Incarnation: g[1].cfg.Incarnation, Accept: 9, Lifetime: 1000},
	} {
		assert.Empty(t, g[0].takes(g[1], m).String())
	}
	assert.Empty(t, g[0].do(func(m *handoff.Machine) { m.PeerDown(g[1].id) }).String())
	assert.Empty(t, g[0].prepare(tok, 0).String())
	assert.Empty(t, g[0].release(tok, 0).String())
	for range 200 {
		if o := g[0].wait(time.Minute); len(o.effects) > 0 {
			require.Equal(t, "TRANSFER", o.String())
			require.Equal(t, g[1].id, o.to())
		}
	}
	assert.Equal(t, 1, g[0].m.Unanswered(), "a durable sender never gives up")
	assert.Empty(t, g[0].do(func(m *handoff.Machine) { assert.False(t, m.Drop(tok, 0, 1)) }).String())
}

func TestSender_Receipt_Closed(t *testing.T) {
	g := newGroup(t, 2)
	_, transfer := g[0].underWay(g[1])
	receipt := sent[*wire.Receipt](g[1].takes(g[0], transfer))
	assert.Equal(t, "closed", g[0].takes(g[1], receipt).String(), "lazily")
	assert.True(t, g[0].noticed(handoff.Delivered))
	assert.Zero(t, g[0].m.Unanswered())
	assert.Empty(t, g[0].takes(g[1], receipt).String())
	assert.Empty(t, g[0].wait(time.Hour).String())
}

func TestSender_AnswerOfAnother_Ignored(t *testing.T) {
	g := newGroup(t, 3)
	_, transfer := g[0].underWay(g[1])
	does := map[token.Verdict]string{token.Void: "evidence"} // it has signed both
	for _, v := range []token.Verdict{token.Receipt, token.Void} {
		raw := g[2].verdict(v, transfer, g[2].cfg.Incarnation)
		m := map[token.Verdict]wire.Message{token.Receipt: &wire.Receipt{Receipt: raw}, token.Void: &wire.Void{Void: raw}}[v]
		assert.Equal(t, does[v], g[0].takes(g[2], m).String(), v)
	}
	_, another := g[0].underWay(g[1])
	g[1].stop()
	void := sent[*wire.Void](g[1].takes(g[0], another))
	o, err := g[0].get(g[1], &wire.Receipt{Receipt: void.Void})
	assert.ErrorIs(t, err, token.ErrSignature, "a void is no receipt")
	assert.Empty(t, o.String())
	assert.Equal(t, 2, g[0].m.Unanswered())
}

func TestSender_Void_ReclaimsAtTheBurnedHop(t *testing.T) {
	g := newGroup(t, 3)
	tok, first := g[0].underWay(g[1])
	g[1].stop()
	void := sent[*wire.Void](g[1].takes(g[0], first))
	assert.Equal(t, "known reclaimed!", g[0].takes(g[1], void).String(), "with the certificate of who signed the void")
	assert.True(t, g[0].noticed(handoff.Returned))
	assert.True(t, g[0].holds(tok, 1), "custody at the hop of the declined transfer")
	assert.Equal(t, 1, g[0].m.Held())
	assert.Empty(t, g[0].takes(g[1], void).String(), "once")

	g[0].restart(nil)
	require.True(t, g[0].holds(tok, 1), "also after a restart")
	g[0].world.choices = []ident.Member{g[2].id}
	offer := sent[*wire.Offer](g[0].prepare(tok, 1))
	assert.EqualValues(t, 2, offer.Hop)
	assert.ElementsMatch(t, []ident.Member{g[0].id, g[1].id}, offer.Signers, "who signed the void, too")
	g[0].takes(g[2], sent[*wire.Accept](g[2].takes(g[0], offer)))
	second := sent[*wire.Transfer](g[0].release(tok, 1))
	b, _ := transferBody(t, second)
	_, hash := transferBody(t, first)
	assert.EqualValues(t, 2, b.Hop)
	assert.Equal(t, hash, b.Previous)
	assert.NotNil(t, b.Void)
	assert.Equal(t, void.Void, second.Void)
	assert.Equal(t, "known known known held! RECEIPT", g[2].takes(g[0], second).String())
	assert.True(t, g[2].holds(tok, 2))
}

func TestSender_Unknown_NeverReclaims(t *testing.T) {
	g := newGroup(t, 2)
	tok, transfer := g[0].underWay(g[1])
	unknown := &wire.Unknown{Unknown: g[1].verdict(token.Unknown, transfer, ident.Incarnation{99})}
	assert.Empty(t, g[0].takes(g[1], unknown).String())
	assert.False(t, g[0].holds(tok, 0))
	assert.Equal(t, 1, g[0].m.Unanswered())
	assert.Empty(t, g[0].wait(handoff.DefaultTuning.UnknownPause/2).String(), "it is asked again rarely")
	assert.Equal(t, "TRANSFER", g[0].wait(handoff.DefaultTuning.UnknownPause).String())
	void := &wire.Void{Void: g[1].verdict(token.Void, transfer, g[1].cfg.Incarnation)}
	assert.Equal(t, "known reclaimed!", g[0].takes(g[1], void).String(), "only VOID does")
}

func TestVolatileSender_Abandoned_Permanently(t *testing.T) {
	for name, giveUp := range map[string]func(p, q *party, transfer *wire.Transfer) outcome{
		"when the receiver's memory is gone": func(p, q *party, transfer *wire.Transfer) outcome {
			return p.takes(q, &wire.Unknown{Unknown: q.verdict(token.Unknown, transfer, ident.Incarnation{99})})
		},
		"in the end": func(p, _ *party, _ *wire.Transfer) outcome {
			return p.wait(handoff.DefaultTuning.GiveUp + time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, q := newParty(t, 1, false), newParty(t, 2, true)
			p.world.keys[q.id], q.world.keys[p.id] = q.key.Public(), p.key.Public()
			p.world.choices = []ident.Member{q.id}
			tok, transfer := p.underWay(q)
			assert.Equal(t, "closed", giveUp(p, q, transfer).String())
			assert.True(t, p.noticed(handoff.Abandoned))
			void := &wire.Void{Void: q.verdict(token.Void, transfer, q.cfg.Incarnation)}
			assert.Empty(t, p.takes(q, void).String(), "a later answer is ignored")
			late := sent[*wire.Receipt](q.takes(p, transfer))
			assert.Equal(t, "evidence", p.takes(q, late).String(), "after the void it is a contradiction, and no more")
			assert.False(t, p.holds(tok, 0) || p.holds(tok, 1))
		})
	}
}

// The time of giving up counts from the transfer, not from the wish to pass.
func TestVolatileSender_SearchedLong_NotAbandonedEarly(t *testing.T) {
	p, q := newParty(t, 1, false), newParty(t, 2, true)
	p.world.keys[q.id], q.world.keys[p.id] = q.key.Public(), p.key.Public()
	p.world.choices = []ident.Member{q.id}
	tok := p.own().ID()
	offer := sent[*wire.Offer](p.release(tok, 0))
	for range 30 {
		if p.wait(handoff.DefaultTuning.GiveUp / 10); p.noticed(handoff.Unwanted) {
			p.release(tok, 0)
		}
	}
	assert.Contains(t, p.takes(q, sent[*wire.Accept](q.takes(p, offer))).String(), "TRANSFER")
	assert.Equal(t, "TRANSFER", p.wait(time.Second).String())
	assert.Equal(t, 1, p.m.Unanswered())
}

func TestSender_Drop_OnlyHeldAndUnused(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	drop := func() (done bool, o outcome) {
		o = g[0].do(func(m *handoff.Machine) { done = m.Drop(tok, 0, 1) })
		return done, o
	}
	g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
	done, o := drop()
	assert.False(t, done)
	assert.Empty(t, o.String())
	g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, false) })
	done, o = drop()
	assert.True(t, done)
	assert.Equal(t, "dropped!", o.String())
	done, _ = drop()
	assert.False(t, done, "terminal")
	assert.Empty(t, g[0].release(tok, 0).String())
	g[0].restart(nil)
	assert.False(t, g[0].holds(tok, 0))
}
