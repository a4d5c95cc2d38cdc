package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

func draw[T ~[32]byte](t *rapid.T, label string) T {
	return T(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
}

func draw16[T ~[16]byte](t *rapid.T, label string) T {
	return T(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
}

// anyExtensions draws odd keys with values of some nesting.
var anyExtensions = rapid.Custom(func(t *rapid.T) canonical.Extensions {
	n := rapid.IntRange(0, canonical.MaxExtensions).Draw(t, "extensions")
	if n == 0 {
		return canonical.Extensions{}
	}
	values := []canonical.Raw{
		{0x00}, {0xf6}, {0x61, 'x'}, {0x82, 0x01, 0x81, 0x40}, {0xa1, 0x01, 0xa1, 0x02, 0xf5},
		append(canonical.Raw{0x98, 200}, make([]byte, 200)...), // 200 items
	}
	e := canonical.Extensions{}
	for range n {
		key := rapid.Uint64Range(0, 1<<62).Draw(t, "key")*2 + 1
		e = e.With(key, rapid.SampledFrom(values).Draw(t, "value"))
	}
	return e
})

func anyGenesis(t *rapid.T) token.GenesisBody {
	return token.GenesisBody{
		Resource: rapid.StringN(1, 16, token.MaxResourceName).Draw(t, "resource"),
		Slot:     rapid.Uint64().Draw(t, "slot"), Generator: ada.id,
		Incarnation: draw16[ident.Incarnation](t, "incarnation"), Sequence: rapid.Uint64().Draw(t, "sequence"),
		Time: rapid.Uint64().Draw(t, "time"), Nonce: draw16[[16]byte](t, "nonce"),
		Extensions: anyExtensions.Draw(t, "extensions"),
	}
}

func anyTransfer(t *rapid.T) token.TransferBody {
	b := token.TransferBody{
		Token: draw[ident.Token](t, "token"), Hop: rapid.Uint64Range(1, ident.MaxHop).Draw(t, "hop"), From: ada.id, To: ben.id,
		Incarnation: draw16[ident.Incarnation](t, "incarnation"), Accept: rapid.Uint64().Draw(t, "accept"), MAC: draw16[ident.MAC](t, "mac"),
		Previous: draw[ident.Hash](t, "previous"), Time: rapid.Uint64().Draw(t, "time"),
		Field:      rapid.SliceOfN(rapid.Byte(), 0, token.MaxField).Draw(t, "field"),
		Extensions: anyExtensions.Draw(t, "extensions"),
	}
	if rapid.Bool().Draw(t, "voided") {
		h := draw[ident.Hash](t, "void")
		b.Void = &h
	}
	return b
}

func anyAnswer(t *rapid.T) token.AnswerBody {
	return token.AnswerBody{
		Transfer: draw[ident.Hash](t, "transfer"), Token: draw[ident.Token](t, "token"),
		Hop: rapid.Uint64Range(1, ident.MaxHop).Draw(t, "hop"), Signer: ada.id,
		Incarnation: draw16[ident.Incarnation](t, "incarnation"), Extensions: anyExtensions.Draw(t, "extensions"),
	}
}

// What is signed verifies, says the same, and signs to the same bytes again:
// an object has one encoding.
func TestSign_AnyBody_Verified(t *testing.T) {
	v := token.NewVerifier(group, everybody())
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			signed, err := anyGenesis(t).Sign(group, ada.key)
			require.NoError(t, err)
			got, err := v.Genesis(signed.Raw())
			require.NoError(t, err)
			again, err := got.Body().Sign(group, ada.key)
			require.NoError(t, err)
			require.Equal(t, signed.Raw(), again.Raw())
			require.Equal(t, signed.Hash(), got.Hash())
		case 1:
			signed, err := anyTransfer(t).Sign(group, ada.key)
			require.NoError(t, err)
			got, err := v.Transfer(signed.Raw())
			require.NoError(t, err)
			again, err := got.Body().Sign(group, ada.key)
			require.NoError(t, err)
			require.Equal(t, signed.Raw(), again.Raw())
			require.Equal(t, signed.Hash(), got.Hash())
		case 2:
			verdict := rapid.SampledFrom([]token.Verdict{token.Receipt, token.Void, token.Unknown}).Draw(t, "verdict")
			signed, err := anyAnswer(t).Sign(group, verdict, ada.key)
			require.NoError(t, err)
			got, err := v.Answer(verdict, signed.Raw())
			require.NoError(t, err)
			again, err := got.Body().Sign(group, verdict, ada.key)
			require.NoError(t, err)
			require.Equal(t, signed.Raw(), again.Raw())
			require.Equal(t, signed.Hash(), got.Hash())
		}
	})
}

// Whatever payload is accepted is the encoding of its body: the signature here
// is always good, so only the payload's spelling decides.
func TestPayload_Accepted_EncodesToItself(t *testing.T) {
	d := envelope.Domain{Version: token.Version, Group: group, Kind: envelope.Transfer}
	rapid.Check(t, func(t *rapid.T) {
		body := anyTransfer(t)
		payload, err := canonical.Marshal(&body)
		require.NoError(t, err)
		for range rapid.IntRange(1, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, len(payload)-1).Draw(t, "at")
			payload[at] = rapid.Byte().Draw(t, "byte")
		}
		forged, err := envelope.Sign(d, ada.id, payload, ada.key)
		require.NoError(t, err)
		got, err := token.NewVerifier(group, everybody()).Transfer(forged.Raw())
		if err != nil {
			return
		}
		accepted := got.Body()
		again, err := canonical.Marshal(&accepted)
		require.NoError(t, err)
		require.Equal(t, payload, again)
	})
}

func TestPayload_Nil_Empty(t *testing.T) {
	absent := token.TransferBody{Hop: 1, From: ada.id, To: ben.id}
	empty := absent
	empty.Field, empty.Extensions = []byte{}, canonical.Extensions{}
	x, err := absent.Sign(group, ada.key)
	require.NoError(t, err)
	y, err := empty.Sign(group, ada.key)
	require.NoError(t, err)
	assert.Equal(t, x.Raw(), y.Raw())
}

func TestHash_None_NotZeros(t *testing.T) {
	without := token.TransferBody{Hop: 1, From: ada.id, To: ben.id}
	with := without
	with.Void = new(ident.Hash)
	x, err := without.Sign(group, ada.key)
	require.NoError(t, err)
	y, err := with.Sign(group, ada.key)
	require.NoError(t, err)
	assert.NotEqual(t, x.Hash(), y.Hash())
}

// Sign makes nothing that Verify would refuse, however deep an extension is.
func TestSign_BeyondLimits_Refused(t *testing.T) {
	deep := append(make(canonical.Raw, 0, 32), "\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x00"...)
	body := token.TransferBody{Hop: 1, From: ada.id, To: ben.id, Extensions: canonical.Extensions{}.With(1, deep)}
	_, err := body.Sign(group, ada.key)
	assert.ErrorIs(t, err, canonical.ErrTooDeep)
}
