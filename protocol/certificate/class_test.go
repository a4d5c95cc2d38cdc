package certificate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestClass_Signed_Read(t *testing.T) {
	c := claims()
	c.Class = strings.Repeat("z", ident.MaxClass)
	signed := mustSign(t, c)
	parsed, err := certificate.Parse(group, signed.Raw(), trusting(caKey))
	require.NoError(t, err)
	assert.Equal(t, c.Class, parsed.Class())
	assert.Equal(t, c.Class, parsed.Pack().Open().Class())
	assert.Empty(t, mustSign(t, claims()).Class())
}

// No CA signs a class that nobody reads, and none for a gate.
func TestClass_Invalid_Refused(t *testing.T) {
	for _, class := range []string{"Backup", "back up", "a=1", "ü", strings.Repeat("z", ident.MaxClass+1)} {
		c := claims()
		c.Class = class
		_, err := c.Sign(caKey)
		assert.ErrorIs(t, err, ident.ErrClass, class)
	}
	c := gateClaims()
	c.Class = "backup"
	_, err := c.Sign(caKey)
	assert.ErrorIs(t, err, ident.ErrClass)
}
