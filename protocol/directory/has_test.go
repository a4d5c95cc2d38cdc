package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/directory"
)

func TestHas(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	first, renewed := ben.certificate(month).Raw(), ben.certificate(2*month).Raw()
	assert.False(t, d.Has(first))
	assert.False(t, d.Has([]byte("no certificate")))
	_, _, err := d.Learn(first)
	require.NoError(t, err)
	assert.True(t, d.Has(first))
	assert.False(t, d.Has(renewed), "another one of the same member")
	_, _, err = d.Learn(renewed)
	require.NoError(t, err)
	assert.True(t, d.Has(renewed))
	assert.False(t, d.Has(first))
}
