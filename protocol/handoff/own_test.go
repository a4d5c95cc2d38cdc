package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/token"
)

// A token is made by one record, synced, before anything of it leaves (handoff
// rules §2), and its number is spent by then.
func TestGenerate_Record_One(t *testing.T) {
	p := newParty(t, 1, true)
	o := p.do(func(m *handoff.Machine) {
		g, err := token.GenesisBody{
			Resource: "r", Generator: p.id, Incarnation: p.cfg.Incarnation, Sequence: m.DrawSequence(), Time: 1,
		}.Sign(group, p.key)
		require.NoError(t, err)
		m.Own(g, true)
		m.Prepare(g.ID(), 0, p.id)
		m.Release(g.ID(), 0, p.id, nil)
	})
	assert.Equal(t, "counters! known generated! OFFER", o.String())
	next := p.do(func(m *handoff.Machine) { assert.EqualValues(t, 2, m.DrawSequence()) })
	assert.Empty(t, next.String(), "a block of numbers is reserved at a time")
}
