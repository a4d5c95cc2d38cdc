package handoff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// tag is that of the n-th opening.
func tag(n byte) [token.TagSize]byte { return [token.TagSize]byte{n} }

// reopened replays records and opens the journal once more.
func reopened(t *testing.T, p *party, records []journal.Record, number uint64, n byte) *handoff.Machine {
	r := handoff.NewReplay(p.cfg)
	for _, rec := range records {
		require.NoError(t, r.Apply(rec))
	}
	m, err := r.Finish(p.now)
	require.NoError(t, err)
	m.Open(number, tag(n))
	return m
}

// TestLoss_Journal_ToldFromPositions: H-72. Positions that the journal has show no loss;
// those behind its end, of an opening that it lacks, and of a later one do.
func TestLoss_Journal_ToldFromPositions(t *testing.T) {
	p := newGroup(t, 2)[0]
	m := reopened(t, p, []journal.Record{
		&journal.Opened{Opening: 100, Tag: tag(1)}, &journal.Opened{Opening: 200, Tag: tag(2), Serial: 3},
	}, 300, 3)
	for name, c := range map[string]struct {
		position token.Position
		loss     handoff.Loss
	}{
		"in the first opening":       {token.Position{Opening: 100, Tag: tag(1), Serial: 0}, handoff.Whole},
		"at its end":                 {token.Position{Opening: 200, Tag: tag(2), Serial: 3}, handoff.Whole},
		"behind its end":             {token.Position{Opening: 200, Tag: tag(2), Serial: 4}, handoff.Cut},
		"of another, of that number": {token.Position{Opening: 200, Tag: tag(9), Serial: 1}, handoff.Lacks},
		"of one between":             {token.Position{Opening: 250, Tag: tag(9), Serial: 1}, handoff.Lacks},
		"of a later one":             {token.Position{Opening: 301, Tag: tag(9), Serial: 1}, handoff.Copied},
		"of a former memory":         {token.Position{Opening: 99, Tag: tag(9), Serial: 1000}, handoff.Whole},
	} {
		assert.Equal(t, c.loss, m.Loss(c.position), name)
	}
	assert.Equal(t, token.Position{Opening: 300, Tag: tag(3), Serial: 3}, m.Opened())
}

// TestOpenings_Checkpoint_CountGoesOn: what a checkpoint copies is not counted again.
func TestOpenings_Checkpoint_CountGoesOn(t *testing.T) {
	g := newGroup(t, 2)
	g[0].do(func(m *handoff.Machine) { m.Open(100, tag(1)) })
	g[0].own()
	before := g[0].m
	m := reopened(t, g[0], before.Checkpoint(), 200, 2)
	assert.Equal(t, before.Position(), token.Position{Opening: 100, Tag: tag(1), Serial: 2})
	assert.Equal(t, token.Position{Opening: 200, Tag: tag(2), Serial: 2}, m.Position())
	assert.Equal(t, handoff.Whole, m.Loss(token.Position{Opening: 100, Tag: tag(1), Serial: 1}))
	assert.Equal(t, handoff.Cut, m.Loss(token.Position{Opening: 100, Tag: tag(1), Serial: 2}))
}

// TestOpenings_Many_OldestForgotten: the list is bounded, and what is older than it shows
// no loss.
func TestOpenings_Many_OldestForgotten(t *testing.T) {
	p := newGroup(t, 2)[0]
	var records []journal.Record
	for n := range byte(100) {
		records = append(records, &journal.Opened{Opening: 100 + uint64(n), Tag: tag(n)})
	}
	m := reopened(t, p, records, 1000, 200)
	opened := 0
	for _, r := range m.Checkpoint() {
		if _, ok := r.(*journal.Opened); ok {
			opened++
		}
	}
	assert.Equal(t, 64, opened)
	assert.Equal(t, handoff.Whole, m.Loss(token.Position{Opening: 110, Tag: tag(99), Serial: 1}))
	assert.Equal(t, handoff.Lacks, m.Loss(token.Position{Opening: 190, Tag: tag(1)}))
}

// TestOpenings_ReceiptGivenAgain_NamesItsCustody: H-70. So a member that denies a token cannot be convicted by a
// receipt that it has given again after a restart: that is from before this opening.
func TestOpenings_ReceiptGivenAgain_NamesItsCustody(t *testing.T) {
	g := newGroup(t, 2)
	position := func(transfer *wire.Transfer) token.Position {
		raw := sent[*wire.Receipt](g[1].takes(g[0], transfer)).Receipt
		b, _, err := token.PeekAnswer(group, token.Receipt, raw)
		require.NoError(t, err)
		return token.PositionOf(b.Extensions)
	}
	opens := func(number uint64, n byte) { g[1].do(func(m *handoff.Machine) { m.Open(number, tag(n)) }) }
	opens(100, 1)
	_, first := g[0].underWay(g[1])
	_, second := g[0].underWay(g[1])
	assert.Equal(t, token.Position{Opening: 100, Tag: tag(1), Serial: 1}, position(first))
	assert.Equal(t, token.Position{Opening: 100, Tag: tag(1), Serial: 2}, position(second))
	assert.EqualValues(t, 1, position(first).Serial, "again, after another custody")

	g[1].restart(nil)
	opens(200, 2)
	_, third := g[0].underWay(g[1])
	assert.Equal(t, token.Position{Opening: 200, Tag: tag(2), Serial: 3}, position(third))
	for _, again := range []*wire.Transfer{first, second} {
		assert.Equal(t, token.Position{Opening: 200, Tag: tag(2), Serial: 2}, position(again))
	}
}
