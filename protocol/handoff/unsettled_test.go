package handoff

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// pair is a world of two members.
type pair map[ident.Member]*signature.PublicKey

func (p pair) Key(m ident.Member) *signature.PublicKey                { return p[m] }
func (pair) Choose(func(ident.Member) bool) (m ident.Member, ok bool) { return m, false }
func (pair) Shuns(ident.Member) bool                                  { return false }
func (pair) ShunsLate(ident.Member) bool                              { return false }
func (pair) Eligible(ident.Member) error                              { return nil }
func (pair) Certificate(ident.Member) string                          { return "" }
func (pair) Circulates(token.GenesisBody) bool                        { return true }
func (pair) Admits(token.Genesis, uint64) (wire.Refusal, bool)        { return 0, true }
func (pair) LastOperation(token.GenesisBody) uint64                   { return 0 }

// newPair is a machine with its key, and the key and id of the one peer that it knows.
func newPair(t *testing.T) (m *Machine, mine, theirs *signature.PrivateKey, peer ident.Member) {
	group := ident.Group{1}
	member := func(n byte) (*signature.PrivateKey, ident.Member) {
		key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
		require.NoError(t, err)
		pub := key.Public().Bytes()
		return key, ident.MemberOf(group, pub[:])
	}
	mine, me := member(1)
	theirs, peer = member(2)
	m = New(Config{
		Self: me, Group: group, Key: mine, Incarnation: ident.Incarnation{1}, Durable: true, Tuning: DefaultTuning,
		Environment: pair{me: mine.Public(), peer: theirs.Public()}, Rand: rand.NewPCG(1, 1),
	})
	m.SetNow(clock.Reading{Boot: clock.Instant(time.Hour), Wall: time.Unix(1_800_000_000, 0)})
	return m, mine, theirs, peer
}

// What one peer's transfers leave behind is bounded even when it offers first,
// lets its reservations be forgotten, and comes with all transfers at once.
func TestTransfers_PeerSettlesNothing_Bounded(t *testing.T) {
	m, myKey, key, peer := newPair(t)
	group, me := m.cfg.Group, m.cfg.Self
	transfer := func(n, accept uint64) *wire.Transfer {
		g, err := token.GenesisBody{Resource: "r", Generator: peer, Incarnation: ident.Incarnation{2}, Sequence: n, Time: 1}.Sign(group, key)
		require.NoError(t, err)
		r := ident.Reservation{
			Incarnation: m.cfg.Incarnation, Number: accept,
			MAC: AcceptMAC(myKey, m.cfg.Incarnation, peer, g.ID(), 1, accept),
		}
		tr, err := token.Title{Genesis: g}.Next(me, r).Sign(group, key)
		require.NoError(t, err)
		return &wire.Transfer{Transfer: tr.Raw(), Genesis: g.Raw()}
	}
	for range 3 {
		for hop := range uint64(MaxUnsettled) {
			k := hopOf(hop)
			if rec := m.reserve(peer, k, m.book.records[k]); rec != nil {
				m.lapse(rec, ReceiverCancel)
			}
		}
		now := m.now
		now.Boot = now.Boot.Add(time.Hour)
		m.SetNow(now)
		m.Tick() // forgets the reservations
	}
	require.Greater(t, m.numbers.accepts.next, uint64(2*MaxUnsettled))
	require.NoError(t, m.OnTransfer(peer, transfer(1, 1)))
	o := m.book.offerers[peer]
	require.Len(t, o.records, 1)
	for n := uint64(2); len(o.records) < 2*MaxUnsettled; n++ {
		k := hopOf(n)
		m.book.add(&record{key: k, state: Voided, from: peer, accept: n})
	}
	assert.ErrorIs(t, m.OnTransfer(peer, transfer(2, 2*MaxUnsettled+1)), ErrUnsettled)
	assert.Len(t, o.records, 2*MaxUnsettled)
	m.Drain()
	assert.NoError(t, m.OnTransfer(peer, transfer(1, 1)), "what was taken is answered")
	effects, _ := m.Drain()
	assert.Len(t, effects, 1)
}

func hopOf(hop uint64) key { return key{ident.Token{1}, hop + 1} }
