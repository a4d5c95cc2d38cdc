package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/wire"
)

// proofs are the evidence that the last step handed to the driver.
func (b *box) proofs() (list []effect.Evidence) {
	for _, e := range b.effects {
		if e, ok := e.(effect.Evidence); ok {
			list = append(list, e)
		}
	}
	return list
}

// twice gives b two transfers of one hop, and returns the second.
func (s *someone) twice(b *box, sequence uint64) *wire.Transfer {
	title := s.mint(sequence)
	b.hear(s, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	require.NotNil(s.t, accept)
	body := title.Next(b.ID(), accept.Reservation())
	b.hear(s, s.transfer(title, body))
	require.Empty(s.t, b.proofs())
	body.Time++
	second := s.transfer(title, body)
	b.hear(s, second)
	return second
}

// What convicts a member leaves the machine as proof that needs nothing but the
// group id, once, and again after a restart only if the same is shown again.
func TestEvidence_Journalled_Complete(t *testing.T) {
	a := newAuthority(t)
	b, evil := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.meet(evil)
	second := evil.twice(b, 1)
	list := b.proofs()
	require.Len(t, list, 1)
	assert.Equal(t, evil.id(), list[0].Accused)
	assert.Equal(t, "two transfers of one hop", list[0].Kind)
	e, err := evidence.Parse(list[0].Encoded)
	require.NoError(t, err)
	proof, err := e.Verify(a.group.ID())
	require.NoError(t, err)
	assert.Equal(t, evil.id(), proof.Accused)
	assert.Equal(t, list[0].ID, proof.ID)

	b.hear(evil, second)
	assert.Empty(t, b.proofs(), "once")
	b.restart()
	require.Len(t, b.proofs(), 1, "the driver may not have it")
	assert.Equal(t, list[0], b.proofs()[0])
	b.meet(evil)
	b.hear(evil, second)
	require.Len(t, b.proofs(), 1)
	assert.Equal(t, list[0].ID, b.proofs()[0].ID, "the same again")
}
