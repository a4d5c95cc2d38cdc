package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// What has verified once is remembered, by the same keys alone. What has not is verified each time.
func TestCertificates_VerifiedOnce_ByTheSameKeys(t *testing.T) {
	w, other := gatetest.New(t, 2, nil), gatetest.New(t, 1, nil)
	var c certificates
	raw := w.Members[0].Certificate.Raw()
	first, err := c.parse(w.Group, raw)
	require.NoError(t, err)
	again, err := c.parse(w.Group, raw)
	require.NoError(t, err)
	assert.Same(t, first.Key(), again.Key(), "it was not read again")
	newer := w.Newer(func(*group.Settings) {})
	later, err := c.parse(newer, raw)
	require.NoError(t, err)
	assert.NotSame(t, first.Key(), later.Key(), "by other keys it is")
	assert.Len(t, c.of, 1)
	_, err = c.parse(other.Group, raw)
	require.ErrorIs(t, err, certificate.ErrGroup, "remembered for one group, it is none of another")
	_, err = c.parse(newer, w.Gate.Certificate.Raw())
	require.ErrorIs(t, err, certificate.ErrRole)
	spoiled := append([]byte(nil), raw...)
	spoiled[len(spoiled)-1] ^= 1
	for range 2 {
		_, err = c.parse(newer, spoiled)
		require.ErrorIs(t, err, certificate.ErrSignature)
	}
	assert.Len(t, c.of, 1)
	for range maxCertificates {
		c.of[[32]byte{byte(len(c.of)), byte(len(c.of) >> 8), 1}] = first
	}
	_, err = c.parse(newer, w.Members[1].Certificate.Raw())
	require.NoError(t, err)
	assert.Len(t, c.of, 1, "it does not grow")
}

// BenchmarkVerify is the verification of a permit's certificate, remembered and not.
func BenchmarkVerify(b *testing.B) {
	w := gatetest.New(b, 1, nil)
	raw := w.Members[0].Certificate.Raw()
	for name, keeps := range map[string]bool{"first": false, "again": true} {
		b.Run(name, func(b *testing.B) {
			var c certificates
			for b.Loop() {
				if !keeps {
					c = certificates{}
				}
				_, err := c.parse(w.Group, raw)
				require.NoError(b, err)
			}
		})
	}
}
