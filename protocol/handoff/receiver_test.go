package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Each test is a row, or a sentence, of handoff rules §4: the receiver, and what it
// answers to transfers.

func TestReceiver_CertificateMissing_Need(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	accept := sent[*wire.Accept](g[2].takes(g[1], sent[*wire.Offer](g[1].prepare(tok, 1))))
	g[1].takes(g[2], accept)
	transfer := sent[*wire.Transfer](g[1].release(tok, 1))
	delete(g[2].world.keys, g[0].id) // forgotten meanwhile
	g[2].stop()
	o := g[2].takes(g[1], transfer)
	assert.Equal(t, "NEED", o.String(), "neither UNKNOWN nor VOID")
	again := sent[*wire.Transfer](g[1].takes(g[2], sent[*wire.Need](o)))
	assert.Len(t, again.Certificates, 2)
}

func TestReceiver_Receipt_HeldDurablyBefore(t *testing.T) {
	g := newGroup(t, 2)
	tok, transfer := g[0].underWay(g[1])
	assert.Equal(t, "known known held! RECEIPT", g[1].takes(g[0], transfer).String())
	assert.True(t, g[1].noticed(handoff.Gained))
	assert.True(t, g[1].holds(tok, 1))
	assert.Equal(t, 1, g[1].m.Held())
}

func TestReceiver_Duplicate_SameAnswerOnly(t *testing.T) {
	g := newGroup(t, 3)
	tok, transfer := g[0].underWay(g[1])
	receipt := sent[*wire.Receipt](g[1].takes(g[0], transfer))
	again := func(state string) {
		t.Helper()
		o := g[1].takes(g[0], transfer)
		assert.Equal(t, "RECEIPT", o.String(), state)
		assert.Equal(t, receipt, sent[*wire.Receipt](o), state)
		assert.Empty(t, g[1].notices, state)
	}
	again("HOLD")
	g[1].world.choices = []ident.Member{g[2].id}
	g[1].takes(g[2], sent[*wire.Accept](g[2].takes(g[1], sent[*wire.Offer](g[1].prepare(tok, 1)))))
	next := sent[*wire.Transfer](g[1].release(tok, 1))
	again("SENT")
	g[1].takes(g[2], sent[*wire.Receipt](g[2].takes(g[1], next)))
	again("CLOSED")
	g[1].restart(nil)
	again("CLOSED, after a restart")
	assert.Zero(t, g[1].m.Held())

	dropped, transfer2 := g[0].underWay(g[1])
	transfer = transfer2
	receipt = sent[*wire.Receipt](g[1].takes(g[0], transfer))
	g[1].do(func(m *handoff.Machine) { require.True(t, m.Drop(dropped, 1, 1)) })
	again("DROPPED")
	g[1].restart(nil)
	again("DROPPED, after a restart")
}

func TestReceiver_SecondTransferOfAHop_Evidence(t *testing.T) {
	g := newGroup(t, 2)
	tok, first := g[0].underWay(g[1])
	b, _ := transferBody(t, first)
	g[1].takes(g[0], first)
	b.Time++
	signed, err := b.Sign(group, g[0].key)
	require.NoError(t, err)
	second := &wire.Transfer{Transfer: signed.Raw(), Genesis: first.Genesis}
	assert.Equal(t, "evidence", g[1].takes(g[0], second).String(), "no answer")
	assert.Empty(t, g[1].takes(g[0], second).String(), "once")
	assert.Equal(t, 1, g[1].m.Held())
	assert.True(t, g[1].holds(tok, 1))
	assert.EqualValues(t, 1, g[1].m.Stats().Evidence)
}

func TestReceiver_Void_DurableAndFinal(t *testing.T) {
	g := newGroup(t, 2)
	tok, transfer := g[0].underWay(g[1])
	g[1].stop()
	o := g[1].takes(g[0], transfer)
	assert.Equal(t, "voided! VOID", o.String())
	void := sent[*wire.Void](o)
	o = g[1].takes(g[0], transfer)
	assert.Equal(t, "VOID", o.String())
	assert.Equal(t, void, sent[*wire.Void](o), "the same again")
	g[1].restart(nil) // and it does not stop any more
	o = g[1].takes(g[0], transfer)
	assert.Equal(t, void, sent[*wire.Void](o), "permanently")
	assert.False(t, g[1].holds(tok, 1))
}

// A reservation is room for its transfer, also when custody has come by other ways
// meanwhile; one that has lapsed is none.
func TestReceiver_Reservation_TakesRoom(t *testing.T) {
	g := newGroup(t, 2)
	_, reserved := g[0].underWay(g[1])
	_, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	lapsed := sent[*wire.Transfer](g[0].release(accept.Token, 0))
	g[1].takes(g[0], &wire.Cancel{Token: accept.Token, Hop: accept.Hop, Incarnation: accept.Incarnation, Accept: accept.Accept})
	for g[1].m.Held() < handoff.MaxHeld {
		g[1].own()
	}
	assert.Equal(t, "voided! VOID", g[1].takes(g[0], lapsed).String())
	assert.Contains(t, g[1].takes(g[0], reserved).String(), "held!")
}

// What does not verify is dropped, whatever certificates are missing besides.
func TestReceiver_Forgery_NoNeed(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	g[1].takes(g[2], sent[*wire.Accept](g[2].takes(g[1], sent[*wire.Offer](g[1].prepare(tok, 1)))))
	transfer := sent[*wire.Transfer](g[1].release(tok, 1))
	delete(g[2].world.keys, g[0].id)
	require.Equal(t, "NEED", g[2].takes(g[1], transfer).String())
	transfer.Void = []byte{1}
	o, err := g[2].get(g[1], transfer)
	assert.ErrorIs(t, err, token.ErrMalformed)
	assert.Empty(t, o.String())
}

func TestReceiver_CannotHold_Declined(t *testing.T) {
	g := newGroup(t, 2)
	_, transfer := g[0].underWay(g[1])
	g[1].world.refusal = wire.RefuseResource
	assert.Equal(t, "voided! VOID", g[1].takes(g[0], transfer).String(), "the resource is gone")
}

func TestReceiver_NumberForgotten_UnknownNeverVoid(t *testing.T) { // rule 4.4
	for name, forget := range map[string]func(q *party, b *token.TransferBody){
		"of another incarnation": func(_ *party, b *token.TransferBody) { b.Incarnation[0]++ },
		"never issued":           func(_ *party, b *token.TransferBody) { b.Accept = 5000 },
		"without its MAC":        func(_ *party, b *token.TransferBody) { b.MAC = ident.MAC{} },
		"no floor": func(q *party, _ *token.TransferBody) {
			q.m = handoff.New(q.cfg)
		},
		"below the floor": func(q *party, b *token.TransferBody) {
			q.do(func(m *handoff.Machine) { m.Bury(b.From) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 2)
			tok, transfer := g[0].underWay(g[1])
			b, _ := transferBody(t, transfer)
			forget(g[1], &b)
			signed, err := b.Sign(group, g[0].key)
			require.NoError(t, err)
			transfer.Transfer = signed.Raw()
			assert.Equal(t, "UNKNOWN", g[1].takes(g[0], transfer).String())
			g[1].stop()
			assert.Equal(t, "UNKNOWN", g[1].takes(g[0], transfer).String(), "also when it declines everything")
			assert.False(t, g[1].holds(tok, 1))
		})
	}
}

func TestReceiver_NumberForAnotherHop_Refused(t *testing.T) {
	g := newGroup(t, 2)
	_, first := g[0].underWay(g[1])
	b, _ := transferBody(t, first)
	g[1].takes(g[0], first)
	another := g[0].own()
	next := token.Title{Genesis: another}.Next(g[1].id, b.Reservation())
	signed, err := next.Sign(group, g[0].key)
	require.NoError(t, err)
	o := g[1].takes(g[0], &wire.Transfer{Transfer: signed.Raw(), Genesis: another.Raw()})
	assert.Equal(t, "UNKNOWN", o.String())
}

func TestReceiver_RestartWithoutReservations_Taken(t *testing.T) { // trap 8
	g := newGroup(t, 2)
	tok, transfer := g[0].underWay(g[1])
	g[1].restart(nil)
	assert.Contains(t, g[1].takes(g[0], transfer).String(), "held! RECEIPT")
	assert.True(t, g[1].holds(tok, 1))
}

func TestReceiver_Invalid_Dropped(t *testing.T) { // rule 4.1
	for name, c := range map[string]struct {
		spoil func(t *testing.T, g []*party, m *wire.Transfer) (from *party)
		want  error
		does  string
	}{
		"not from its sender": {func(_ *testing.T, g []*party, _ *wire.Transfer) *party { return g[2] }, handoff.ErrAddress, ""},
		"altered": {func(_ *testing.T, g []*party, m *wire.Transfer) *party {
			m.Transfer = append([]byte(nil), m.Transfer...)
			m.Transfer[len(m.Transfer)-1] ^= 1
			return g[0]
		}, token.ErrSignature, ""},
		"without a genesis": {func(_ *testing.T, g []*party, m *wire.Transfer) *party {
			m.Genesis = nil
			return g[0]
		}, token.ErrMalformed, ""},
		"of another genesis": {func(_ *testing.T, g []*party, m *wire.Transfer) *party {
			m.Genesis = g[0].own().Raw()
			return g[0]
		}, token.ErrChain, ""},
		"signed by another": {func(t *testing.T, g []*party, m *wire.Transfer) *party {
			b, _ := transferBody(t, m)
			signed, err := b.Sign(group, g[2].key)
			require.NoError(t, err)
			m.Transfer = signed.Raw()
			return g[0]
		}, token.ErrSignature, ""},
		"after a hop that is not shown": {func(t *testing.T, g []*party, m *wire.Transfer) *party {
			b, _ := transferBody(t, m)
			b.Hop = 2
			signed, err := b.Sign(group, g[0].key)
			require.NoError(t, err)
			m.Transfer = signed.Raw()
			return g[0]
		}, token.ErrChain, "evidence"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3)
			tok, transfer := g[0].underWay(g[1])
			o, err := g[1].get(c.spoil(t, g, transfer), transfer)
			assert.ErrorIs(t, err, c.want)
			assert.Equal(t, c.does, o.String())
			assert.False(t, g[1].holds(tok, 1))
			assert.EqualValues(t, 1, g[1].m.Stats().Rejected)
		})
	}
	g := newGroup(t, 3)
	_, transfer := g[0].underWay(g[1])
	o, err := g[2].get(g[0], transfer)
	assert.ErrorIs(t, err, handoff.ErrAddress, "to another member")
	assert.Empty(t, o.String())
}

func TestReceiver_ChainOfAnother_Dropped(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	g[1].takes(g[2], sent[*wire.Accept](g[2].takes(g[1], sent[*wire.Offer](g[1].prepare(tok, 1)))))
	transfer := sent[*wire.Transfer](g[1].release(tok, 1))
	b, _ := transferBody(t, transfer)
	b.From = g[0].id // who has given it away already
	signed, err := b.Sign(group, g[0].key)
	require.NoError(t, err)
	forged := &wire.Transfer{Transfer: signed.Raw(), Genesis: transfer.Genesis, Previous: transfer.Previous}
	_, err = g[2].get(g[0], forged)
	assert.ErrorIs(t, err, token.ErrChain)
	assert.Contains(t, g[2].takes(g[1], transfer).String(), "held!")
}

// Two members that pass on copies of one forked token are not accused: who gave
// it to both is, when both copies meet.
func TestReceiver_Fork_OnlyItsSignerAccused(t *testing.T) {
	g := newGroup(t, 4)
	thief, honest, meeting := g[0], g[1], g[2]
	tok, first := thief.underWay(meeting)
	meeting.takes(thief, first)
	accept := sent[*wire.Accept](honest.takes(thief, &wire.Offer{
		Token: tok, Hop: 1, Genesis: first.Genesis, Signers: []ident.Member{thief.id},
	}))
	genesis, err := token.NewVerifier(group, keys{thief}).Genesis(first.Genesis)
	require.NoError(t, err)
	forked, err := token.Title{Genesis: genesis}.Next(honest.id, accept.Reservation()).Sign(group, thief.key)
	require.NoError(t, err)
	honest.takes(thief, &wire.Transfer{Transfer: forked.Raw(), Genesis: first.Genesis})
	honest.world.choices = []ident.Member{meeting.id}
	honest.takes(meeting, sent[*wire.Accept](meeting.takes(honest, sent[*wire.Offer](honest.prepare(tok, 1)))))
	o := meeting.takes(honest, sent[*wire.Transfer](honest.release(tok, 1)))
	assert.Equal(t, "evidence known held! RECEIPT", o.String())
	assert.Equal(t, []ident.Member{thief.id}, accused(o))

	// The same token once more, from a third member, for a hop that is taken.
	last := g[3]
	accept = sent[*wire.Accept](last.takes(thief, &wire.Offer{
		Token: tok, Hop: 1, Genesis: first.Genesis, Signers: []ident.Member{thief.id},
	}))
	again, err := token.Title{Genesis: genesis}.Next(last.id, accept.Reservation()).Sign(group, thief.key)
	require.NoError(t, err)
	last.takes(thief, &wire.Transfer{Transfer: again.Raw(), Genesis: first.Genesis})
	title, ok := last.m.Title(tok, 1)
	require.True(t, ok)
	onward, err := title.Next(meeting.id, ident.Reservation{Incarnation: meeting.cfg.Incarnation, Number: 1}).Sign(group, last.key)
	require.NoError(t, err)
	o = meeting.takes(last, &wire.Transfer{Transfer: onward.Raw(), Genesis: first.Genesis, Previous: again.Raw()})
	assert.Equal(t, "evidence evidence report", o.String())
	assert.Equal(t, []ident.Member{thief.id, {}}, accused(o), "both that gave hop 2 may have got it in good faith")
}
