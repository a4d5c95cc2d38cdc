package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// The CDDL and the code have the same messages, under the same numbers and names.
func TestTypes_Each_InTheCDDL(t *testing.T) {
	for i, o := range shapes {
		assert.Equal(t, uint64(i+1), o.Number)
		assert.Equal(t, "message "+strings.ToLower(wire.Type(i+1).String()), o.Name)
	}
	_, err := wire.PeekType([]byte{0x82, byte(len(shapes) + 1), 0x80})
	assert.ErrorIs(t, err, wire.ErrMessageType, "a type that spec/wire.cddl lacks")
}

func TestMessage_Each_RoundTrip(t *testing.T) {
	for _, m := range samples() {
		body, err := wire.Encode(m)
		require.NoError(t, err, m.Type())
		peeked, err := wire.PeekType(body)
		require.NoError(t, err)
		assert.Equal(t, m.Type(), peeked)
		got, err := wire.Decode(body)
		require.NoError(t, err, m.Type())
		assert.Equal(t, m, got)
	}
}

// Append is Encode behind what is there already, and changes nothing when it
// fails.
func TestAppend(t *testing.T) {
	body := []byte("before")
	for _, m := range samples() {
		encoded, err := wire.Encode(m)
		require.NoError(t, err)
		longer, err := wire.Append(body, m)
		require.NoError(t, err)
		assert.Equal(t, append([]byte("before"), encoded...), longer)
	}
	same, err := wire.Append(body, &wire.Accept{})
	assert.ErrorIs(t, err, wire.ErrMalformed)
	assert.Equal(t, body, same)
}

// What may be left out may be nil or empty: the bytes are the same.
func TestMessage_Nil_Empty(t *testing.T) {
	for _, c := range []struct{ absent, empty wire.Message }{
		{
			&wire.Hello{Versions: [2]uint64{1, 1}},
			&wire.Hello{Versions: [2]uint64{1, 1}, Endpoint: []byte{}},
		}, {
			&wire.Offer{Hop: 1, Genesis: object(1), Signers: []ident.Member{{}}},
			&wire.Offer{Hop: 1, Genesis: object(1), Signers: []ident.Member{{}}, Certificates: [][]byte{}},
		}, {
			&wire.Transfer{Transfer: object(1), Genesis: object(1)},
			&wire.Transfer{
				Transfer: object(1), Genesis: object(1), Previous: []byte{}, Void: []byte{},
				Certificates: [][]byte{}, Updates: [][]byte{},
			},
		},
		{&wire.Receipt{Receipt: object(1)}, &wire.Receipt{Receipt: object(1), Updates: [][]byte{}}},
		{&wire.Policy{Resource: "r", Policy: "p"}, &wire.Policy{Resource: "r", Policy: "p", Body: []byte{}}},
		{&wire.Members{}, &wire.Members{Entries: []wire.Entry{}}},
		{
			&wire.Members{Entries: []wire.Entry{{Certificate: object(1)}}},
			&wire.Members{Entries: []wire.Entry{{Certificate: object(1), Endpoint: []byte{}, Leave: []byte{}, Failures: [][]byte{}}}},
		},
		{&wire.Summary{}, &wire.Summary{Parts: []wire.Part{}}},
		{&wire.Revocations{}, &wire.Revocations{Revocations: [][]byte{}}},
	} {
		want, err := wire.Encode(c.empty)
		require.NoError(t, err)
		got, err := wire.Encode(c.absent)
		require.NoError(t, err)
		assert.Equal(t, want, got, c.empty.Type())
		decoded, err := wire.Decode(got)
		require.NoError(t, err)
		again, err := wire.Encode(decoded)
		require.NoError(t, err)
		assert.Equal(t, want, again, c.empty.Type())
	}
}

func TestMessage_Decoded_BodyNotReferenced(t *testing.T) {
	for _, m := range samples() {
		body, err := wire.Encode(m)
		require.NoError(t, err)
		got, err := wire.Decode(body)
		require.NoError(t, err)
		clear(body)
		assert.Equal(t, m, got)
	}
}

// The limits themselves are permitted.
func TestLargestMessages(t *testing.T) {
	full := object(wire.MaxObject)
	for name, m := range map[string]wire.Message{
		"hello":    edit(func(m *wire.Hello) { m.Endpoint = full; m.Versions[1] = math.MaxUint64 }),
		"offer":    edit(func(m *wire.Offer) { m.Genesis = full; m.Certificates = repeat(wire.MaxSigners, full) }),
		"transfer": &wire.Transfer{Transfer: full, Genesis: full, Previous: full, Void: full, Certificates: repeat(wire.MaxSigners, full)},
		"updates":  &wire.Receipt{Receipt: full, Updates: repeat(wire.MaxUpdates, object(1024))},
		"policy": edit(func(m *wire.Policy) {
			m.Resource = strings.Repeat("r", wire.MaxName)
			m.Body = object(wire.MaxPolicyBody)
		}),
		"members": &wire.Members{Entries: repeat(wire.MaxPage, wire.Entry{Certificate: object(500), Endpoint: object(500)})},
		"failures": &wire.Members{Entries: repeat(wire.MaxPage, wire.Entry{
			Certificate: object(300), Leave: object(50), Failures: repeat(wire.MaxFailures, object(30)),
		})},
		"summary":     &wire.Summary{Parts: partsOf(wire.MaxParts)},
		"news":        &wire.News{Updates: repeat(wire.MaxUpdates, object(1024))},
		"revocations": &wire.Revocations{Revocations: repeat(wire.MaxPage, object(500))},
		"config":      &wire.Configuration{Configuration: object(wire.ConfigurationPart)},
	} {
		body, err := wire.Encode(m)
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(body), wire.MaxFrame)
		got, err := wire.Decode(body)
		require.NoError(t, err, name)
		again, err := wire.Encode(got)
		require.NoError(t, err)
		assert.Equal(t, body, again, name)
	}
}

// A list within its own bounds can still be more than a frame holds. The
// receiver has the same bound as the sender, to the byte.
func TestLimits_MessageAndFrame_Same(t *testing.T) {
	page := func(last int) *wire.Members {
		entries := repeat(16, wire.Entry{Certificate: object(wire.MaxObject - 4)})
		entries[15].Certificate = object(last)
		return &wire.Members{Entries: entries}
	}
	const most = 4022 // makes the body MaxFrame bytes
	body, err := wire.Encode(page(most))
	require.NoError(t, err)
	require.Equal(t, wire.MaxFrame, len(body))
	_, err = wire.Decode(body)
	require.NoError(t, err)

	_, err = wire.Encode(page(most + 1))
	require.ErrorIs(t, err, wire.ErrLimit)
	_, err = wire.Decode(unchecked(t, page(most+1)))
	require.ErrorIs(t, err, canonical.ErrTooLarge)
}

func TestLimits_TokenAndWire_Agree(t *testing.T) {
	assert.Equal(t, policy.MaxField, wire.MaxPolicyBody)
	assert.Equal(t, policy.MaxField, token.MaxField)
	assert.Equal(t, token.MaxResourceName, wire.MaxName)
}

func TestMessage_Any_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage.Draw(t, "message")
		body, err := wire.Encode(m)
		require.NoError(t, err)
		got, err := wire.Decode(body)
		require.NoError(t, err)
		again, err := wire.Encode(got)
		require.NoError(t, err)
		require.Equal(t, body, again)
		require.Equal(t, m.Type(), got.Type())
	})
}

// Whatever Decode accepts is what Encode would have sent: no message has two
// spellings, and none is cut short, or carries on, unnoticed.
func TestMessage_AcceptedBytes_EncodeIdentically(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body, err := wire.Encode(anyMessage.Draw(t, "message"))
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			body = mutate(t, body)
		}
		m, err := wire.Decode(body)
		if err != nil {
			known := isAny(err, wire.ErrMalformed, wire.ErrLimit, wire.ErrMessageType)
			require.True(t, known, "%v", err)
			return
		}
		again, err := wire.Encode(m)
		require.NoError(t, err)
		require.Equal(t, body, again)
	})
}

func TestNames(t *testing.T) {
	for _, m := range samples() {
		assert.NotContains(t, m.Type().String(), "type")
	}
	assert.Equal(t, "TRANSFER", wire.TypeTransfer.String())
	assert.Equal(t, "message type 0", wire.Type(0).String())
	assert.Equal(t, "message type 23", wire.Type(23).String())
	assert.Equal(t, "message type 99", wire.Type(99).String())
	for r := wire.RefuseBusy; r <= wire.RefuseNewborn; r++ {
		assert.NotEmpty(t, r.String())
		assert.NotContains(t, r.String(), "refusal")
	}
	assert.Equal(t, "refusal 0", wire.Refusal(0).String())
	assert.Equal(t, "refusal 10", wire.Refusal(10).String())
}
