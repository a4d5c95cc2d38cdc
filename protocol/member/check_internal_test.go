package member

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
)

// TestCheck_HoldWithoutCustody_Reported: a policy must not count on a token that the handoff has not.
func TestCheck_HoldWithoutCustody_Reported(t *testing.T) {
	key, err := signature.NewPrivateKey(make([]byte, signature.SeedSize))
	require.NoError(t, err)
	c := &custody{core: &core{}, handoff: handoff.New(handoff.Config{Key: key}), holds: make(map[ident.Token]*hold)}
	require.NoError(t, c.check())
	c.holds[ident.Token{1}] = &hold{token: ident.Token{1}, hop: 2}
	assert.ErrorIs(t, c.check(), errUnheld)
}
