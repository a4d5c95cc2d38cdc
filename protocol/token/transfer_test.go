package token_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/token"
)

func TestExtension_LastOperation_RoundTrip(t *testing.T) {
	var b token.TransferBody
	b.SetLastOperation(0)
	require.Empty(t, b.Extensions, "never is not said")
	b.SetLastOperation(1795260228305)
	require.EqualValues(t, 1795260228305, b.LastOperation())
	require.NoError(t, b.Extensions.Validate(), "an odd key, which older members ignore")

	for name, raw := range map[string]canonical.Raw{
		"text": {0x61, 'x'}, "negative": {0x20}, "long form": {0x18, 0x01}, "empty": {},
	} {
		b.Extensions = canonical.Extensions{}.With(1, raw)
		require.Zero(t, b.LastOperation(), name)
	}
	require.Zero(t, token.TransferBody{}.LastOperation())
}
