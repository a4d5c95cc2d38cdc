package service

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// fork is evidence that m has given a hop away twice; n tells tokens apart.
func (m *member) fork(n uint64) []byte {
	m.t.Helper()
	genesis, err := token.GenesisBody{Resource: "ftp", Generator: m.id(), Sequence: n}.Sign(m.group(), m.key)
	require.NoError(m.t, err)
	var objects []evidence.Object
	for accept := range uint64(2) {
		signed, err := token.Title{Genesis: genesis}.Next(ident.Member{7}, ident.Reservation{Incarnation: ident.Incarnation{1}, Number: accept}).Sign(m.group(), m.key)
		require.NoError(m.t, err)
		objects = append(objects, evidence.Object{Kind: envelope.Transfer, Raw: signed.Raw()})
	}
	e, err := evidence.New(m.group(), m.enrolled.Group.Statements(), m.enrolled.Certificate.Raw(), objects[0], objects[1])
	require.NoError(m.t, err)
	raw, err := e.Encode()
	require.NoError(m.t, err)
	return raw
}

// A member brings evidence; the authority verifies it, keeps it once, says so,
// and revokes nobody.
func TestEvidence(t *testing.T) {
	b := newBench(t)
	honest, other, thief := b.join("honest"), b.join("other"), b.join("thief")
	raw := thief.fork(1)
	require.NoError(t, honest.client().Evidence(t.Context(), raw))
	require.NoError(t, honest.client().Evidence(t.Context(), raw), "once more is no error")
	require.NoError(t, other.client().Evidence(t.Context(), raw))
	assert.NoError(t, b.ca.Eligible(thief.id()))
	l, err := b.ca.List()
	require.NoError(t, err)
	require.Len(t, l.Evidence, 1)
	assert.Equal(t, thief.id(), l.Evidence[0].Accused)
	assert.Equal(t, honest.id(), l.Evidence[0].From)
	assert.Contains(t, b.log.String(), "two transfers of one hop")

	forged := append([]byte(nil), raw...)
	forged[len(forged)-1] ^= 1
	for _, bad := range [][]byte{forged, {1}} {
		assert.ErrorIs(t, honest.client().Evidence(t.Context(), bad), enrolment.ErrRefused)
	}

	// Whoever was revoked brings nothing any more.
	_, _, err = b.ca.RevokeBy(raw)
	require.NoError(t, err)
	assert.ErrorIs(t, thief.client().Evidence(t.Context(), honest.fork(1)), enrolment.ErrRevoked)
}

// However much there is against one member, the log grows by a bounded amount.
func TestEvidence_InMass_Bounded(t *testing.T) {
	b := newBench(t)
	honest, thief := b.join("honest"), b.join("thief")
	for n := range uint64(memberBurst) - 1 {
		require.NoError(t, honest.client().Evidence(t.Context(), thief.fork(n)))
	}
	l, err := b.ca.List()
	require.NoError(t, err)
	assert.Len(t, l.Evidence, ca.MaxEvidencePerMember)
	for n := range uint64(3) {
		err = honest.client().Evidence(t.Context(), thief.fork(n))
	}
	assert.ErrorIs(t, err, enrolment.ErrBusy)
}
