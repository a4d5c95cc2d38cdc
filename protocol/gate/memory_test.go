package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestMemory_ManyTitles_Bounded(t *testing.T) {
	s := plain
	s.Keep, s.Settle = 0, 0
	b := newBench(t, s)
	c := tokenOf(1, 1)
	for n := range gate.MaxTitles + 5 {
		c.links = append(c.links, link{gate.Title{Token: c.links[0].title.Token, Holder: memberID(1), Hash: ident.Hash{1, byte(n), 2}}, nil})
		b.opened(gate.Connection(n+1), c.permit(len(c.links)-1))
		b.over(gate.Connection(n + 1))
	}
	for _, r := range b.gate.Checkpoint() {
		if m, ok := r.(*gate.MemberRecord); ok {
			assert.Len(t, m.Titles, gate.MaxTitles)
		}
		_, err := gate.Encode(0, r)
		assert.NoError(t, err)
	}
}
