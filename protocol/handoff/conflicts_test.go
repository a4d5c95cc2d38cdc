package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// A checkpoint keeps of a transfer no more than its hash: whether the second one
// convicts its signer cannot be told, so it is suspicion.
func TestEvidence_AfterCheckpoint_Found(t *testing.T) {
	g := newGroup(t, 2)
	_, first := g[0].underWay(g[1])
	g[1].takes(g[0], first)
	b, _ := transferBody(t, first)
	g[1].do(func(m *handoff.Machine) { require.True(t, m.Drop(b.Token, 1, 1)) })
	g[1].restart(g[1].m.Checkpoint())
	b.Time++
	o := g[1].takes(g[0], &wire.Transfer{Transfer: g[0].signs(b).Raw(), Genesis: first.Genesis})
	assert.Equal(t, []string{handoff.GiversOfOneHop}, written(o))
	assert.Equal(t, []ident.Member{{}}, accused(o))
	assert.Empty(t, g[1].convictions(), "the first is in the old journal only")
}

// signs is a transfer that p signs as it likes.
func (p *party) signs(b token.TransferBody) token.Transfer {
	signed, err := b.Sign(group, p.key)
	require.NoError(p.t, err)
	return signed
}

// written is the kinds of evidence in what was written down.
func written(o outcome) (kinds []string) {
	for _, e := range o.effects {
		if p, ok := e.(effect.Persist); ok {
			if r, ok := p.Record.(*journal.Evidence); ok {
				kinds = append(kinds, r.What)
			}
		}
	}
	return kinds
}

// convictions are whom the last step convicted, and that its objects do.
func (p *party) convictions() (list []ident.Member) {
	for _, n := range p.notices {
		if n.Kind != handoff.Convicted {
			continue
		}
		_, by, ok := evidence.Of(group, n.Objects[0], n.Objects[1])
		require.True(p.t, ok)
		require.Equal(p.t, n.Peer, by)
		list = append(list, n.Peer)
	}
	return list
}

// A member that has taken a transfer and handed the token on still knows when a
// second one of that hop comes, also after a restart.
func TestEvidence_CustodyOver_Found(t *testing.T) {
	for name, between := range map[string]func(*party){
		"without a restart": func(*party) {}, "after a restart": func(p *party) { p.restart(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3)
			thief, honest, next := g[0], g[1], g[2]
			tok, first := thief.underWay(honest)
			honest.takes(thief, first)
			honest.world.choices = []ident.Member{next.id}
			honest.takes(next, sent[*wire.Accept](next.takes(honest, sent[*wire.Offer](honest.prepare(tok, 1)))))
			honest.takes(next, sent[*wire.Receipt](next.takes(honest, sent[*wire.Transfer](honest.release(tok, 1)))))
			between(honest)

			b, _ := transferBody(t, first)
			b.Time++
			second := &wire.Transfer{Transfer: thief.signs(b).Raw(), Genesis: first.Genesis}
			o := honest.takes(thief, second)
			assert.Equal(t, []string{"two transfers of one hop"}, written(o))
			assert.Equal(t, []ident.Member{thief.id}, honest.convictions())
			assert.Empty(t, honest.takes(thief, second).String(), "once")
		})
	}
}

// A receipt that comes after the void of the same transfer, or before it,
// convicts its signer, also when custody has moved on.
func TestEvidence_VoidAndReceipt_Found(t *testing.T) {
	for name, order := range map[string][]token.Verdict{
		"void first": {token.Void, token.Receipt}, "receipt first": {token.Receipt, token.Void},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				g := newGroup(t, 2)
				_, transfer := g[0].underWay(g[1])
				say := func(v token.Verdict) outcome {
					raw := g[1].verdict(v, transfer, g[1].cfg.Incarnation)
					if v == token.Void {
						return g[0].takes(g[1], &wire.Void{Void: raw})
					}
					return g[0].takes(g[1], &wire.Receipt{Receipt: raw})
				}
				assert.Empty(t, written(say(order[0])))
				if restart {
					g[0].restart(nil)
				}
				assert.Equal(t, []string{"void and receipt"}, written(say(order[1])))
				assert.Equal(t, []ident.Member{g[1].id}, g[0].convictions())
			})
		}
	}
}

// A member that declined a transfer and passes the token on all the same is
// convicted by the member it declined, when the token comes back there.
func TestEvidence_VoidAndTransfer_Found(t *testing.T) {
	g := newGroup(t, 2)
	tok, first := g[0].underWay(g[1])
	void := &wire.Void{Void: g[1].verdict(token.Void, first, g[1].cfg.Incarnation)}
	assert.Contains(t, g[0].takes(g[1], void).String(), "reclaimed!")
	v := token.NewVerifier(group, keys{g[0]})
	genesis, err := v.Genesis(first.Genesis)
	require.NoError(t, err)
	taken, err := v.Transfer(first.Transfer)
	require.NoError(t, err)
	accept := sent[*wire.Accept](g[0].takes(g[1], &wire.Offer{Token: tok, Hop: 2, Genesis: first.Genesis, Signers: []ident.Member{g[0].id, g[1].id}}))
	kept := g[1].signs(token.Title{Genesis: genesis, Transfer: taken}.Next(g[0].id, accept.Reservation()))
	o := g[0].takes(g[1], &wire.Transfer{Transfer: kept.Raw(), Genesis: first.Genesis, Previous: first.Transfer})
	assert.Contains(t, written(o), "void and transfer")
	assert.Contains(t, g[0].convictions(), g[1].id)
}

// Two tokens with one number convict their generator at the offer already.
func TestEvidence_TwoTokensOfOneNumber_Found(t *testing.T) {
	g := newGroup(t, 2)
	offer := func(nonce byte) outcome {
		genesis, err := token.GenesisBody{
			Resource: "r", Generator: g[0].id, Incarnation: ident.Incarnation{1}, Sequence: 7, Time: 1, Nonce: [token.NonceSize]byte{nonce},
		}.Sign(group, g[0].key)
		require.NoError(t, err)
		return g[1].takes(g[0], &wire.Offer{Token: genesis.ID(), Hop: 1, Genesis: genesis.Raw(), Signers: []ident.Member{g[0].id}})
	}
	assert.Empty(t, written(offer(1)))
	assert.Equal(t, []string{"two tokens of one number"}, written(offer(2)))
	assert.Empty(t, written(offer(2)), "once")
}

// A transfer that does not follow from what came with it is dropped, and
// convicts who signed it; what somebody else only claims convicts nobody.
func TestEvidence_Misfit_Found(t *testing.T) {
	g := newGroup(t, 3)
	_, first := g[0].underWay(g[1])
	b, _ := transferBody(t, first)
	b.Hop = 2
	o, err := g[1].get(g[0], &wire.Transfer{Transfer: g[0].signs(b).Raw(), Genesis: first.Genesis})
	assert.ErrorIs(t, err, token.ErrChain)
	assert.Equal(t, []string{"transfer that does not follow"}, written(o))
	assert.Equal(t, []ident.Member{g[0].id}, g[1].convictions())

	// g[1] shows a transfer of g[0] that g[0] has never signed.
	forged := b
	forged.To, forged.Hop = g[1].id, 5
	own := g[1].signs(token.TransferBody{
		Token: b.Token, Hop: 6, From: g[1].id, To: g[2].id, Incarnation: g[2].cfg.Incarnation, Previous: ident.Hash{1},
	})
	unsigned := append([]byte(nil), g[0].signs(forged).Raw()...)
	unsigned[len(unsigned)-1] ^= 1
	o, err = g[2].get(g[1], &wire.Transfer{Transfer: own.Raw(), Genesis: first.Genesis, Previous: unsigned})
	assert.ErrorIs(t, err, token.ErrSignature)
	assert.Empty(t, written(o))
}

// However much a member signs, what is written of it is bounded, also over
// restarts, and nobody else is forgotten for it.
func TestEvidence_Many_Bounded(t *testing.T) {
	g := newGroup(t, 3)
	thief, honest := g[0], g[1]
	_, first := thief.underWay(honest)
	honest.takes(thief, first)
	b, _ := transferBody(t, first)
	count := 0
	for n := range 3 * handoff.MaxEvidencePerMember {
		b.Time++
		count += len(written(honest.takes(thief, &wire.Transfer{Transfer: thief.signs(b).Raw(), Genesis: first.Genesis})))
		if n == 1 {
			honest.restart(nil)
		}
	}
	assert.Equal(t, handoff.MaxEvidencePerMember, count)

	_, other := g[2].underWay(honest)
	honest.takes(g[2], other)
	b, _ = transferBody(t, other)
	b.Time++
	assert.Len(t, written(honest.takes(g[2], &wire.Transfer{Transfer: g[2].signs(b).Raw(), Genesis: other.Genesis})), 1)
}
