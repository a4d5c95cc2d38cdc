package certificate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
)

// A certificate that is packed and opened is what it was.
func TestPackedCertificate(t *testing.T) {
	c := claims()
	c.Extensions = later
	signed := mustSign(t, c)
	packed := signed.Pack()
	assert.Equal(t, string(signed.Raw()), packed.Raw())
	assert.False(t, packed.IsZero())
	opened := packed.Open()
	assert.Equal(t, signed.Body(), opened.Body())
	assert.Equal(t, signed.Member(), opened.Member())
	assert.True(t, opened.Key().Equal(memberKey.Public()))
	assert.Equal(t, signed.Raw(), opened.Raw())
	assert.Equal(t, signed.Hash(), opened.Hash())
	assert.True(t, certificate.Packed{}.IsZero())
	assert.True(t, certificate.Packed{}.Open().IsZero())
}

func TestPackedEndpoint(t *testing.T) {
	signed, err := endpoint().Sign(group, memberKey)
	require.NoError(t, err)
	packed := certificate.PackEndpoint(signed)
	assert.Equal(t, string(signed.Raw()), packed.Raw())
	assert.Equal(t, signed.Body(), packed.Body())
	assert.False(t, packed.IsZero())
	assert.True(t, certificate.PackedEndpoint{}.IsZero())
	assert.Empty(t, certificate.PackedEndpoint{}.Body().Addresses)
}

// Peeking tells what an object claims, and refuses what cannot be one.
func TestPeek(t *testing.T) {
	forged := envelopeOf(t, 1, certificate.AuthorityID(caKey.Public()), claimsMap(), otherKey)
	c, err := certificate.Peek(group, forged)
	require.NoError(t, err)
	assert.Equal(t, memberKey.Public().Bytes(), c.Key)
	_, err = certificate.Peek(group, []byte{1})
	assert.ErrorIs(t, err, certificate.ErrMalformed)

	r, err := revocation().Sign(group, otherKey)
	require.NoError(t, err)
	peeked, err := certificate.PeekRevocation(group, r.Raw())
	require.NoError(t, err)
	assert.Equal(t, revocation(), peeked)
	_, err = certificate.PeekRevocation(group, nil)
	assert.ErrorIs(t, err, certificate.ErrMalformed)
}
