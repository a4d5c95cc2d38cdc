package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/spec/form"
)

// FuzzUpdate: the decoder of membership updates. None has two spellings.
//
//fuzz:of protocol/wire protocol/update crypto/canonical
func FuzzUpdate(f *testing.F) { targets["FuzzUpdate"].Fuzz(f) }

func checkUpdate(t require.TestingT, raw []byte) bool {
	u, err := updates.Parse(raw)
	if err != nil {
		isOneOf(t, err, updates.ErrMalformed, updates.ErrKind, updates.ErrTooLarge)
		return false
	}
	again, err := u.Encode()
	require.NoError(t, err)
	require.Equal(t, raw, again)
	return true
}

func updateSeeds() map[string][]byte {
	return drawn(map[string][]byte{
		"bad-empty":      {},
		"bad-kind":       {0x83, 0x05, 0x41, 0x00, 0x41, 0x00},
		"bad-one-of-two": {0x82, 0x02, 0x41, 0x00},
		"bad-two-of-one": {0x83, 0x04, 0x41, 0x00, 0x41, 0x00},
		"bad-nobody":     {0x83, 0x01, 0x40, 0x41, 0x00},
		"bad-null":       {0x82, 0x04, 0xf6},
		"bad-large":      append([]byte{0x82, 0x04, 0x59, 0x0f, 0xfc}, make([]byte, 0xffc)...),
		"good-largest":   append([]byte{0x82, 0x04, 0x59, 0x0f, 0xfb}, make([]byte, 0xffb)...),
	}, form.Updates())
}
