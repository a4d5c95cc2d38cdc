package handoff_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Each test is a row, or a sentence, of handoff rules §3: the sender that looks for
// somebody to give a token to.

func TestSender_Offer_NothingOnDisk(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	o := g[0].prepare(tok, 0)
	assert.Equal(t, "OFFER", o.String())
	assert.Equal(t, g[1].id, o.to())
	offer := sent[*wire.Offer](o)
	assert.EqualValues(t, 1, offer.Hop)
	assert.NotEmpty(t, offer.Genesis, "the genesis always goes along")
	assert.Equal(t, []ident.Member{g[0].id}, offer.Signers)
	assert.Empty(t, offer.Certificates, "not before somebody lacks them")
	assert.Empty(t, g[0].prepare(tok, 0).String(), "once is enough")
}

func TestSender_OperationRuns_Offers(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
	offer := sent[*wire.Offer](g[0].prepare(tok, 0))
	accept := sent[*wire.Accept](g[1].takes(g[0], offer))
	assert.Empty(t, g[0].takes(g[1], accept).String())
	assert.Empty(t, g[0].release(tok, 0).String(), "not while it runs")
	assert.True(t, g[0].holds(tok, 0))
	o := g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, false) })
	assert.Equal(t, "sent! TRANSFER", o.String())
}

func TestSender_AcceptOfAnyOfferer_Used(t *testing.T) { // S1
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	first := sent[*wire.Offer](g[0].prepare(tok, 0))
	g[0].release(tok, 0)
	var o outcome
	for range handoff.DefaultTuning.OffersPerPeer {
		o = g[0].wait(4 * time.Second)
	}
	require.Equal(t, g[2].id, o.to(), "the second is asked after the first has not answered")
	o = g[0].takes(g[1], sent[*wire.Accept](g[1].takes(g[0], first)))
	assert.Equal(t, "sent! TRANSFER", o.String())
	assert.Equal(t, g[1].id, o.to())
	assert.EqualValues(t, 1, g[0].m.Stats().Reselected)
}

func TestSender_AcceptForAnother_Ignored(t *testing.T) {
	for name, spoil := range map[string]func(*wire.Accept){
		"of another hop":         func(a *wire.Accept) { a.Hop = 2 },
		"of another token":       func(a *wire.Accept) { a.Token[0]++ },
		"of another incarnation": func(a *wire.Accept) { a.Incarnation[0]++ },
		"with number 0":          func(a *wire.Accept) { a.Accept = 0 },
		"for hop 0":              func(a *wire.Accept) { a.Hop = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 2)
			tok, _, accept := g[0].offered(g[1])
			g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, &wire.Hello{Incarnation: g[1].cfg.Incarnation}) })
			g[0].release(tok, 0)
			spoil(accept)
			assert.NotContains(t, g[0].takes(g[1], accept).String(), "TRANSFER")
			assert.True(t, g[0].holds(tok, 0))
		})
	}
}

func TestSender_OwnAccept_Ignored(t *testing.T) {
	g := newGroup(t, 2)
	tok, _, accept := g[0].offered(g[1])
	g[0].release(tok, 0)
	assert.Empty(t, g[0].takes(g[0], accept).String())
	assert.True(t, g[0].holds(tok, 0))
}

func TestSender_AcceptBelowFloor_Discarded(t *testing.T) {
	g := newGroup(t, 2)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	hello := &wire.Hello{Incarnation: g[1].cfg.Incarnation, Floor: accept.Accept + 1}
	g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, hello) })
	assert.NotContains(t, g[0].release(tok, 0).String(), "TRANSFER")
	g[0].takes(g[1], accept)
	assert.True(t, g[0].holds(tok, 0), "also when it comes again")
}

func TestSender_AcceptOfFormerIncarnation_Discarded(t *testing.T) {
	g := newGroup(t, 2)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, &wire.Hello{Incarnation: ident.Incarnation{99}}) })
	assert.NotContains(t, g[0].release(tok, 0).String(), "TRANSFER")
	assert.True(t, g[0].holds(tok, 0))
}

func TestSender_OldAccept_NotReleased(t *testing.T) { // T_fresh, §6
	g := newGroup(t, 2)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	o := g[0].wait(handoff.DefaultTuning.Lifetime * 4 / 5)
	assert.Equal(t, "OFFER", o.String(), "it is renewed shortly before it is old")
	g[0].wait(handoff.DefaultTuning.Lifetime)
	assert.NotContains(t, g[0].release(tok, 0).String(), "TRANSFER")
	o = g[0].takes(g[1], accept)
	assert.Equal(t, "sent! TRANSFER", o.String(), "the same number, said again")
}

func TestSender_FirstRetry_CertificatesIncluded(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	assert.Empty(t, sent[*wire.Offer](g[0].prepare(tok, 0)).Certificates)
	assert.Len(t, sent[*wire.Offer](g[0].wait(time.Second)).Certificates, 1)
	var o outcome
	for o.effects == nil || o.to() != g[2].id {
		o = g[0].wait(4 * time.Second)
	}
	assert.Len(t, sent[*wire.Offer](o).Certificates, 1, "to whomever")
}

func TestSender_Need_CertificatesSent(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	offer := sent[*wire.Offer](g[0].prepare(tok, 0))
	delete(g[1].world.keys, g[0].id)
	o := g[1].takes(g[0], offer)
	assert.Equal(t, "NEED", o.String(), "and no ACCEPT, and no number is spent")
	need := sent[*wire.Need](o)
	assert.Equal(t, []ident.Member{g[0].id}, need.Members)
	assert.Len(t, sent[*wire.Offer](g[0].takes(g[1], need)).Certificates, 1)
	assert.Empty(t, g[0].takes(g[1], need).String(), "once: then the retries do")
}

func TestSender_Refused_AsksAnother(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].prepare(tok, 0)
	g[0].release(tok, 0)
	o := g[0].takes(g[1], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
	assert.Equal(t, g[2].id, o.to())
	assert.Empty(t, g[0].takes(g[1], &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy}).String(), "it is not asked any more")
	o = g[0].do(func(m *handoff.Machine) { m.PeerDown(g[2].id) })
	assert.Empty(t, o.String(), "nobody is left: a pause, and no tight loop")
	assert.Equal(t, g[1].id, g[0].wait(2*time.Second).to())
}

func TestSender_Ineligible_PassedOver(t *testing.T) {
	g := newGroup(t, 3)
	tok, _, accept := g[0].offered(g[1])
	g[0].takes(g[1], accept)
	g[0].world.ineligible[g[1].id] = certificate.ErrExpired
	o := g[0].release(tok, 0)
	assert.NotContains(t, o.String(), "TRANSFER")
	for len(o.effects) == 0 {
		o = g[0].wait(time.Second)
	}
	assert.Equal(t, "OFFER", o.String())
	assert.Equal(t, g[2].id, o.to())
}

// A connection that breaks makes the search go on, also when the ACCEPT that it
// takes along is not from the peer that was asked last.
func TestSender_AcceptInHandLost_GoesOn(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
	offer := sent[*wire.Offer](g[0].prepare(tok, 0))
	accept := sent[*wire.Accept](g[1].takes(g[0], offer))
	for range handoff.DefaultTuning.OffersPerPeer {
		g[0].wait(4 * time.Second) // g[2] is asked by now, and does not answer
	}
	g[0].takes(g[1], accept)
	g[0].do(func(m *handoff.Machine) { m.PeerDown(g[1].id) })
	assert.LessOrEqual(t, g[0].m.NextDeadline().Sub(g[0].now.Boot), time.Second)
}

// An offer to a member without a connection has it dialled, and goes out behind
// the HELLO. It is not repeated when the other HELLO comes, unless what was sent
// may be lost.
func TestSender_Dial_OffersOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(g []*party, tok ident.Token)
		want    string
	}{
		"the connection that it waited for": {func([]*party, ident.Token) {}, ""},
		"after another one was closed": {func(g []*party, _ ident.Token) {
			g[0].do(func(m *handoff.Machine) { m.PeerClosed(g[1].id, false) })
		}, "OFFER"},
		"after the connection of another was closed": {func(g []*party, _ ident.Token) {
			g[0].do(func(m *handoff.Machine) { m.PeerClosed(g[2].id, false) })
		}, ""},
		"after an answer of a former incarnation": {func(g []*party, tok ident.Token) {
			g[0].takes(g[1], &wire.Accept{Token: tok, Hop: 1, Incarnation: ident.Incarnation{99}, Accept: 1, Lifetime: 60_000})
		}, "OFFER"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3)
			tok := g[0].own().ID()
			require.Equal(t, "OFFER", g[0].prepare(tok, 0).String())
			tt.between(g, tok)
			hello := &wire.Hello{Incarnation: g[1].cfg.Incarnation}
			o := g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, hello) })
			assert.Equal(t, tt.want, o.String())
			assert.Empty(t, g[0].do(func(m *handoff.Machine) { m.PeerUp(g[1].id, hello) }).String(), "greeted again")
			assert.Equal(t, "OFFER", g[0].wait(handoff.DefaultTuning.OfferTimeout*5).String(), "it is not waited for without end")
		})
	}
}

// The highest numbers would overflow what is counted on from them.
func TestSender_AcceptNumberTooHigh_Ignored(t *testing.T) {
	for number, used := range map[uint64]bool{1 << 62: true, 1<<62 + 1: false, 1<<64 - 1: false} {
		g := newGroup(t, 2)
		tok, _, accept := g[0].offered(g[1])
		accept.Accept = number
		g[0].takes(g[1], accept)
		assert.Equal(t, used, strings.Contains(g[0].release(tok, 0).String(), "TRANSFER"), "%d", number)
	}
}
