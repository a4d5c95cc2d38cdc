package envelope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/envelope"
)

// What is packed and unpacked is what it was.
func TestPackedEnvelopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDomain(t)
		payload := drawPayload(t)
		v, err := envelope.Sign(d, drawKID(t), payload, drawKey(t))
		require.NoError(t, err)
		p := v.Pack()
		require.Equal(t, string(v.Raw()), p.Raw())
		require.Equal(t, string(payload), string(p.Payload()))
		require.False(t, p.IsZero())
		again := p.Unpack(d)
		require.Equal(t, v.Raw(), again.Raw())
		require.Equal(t, v.Hash(), again.Hash())
		require.Equal(t, v.KeyID(), again.KeyID())
		require.Equal(t, v.Domain(), again.Domain())
		require.Equal(t, string(v.Payload()), string(again.Payload()))
	})
}

func TestPackedNothing(t *testing.T) {
	p := envelope.Verified{}.Pack()
	assert.True(t, p.IsZero())
	assert.Nil(t, p.Payload())
	assert.True(t, p.Unpack(envelope.Domain{Version: 1, Kind: envelope.Leave}).IsZero())
	assert.Equal(t, envelope.Packed{}, p)
}
