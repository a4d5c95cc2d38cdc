package handoff_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Each test is a row, or a sentence, of handoff rules §4: the receiver, and what it
// answers to offers.

func TestReceiver_Accept_NumberDurable(t *testing.T) {
	g := newGroup(t, 2)
	offer := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	o := g[1].takes(g[0], offer)
	assert.Equal(t, "floor! counters! ACCEPT", o.String())
	accept := sent[*wire.Accept](o)
	assert.Equal(t, g[1].cfg.Incarnation, accept.Incarnation)
	assert.Positive(t, accept.Accept)
	o = g[1].takes(g[0], offer)
	assert.Equal(t, "ACCEPT", o.String())
	assert.Equal(t, accept, sent[*wire.Accept](o), "LIVE: the same again")
	next := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	o = g[1].takes(g[0], next)
	assert.Equal(t, "ACCEPT", o.String(), "numbers are reserved in blocks")
	assert.Greater(t, sent[*wire.Accept](o).Accept, accept.Accept)
}

func TestReceiver_Restart_NumbersGrow(t *testing.T) {
	g := newGroup(t, 2)
	g[1].own() // so that the first record of counters has none for ACCEPTs
	g[1].restart(nil)
	_, offer, first := g[0].offered(g[1])
	assert.Positive(t, first.Accept, "number 0 says nothing")
	g[1].restart(nil)
	o := g[1].takes(g[0], offer)
	assert.Equal(t, "counters! ACCEPT", o.String())
	assert.Greater(t, sent[*wire.Accept](o).Accept, first.Accept)
}

func TestReceiver_OfferOfDecidedHop_Ignored(t *testing.T) {
	g := newGroup(t, 2)
	_, offer, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	transfer := sent[*wire.Transfer](g[0].release(offer.Token, 0))
	g[1].takes(g[0], transfer)
	assert.Empty(t, g[1].takes(g[0], offer).String(), "TAKEN")

	_, offer, accept = g[0].offered(g[1])
	g[0].takes(g[1], accept)
	transfer = sent[*wire.Transfer](g[0].release(offer.Token, 0))
	g[1].stop()
	g[1].takes(g[0], transfer)
	assert.Empty(t, g[1].takes(g[0], offer).String(), "VOIDED")
}

func TestReceiver_ReservationLapsed_NumberKept(t *testing.T) {
	for name, lapse := range map[string]func(p, q *party, a *wire.Accept){
		"by time": func(_, q *party, _ *wire.Accept) { q.wait(handoff.DefaultTuning.Lifetime + time.Second) },
		"by CANCEL": func(p, q *party, a *wire.Accept) {
			q.takes(p, &wire.Cancel{Token: a.Token, Hop: a.Hop, Incarnation: a.Incarnation, Accept: a.Accept})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 2)
			tok, offer, accept := g[0].offered(g[1])
			lapse(g[0], g[1], accept)
			assert.Equal(t, accept, sent[*wire.Accept](g[1].takes(g[0], offer)), "may become LIVE again")
			lapse(g[0], g[1], accept)
			g[0].takes(g[1], accept)
			transfer := sent[*wire.Transfer](g[0].release(tok, 0))
			assert.Equal(t, "known known held! RECEIPT", g[1].takes(g[0], transfer).String(), "LAPSED is no reason to refuse")
		})
	}
}

func TestReceiver_CancelOfAnother_Ignored(t *testing.T) {
	g := newGroup(t, 3)
	_, _, accept := g[0].offered(g[1])
	cancel := wire.Cancel{Token: accept.Token, Hop: accept.Hop, Incarnation: accept.Incarnation, Accept: accept.Accept}
	wake := g[1].m.NextDeadline()
	other := cancel
	other.Accept++
	g[1].takes(g[0], &other)
	other = cancel
	other.Incarnation[0]++
	g[1].takes(g[0], &other)
	g[1].takes(g[2], &cancel)
	assert.Equal(t, wake, g[1].m.NextDeadline(), "still LIVE")
	g[1].takes(g[0], &cancel)
	assert.NotEqual(t, wake, g[1].m.NextDeadline())
}

func TestReceiver_Offer_NoGuardMoves(t *testing.T) {
	g := newGroup(t, 2)
	tok, transfer := g[0].underWay(g[1])
	far := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	far.Token, far.Hop = tok, 1000
	g[1].takes(g[0], far)
	assert.Contains(t, g[1].takes(g[0], transfer).String(), "held!")
}

func TestReceiver_CertificateMissing_NeedBeforeAccept(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	delete(g[2].world.keys, g[0].id)
	offer := sent[*wire.Offer](g[1].prepare(tok, 1))
	o := g[2].takes(g[1], offer)
	assert.Equal(t, "NEED", o.String())
	assert.Equal(t, []ident.Member{g[0].id}, sent[*wire.Need](o).Members)
	g[2].world.keys[g[0].id] = g[0].key.Public()
	assert.Contains(t, g[2].takes(g[1], offer).String(), "ACCEPT")
}

func TestReceiverRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(p, q *party, o *wire.Offer)
		want    wire.Refusal
	}{
		"stopping":          {func(_, q *party, _ *wire.Offer) { q.stop() }, wire.RefuseStopping},
		"offerer not valid": {func(p, q *party, _ *wire.Offer) { q.world.ineligible[p.id] = certificate.ErrExpired }, wire.RefuseSigner},
		"unknown resource":  {func(_, q *party, _ *wire.Offer) { q.world.refusal = wire.RefuseResource }, wire.RefuseResource},
		"genesis time":      {func(_, q *party, _ *wire.Offer) { q.world.stale = true }, wire.RefuseClock},
		"another token":     {func(_, _ *party, o *wire.Offer) { o.Token[0]++ }, wire.RefuseTitle},
		"no genesis":        {func(_, _ *party, o *wire.Offer) { o.Genesis = []byte{1} }, wire.RefuseTitle},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 2)
			offer := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
			c.prepare(g[0], g[1], offer)
			o := g[1].takes(g[0], offer)
			assert.Equal(t, "REFUSE", o.String())
			assert.Equal(t, c.want, sent[*wire.Refuse](o).Reason)
		})
	}
}

func TestReceiver_GenesisTime_CheckedAtHop1Only(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	g[2].world.stale = true
	offer := sent[*wire.Offer](g[1].prepare(tok, 1))
	assert.Contains(t, g[2].takes(g[1], offer).String(), "ACCEPT", "not from a later holder")
	fresh := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	assert.Equal(t, "REFUSE", g[2].takes(g[0], fresh).String())

	late, transfer := g[0].underWay(g[1])
	g[1].world.stale = true
	assert.Contains(t, g[1].takes(g[0], transfer).String(), "held!", "never a ground to drop a TRANSFER")
	assert.True(t, g[1].holds(late, 1))
}

func TestReceiver_OnePeer_ReservationsBounded(t *testing.T) {
	g := newGroup(t, 3)
	offer := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	for hop := range uint64(handoff.MaxReservationsPerPeer) {
		offer.Hop = hop + 1
		require.Contains(t, g[1].takes(g[0], offer).String(), "ACCEPT")
	}
	offer.Hop++
	assert.Equal(t, wire.RefuseBusy, sent[*wire.Refuse](g[1].takes(g[0], offer)).Reason)
	other := sent[*wire.Offer](g[2].prepare(g[2].own().ID(), 0))
	assert.Contains(t, g[1].takes(g[2], other).String(), "ACCEPT", "others still have room")
	g[1].wait(handoff.DefaultTuning.Lifetime + time.Second)
	assert.Contains(t, g[1].takes(g[0], offer).String(), "ACCEPT", "what has lapsed does not count")
}

// A reservation made for one offerer does not keep another one's transfer out,
// nor does an offer of somebody else take the reservation away.
func TestReceiver_TwoOfferers_TwoReservations(t *testing.T) {
	g := newGroup(t, 3)
	tok, transfer := g[0].underWay(g[1])
	stolen := sent[*wire.Offer](g[0].prepare(g[0].own().ID(), 0))
	stolen.Token, stolen.Genesis = tok, transfer.Genesis
	assert.Contains(t, g[1].takes(g[2], stolen).String(), "ACCEPT")
	assert.Contains(t, g[1].takes(g[0], transfer).String(), "held! RECEIPT")
	assert.True(t, g[1].holds(tok, 1))
}

// TestTake_OffererMayHaveRestarted_Belated: the offerer's connection breaks between ACCEPT
// and TRANSFER: another token may have been made meanwhile. One that is closed in order, and
// opened again, says nothing, nor does a second greeting.
func TestTake_OffererMayHaveRestarted_Belated(t *testing.T) {
	hello := func(m *handoff.Machine, p *party) { m.PeerUp(p.id, &wire.Hello{Incarnation: p.cfg.Incarnation}) }
	for name, happens := range map[string]func(m *handoff.Machine, p *party){
		"nothing": func(*handoff.Machine, *party) {},
		"greeted": func(m *handoff.Machine, p *party) { hello(m, p) },
		"closed":  func(m *handoff.Machine, p *party) { m.PeerClosed(p.id, false); hello(m, p) },
		"broken":  func(m *handoff.Machine, p *party) { m.PeerClosed(p.id, true); hello(m, p) },
		"down":    func(m *handoff.Machine, p *party) { m.PeerDown(p.id); hello(m, p) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 2)
			_, offer, accept := g[0].offered(g[1])
			g[0].takes(g[1], accept)
			transfer := sent[*wire.Transfer](g[0].release(offer.Token, 0))
			g[1].do(func(m *handoff.Machine) { happens(m, g[0]) })
			g[1].takes(g[0], transfer)
			i := slices.IndexFunc(g[1].notices, func(n handoff.Notice) bool { return n.Kind == handoff.Gained })
			require.GreaterOrEqual(t, i, 0)
			assert.Equal(t, name == "broken" || name == "down", g[1].notices[i].Belated)
		})
	}
}
