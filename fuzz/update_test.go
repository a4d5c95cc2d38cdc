package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	updates "github.com/wandertoken/wander/protocol/update"
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
	seeds := map[string][]byte{
		"bad-empty":       {},
		"bad-kind":        {0x83, 0x05, 0x41, 0x00, 0x41, 0x00},
		"bad-one-of-two":  {0x82, 0x02, 0x41, 0x00},
		"bad-two-of-one":  {0x83, 0x04, 0x41, 0x00, 0x41, 0x00},
		"bad-nobody":      {0x83, 0x01, 0x40, 0x41, 0x00},
		"bad-null":        {0x82, 0x04, 0xf6},
		"bad-large":       append([]byte{0x82, 0x04, 0x59, 0x0f, 0xfc}, make([]byte, 0xffc)...),
		"good-largest":    append([]byte{0x82, 0x04, 0x59, 0x0f, 0xfb}, make([]byte, 0xffb)...),
		"good-no-address": {0x83, 0x01, 0x41, 0x00, 0x40},
	}
	certificate := certificateOf(ada, "ada").Raw()
	for name, u := range map[string]updates.Update{
		"good-join":       updates.Join(certificate, endpoint().Raw()),
		"good-leave":      updates.Leave([]byte("signed leave"), certificate),
		"good-failure":    updates.Failure([]byte("signed statement"), certificate),
		"good-revocation": updates.Revocation(revocation().Raw()),
	} {
		seeds[name] = must(u.Encode())
		corpus.Spoil(seeds, name)
	}
	return seeds
}
