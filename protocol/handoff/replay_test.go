package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestReplay_Impossible_Refused(t *testing.T) {
	g := newGroup(t, 2)
	tok := g[0].own().ID()
	transfer := g[0].hands(g[1], tok, 0)
	for name, records := range map[string][]journal.Record{
		"a transfer that is none":     {&journal.Held{Transfer: []byte{1}, Genesis: transfer.Genesis}},
		"a genesis that is none":      {&journal.Generated{Genesis: []byte{1}}},
		"sent without custody":        {&journal.Sent{Transfer: transfer.Transfer}},
		"closed without custody":      {&journal.Closed{Token: tok, Hop: 4}},
		"reclaimed without a sending": {&journal.Reclaimed{Token: tok, Hop: 4}},
		"dropped without custody":     {&journal.Dropped{Token: tok, Hop: 4}},
		"voided what is none":         {&journal.Voided{Transfer: []byte{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			replay := handoff.NewReplay(g[1].cfg)
			assert.ErrorIs(t, replay.Apply(records[0]), handoff.ErrReplay)
		})
	}
	t.Run("taken without a floor", func(t *testing.T) {
		replay := handoff.NewReplay(g[1].cfg)
		require.NoError(t, replay.Apply(&journal.Held{Transfer: transfer.Transfer, Genesis: transfer.Genesis}))
		_, err := replay.Finish(g[1].now)
		assert.ErrorIs(t, err, handoff.ErrReplay)
	})
	t.Run("custody whose signer is unknown", func(t *testing.T) {
		cfg := g[1].cfg
		cfg.Environment = &world{}
		replay := handoff.NewReplay(cfg)
		for _, r := range g[1].past {
			require.NoError(t, replay.Apply(r))
		}
		_, err := replay.Finish(g[1].now)
		assert.ErrorIs(t, err, handoff.ErrReplay)
	})
	held := &journal.Held{Transfer: transfer.Transfer, Genesis: transfer.Genesis}
	onward := g[1].hands(g[0], tok, 1)
	for name, records := range map[string][]journal.Record{
		"closed what was not sent":    {held, &journal.Closed{Token: tok, Hop: 1}},
		"reclaimed what was not sent": {held, &journal.Reclaimed{Token: tok, Hop: 2}},
		"dropped what was sent":       {held, &journal.Sent{Transfer: onward.Transfer}, &journal.Dropped{Token: tok, Hop: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			replay := handoff.NewReplay(g[1].cfg)
			for _, r := range records[:len(records)-1] {
				require.NoError(t, replay.Apply(r))
			}
			assert.ErrorIs(t, replay.Apply(records[len(records)-1]), handoff.ErrReplay)
		})
	}
}

// The certificates that a title needs are in the journal, and in every
// checkpoint: its transfer can be sent, with all that verifies it, after any
// restart.
func TestReplay_SignersCertificates_Found(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	g[1].hands(g[2], tok, 1)
	for _, records := range [][]journal.Record{g[2].past, g[2].m.Checkpoint()} {
		var known []ident.Member
		for _, r := range records {
			if k, ok := r.(*journal.Known); ok {
				known = append(known, ident.Member(k.Object))
			}
		}
		for _, p := range g {
			assert.Contains(t, known, p.id)
		}
	}
}

// A machine, one rebuilt from its journal and one rebuilt from its checkpoint
// are the same: they write the same checkpoint. Reservations are all that a
// restart may forget.
func TestReplay_Checkpoint_Agrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGroup(t, 3)
		tokens := []ident.Token{g[0].own().ID(), g[1].own().ID(), g[1].own().ID()}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			step(rt, g, tokens)
		}
		for i, p := range g {
			want := p.m.Checkpoint()
			p.restart(nil)
			require.Equal(rt, want, p.m.Checkpoint(), "from the journal of %d", i)
			p.restart(want)
			require.Equal(rt, want, p.m.Checkpoint(), "from the checkpoint of %d", i)
		}
	})
}

// step lets one random thing happen: a handoff that is cut short anywhere, a
// declined transfer, a drop, a report of what is settled.
func step(rt *rapid.T, g []*party, tokens []ident.Token) {
	i := rapid.IntRange(0, 2).Draw(rt, "who")
	p, q := g[i], g[(i+rapid.IntRange(1, 2).Draw(rt, "to whom"))%3]
	tok := rapid.SampledFrom(tokens).Draw(rt, "token")
	hop, held := holding(p, tok)
	switch kind := rapid.IntRange(0, 9).Draw(rt, "what"); {
	case kind == 0:
		q.meets(p, p.hello(q))
		return
	case kind == 1 && held:
		p.do(func(m *handoff.Machine) { m.Drop(tok, hop, 1) })
		return
	case !held:
		return
	default:
		exchange(p, q, tok, hop, kind, rapid.IntRange(0, 2).Draw(rt, "how far"))
	}
}

// exchange hands a token over, or begins to.
func exchange(p, q *party, tok ident.Token, hop uint64, kind, far int) {
	p.do(func(m *handoff.Machine) { m.Release(tok, hop, q.id, nil) })
	accept := first[*wire.Accept](q.takes(p, &wire.Offer{
		Token: tok, Hop: hop + 1, Genesis: titleOf(p, tok, hop), Signers: []ident.Member{p.id},
	}))
	if accept == nil || far == 0 {
		return
	}
	transfer := first[*wire.Transfer](p.takes(q, accept))
	if transfer == nil || far == 1 {
		return
	}
	if kind == 2 {
		void := &wire.Void{Void: q.declines(p, transfer)}
		p.takes(q, void)
		return
	}
	if receipt := first[*wire.Receipt](q.takes(p, transfer)); receipt != nil {
		p.takes(q, receipt)
	}
}

// declines makes the machine decline one transfer, as if it were full.
func (p *party) declines(from *party, m *wire.Transfer) []byte {
	p.world.refusal = wire.RefuseResource
	defer func() { p.world.refusal = 0 }()
	return sent[*wire.Void](p.takes(from, m)).Void
}

func titleOf(p *party, tok ident.Token, hop uint64) []byte {
	title, _ := p.m.Title(tok, hop)
	return title.Genesis.Raw()
}

func holding(p *party, tok ident.Token) (hop uint64, held bool) {
	for _, h := range p.m.Holdings() {
		if h.Title.Token() == tok {
			return h.Hop, true
		}
	}
	return 0, false
}

// first is the first message of its type, or nil.
func first[M wire.Message](o outcome) (none M) {
	for _, m := range messages[M](o) {
		return m
	}
	return none
}
