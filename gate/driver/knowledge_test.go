package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/protocol/certificate"
)

// A revocation for which there is no room puts its member out all the same, and the machine hears of it.
func TestKnowledge_RevocationsFull_MemberOut(t *testing.T) {
	w := gatetest.New(t, 1, nil)
	k, err := newKnowledge(&Config{Resource: gatetest.Resource, Group: w.Group, Certificate: w.Gate.Certificate})
	require.NoError(t, err)
	k.revocations = make([]certificate.SignedRevocation, maxRevocations)
	raw := w.Revoke(w.Members[0].ID())
	_, revoked, err := k.learn(nil, nil, [][]byte{raw})
	require.NoError(t, err)
	assert.True(t, revoked)
	assert.True(t, k.isRevoked(w.Members[0].ID()))
	assert.Len(t, k.revocations, maxRevocations)
	_, revoked, err = k.learn(nil, nil, [][]byte{raw})
	require.NoError(t, err)
	assert.False(t, revoked, "it is not news any more")
}
