package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// reject hands over a token to a member that declines it, and takes it back.
func (p *party) reject(q *party, t ident.Token, hop uint64) {
	p.t.Helper()
	choices := p.world.choices
	p.world.choices = []ident.Member{q.id}
	defer func() { p.world.choices = choices }()
	p.takes(q, sent[*wire.Accept](q.takes(p, sent[*wire.Offer](p.prepare(t, hop)))))
	void := q.declines(p, sent[*wire.Transfer](p.release(t, hop)))
	p.takes(q, &wire.Void{Void: void})
}

// Whoever holds a token has what its title follows from: at hop 0, after a transfer, after a void, after two, and after a
// transfer over one. So has it when it is rebuilt from its journal, and from a checkpoint.
func TestBook_Before_SurvivesRestarts(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	look := func(p *party, hop uint64, previous, void bool) {
		t.Helper()
		p.do((*handoff.Machine).Tick)
		want := p.m.Before(tok, hop)
		for range 2 {
			title, held := p.m.Title(tok, hop)
			require.True(t, held)
			before := p.m.Before(tok, hop)
			require.NoError(t, title.Since(before))
			assert.Equal(t, hop > 0, !before.Genesis.IsZero())
			assert.Equal(t, previous, !before.Transfer.IsZero())
			assert.Equal(t, void, !before.Void.IsZero())
			assert.Equal(t, want, before)
			checkpoint := p.m.Checkpoint()
			p.restart(nil)
			assert.Equal(t, checkpoint, p.m.Checkpoint())
			p.restart(checkpoint)
		}
	}
	look(g[0], 0, false, false)
	g[0].hands(g[1], tok, 0)
	look(g[1], 1, false, false)
	g[1].hands(g[2], tok, 1)
	look(g[2], 2, true, false)
	g[2].reject(g[0], tok, 2)
	look(g[2], 3, true, false)
	g[2].reject(g[1], tok, 3)
	look(g[2], 4, true, true)
	g[2].hands(g[1], tok, 4)
	look(g[1], 5, true, true)
	g[1].hands(g[0], tok, 5)
	look(g[0], 6, true, false)
	assert.Zero(t, g[1].m.Before(tok, 5), "it holds it no more")
}

// A journal whose custody does not follow from what it names is not one of this member.
func TestReplay_HeldWithoutPrevious_Refused(t *testing.T) {
	g := newGroup(t, 3)
	tok := g[0].own().ID()
	g[0].hands(g[1], tok, 0)
	g[1].hands(g[2], tok, 1)
	for name, spoil := range map[string]func(*journal.Held){
		"good":             func(*journal.Held) {},
		"no previous":      func(h *journal.Held) { h.Previous = nil },
		"another previous": func(h *journal.Held) { h.Previous = h.Transfer },
		"a void of it":     func(h *journal.Held) { h.PreviousVoid = h.Transfer },
	} {
		replay := handoff.NewReplay(g[2].cfg)
		for _, r := range g[2].past {
			if held, ok := r.(*journal.Held); ok {
				changed := *held
				spoil(&changed)
				r = &changed
			}
			require.NoError(t, replay.Apply(r))
		}
		_, err := replay.Finish(g[2].now)
		if name == "good" {
			assert.NoError(t, err)
		} else {
			assert.ErrorIs(t, err, handoff.ErrReplay, name)
		}
	}
}
