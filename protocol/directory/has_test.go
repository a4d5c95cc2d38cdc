package directory_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
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

// TestHas_OtherCertificate_False: what is found by its signature must be the
// same from the first byte to the last, and of somebody who is still known.
func TestHas_OtherCertificate_False(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	raw := ben.certificate(month).Raw()
	_, _, err := d.Learn(raw)
	require.NoError(t, err)
	require.True(t, d.Has(raw), "and from now on by its signature")
	for at := range raw {
		altered := bytes.Clone(raw)
		altered[at] ^= 1
		assert.False(t, d.Has(altered), fmt.Sprintf("byte %d", at))
	}
	assert.False(t, d.Has(raw[1:]))
	assert.False(t, d.Has(raw[len(raw)-64:]))
	d.Forget(now.Add(2*month+time.Hour), func(ident.Member) bool { return false })
	assert.False(t, d.Has(raw), "forgotten")
}
