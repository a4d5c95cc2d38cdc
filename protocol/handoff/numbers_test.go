package handoff_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Floors and promises: handoff rules §1, floor[S] and settled(inc, x).

// hello is what p says to q when a connection opens.
func (p *party) hello(q *party) *wire.Hello {
	h := &wire.Hello{Incarnation: p.cfg.Incarnation}
	p.m.Introduce(q.id, h)
	return h
}

// meets tells p that a connection with q is open.
func (p *party) meets(q *party, h *wire.Hello) outcome {
	return p.do(func(m *handoff.Machine) { m.PeerUp(q.id, h) })
}

// busyPair has moved n tokens from the first to the second party, all closed.
func busyPair(t *testing.T, n int) (p, q *party) {
	g := newGroup(t, 2)
	for range n {
		g[0].hands(g[1], g[0].own().ID(), 0)
	}
	return g[0], g[1]
}

func TestPromise_Sent_JournalledBefore(t *testing.T) {
	p, q := busyPair(t, 15)
	assert.Nil(t, p.hello(q).Settled)
	tok, _, accept := p.offered(q)
	p.takes(q, accept)
	o := p.release(tok, 0)
	assert.Equal(t, "settled sent! TRANSFER", o.String(), "it rides on the sync of the transfer")
	s := p.hello(q).Settled
	require.NotNil(t, s)
	assert.Equal(t, q.cfg.Incarnation, s.Incarnation)
	assert.Equal(t, accept.Accept, s.Below, "the transfer just sent is not settled")
	p.restart(nil)
	assert.Equal(t, s, p.hello(q).Settled, "a promise outlives a restart")
}

func TestPromise_UnansweredTransfer_NotCovered(t *testing.T) {
	p, q := busyPair(t, 3)
	_, transfer := p.underWay(q)
	b, _ := transferBody(t, transfer)
	for range 100 {
		p.hands(q, p.own().ID(), 0)
	}
	if s := p.hello(q).Settled; s != nil {
		assert.LessOrEqual(t, s.Below, b.Accept)
	}
	p.takes(q, sent[*wire.Receipt](q.takes(p, transfer)))
	for range 20 {
		p.hands(q, p.own().ID(), 0)
	}
	assert.Greater(t, p.hello(q).Settled.Below, b.Accept)
}

func TestPromise_AcceptInHand_NotCovered(t *testing.T) {
	p, q := busyPair(t, 3)
	tok, _, accept := p.offered(q)
	p.takes(q, accept)
	p.do(func(m *handoff.Machine) { m.SetBusy(tok, 0, true) })
	for range 100 {
		p.hands(q, p.own().ID(), 0)
	}
	if s := p.hello(q).Settled; s != nil {
		assert.LessOrEqual(t, s.Below, accept.Accept)
	}
	p.release(tok, 0)
	o := p.do(func(m *handoff.Machine) { m.SetBusy(tok, 0, false) })
	assert.Contains(t, o.String(), "TRANSFER")
}

func TestAccept_BelowPromise_Discarded(t *testing.T) {
	p, q := busyPair(t, 2)
	tok := p.own().ID()
	old := sent[*wire.Accept](q.takes(p, sent[*wire.Offer](p.prepare(tok, 0)))) // lost for now
	for range 60 {
		p.hands(q, p.own().ID(), 0)
	}
	require.Greater(t, p.hello(q).Settled.Below, old.Accept)
	for _, when := range []string{"before", "after"} {
		p.prepare(tok, 0)
		p.release(tok, 0)
		p.takes(q, old)
		assert.True(t, p.holds(tok, 0), "%s a restart", when)
		p.restart(nil)
	}
}

// A transfer that was given up does not pin the receiver's floor permanently. A
// copy that comes after that is worthless.
func TestPromise_TransferGivenUp_Settled(t *testing.T) {
	p, q := newParty(t, 1, false), newParty(t, 2, true)
	p.world.keys[q.id], q.world.keys[p.id] = q.key.Public(), p.key.Public()
	p.world.choices = []ident.Member{q.id}
	tok, transfer := p.underWay(q)
	p.wait(handoff.DefaultTuning.GiveUp + time.Second)
	require.Zero(t, p.m.Unanswered())
	for range 60 {
		p.hands(q, p.own().ID(), 0)
	}
	b, _ := transferBody(t, transfer)
	require.Greater(t, p.hello(q).Settled.Below, b.Accept)
	q.meets(p, p.hello(q))
	assert.Equal(t, "UNKNOWN", q.takes(p, transfer).String())
	assert.False(t, q.holds(tok, 1))
}

// Each incarnation of a receiver has its own numbers. One that was replaced may
// come back: two members with one key do so all the time.
func TestPromise_IncarnationComesBack_Kept(t *testing.T) {
	p, q := busyPair(t, 20)
	said := p.hello(q).Settled
	require.NotNil(t, said)
	_, transfer := p.underWay(q)
	b, _ := transferBody(t, transfer)

	p.meets(q, &wire.Hello{Incarnation: ident.Incarnation{99}})
	assert.Nil(t, p.hello(q).Settled, "nothing was promised to the other one")
	p.meets(q, q.hello(p))
	assert.Equal(t, said, p.hello(q).Settled)
	for range 60 {
		p.hands(q, p.own().ID(), 0)
	}
	assert.LessOrEqual(t, p.hello(q).Settled.Below, b.Accept, "and what is still open is not forgotten")
}

// What is remembered of former incarnations is bounded; those that owe an
// answer stay.
func TestIncarnations_Former_Forgotten(t *testing.T) {
	p, q := busyPair(t, 20)
	require.NotNil(t, p.hello(q).Settled)
	owing := ident.Incarnation{99}
	q.cfg.Incarnation = owing
	q.m = handoff.New(q.cfg)
	p.meets(q, q.hello(p))
	for range 20 {
		p.hands(q, p.own().ID(), 0)
	}
	_, transfer := p.underWay(q)
	said := p.hello(q).Settled
	require.NotNil(t, said)
	for n := range byte(50) {
		p.meets(q, &wire.Hello{Incarnation: ident.Incarnation{100, n}})
	}
	p.meets(q, &wire.Hello{Incarnation: ident.Incarnation{2}})
	assert.Nil(t, p.hello(q).Settled, "forgotten")
	p.meets(q, &wire.Hello{Incarnation: owing})
	assert.Equal(t, said, p.hello(q).Settled)
	p.takes(q, sent[*wire.Receipt](q.takes(p, transfer)))
	assert.Zero(t, p.m.Unanswered())
}

// A checkpoint names transfers in the order of their tokens, whichever
// incarnation of the receiver they are for.
func TestPromise_Checkpoint_Kept(t *testing.T) {
	p, q := busyPair(t, 20)
	for range 8 { // open transfers to a former incarnation
		p.underWay(q)
	}
	q.cfg.Incarnation = ident.Incarnation{99}
	q.m = handoff.New(q.cfg)
	p.meets(q, q.hello(p))
	for range 40 {
		p.hands(q, p.own().ID(), 0)
	}
	_, transfer := p.underWay(q)
	b, _ := transferBody(t, transfer)
	said := p.hello(q).Settled
	require.NotNil(t, said)

	p.restart(p.m.Checkpoint())
	assert.Equal(t, said, p.hello(q).Settled)
	p.meets(q, q.hello(p))
	assert.Equal(t, said, p.hello(q).Settled)
	for range 40 {
		p.hands(q, p.own().ID(), 0)
	}
	assert.LessOrEqual(t, p.hello(q).Settled.Below, b.Accept)
}

func TestFloor_Forgets_DurableBefore(t *testing.T) {
	p, q := busyPair(t, 40)
	o := q.meets(p, p.hello(q))
	assert.Equal(t, "floor!", o.String())
	assert.Equal(t, p.hello(q).Settled.Below, q.hello(p).Floor)
	q.restart(nil)
	assert.Equal(t, p.hello(q).Settled.Below, q.hello(p).Floor)
}

func TestFloor_ImpossiblePromise_Ignored(t *testing.T) {
	p, q := busyPair(t, 40)
	for name, s := range map[string]wire.Settled{
		"of another incarnation":    {Incarnation: ident.Incarnation{99}, Below: 30},
		"beyond what was issued":    {Incarnation: q.cfg.Incarnation, Below: 1 << 40},
		"that are not worth a sync": {Incarnation: q.cfg.Incarnation, Below: 2},
	} {
		h := p.hello(q)
		h.Settled = &s
		assert.Empty(t, q.meets(p, h).String(), name)
	}
	stranger := newParty(t, 9, true)
	h := p.hello(q)
	assert.Empty(t, q.meets(stranger, h).String(), "who has offered nothing has no floor to raise")
}

func TestFloor_CustodyAndUnanswered_Kept(t *testing.T) {
	g := newGroup(t, 3)
	p, q, r := g[0], g[1], g[2]
	held, passed, closed := p.own().ID(), p.own().ID(), p.own().ID()
	var copies []*wire.Transfer
	for _, tok := range []ident.Token{held, passed, closed} {
		copies = append(copies, p.hands(q, tok, 0))
	}
	q.world.choices = []ident.Member{r.id}
	q.takes(r, sent[*wire.Accept](r.takes(q, sent[*wire.Offer](q.prepare(passed, 1)))))
	underWay := sent[*wire.Transfer](q.release(passed, 1))
	q.hands(r, closed, 1)
	for range 60 {
		p.hands(q, p.own().ID(), 0)
	}
	q.meets(p, p.hello(q))
	b, _ := transferBody(t, copies[2])
	require.Greater(t, q.hello(p).Floor, b.Accept)

	for _, when := range []string{"before", "after"} {
		assert.True(t, q.holds(held, 1), when)
		assert.Equal(t, "RECEIPT", q.takes(p, copies[0]).String(), when)
		assert.Equal(t, "RECEIPT", q.takes(p, copies[1]).String(), when)
		assert.Equal(t, "UNKNOWN", q.takes(p, copies[2]).String(), when)
		assert.Equal(t, 1, q.m.Unanswered(), when)
		q.restart(q.m.Checkpoint())
	}
	q.takes(r, sent[*wire.Receipt](r.takes(q, underWay)))
	assert.Equal(t, "UNKNOWN", q.takes(p, copies[1]).String(), "closed now, and below the floor")
}

func TestFloor_NextNumber_MadeAnew(t *testing.T) {
	p, q := busyPair(t, 5)
	_, transfer := p.underWay(q)
	assert.Equal(t, "floor! report", q.do(func(m *handoff.Machine) { m.Bury(p.id) }).String())
	assert.Equal(t, []ident.Member{p.id}, q.m.Offerers())
	assert.Empty(t, q.do(func(m *handoff.Machine) { m.Bury(p.id) }).String(), "once")
	assert.Equal(t, "UNKNOWN", q.takes(p, transfer).String())
	assert.Empty(t, q.do(func(m *handoff.Machine) { m.Bury(ident.Member{5}) }).String())
}

// What a reservation below the floor was made for counts as NONE for an OFFER.
func TestFloor_Raised_ReservationsOutdated(t *testing.T) {
	p, q := busyPair(t, 2)
	tok := p.own().ID()
	offer := sent[*wire.Offer](p.prepare(tok, 0))
	old := sent[*wire.Accept](q.takes(p, offer)) // is lost
	for range 60 {
		p.hands(q, p.own().ID(), 0)
	}
	require.Greater(t, p.hello(q).Settled.Below, old.Accept)
	offer.Settled = p.hello(q).Settled
	o := q.takes(p, offer)
	assert.Equal(t, "floor! ACCEPT", o.String())
	fresh := sent[*wire.Accept](o)
	assert.Greater(t, fresh.Accept, old.Accept)
	p.takes(q, fresh)
	transfer := sent[*wire.Transfer](p.release(tok, 0))
	assert.Contains(t, q.takes(p, transfer).String(), "held!")
}

func TestCounters_Restart_GoOn(t *testing.T) {
	p := newParty(t, 1, true)
	seen := make(map[uint64]bool)
	for range 3 {
		for range 2000 {
			var n uint64
			p.do(func(m *handoff.Machine) { n = m.DrawSequence() })
			require.False(t, seen[n], "number %d twice", n)
			seen[n] = true
		}
		p.restart(nil)
	}
	reserved := uint64(0)
	for _, r := range p.past {
		if c, ok := r.(*journal.Counters); ok {
			reserved = max(reserved, c.Sequence)
		}
	}
	for n := range seen {
		require.Less(t, n, reserved, "durable before it is used")
	}
}
